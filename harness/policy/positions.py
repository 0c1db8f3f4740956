"""Find the positions of keys and elements in a TOML or JSON text.

`tomllib` and `jiter` drop the lines of a text. tomlkit and the tree-sitter grammars keep them, but
are a second reader, which may understand the text differently. This module reads nothing: it walks
over a text that was already read, so it need not refuse anything, and a test compares it with the
values of the readers.
"""

import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from evals.escaping import pointer

Parts = tuple[str | int, ...]

MAX_LEVELS: Final = 80
"""How many levels are walked: those of an envelope, and 64 for a JSON value in one."""

_BLANK: Final = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_STRING: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_DOT: Final = re.compile(r"[ \t]*\.[ \t]*")
_ASSIGN: Final = re.compile(r"[ \t\r\n]*[=:]")
# A date may have a space before its time.
_PLAIN: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]*|[^\s,\]}#]+")
_ANY_MARK: Final = re.compile(r"#[ \t]*(?:guessed|from task|todo)\b", re.IGNORECASE)
_MARK: Final = re.compile(
    r"[ \t]*,?[ \t]*#[ \t]*(?:guessed|from task|(?P<open>todo))\b", re.IGNORECASE
)
_PIECE: Final = re.compile(rf"{_STRING.pattern}|#[^\n]*|[\[\]{{}}]|[^\"'#\[\]{{}}]+", re.DOTALL)


def toml_lines(text: str) -> dict[str, int]:
    """Return the line of each key and element of a valid TOML text, by JSON pointer."""
    return TextWalk(text).document()


def toml_marks(text: str) -> dict[str, bool]:
    """Return the places of a valid TOML text that are marked as guessed or open.

    A mark is a comment after a value, on its last line: `# guessed: WORD`, `# from task ID` if a
    recorded task proposed it, or `# TODO`.
    The key is a JSON pointer; the value is whether the place is open, rather than guessed.
    """
    if _ANY_MARK.search(text) is None:
        return {}
    walk = TextWalk(text)
    walk.document()
    return walk.marks


def json_lines(text: str) -> dict[str, int]:
    """Return the line of each key and element of a valid JSON text, by JSON pointer."""
    walk = TextWalk(text)
    walk.skip_blank()
    walk.value(())
    return walk.lines


def line_of(lines: Mapping[str, int], path: str) -> int:
    """Return the line of a JSON pointer, or of the nearest known place around it."""
    while path and path not in lines:
        path = path.rpartition("/")[0]
    return lines.get(path, 1)


class TextWalk:
    """Walks over a text once, and records the lines of keys and elements."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._arrays: dict[Parts, int] = {}
        self.lines: dict[str, int] = {}
        self.marks: dict[str, bool] = {}

    def document(self) -> dict[str, int]:
        """Walk over a TOML text."""
        table: Parts = ()
        self.skip_blank()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._member(table)
            self.skip_blank()
        return self.lines

    def _header(self) -> Parts:
        start = self._at
        is_array = self._text.startswith("[[", start)
        self._at += 2 if is_array else 1
        self._skip(re.compile(r"[ \t]*"))
        keys = self._keys()
        self._at = self._text.index("]", self._at) + (2 if is_array else 1)
        path: Parts = ()
        for position, key in enumerate(keys):
            path = (*path, key)
            self._note(path, start)
            if is_array and position == len(keys) - 1:
                self._arrays[path] = self._arrays.get(path, -1) + 1
            if path in self._arrays:
                path = (*path, self._arrays[path])
                self._note(path, start)
        self._note_mark(path)
        return path

    def _member(self, table: Parts) -> None:
        start = self._at
        path = table
        for key in self._keys():
            path = (*path, key)
            self._note(path, start)
        self._skip(_ASSIGN)
        self.skip_blank()
        self.value(path)
        self._note_mark(path)

    def _keys(self) -> list[str]:
        keys = [self._read_key()]
        while _DOT.match(self._text, self._at):
            self._skip(_DOT)
            keys.append(self._read_key())
        return keys

    def _read_key(self) -> str:
        if self._text[self._at] not in "\"'":
            return self._skip(_BARE)
        spelled = self._skip(_STRING)
        if spelled.startswith("'"):
            return spelled[1:-1]
        try:
            key: str = json.loads(spelled)
        except ValueError:  # an escape that only TOML has
            key = tomllib.loads(f"key = {spelled}")["key"]
        return key

    def value(self, path: Parts) -> None:
        """Walk over one value."""
        first = self._text[self._at]
        if first in "\"'":
            self._skip(_STRING)
        elif first not in "[{":
            self._skip(_PLAIN)
        elif len(path) >= MAX_LEVELS:
            self._skip_nested()
        elif first == "[":
            self._elements(path)
        else:
            self._walk_members(path)

    def _elements(self, path: Parts) -> None:
        self._at += 1
        self.skip_blank()
        index = 0
        while self._text[self._at] != "]":
            self._note((*path, index), self._at)
            self.value((*path, index))
            self._note_mark((*path, index))
            self.skip_blank()
            index += 1
        self._at += 1

    def _walk_members(self, path: Parts) -> None:
        self._at += 1
        self.skip_blank()
        while self._text[self._at] != "}":
            self._member(path)
            self.skip_blank()
        self._at += 1

    def _skip_nested(self) -> None:
        depth = 0
        while True:
            piece = self._skip(_PIECE)
            depth += (piece in ("[", "{")) - (piece in ("]", "}"))
            if depth == 0:
                return

    def skip_blank(self) -> None:
        """Skip white space, comments, and the commas between elements."""
        self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise ValueError(f"not valid at {self._at}: read the text before it is walked over")
        self._at = match.end()
        return match[0]

    def _note(self, path: Parts, offset: int) -> None:
        self.lines.setdefault(pointer(*path), bisect_right(self._ends, offset - 1) + 1)

    def _note_mark(self, path: Parts) -> None:
        if match := _MARK.match(self._text, self._at):
            self.marks[pointer(*path)] = match["open"] is not None
