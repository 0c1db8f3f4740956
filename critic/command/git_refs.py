"""Which refs of git lead to what anybody may have written, so that no step takes files from them.

Rule 1: a branch of the repository is the project's own, and so is the branch of a remote that one
        follows. Another branch of a remote was looked at by nobody here.
Rule 2: what is fetched by name is a branch or a tag. Other refs of a remote are written by anybody,
        as those of pull requests are, and by an id a host gives what is on no branch.
Rule 3: so a tag or an id leads to what came by a branch, or with a yes. `FETCH_HEAD` may be either.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from critic.command.deeds import LineWalk
from critic.command.program_options import GivenArguments
from critic.command.shell_syntax import NotUnderstood, Word

_TAKES_FILES: Final = frozenset(("merge", "cherry-pick", "revert", "stash/pop", "stash/apply"))
_TAKES_PATHS_TOO: Final = frozenset(
    ("reset", *(f"bisect/{one}" for one in ("start", "good", "bad", "new", "old", "skip", "reset")))
)
_NAMES_FIRST: Final = frozenset(("branch", "tag"))
_NAMES_NO_START: Final = frozenset(
    ("-l", "--list", "-d", "-D", "--delete", "-m", "-M", "--move", "-c", "-C", "--copy")
)
_FOLLOWS: Final = frozenset(("-u", "--set-upstream-to"))
_GOES_ANYWHERE: Final = frozenset(("-c", "-C", "--create", "--force-create", "-d", "--detach"))
_RANGE: Final = re.compile(r"\.{2,3}")
_AFTER_NAME: Final = re.compile(r"[~^:]|@\{")
_KIND: Final = re.compile(r"(?:refs/)?(?:heads|remotes)/")
_TAG: Final = re.compile(r"(?:refs/)?tags/")
_WHOLE_ID: Final = re.compile(r"[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64}")


def refuse_refs_of_others(walk: LineWalk, sub: str, program: str, given: GivenArguments) -> None:
    """Raise if a step takes files, or begins a branch, where anybody may have written.

    Raises:
        NotUnderstood: it does.
    """
    only_branches = sub == "switch" and not given.names & _GOES_ANYWHERE
    for word in _starts(sub, given):
        for text in _RANGE.split(word.exact or ""):
            name = _AFTER_NAME.split(text.removeprefix("^"), maxsplit=1)[0]
            guesses = only_branches and name not in ("", "-") and not _is_followed(walk, name)
            if guesses or _is_of_others(walk, text, name, may_be_path=sub in _TAKES_PATHS_TOO):
                raise _no_branch(program, word)


def refuse_sources_of_others(
    walk: LineWalk, program: str, remote: str, sources: Iterable[Word]
) -> None:
    """Raise if what is fetched from a remote, or merged from it, may be of anybody.

    Raises:
        NotUnderstood: it is.
    """
    for word in sources:
        source, colon, _ = (word.exact or "").partition(":")
        name = source.removeprefix("refs/heads/")
        is_followed = name == "HEAD" or _is_followed(walk, f"{remote}/{name}")
        stays_apart = program == "git fetch" and not colon
        is_written_here = name != source or "/" not in name or _TAG.match(name)
        if not is_followed and not (
            stays_apart and is_written_here and not _WHOLE_ID.fullmatch(name)
        ):
            raise _no_branch(program, word)


def _is_followed(walk: LineWalk, name: str) -> bool:
    """Return whether a name is of a branch, or of one that a branch follows, or not yet known."""
    return walk.facts.is_branch(name) or walk.facts.given.refs is None


def _no_branch(program: str, word: Word) -> NotUnderstood:
    return NotUnderstood(f"{program} of what is on no branch of the project: {word.shown}")


def _starts(sub: str, given: GivenArguments) -> Iterator[Word]:
    """Yield the revisions whose files come now, or with the branch or tag that is made of them."""
    if sub in _TAKES_FILES or sub == "switch":
        yield from given.operands
    elif sub in _TAKES_PATHS_TOO:
        yield from (word for word in given.operands if word.exact is not None)
    elif sub == "checkout" and "-b" in given.names:
        yield from given.operands[1:]
    elif sub in _NAMES_FIRST:
        if not given.names & _NAMES_NO_START:
            yield from given.operands[1:]
        for one in given.options:
            if one.name in _FOLLOWS and one.value is not None:
                yield one.value


def _is_of_others(walk: LineWalk, text: str, name: str, *, may_be_path: bool) -> bool:
    if name.upper().endswith("FETCH_HEAD"):
        return True
    if text.startswith(":"):  # the newest commit of all with some words
        return not may_be_path
    known = _KIND.sub("", name, count=1)
    if "/" not in name or _TAG.match(name) or _is_followed(walk, known):
        return False
    if may_be_path and known == name and not name.startswith("refs/"):
        return walk.facts.remote_host(name.partition("/")[0]) != ""
    return True
