"""Values and names as texts show them: quoted, escaped and cut."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final
from unicodedata import bidirectional

from evals.canonical_json import canonical_json

LONGEST_TEXT: Final = 240
"""Characters of a text."""
LONGEST_VALUE: Final = 60
"""Characters of a value in a text to a model, escaped, without its quotes."""
LONGEST_ASKED: Final = 500
"""Characters of a value in a question to a person. A longer one says how long it is."""

_WIDTHS: Final = (LONGEST_VALUE, 40, 24, 12, 6)
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]++")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9_.@:/+#-]{1,60}")
_SPELLED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_BLANKS: Final = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters that show nothing."""


class Pen:
    """Writes values in so many characters each, and no more."""

    def __init__(self, width: int = LONGEST_VALUE, *, counts: bool = False) -> None:
        """Write values of up to `width` characters whole; `counts`: say how long a cut one is."""
        self._width: Final = width
        self._counts: Final = counts

    def quote(self, value: Any) -> str:
        """Return a value in quotes, whatever it is."""
        spelled = _spell_value(value)
        # An escape never makes a text shorter: what is cut off needs none.
        shown = self._cut(_escape_text(spelled[: self._width + 1]))
        is_cut = self._counts and shown != _escape_text(spelled[: self._width + 1])
        return f'"{shown}" ({len(spelled):,} characters)' if is_cut else f'"{shown}"'

    def show(self, value: Any) -> str:
        """Return a value as JSON has it: texts and what holds others in quotes, numbers without."""
        is_plain = value is None or type(value) in (bool, int, float)
        return self._cut(_spell_value(value)) if is_plain else self.quote(value)

    def word(self, value: Any) -> str:
        """Return a value within a sentence: in quotes unless it is one plain word or number."""
        shown = self.show(value)
        return value if type(value) is str and self._is_word(value) else shown

    def name(self, name: str) -> str:
        """Return the name of a tool or an argument: in quotes unless its characters are plain."""
        return self._cut(name) if _PLAIN_NAME.fullmatch(name) else self.quote(name)

    def names(self, names: Iterable[str], most: int = 8, last: str = "and") -> str:
        """Return names with commas, the first few of them."""
        known = list(names)
        shown = [self.name(name) for name in known[:most]]
        if more := len(known) - len(shown):
            shown.append(f"{more} more")
        *before, final = shown or ["none"]
        return f"{', '.join(before)} {last} {final}" if before else final

    def _is_word(self, value: str) -> bool:
        return len(value) <= self._width and _PLAIN_WORD.fullmatch(value) is not None

    def _cut(self, text: str) -> str:
        return text if len(text) <= self._width else f"{text[: self._width - 3]}..."


def write_text(make: Callable[[Pen], str]) -> str:
    """Return a text with its values cut so far that it fits, and cut itself if that is in vain."""
    text = ""
    for width in _WIDTHS:
        text = make(Pen(width))
        if len(text) <= LONGEST_TEXT:
            return text
    return f"{text[: LONGEST_TEXT - 3]}..."


def write_question(make: Callable[[Pen], str]) -> str:
    """Return a text in which a person sees values whole, or that they are cut."""
    return make(Pen(LONGEST_ASKED, counts=True))


def name_place(pen: Pen, path: Iterable[str | int]) -> str:
    """Return a place in the arguments as a model knows it: `to[1].email`."""
    shown = ""
    for part in path:
        if type(part) is int:
            shown += f"[{part}]"
        else:
            shown += f".{pen.name(str(part))}" if shown else pen.name(str(part))
    return shown


def _spell_value(value: Any) -> str:
    return value if type(value) is str else canonical_json(value).decode()


def _escape_text(text: str) -> str:
    return "".join(map(_escape_character, text))


def _escape_character(char: str) -> str:
    if char in _SPELLED:
        return _SPELLED[char]
    if " " <= char <= "~":
        return char
    if char.isalnum() and char not in _BLANKS and bidirectional(char) in ("L", "EN"):
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
