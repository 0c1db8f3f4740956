"""Read `git`: its folder, its subcommand, the paths and remotes that it names.

Rule 1: git runs what the configuration of a repository says, so the repository must be the
        project's own, and nothing on the line may have written one before.
Rule 2: an operand may be a revision or a path, and counts as both.
Rule 3: a remote is one that the repository names. An address is not understood.
Rule 4: no files come from a ref that anybody may have written (see `git_refs`).
"""

import re
from collections.abc import Callable
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk, NamedPath
from critic.command.file_moves import add_lost_sources
from critic.command.git_refs import refuse_refs_of_others, refuse_sources_of_others
from critic.command.operand_kinds import apply_arguments, apply_kind
from critic.command.program_options import GivenArguments, parse_options
from critic.command.shell_syntax import NotUnderstood, Piece, Word, plain_word

_REPOSITORY_FILES: Final = frozenset(("HEAD", "config", "objects", "refs", ".git", "commondir"))
_PATHSPECS: Final = ("list", "read")
_SIGNS: Final = re.compile(r"[*?\[\\]")
_MAGIC: Final = (":(", ":!", ":^", ":/")
_LEAVES_OUT: Final = re.compile(r":(?:\(exclude\)|[!^])")
_ADDRESS: Final = re.compile(r"::|://|^[+:]|@|/.*:")
_READS_NO_FILES: Final = frozenset(
    ("remote", "remote/get-url", "config", "worktree/list", "reflog", "stash/list", "branch", "tag")
)
_LISTS_OTHERS: Final = frozenset(
    ("-i", "-x", "-X", "--ignored", "--exclude", "--exclude-from", "--exclude-per-directory")
)
_BRINGS_FILES: Final = frozenset(
    (
        *("merge", "pull", "rebase", "cherry-pick", "revert", "apply"),
        *("stash", "stash/push", "stash/pop", "stash/apply", "stash/branch"),
        *("bisect/start", "bisect/good", "bisect/bad", "bisect/new", "bisect/old", "bisect/skip"),
        "bisect/reset",
    )
)
"""What may put a link in the place of a file."""
_MAKES_BRANCH: Final = frozenset(("-b", "-B", "-c", "-C", "--create", "--force-create"))
_INDEX_ALONE: Final = frozenset(("-S", "--staged"))
_CHANGES_FILES: Final = frozenset(("--hard", "--merge", "--keep"))
_GIVES_PATTERNS: Final = frozenset(("-e", "-f"))
_TAKES_NOTHING: Final = frozenset(("remote", "worktree/list", "reflog", "stash/list"))
_LISTS_TAGS: Final = frozenset(("--list", "-l", "-n", "--contains", "--merged", "--no-merged"))
_LISTS_BRANCHES: Final = frozenset(
    ("--list", "-l", "--contains", "--merged", "--no-merged", "-a", "-r", "--show-current")
)
_SETS_UPSTREAM: Final = frozenset(("-u", "--set-upstream-to", "--unset-upstream"))
_PLAIN_SETTING: Final = re.compile(
    r"(?i)(?:user\.(?:name|email|signingkey)|(?:core|color|init|pull|push|fetch|merge|rebase|diff|status|branch"
    r"|commit|tag|log|help|rerere|submodule|advice|gc|pack|index|feature|alias|i18n|interactive)\.[\w.-]+"
    r"|remote\.[\w-]+\.(?:url|pushurl|fetch))"
)
"""A setting that git reads and that holds no secret by its meaning."""
_PLAIN_PATH: Final = re.compile(r"[\w./-]+")
_DELETES_FILES: Final = frozenset(("-f", "-q", "-r", "--force", "--quiet"))
_LOST: Final = "throws away changes that are not committed"


