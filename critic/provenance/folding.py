"""The two forms of a text: the narrow one grants, the wide one doubts.

Rule 1: a verdict does not change with Python. Compatibility forms and cases are those of Unicode
        3.2, and words and spaces are listed, not looked up.
Rule 2: the narrow form is what a tool would use: only case, runs of white space, and the shape of
        quotes do not count. Case is that of characters that have one capital and one small form.
Rule 3: the wide form is what a reader takes for the same. Compatibility forms, full case folding,
        characters without width, schemes, and doubled or turned slashes do not count either.
Rule 4: two characters stand for 18 and 8 letters. Where a text holds many of them, each is read as
        a letter that no text means: the wide form is about as long as the text.
Rule 5: every pattern runs in linear time. So does Unicode normalization, since of a run of
        combining marks the first 30 count.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final
from unicodedata import ucd_3_2_0

from critic.provenance.link_signs import unescape_markup
from evals.canonical_json import canonical_json

SEPARATORS: Final = (
    "\x00-/:-@\\[-^`{-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u060c\u061b\u061f\u06d4\u0964\u0965\u2000-\u200a\u2010-\u2029\u202f-\u203e\u2041-\u2053"
    "\u2055-\u205f\u20a0-\u20cf\u2116\u2190-\u22ff"
    "\u3000-\u3004\u3008-\u3020\u3030\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff40\uff5b-\uff65"
)
"""The inside of a character class: what is not part of a word. The underscore is part of one."""

WORD: Final = f"[^{SEPARATORS}]"
"""A pattern of one character of a word."""

QUOTES: Final = "'\"`\u2018\u2019\u201a\u201c\u201d\u201e\xab\xbb"
"""What stands around a word that is quoted."""

_SPACE: Final = re.compile(
    "[\t-\r\x1c- \x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
)
_WIDTHLESS: Final = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_SCHEME: Final = re.compile("(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,19}://")
_SLASHES: Final = re.compile(r"[/\\]+")
_IDEOGRAPHIC_STOP: Final = "\u3002"
_ESCAPED_SPACE: Final = re.compile(r"(?<![/\\])(?<!https:)(?<!http:)\\[nrt]", re.IGNORECASE)
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PARTING: Final = re.compile("[\u2025\u2026\u2116]|[\xaa\xba](?=[0-9])")
"""What parts words, and stands for letters or dots that would join them."""
_MOST_MARKS: Final = 30
_LONG_SIGNS: Final = re.compile("[\ufdfa\ufdfb]")
_UNREAD_SIGN: Final = "\ue000"
_MOST_SIGNS: Final = 80
_CHARACTERS_PER_SIGN: Final = 16


class _CaseTable(dict[int, str]):
    """The case folding of characters, each worked out once. Those after Unicode 3.2 stay."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = folded = char if ucd_3_2_0.category(char) == "Cn" else char.casefold()
        return folded


class _OneCase(dict[int, str]):
    """The small letter of each capital that is the capital of no other."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        small = char.lower()
        is_pair = small.upper() == char and ucd_3_2_0.category(char) != "Cn"
        self[code] = kept = small if is_pair else char
        return kept


_STRAIGHT: Final = {
    **dict.fromkeys(map(ord, "\u2018\u2019"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d"), '"'),
}
"""Phones write other quotes than keyboards, for the same name."""
_FOLDED: Final = _CaseTable(_STRAIGHT)
_SMALL: Final = _OneCase(_STRAIGHT)

_BESIDE_NEWER: Final = "\ud800"
"""Parts what is newer than Unicode 3.2 from the rest: no valid text holds a lone surrogate."""


class _NewerApart(dict[int, str]):
    """Characters as they are, those after Unicode 3.2 between two marks."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        is_newer = ucd_3_2_0.category(char) == "Cn"
        self[code] = apart = f"{_BESIDE_NEWER}{char}{_BESIDE_NEWER}" if is_newer else char
        return apart


_NEWER_APART: Final = _NewerApart()


def collapse_spaces(text: str) -> str:
    """Return a text with one space for any white space."""
    return _SPACE.sub(" ", text)


def mark_lines(text: str) -> str:
    """Return a text as long as its narrow form, with its capitals and the breaks of its lines."""
    return _SPACE.sub(_break_or_space, text)


