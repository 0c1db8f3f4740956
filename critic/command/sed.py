"""Read scripts of sed: those that only print and change text are understood.

Not understood are `w`, `r`, `e` and the flags of `s` that write or run, a script that is known only
when it runs, and what implementations of sed read differently.
"""

import re
from typing import Final, NoReturn

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk, NamedPath
from critic.command.operand_kinds import apply_arguments
from critic.command.program_options import parse_options
from critic.command.shell_syntax import NotUnderstood, Word, plain_word

_ADDRESS: Final = re.compile(r"\d+(?:~\d+)?|\$|\+\d+")
_BLANKS: Final = re.compile(r"[ \t]*")
_SEPARATORS: Final = re.compile(r"[ \t\n;{}]*")
_FLAGS: Final = re.compile(r"[gpiIM0-9]*")
_LABEL: Final = re.compile(r"[ \t]*[A-Za-z0-9_]*")
_NUMBER: Final = re.compile(r"[ \t]*\d*")
_MAY_BE_SCRIPT: Final = re.compile(r"[\s;{}!]|^[\d$,]+[wre]")
_PLAIN: Final = "pdDPnNhHgGxz="
_LINE_END: Final = re.compile(r"(?:[^\\\n]|\\.)*", re.DOTALL)
_SUFFIX: Final = re.compile(r"[\w.~-]+")
_CLOSED_BRACKETS: Final = (
    re.compile(r"\\.|\[\^?+\]?+(?:\[:\w+:\]|[^\]\[])*\]", re.DOTALL),
    re.compile(r"\\.|\[\^?+\]?+(?:\\.|\[:\w+:\]|[^\\\]\[])*\]", re.DOTALL),
)
"""What is escaped, and brackets that are closed; a backslash in them escapes for some only."""


def read_sed(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what sed does: it reads its files, and with `-i` writes them.

    Raises:
        NotUnderstood: a script, a suffix or an option is not understood.
    """
    given = parse_options(entry, words)
    scripts = [one.value for one in given.options if one.option.kind == "script"]
    for script in scripts or given.operands[:1]:
        check_sed_script(script.exact if script else None)
    if "-i" in given.names and not scripts:
        for word in given.operands[1:2]:
            _add_other_script(walk, word, deed)
    read = apply_arguments(walk, entry, given, deed)
    for one in given.options:
        if "write" in one.option.marks:
            deed.writes += read
            suffix = one.value.exact if one.value else ""
            if suffix and not _SUFFIX.fullmatch(suffix):
                raise NotUnderstood("a suffix of this form")
            deed.writes += [_with_suffix(walk, path, suffix) for path in read if suffix]


def _add_other_script(walk: LineWalk, word: Word, deed: Deed) -> None:
    """Add what a first file does as a script: for BSD, what comes before it is a suffix.

    Raises:
        NotUnderstood: it can be a script that reads, writes or runs something.
    """
    text = word.exact or ""
    if _MAY_BE_SCRIPT.search(text):
        raise NotUnderstood("a file of sed that may be a script for some")
    if text.startswith("w"):
        deed.writes += walk.at(plain_word(text[1:]), deed.folders)


def _with_suffix(walk: LineWalk, path: NamedPath, suffix: str) -> NamedPath:
    if path.pattern:
        return NamedPath(path.path, path.real, f"{path.pattern}{suffix}")
    return walk.below(path, path.written + suffix)


def check_sed_script(script: str | None) -> None:
    """Refuse a script that may do more than print and change text.

    Raises:
        NotUnderstood: it may, or it is not known.
    """
    if script is None:
        raise NotUnderstood("a sed script that is known only when it runs")
    scan = _Scan(script)
    scan.skip(_SEPARATORS)
    while scan.at < len(script):
        scan.skip_addresses()
        scan.skip_command()
        scan.skip(_SEPARATORS)


class _Scan:
    """A place in a script of sed."""

    def __init__(self, text: str) -> None:
        self._text: Final = text
        self.at = 0

    def skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self.at)
        self.at = found.end() if found else self.at

    def skip_addresses(self) -> None:
        self._skip_address()
        self.skip(_BLANKS)
        if self._next() == ",":
            self.at += 1
            self.skip(_BLANKS)
            self._skip_address()
            self.skip(_BLANKS)
        while self._next() == "!":
            self.at += 1
            self.skip(_BLANKS)

    def skip_command(self) -> None:
        command = self._next()
        self.at += 1
        if command in ("s", "y"):
            delimiter = self._next()
            if not delimiter or delimiter in "\\\n" or delimiter.isalnum():
                self._fail()
            self.at += 1
            self._skip_part(delimiter)
            self._skip_part(delimiter)
            if command == "s":
                self.skip(_FLAGS)
        elif command in ("a", "i", "c"):
            self.skip(_LINE_END)
        elif command in (":", "b", "t", "T"):
            self.skip(_LABEL)
        elif command in ("q", "Q", "l"):
            self.skip(_NUMBER)
        elif command == "#":
            self.at = self._text.find("\n", self.at) % (len(self._text) + 1)
        elif command not in ("{", "}") and (not command or command not in _PLAIN):
            self._fail()
        self.skip(_BLANKS)
        if command not in ("{", "}") and self._next() not in ("", ";", "\n", "}"):
            self._fail()

    def _skip_address(self) -> None:
        if self._next() == "/":
            self.at += 1
            self._skip_part("/")
            while self._next() in ("I", "M"):
                self.at += 1
        else:
            self.skip(_ADDRESS)

    def _skip_part(self, delimiter: str) -> None:
        """Skip to the end of a part, which implementations agree on: no open bracket in it."""
        start = self.at
        while (char := self._next()) != delimiter:
            if char in ("", "\n"):
                self._fail()
            self.at += 2 if char == "\\" else 1
        part = self._text[start : self.at]
        if any("[" in brackets.sub("", part) for brackets in _CLOSED_BRACKETS):
            self._fail()
        self.at += 1

    def _next(self) -> str:
        return self._text[self.at : self.at + 1]

    def _fail(self) -> NoReturn:
        raise NotUnderstood("a sed script that may read, write or run something")
