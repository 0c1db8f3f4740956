"""Read programs that copy, move, link and make files: which names come, go and change.

Rule 1: a target may be the name itself or a folder of that name; both are written.
Rule 2: what may bring a link ages every path through it (see `deeds`).
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk, NamedPath
from critic.command.operand_kinds import apply_arguments
from critic.command.path_effects import TEMPORARY_FOLDERS, PathEffects
from critic.command.program_options import GivenArguments, parse_options
from critic.command.shell_facts import is_below
from critic.command.shell_syntax import NotUnderstood, Word

_DEEP: Final = frozenset(("-r", "-R", "-a", "--recursive", "--archive"))
_SYMBOLIC: Final = frozenset(("-s", "--symbolic"))
_KEEPS_LINKS: Final = _DEEP | {"-d", "-P"}
_FOLLOWS_LINKS: Final = frozenset(("-L", "--dereference"))
_MODE: Final = re.compile(r"[ugoa]*[+-][rwxX]+|[0-7]{3,4}")
_WIDE_MODE: Final = re.compile(r"[2467]\d{3}|777|.*s.*")
_COMPILER_FLAG: Final = re.compile(
    r"-(O\w*|W[a-z=-]+|std=[\w+]+|l[\w.]+|f[a-z-]+|g\d?|m[a-z0-9=-]+)"
)
_ONLY_PRINTS: Final = frozenset(("-c", "-l", "-t", "--list", "--stdout", "--test"))
_PACKED: Final = re.compile(r"\.gz$|-gz$|[._-]z$|\.t[ag]z$", re.IGNORECASE)
_LOADS_CODE: Final = re.compile(r"-fplugin.*|-W[lpa],.*|-fuse.*|-fprofile.*|-fdump.*|-fcallgraph.*")


def read_copy(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what `cp` reads and writes.

    Raises:
        NotUnderstood: an option or a path is not understood.
    """
    given = parse_options(entry, words)
    target = _add_transfer(walk, given, deed)
    is_deep = not _DEEP.isdisjoint(given.names)
    if is_deep:
        deed.into += target
    follows = is_deep and not _FOLLOWS_LINKS.isdisjoint(given.names)
    _bring_folders(walk, deed, target, is_deep=is_deep, follows=follows)
    if given.names & _KEEPS_LINKS:
        _age_arrivals(walk, deed)
    walk.age_links([*deed.writes, *deed.into])