def _break_or_space(space: re.Match[str]) -> str:
    return "\n" if _CONTROL.search(space[0].replace("\t", "")) else " "


def small(text: str) -> str:
    """Return a text, as long as it is, in small letters and with straight quotes."""
    return text.lower() if text.isascii() else text.translate(_SMALL)


def narrow(text: str) -> str:
    """Return the narrow form of a text."""
    return small(collapse_spaces(text))


def wide(text: str) -> str:
    """Return the wide form of a text."""
    if text.isascii() and text.isalnum():
        return text.lower()  # as numbers and names of members are
    folded = text.lower() if text.isascii() else _folded_widely(text)
    return _SPACE.sub(" ", _SLASHES.sub("/", _SCHEME.sub("", folded)))


def wide_links(text: str) -> str:
    """Return the wide form of a text with its schemes and slashes, which tell where links are.

    Readers of pages and of hosts take some other spellings for a dot, a slash and a colon.
    """
    if text.isascii() and text.isalnum():
        return text.lower()
    folded = unescape_markup(unescape_breaks(text))
    if folded.isascii():
        folded = folded.lower()
    else:
        folded = _folded_widely(folded).replace(_IDEOGRAPHIC_STOP, ".")
    return _SPACE.sub(" ", folded)


def unescape_breaks(text: str) -> str:
    """Return a text with a space for each line break that is written as an escape."""
    return _ESCAPED_SPACE.sub(" ", text) if "\\" in text else text


def is_read_whole(texts: Iterable[str]) -> bool:
    """Return whether texts hold few characters that stand for many letters, as honest ones do."""
    signs = length = 0
    for text in texts:
        length += len(text)
        if not text.isascii():
            signs += text.count("\ufdfa") + text.count("\ufdfb")
    return signs <= _MOST_SIGNS + length // _CHARACTERS_PER_SIGN


def mask_signs(text: str) -> str:
    """Return a text with a letter that none means for each character that stands for many."""
    return text if text.isascii() else _LONG_SIGNS.sub(_UNREAD_SIGN, text)


def _folded_widely(text: str) -> str:
    return _folded_once(text) if len(text) <= SHORT else _folded_last(text)


def _fold_widely(text: str) -> str:
    if not is_read_whole((text,)):
        text = mask_signs(text)
    text = _PARTING.sub(r"\g<0> ", text)
    # What normalization makes of a character may have no width or another case.
    return compatible(compatible(_WIDTHLESS.sub("", text)).translate(_FOLDED))


_folded_once = lru_cache(maxsize=64)(_fold_widely)  # a text of a call is folded for each question
_folded_last = lru_cache(maxsize=2)(_fold_widely)
SHORT: Final = 1024
"""Characters of a text of which what was made is kept; of longer ones, that of the last two."""


def has_control(text: str) -> bool:
    """Return whether a text has a control character, a line break among them."""
    return _CONTROL.search(text) is not None


def write_scalar(value: str | int | float) -> str:
    """Return a value as text: numbers as canonical JSON writes them, so that 7 and 7.0 are one."""
    return value if isinstance(value, str) else canonical_json(value).decode()


def compatible(text: str) -> str:
    """Return the text in NFKC of Unicode 3.2. What is newer stays, and nothing moves across it.

    By themselves, the tables of 3.2 in Python compose newer characters and sort newer marks.
    """
    if len(text) > _MOST_MARKS:
        text = _long_runs_of_marks().sub(r"\1", text)
    return ucd_3_2_0.normalize("NFKC", text.translate(_NEWER_APART)).replace(_BESIDE_NEWER, "")


@cache
def _long_runs_of_marks() -> re.Pattern[str]:
    """Return what matches the marks that count in a run, as its group, and those that do not."""
    # NFKC sorts each run by insertion. Five characters of class 0 decompose into marks.
    codes = (*range(0x300, 0x10000), *range(0x1D000, 0x1D200))
    marks = "".join(char for char in map(chr, codes) if ucd_3_2_0.combining(char))
    mark = f"[{marks}\u0f73\u0f75\u0f81\uff9e\uff9f]"
    return re.compile(f"({mark}{{{_MOST_MARKS}}}){mark}+")
