"""Read expressions of find: what it lists, deletes, and runs for each file that it finds.

Rule 1: a test or an action that is not listed is not understood.
Rule 2: a program that find runs is read as one command for each folder, with any name below it.
Rule 3: what may be behind a link in the folders that it walks is not deleted, nor given to a
        program: `-L`, `-follow`, and folders by a pattern.
Rule 4: a program whose runs change what the next run means is not understood: `mv`, `cp`, `ln`.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk, NamedPath
from critic.command.name_expressions import patterns_of_regex
from critic.command.shell_syntax import NotUnderstood, Piece, Word, plain_word

_WITH_VALUE: Final = frozenset(
    (
        *("-name", "-iname", "-path", "-ipath", "-type", "-maxdepth", "-mindepth", "-size"),
        *("-mtime", "-mmin", "-atime", "-ctime", "-perm", "-user", "-group", "-regex", "-iregex"),
        *("-links", "-wholename", "-printf", "-cmin", "-amin", "-inum", "-uid", "-gid", "-used"),
        *("-newermt", "-newerat", "-newerct", "-lname", "-ilname", "-iwholename", "-regextype"),
    )
)
_ALONE: Final = frozenset(
    (
        *("-not", "-o", "-a", "-or", "-and", "-print", "-print0", "-ls", "-empty", "-prune"),
        *("-quit", "-executable", "-readable", "-writable", "-follow", "-xdev", "-mount"),
        *("-depth", "!", "(", ")", ",", "-daystart", "-nouser", "-nogroup", "-true", "-false"),
    )
)
_NAMES: Final = frozenset(
    (
        *("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"),
        *("-lname", "-ilname", "-samefile"),
    )
)
"""Tests of names: what is found may have them, though no name narrows what is."""

_COMPARES: Final = frozenset(("-newer", "-anewer", "-cnewer", "-samefile"))
"""Tests against a file, of which no more than its times and its number are read."""

_WORD: Final = re.compile(r"\w")
_FOLLOWS: Final = ("-L", "-follow")
_PRINTS_MORE: Final = frozenset(("-printf", "-ls"))
_WIDENS: Final = frozenset(("-o", "-or", "!", "-not", "(", ","))
_BRANCHES: Final = frozenset(("-o", "-or", ","))
_CHANGES_ITSELF: Final = frozenset(("mv", "cp", "ln", "tar"))
_ANY_NAME: Final = "**"


def _names_in(test: str, value: str) -> list[str]:
    """Return patterns of the names that a test may be about: of files, and of their folders."""
    found = list[str]()
    for pattern in patterns_of_regex(value) if "regex" in test else [value]:
        *folders, last = pattern.split("/")
        found += [last, *filter(_WORD.search, folders)]
        found += [f"{folder}/{last}" for folder in folders[-1:]]
    return [*dict.fromkeys(found)]


@dataclass(slots=True)
class _Expression:
    folders: list[Word]
    commands: list[tuple[Word, ...]]
    deletes: bool
    name: str
    compared: list[Word] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # names that some test is about
    follows: bool = False  # links below its folders too
    lists_only: bool = True  # what it prints are names, and nothing else


def read_find(walk: LineWalk, _entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what find does, and what it runs.

    Raises:
        NotUnderstood: a part of the expression is not understood.
    """
    read = _Reader(words).read()
    if (read.deletes or read.commands) and read.follows:
        raise NotUnderstood("find that follows links to what it deletes or hands to a program")
    for folder in read.folders:
        deed.lists += walk.at(folder, deed.folders)
    names = (read.name, *read.others)
    found = [NamedPath(path.path, path.real, name) for path in deed.lists for name in names]
    begins = [path for path in deed.lists if path.pattern]
    deed.found = [*found, *begins] if read.lists_only else []
    for word in read.compared:
        deed.lists += walk.at(word, deed.folders)
    if read.deletes:
        deed.deletes += [path for path in found if path.pattern == read.name]
        walk.age(found, itself=True)
    if not read.commands:
        return
    deed.reads += walk.count_paths(path for path in found if path.pattern != read.name)
    number = walk.finish(deed)
    for command in read.commands:
        for folder in read.folders:
            _run_for_each(walk, command, folder, read, deed)
    walk.add_inner(deed, number)