def read_move(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what `mv` reads, writes and takes away.

    Raises:
        NotUnderstood: an option or a path is not understood.
    """
    given = parse_options(entry, words)
    target = _add_transfer(walk, given, deed)
    _bring_folders(walk, deed, target, is_deep=True)
    sources = [path for word in given.operands[:-1] for path in walk.at(word, deed.folders)]
    add_lost_sources(walk, deed.writes + deed.into, sources, deed)
    deed.into += [path for path in deed.writes if not path.pattern]
    deed.writes += sources
    deed.into += [path for path in sources if not path.pattern]
    _age_arrivals(walk, deed)
    walk.age_links([*deed.writes, *deed.into])


def add_lost_sources(
    walk: LineWalk, targets: Iterable[NamedPath], sources: Iterable[NamedPath], deed: Deed
) -> None:
    """Add that what goes to where nothing is kept is as good as deleted.

    A later step may remove it there, of this line or another, and nobody would be asked.
    """
    effects = PathEffects(walk.facts.given, walk.names)
    if any(effects.is_kept_nowhere(path) for path in targets):
        deed.deletes += sources


def read_link(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what `ln` reads and writes: what it leads to is read, and written by its name.

    By a link with `-s` to what is outside of the project, nothing is written without a question.

    Raises:
        NotUnderstood: an option or a path is not understood.
    """
    given = parse_options(entry, words)
    if any(word.exact is None or ".." in word.exact.split("/") for word in given.operands):
        raise NotUnderstood("a link of this form")
    _add_transfer(walk, given, deed)
    root, is_hard = walk.facts.given.root, not given.names & _SYMBOLIC
    deed.writes += [one for one in deed.reads if is_hard or is_below(one.path, root)]
    deed.note = "makes a link"
    walk.age([*deed.writes, *deed.into], itself=True)


def _add_transfer(walk: LineWalk, given: GivenArguments, deed: Deed) -> list[NamedPath]:
    """Add sources and the target; return the target."""
    if len(given.operands) < 2:
        raise NotUnderstood(f"{deed.program} with one argument")
    *sources, last = given.operands
    if last.splits:
        raise NotUnderstood("a pattern as the target")
    target = walk.at(last, deed.folders)
    for word in sources:
        read = walk.at(word, deed.folders)
        deed.reads += read
        for path in target:
            if word.exact is None:
                deed.into.append(path)
            else:
                name = read[0].path.rpartition("/")[2]
                deed.writes.append(walk.below(path, name))
    deed.writes += target
    return target


def _bring_folders(
    walk: LineWalk, deed: Deed, target: list[NamedPath], *, is_deep: bool, follows: bool = False
) -> None:
    """Say whether what is not of the project may come with files of unknown names in it.

    `is_deep`: folders come with all that is in them; `follows`: also with what links lead to.
    """
    root = walk.facts.given.root
    outside = [one for one in deed.reads if not all(is_below(path, root) for path in one.spellings)]
    if follows or any(_may_hold_any(walk, path, is_deep=is_deep) for path in outside):
        deed.brings = True
        walk.fill(target)


def _may_hold_any(walk: LineWalk, path: NamedPath, *, is_deep: bool) -> bool:
    if path.pattern:
        return is_deep or walk.names.may_be_protected(path.pattern.rpartition("/")[2])
    if is_deep and any(map(walk.aged.have_filled, path.spellings)):
        raise NotUnderstood(f"a folder that an earlier step may have filled: {path.shown}")
    return is_deep and walk.facts.is_folder(path.real)


def _age_arrivals(walk: LineWalk, deed: Deed) -> None:
    """Age what came: it may be a link itself if a source is one, or is not known."""
    linked = any(path.path != path.real or path.pattern for path in deed.reads)
    walk.age([*deed.writes, *deed.into], itself=linked)


def read_mkdir(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add the folders that are made, and the parents that may be.

    Raises:
        NotUnderstood: an option or a path is not understood.
    """
    apply_arguments(walk, entry, parse_options(entry, words), deed)
    if any(_climbs_back(word.shown) for word in words):
        raise NotUnderstood("mkdir of a path with .. after a folder that it may make")
    there = (*deed.folders, walk.facts.given.root, walk.facts.given.home, *TEMPORARY_FOLDERS)
    for path in tuple(deed.writes):
        deed.writes += walk.count_paths(_parents(path.real, there))


def _climbs_back(path: str) -> bool:
    """Return whether a path goes up again from a folder that it names."""
    names = [part for part in path.split("/") if part not in ("", ".")]
    return any(before != ".." and part == ".." for before, part in pairwise(names))


def _parents(path: str, there: Iterable[str]) -> Iterable[NamedPath]:
    parent = path.rpartition("/")[0]
    while len(parent) > 1 and not any(is_below(one, parent) for one in there):
        yield NamedPath(parent, parent)
        parent = parent.rpartition("/")[0]


def read_chmod(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add the files whose mode changes.

    Raises:
        NotUnderstood: the mode is wide, or has another form.
    """
    mode = words[0].exact if words else None
    if mode is None or not _MODE.fullmatch(mode) or _WIDE_MODE.fullmatch(mode):
        raise NotUnderstood("chmod of this form")
    apply_arguments(walk, entry, parse_options(entry, words), deed)


def read_zip(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add the archive that `zip` writes, and the files that it reads.

    Raises:
        NotUnderstood: an option or a path, or an archive that would get another name.
    """
    given = parse_options(entry, words)
    archive = given.operands[0].exact if given.operands else None
    if archive is None or "." not in archive.rpartition("/")[2].strip("."):
        raise NotUnderstood("an archive without an ending, to which zip adds one")
    apply_arguments(walk, entry, given, deed)


def read_unzip(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add the archive that is read, and the folder into which files and links come.

    Raises:
        NotUnderstood: an option or a path is not understood.
    """
    given = parse_options(entry, words)
    if "need" not in given.marks:
        raise NotUnderstood("unzip to where it stands")
    apply_arguments(walk, entry, given, deed)
    deed.brings = True
    walk.fill(deed.into)
    walk.age(deed.into, itself=True)


def read_gzip(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add the files that `gzip` reads, makes and takes away.

    Raises:
        NotUnderstood: an option or a path is not understood.
    """
    given = parse_options(entry, words)
    apply_arguments(walk, entry, given, deed)
    named, deed.writes = deed.writes, []
    deed.reads += named
    if given.names & _ONLY_PRINTS:
        return
    deed.writes += named
    for path in named:
        for name in _packed_names(path.pattern or path.written):
            if path.pattern:
                deed.writes += walk.count_paths([path._replace(pattern=name)])
            else:
                deed.writes.append(walk.below(path, name))


def _packed_names(name: str) -> Iterator[str]:
    """Yield what a file is called once it is packed or unpacked, whichever is done.

    A pattern whose ending is not known may lose any.
    """
    yield f"{name}.gz"
    bare = _PACKED.sub("", name)
    yield f"{bare}.tar" if name.lower().endswith((".tgz", ".taz")) else bare
    if name.endswith(("*", "?", "]")):
        yield re.sub(r"[^/]*$", "*", name, count=1)


def read_compiler(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what a compiler reads and writes.

    Raises:
        NotUnderstood: an option or a path is not understood.
    """
    texts = [word.exact or "" for word in words]
    if any(_LOADS_CODE.fullmatch(text) for text in texts):
        raise NotUnderstood("an option that loads code or writes files of other names")
    listed = tuple(word for word in words if not _COMPILER_FLAG.fullmatch(word.exact or ""))
    given = parse_options(entry, listed)
    apply_arguments(walk, entry, given, deed)
    deed.scripts += deed.reads
    if not given.names & {"-o", "-fsyntax-only"} and "-fsyntax-only" not in texts:
        for folder in walk.here(deed):
            deed.writes.append(walk.below(folder, "a.out"))
            if {"-c", "-S"} & given.names:
                deed.into.append(folder)
