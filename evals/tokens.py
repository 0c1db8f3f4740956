r"""Divide text evidence into tokens: what must be quoted as a whole, or not at all.

Rule 1: a word is a run of characters outside a fixed list of spaces, punctuation and signs.
Rule 2: the characters of addresses and paths join two words: `. : / # @ + = ~ - ! ? & % ^ \`, one
        or more of them, or one apostrophe. So `bank.example` is not in `bank.example.evil`, and
        `Brien` not in `O'Brien`.
Rule 3: a number is one token with what changes its value: a sign before it (also before its
        currency), a sign or per cent after it, parentheses closed around it, a mask of its other
        digits. So 500 is not in `-500`, `-$500`, `500-`, `(500)` or `****500`.
Rule 4: between two digits all that can be written in a number joins: a comma, an apostrophe, a
        point or a multiplication sign, any space but the plain one; and the plain space before a
        group of exactly three digits. So 500 is not in `24,500`, `24 500` or `10^500`.
Rule 5: only ASCII digits are digits. No rule asks the Unicode tables, which change with Python.
"""

import re
from functools import cache
from typing import Final

# Every character is part of a word, except ASCII space and punctuation and the spaces,
# punctuation and currency signs listed here. Zero-width and direction marks stay in the word, where
# they spoil it.
_SEPARATORS: Final = (
    "\x00-/:-@\\[-^`{-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u2000-\u200a\u2010-\u2029\u202f-\u203e\u2041-\u2053\u2055-\u205f\u20a0-\u20cf\u2190-\u22ff"
    "\u3000-\u3004\u3008-\u3020\u3030\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff40\uff5b-\uff65"
)
_WORD: Final = f"[^{_SEPARATORS}]"

_JOINERS: Final = r".:/#@+=~!?&%^\\\-"
_APOSTROPHES: Final = "'\u2019\xb4"

# Hyphens, and the dashes that are printed for a minus.
_DASHES: Final = r"\-\u2010-\u2013\u2212\uff0d"
# Before a number; the angle says "less than".
_SIGNS: Final = rf"{_DASHES}+.~<\xb1\u2213\u2248\u2264\u2265\uff0b\uff0e\uff1c\uff5e"
_SIGNS_AFTER: Final = rf"{_DASHES}+%\u2030\uff0b\uff05"
_CURRENCIES: Final = r"$\xa2-\xa5\u20a0-\u20cf\uff04"
# Between two digits, beside the joiners.
_IN_NUMBERS: Final = (
    rf"{_JOINERS}{_APOSTROPHES}{_DASHES},*\u2014\u2015\u2018\u2026\u2022\xb7\u2219\u22c5\xd7\xf7"
    r"\uff05\uff0a-\uff0c\uff0e\uff0f\uff1a\uff3e"
    r"\xa0\u2000-\u200a\u202f\u205f\u3000"
)

# What stands for digits that are not shown. Two asterisks make text bold, one `#` marks an id, and
# one bullet a list. Crosses and blocks are words, so only a space can part them from the digits.
_BULLETS: Final = r"\xb7\u2022\u2217\u2219\u22c5"
_MASK: Final = (
    rf"(?:(?<![*#])[*#]{{3,}}+|(?<![{_BULLETS}])[{_BULLETS}]{{2,}}+|(?<!\u2026)\u2026{{2,}}+)"
)
_MASK_WORD: Final = r"(?:(?<=[xX]{3})|(?<=[\u25cf\u2588]{2}))[\ \xa0](?=[0-9])"

# The plain space that groups digits: one to three digits, the space, exactly three digits.
_GROUPING: Final = (
    rf"(?:(?<=(?<!{_WORD})[0-9])|(?<=(?<!{_WORD})[0-9]{{2}})|(?<=(?<!{_WORD})[0-9]{{3}}))"
    rf"\ (?=[0-9]{{3}}(?!{_WORD}))"
)
_BETWEEN_DIGITS: Final = rf"(?:(?<=[0-9])[{_IN_NUMBERS}]++(?=[0-9])|{_GROUPING})"
_NUMBER: Final = rf"[0-9]++(?:{_BETWEEN_DIGITS}[0-9]++)*+"

# Possessive throughout, and each run of signs, joiners or masks is tried from its first character
# only, so that it runs in linear time.
_BEFORE_NUMBER: Final = (
    rf"(?:(?<![{_SIGNS}])[{_SIGNS}]++(?:[{_CURRENCIES}]\ ?+)?+(?=[0-9])"
    rf"|\((?=[{_CURRENCIES}]?+\ ?+{_NUMBER}\))[{_CURRENCIES}]?+\ ?+"
    rf"|(?:{_MASK}[\ \xa0\-]?+|(?<!\u2026)\u2026++)(?=[0-9]))"
)
_SIGNED_AFTER: Final = rf"{_NUMBER}[{_SIGNS_AFTER}]++(?![{_JOINERS}]*+{_WORD})"
_JOINED: Final = (
    rf"{_WORD}++(?:[{_JOINERS}]++{_WORD}++|(?<={_WORD})[{_APOSTROPHES}]{_WORD}++"
    rf"|{_BETWEEN_DIGITS}{_WORD}++|{_MASK_WORD}{_WORD}++"
    rf"|(?<=[0-9])[\ \xa0\-]?+{_MASK}(?:{_WORD}++)?+)*+"
)
_TOKEN: Final = rf"{_BEFORE_NUMBER}?+(?:{_SIGNED_AFTER}|{_JOINED})"

# What else a value can begin or end with: `/data/x` is not in `~/data/x`.
_LOOSE: Final = rf"(?:(?!{_BEFORE_NUMBER})[{_JOINERS}])++"
_PIECE: Final = rf"{_TOKEN}|{_LOOSE}"

EDGE: Final = "\ud800"
"""Marks where a piece of text begins and ends: a lone surrogate, which no JSON string can hold."""


def tokens(text: str) -> list[str]:
    """Return the tokens of the text, in their order."""
    return _pattern(_TOKEN).findall(text)


def has_token(text: str) -> bool:
    """Return whether the text holds a token."""
    return _pattern(_TOKEN).search(text) is not None


def mark_tokens(text: str) -> str:
    """Return the text with an edge before and after each token and each run of loose joiners."""
    return _pattern(_PIECE).sub(rf"{EDGE}\g<0>{EDGE}", text)


@cache
def _pattern(written: str) -> re.Pattern[str]:
    """Compile a pattern when it is first needed: these two take longer than a verdict."""
    return re.compile(written)