def _run_for_each(
    walk: LineWalk, command: tuple[Word, ...], folder: Word, read: _Expression, deed: Deed
) -> None:
    base = folder.exact
    if base is None or base.startswith("-"):
        raise NotUnderstood("find -exec below a pattern")
    below = tuple(one.exact or "" for one in read.folders)
    name = Word(
        (Piece("text", base.rstrip("/") + "/", quoted=True), Piece("glob", read.name)),
        found_below=below,
    )
    words = []
    for word in command:
        if word.exact == "{}":
            words.append(name)
        elif "{}" in word.shown:
            raise NotUnderstood("{} inside another word")
        else:
            words.append(word)
    inner = Deed(deed.text, deed.folders, sources=list(deed.sources))
    walk.run_words(words, inner, [])
    if inner.program in _CHANGES_ITSELF:
        raise NotUnderstood(f"{inner.program} for each file: a run changes what the next means")


class _Reader:
    def __init__(self, words: tuple[Word, ...]) -> None:
        self._words: Final = words
        self._at = 0
        self._widens = self._negates = False
        self._has_one_branch: Final = _BRANCHES.isdisjoint(word.exact for word in words)

    def read(self) -> _Expression:
        while self._exact() in ("-L", "-H", "-P"):
            self._at += 1
        follows = any(word.exact in _FOLLOWS for word in self._words)
        folders = self._read_folders()
        by_pattern = any(folder.globs for folder in folders)
        read = _Expression(folders, [], deletes=False, name="", follows=follows or by_pattern)
        while self._at < len(self._words):
            self._read_part(read)
        read.name = f"**/{read.name}" if read.name and not self._widens else _ANY_NAME
        read.others = [name for name in read.others if name != read.name]
        return read

    def _exact(self) -> str | None:
        return self._words[self._at].exact if self._at < len(self._words) else None

    def _read_folders(self) -> list[Word]:
        start = self._at
        while self._at < len(self._words):
            word = self._words[self._at]
            if word.prefix[:1] in ("-", "(", "!"):
                break
            if word.splits and not word.prefix:
                raise NotUnderstood("a pattern where find begins")
            self._at += 1
        return [*self._words[start : self._at]] or [plain_word(".")]

    def _read_part(self, read: _Expression) -> None:
        text = self._exact()
        if text is None:
            raise NotUnderstood("an expression of find that is known only when it runs")
        self._at += 1
        read.lists_only = read.lists_only and text not in _PRINTS_MORE
        if text in _WITH_VALUE | _COMPARES:
            value = self._exact()
            if value is None:
                raise NotUnderstood(f"the value of {text}")
            if text in _COMPARES:
                read.compared.append(self._words[self._at])
            self._at += 1
            # A test narrows only what comes after it.
            if text == "-name" and not read.name and not read.deletes and not read.commands:
                read.name = value if value and "/" not in value else _ANY_NAME
            if text in _NAMES and not (self._negates and self._has_one_branch):
                read.others += [f"**/{name}" for name in _names_in(text, value)]
        elif text == "-delete":
            read.deletes = True
        elif text == "-exec":
            read.commands.append(self._read_command())
        elif text not in _ALONE:
            raise NotUnderstood(f"find {text}")
        self._widens = self._widens or text in _WIDENS
        self._negates = text in ("!", "-not")

    def _read_command(self) -> tuple[Word, ...]:
        start = self._at
        while (text := self._exact()) != ";":
            if self._at >= len(self._words):
                raise NotUnderstood("-exec of this form")
            if text == "+" and self._words[self._at - 1].exact == "{}":
                break
            self._at += 1
        command = self._words[start : self._at]
        self._at += 1
        if not command:
            raise NotUnderstood("-exec of this form")
        return tuple(word._replace(start=0, end=0) for word in command)
