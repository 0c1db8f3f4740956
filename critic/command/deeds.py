"""What one command of a line does, and the state in which a line is read.

Rule 1: a deed says at least what the command does. Where a folder is one of several, all count.
Rule 2: a path is taken as the system walks it: every link is followed but one in the last place.
Rule 3: facts age: a path through what an earlier command of the line may have linked, moved or
        removed is not understood.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from critic.command.aged_paths import AgedPaths
from critic.command.command_table import CommandTable, OwnEffect
from critic.command.shell_facts import KnownFacts, join_path
from critic.command.shell_syntax import NotUnderstood, Word, plain_word

Folders: TypeAlias = tuple[str, ...]
"""The folders in which a command may run, each absolute and with the links of `cd` in it."""

ENVIRONMENT: Final = "/proc/self/environ"
"""The path that stands for the variables of the environment."""

_MOST_FOLDERS: Final = 8
_MOST_PARTS: Final = 50
_MOST_PATHS: Final = 1_000
_MOST_PATTERNS: Final = 100


class NamedPath(NamedTuple):
    """A path of a command: `path` with a link in its last place kept, `real` with none.

    `pattern`: names below `path` that are meant, instead of the path itself. `written`: the path
    with its `..` as written, by which the world is asked; none for what `find` meets below its
    folders, where it follows no link.
    """

    path: str
    real: str
    pattern: str = ""
    written: str = ""

    @property
    def spellings(self) -> tuple[str, ...]:
        """The paths by which it is known."""
        return (self.path,) if self.path == self.real else (self.path, self.real)

    @property
    def shown(self) -> str:
        """The path as a message shows it, not yet escaped."""
        return f"{self.path.rstrip('/')}/{self.pattern}" if self.pattern else self.path


@dataclass(slots=True)
class Deed:
    """What one program does.

    `runs`: a program is started with `argv`, in which None stands for any number of words; a part
    of a shell is not. `does` are effects beside those on paths. `run_kinds`: what code of the
    repository is run for, each by name and by the words that ask for it. `sources` are the deeds,
    by number, whose output it reads. `found`: what it prints are names of these files.
    `brings`: what comes `into` its folders may have any name, also that of a repository.
    `wraps`: another program does the rest. `note`: what a person should know of it. `is_finished`:
    it is one of the line. `assigns`: variables are set for it. `feeds`: text of the line is its
    input. `mixes`: what it prints are its errors too.
    """

    text: str
    folders: Folders
    program: str = ""
    runs: bool = False
    argv: tuple[Word | None, ...] = ()
    reads: list[NamedPath] = field(default_factory=list)
    lists: list[NamedPath] = field(default_factory=list)
    writes: list[NamedPath] = field(default_factory=list)
    into: list[NamedPath] = field(default_factory=list)
    deletes: list[NamedPath] = field(default_factory=list)
    scripts: list[NamedPath] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    run_kinds: list[tuple[str, ...]] = field(default_factory=list)
    does: dict[OwnEffect, str] = field(default_factory=dict)
    sources: list[int] = field(default_factory=list)
    found: list[NamedPath] = field(default_factory=list)
    brings: bool = False
    wraps: bool = False
    note: str = ""
    is_finished: bool = False
    assigns: bool = False
    feeds: bool = False
    mixes: bool = False

    def add_effect(self, effect: OwnEffect, why: str = "") -> None:
        """Add an effect; the first reason for one is kept."""
        self.does.setdefault(effect, why)


Stdin: TypeAlias = list[int] | Literal["text", "file"]
"""Where a command reads from: the deeds before it in a pipe, text of the line, or a file."""


class LineWalk(ABC):
    """The state in which the commands of a line are read, one after the other."""

    def __init__(self, facts: KnownFacts, table: CommandTable, aged: AgedPaths) -> None:
        """Begin a line, with what is aged from the start."""
        self.facts: Final = facts
        self.table: Final = table
        self.names: Final = table.names
        self.deeds: list[Deed] = []
        self.aged: Final = aged
        self._paths = self._patterns = 0
        self.exported = ""  # a variable that no program may read, since its value is any

    @abstractmethod
    def run_words(self, words: Sequence[Word], deed: Deed, stdin: Stdin) -> None:
        """Read the words of a program that another one starts, and finish its deed."""

    @abstractmethod
    def run_text(self, text: str, deed: Deed, stdin: Stdin, *, extended: bool) -> None:
        """Read a text that another shell runs."""

    def finish(self, deed: Deed) -> int:
        """Add a deed to the line; return its number."""
        deed.is_finished = True
        self.deeds.append(deed)
        return len(self.deeds) - 1

    def add_inner(self, deed: Deed, number: int) -> None:
        """Note that a deed prints what those print that were added after its number."""
        deed.sources.extend(range(number + 1, len(self.deeds)))

    def at(self, word: Word, folders: Folders, *, what: str = "a path") -> list[NamedPath]:
        """Return the paths that a word names, one for each folder.

        Raises:
            NotUnderstood: the path is known only when the line runs, or went through a fact that
                an earlier command of the line may have changed.
        """
        word = word.fill_in(self.facts.given.home)
        if word.varies:
            raise NotUnderstood(f"{what} that is known only when it runs: {word.shown}")
        text, pattern = word.exact, ""
        if text is None:
            shown = word.shown
            head = word.prefix.rpartition("/")
            text = head[0] + head[1]
            pattern = shown[len(text) :]
            if ".." in pattern.split("/"):
                raise NotUnderstood("a pattern with .. after it")
        paths = [self._named_path(folder, text, pattern, word) for folder in folders]
        return [path._replace(written="") for path in paths] if word.found_below else paths

    def below(self, folder: NamedPath, name: str) -> NamedPath:
        """Return the path of a name in a folder, as the system walks it."""
        return self._named_path(folder.written or folder.path, name, "", plain_word(name))

    def here(self, deed: Deed) -> list[NamedPath]:
        """Return the folders of a deed as paths."""
        return self.at(plain_word("."), deed.folders)

    def _named_path(self, folder: str, text: str, pattern: str, word: Word) -> NamedPath:
        written = join_path(folder, text)
        if written.count("/") > _MOST_PARTS:
            raise NotUnderstood("a path through more than 50 folders")
        self._count_path(pattern)
        parent, _, last = written.rpartition("/")
        real = self.facts.real_path(written)
        if last in ("", "..") or pattern or text.endswith(("/", "/.")) or text in ("", "."):
            path = real
        else:
            path = join_path(self.facts.real_path(parent or "/"), last)
        if self.aged and not word.is_pathspec:
            self._refuse_aged(written, text, NamedPath(path, real, pattern, written), word)
        return NamedPath(path, real, pattern, written)

    def count_paths(self, paths: Iterable[NamedPath]) -> list[NamedPath]:
        """Return paths that were not read from a word, once they are counted.

        Raises:
            NotUnderstood: the line has too many.
        """
        found = list[NamedPath]()
        for path in paths:
            self._count_path(path.pattern)
            found.append(path)
        return found

    def _count_path(self, pattern: str) -> None:
        self._paths += 1
        self._patterns += pattern != ""
        if self._paths > _MOST_PATHS:
            raise NotUnderstood("more than 1,000 paths")
        if self._patterns > _MOST_PATTERNS:
            raise NotUnderstood("more than 100 patterns of names")

    def _refuse_aged(self, written: str, text: str, named: NamedPath, word: Word) -> None:
        seen = False
        for part in text.split("/"):
            if part == ".." and seen:
                raise NotUnderstood(f"a path with .. after what may be a link: {word.shown}")
            seen = seen or part not in ("", ".", "..")
        for one in (written, named.path, named.real):
            if self.aged.cover(one, has_pattern=named.pattern != ""):
                raise NotUnderstood(
                    f"a path through what an earlier step may have linked: {word.shown}"
                )

    def age(self, paths: Iterable[NamedPath], *, itself: bool) -> None:
        """Note that what is below the paths is no longer known; `itself`: nor what they are."""
        for one in (one for path in paths for one in path.spellings):
            self.aged.add(one, itself=itself)

    def fill(self, paths: Iterable[NamedPath]) -> None:
        """Note that a repository may have come into folders."""
        for one in (one for path in paths for one in path.spellings):
            self.aged.fill(one)

    def age_links(self, paths: Iterable[NamedPath]) -> None:
        """Note that links among the paths may be gone, or others."""
        self.age((path for path in paths if path.path != path.real), itself=True)


def join_folders(*sets: Folders) -> Folders:
    """Return the folders of several sets.

    Raises:
        NotUnderstood: there are too many.
    """
    if sets.count(sets[0]) == len(sets):
        return sets[0]
    joined = tuple(dict.fromkeys(folder for one in sets for folder in one))
    if len(joined) > _MOST_FOLDERS:
        raise NotUnderstood("more than 8 folders in which a command may run")
    return joined