def read_git(walk: LineWalk, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what git does, by subcommand.

    Raises:
        NotUnderstood: a subcommand, an option, a repository or an operand is not understood.
    """
    words = _read_folder(walk, words, deed)
    sub, entry, rest = _find_entry(walk, words)
    _check_repository(walk, deed)
    deed.program = f"git {sub.replace('/', ' ')}"
    given = _with_pathspecs(sub, entry, parse_options(entry, rest))
    if entry.effect:
        deed.add_effect(entry.effect)
    marks = given.marks
    if entry.needs_option and "need" not in marks:
        raise NotUnderstood(f"{deed.program} that may set something")
    refuse_refs_of_others(walk, sub, deed.program, given)
    if "discard" in marks:
        deed.does = {"discard": "deletes, moves or overwrites"}
    _BY_SUB.get(sub, _read_plain)(walk, entry, given, deed)
    if _brings_files(sub, given):
        walk.age(walk.here(deed), itself=False)
    if sub == "checkout":
        _refuse_none(rest, given, walk, deed)
    if sub == "ls-files" and _lists_known_files(given):
        deed.found = [NamedPath(one.path, one.real, "**") for one in walk.here(deed)]


def _with_pathspecs(sub: str, entry: ProgramEntry, given: GivenArguments) -> GivenArguments:
    """Return the arguments with each operand that is a path as the pattern that it is for git."""
    if sub == "apply":
        return given
    paths = (entry.operands.kind_of(number) in _PATHSPECS for number in range(len(given.operands)))
    operands = zip(given.operands, paths, strict=True)
    return given._replace(
        operands=tuple(_as_pathspec(word) if is_path else word for word, is_path in operands)
    )


def _as_pathspec(word: Word) -> Word:
    """Return what a path means for git, which reads patterns itself: in quotes, at any depth.

    Raises:
        NotUnderstood: it begins with a sign that changes what it means.
    """
    text = word.exact
    if text is None:
        return word._replace(is_pathspec=True)
    if _LEAVES_OUT.match(text):  # of all that is there
        return plain_word(".")
    if text.startswith(_MAGIC):
        raise NotUnderstood(f"a path of git with a sign before it: {text}")
    if text[:1] == ":":
        word = plain_word(text.lstrip(":") or ".")
        text = word.exact or ""
    if _SIGNS.search(text):
        word = Word((Piece("glob", f"**/{text}"),))
    return word._replace(is_pathspec=True)


def _lists_known_files(given: GivenArguments) -> bool:
    """Return whether `git ls-files` lists none that git ignores, as secrets are."""
    if given.names & _LISTS_OTHERS:
        return False
    return not given.names & {"-o", "--others"} or "--exclude-standard" in given.names


def _read_folder(walk: LineWalk, words: tuple[Word, ...], deed: Deed) -> tuple[Word, ...]:
    at = 0
    while at < len(words):
        if words[at].exact == "-C" and at + 1 < len(words):
            paths = walk.at(words[at + 1], deed.folders)
            deed.folders = tuple(dict.fromkeys(path.written for path in paths))
            at += 1
        elif words[at].exact != "--no-pager":
            break
        at += 1
    return words[at:]


def _find_entry(
    walk: LineWalk, words: tuple[Word, ...]
) -> tuple[str, ProgramEntry, tuple[Word, ...]]:
    entries = walk.table.entries.get("git", {})
    first = words[0].exact if words else None
    if not first or first.startswith("-"):
        raise NotUnderstood(f"the option {words[0].shown if words else ''} of git")
    both = f"{first}/{words[1].exact}" if len(words) > 1 else ""
    if both in entries:
        return both, entries[both], words[2:]
    if first not in entries:
        raise NotUnderstood(f"git {first}")
    return first, entries[first], words[1:]


def _check_repository(walk: LineWalk, deed: Deed) -> None:
    for folder in deed.folders:
        if walk.facts.repository(folder) != "own":
            raise NotUnderstood(f"git in {folder}, where it finds another repository")
    for earlier in walk.deeds:
        written = [*earlier.writes, *earlier.into]
        if not written:
            continue
        into_folder = any(path.path in deed.folders for path in earlier.into)
        names = {path.path.rpartition("/")[2] for path in written}
        if into_folder or names & _REPOSITORY_FILES:
            raise NotUnderstood("git after a step that may write a repository")


def _brings_files(sub: str, given: GivenArguments) -> bool:
    """Return whether files of another commit may come: a new branch begins where it is made."""
    makes = bool(given.names & _MAKES_BRANCH)
    match sub:
        case "checkout":  # whose first operand is the name of the new one
            return not makes or len(given.operands) > 1
        case "switch":
            return not makes or len(given.operands) > 0
        case "restore":
            return not given.names & _INDEX_ALONE
        case "reset":
            return bool(given.names & _CHANGES_FILES)
    return sub in _BRINGS_FILES


def _read_plain(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    sub = deed.program.removeprefix("git ").replace(" ", "/")
    apply_arguments(walk, entry, given, deed)
    for one in given.options:
        if one.name == "-L" and one.value is not None and ":" in (one.value.exact or ""):
            _add_path(walk, one.value, deed)
    if sub in _TAKES_NOTHING and given.operands:
        raise NotUnderstood(f"{deed.program} {given.operands[0].shown}")
    if sub in _READS_NO_FILES:
        return
    first = 1 if sub == "grep" and given.names & _GIVES_PATTERNS else 0  # no operand is the text
    for number, word in enumerate(given.operands, first):
        if entry.operands.kind_of(number) == "ref":
            _add_path(walk, word, deed)
    if not given.operands and not entry.effect:
        deed.reads += walk.here(deed)


def _add_path(walk: LineWalk, word: Word, deed: Deed) -> None:
    """Add what an operand reads that may be a revision, a path, or a path in a revision."""
    text = word.exact
    if text is not None and ":" in text and not text.startswith(_MAGIC):
        word = plain_word(text.rpartition(":")[2] or ".")
    elif text is not None and text.startswith("@"):  # a revision: git reads no options of a file
        word = plain_word(f"./{text}")
    apply_kind(walk, "read", _as_pathspec(word), deed)


def _read_restore(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    apply_arguments(walk, entry, given, deed)
    if not given.names & {"--staged", "-S"}:
        deed.writes += deed.lists
        deed.does = {"discard": _LOST}


def _read_removal(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    _read_plain(walk, entry, given, deed)
    deed.writes += deed.reads
    plain = all(_PLAIN_PATH.fullmatch(word.exact or "") for word in given.operands)
    if deed.program == "git rm" and plain and given.operands and given.names <= _DELETES_FILES:
        deed.deletes += deed.reads  # no more than the files that it names
        deed.does = {"commit": ""}


def _read_move(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    apply_arguments(walk, entry, given, deed)
    add_lost_sources(walk, deed.writes[-len(deed.folders) :], deed.reads, deed)


def _read_checkout(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    apply_arguments(walk, entry, given, deed)
    for word in given.operands:
        _add_path(walk, word, deed)


def _refuse_none(
    words: tuple[Word, ...], given: GivenArguments, walk: LineWalk, deed: Deed
) -> None:
    """Say what `git checkout` throws away, unless it makes a branch or goes to one."""
    texts = [word.exact for word in given.operands]
    makes = "-b" in given.names and len(texts) in (1, 2)
    goes = "-b" not in given.names and len(texts) == 1 and texts[0] is not None
    dashes = any(word.exact == "--" for word in words)
    if not makes and (dashes or not goes or not walk.facts.is_branch(texts[0] or "")):
        deed.does = {"discard": _LOST}
        deed.writes += deed.reads


def _read_clean(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    apply_arguments(walk, entry, given, deed)
    if given.names & {"-n", "--dry-run"}:
        deed.does.clear()
        return
    for word in given.operands:
        _add_path(walk, word, deed)
    deed.writes += deed.reads


def _read_branch(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    apply_arguments(walk, entry, given, deed)
    listing = _LISTS_TAGS if deed.program == "git tag" else _LISTS_BRANCHES
    lists = not given.names & _SETS_UPSTREAM and (not given.operands or given.names & listing)
    if lists and "discard" not in deed.does:
        deed.does.clear()


def _read_remote(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    apply_arguments(walk, entry, given, deed)
    texts = [word.exact for word in given.operands]
    if None in texts or any(_ADDRESS.search(text or "") for text in texts):
        raise NotUnderstood(f"{deed.program} of this form")
    if deed.program == "git push":
        deed.add_effect("send", "publishes commits")
    if deed.program == "git pull":
        deed.add_effect("commit", "merges what it fetches")
    name = (texts[0] if texts else None) or "origin"
    host = walk.facts.remote_host(name)
    if not host and walk.facts.given.remotes is not None:
        raise NotUnderstood(f"{deed.program} with {name}, which is not a remote of the repository")
    if deed.program in ("git fetch", "git pull"):
        refuse_sources_of_others(walk, deed.program, name, given.operands[1:])
    deed.hosts.append(host)


def _read_settings(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    """Read one setting by a plain name. Others may hold a token, and so may a list of all."""
    apply_arguments(walk, entry, given, deed)
    lists = given.names & {"-l", "--list"} and "--name-only" not in given.names
    texts = [word.exact or "" for word in given.operands]
    if lists or not all(map(_PLAIN_SETTING.fullmatch, texts)):
        raise NotUnderstood("git config that may print a secret")


_Reader = Callable[[LineWalk, ProgramEntry, GivenArguments, Deed], None]
_BY_SUB: Final[dict[str, _Reader]] = {
    "restore": _read_restore,
    "rm": _read_removal,
    "stash/push": _read_removal,
    "mv": _read_move,
    "checkout": _read_checkout,
    "clean": _read_clean,
    "branch": _read_branch,
    "tag": _read_branch,
    "fetch": _read_remote,
    "pull": _read_remote,
    "push": _read_remote,
    "config": _read_settings,
    "ls-remote": _read_remote,
    "remote/show": _read_remote,
    "remote/prune": _read_remote,
}
