"""A verdict does not change with the Unicode tables of the interpreter.

What is newer than Unicode 3.2 is known to some versions of Python and not to others, so nothing
may depend on it: it stays as it is, and neither composes nor moves. The wide form leaves characters
without width out, by a list of its own. What was in 3.2 is normalised by the tables of 3.2, which
are frozen.
"""

import sys
import unicodedata
from functools import cache
from unicodedata import ucd_3_2_0

import pytest

from critic.provenance.folding import narrow, wide

_WITHOUT_WIDTH = {"\u061c", *map(chr, range(0x2064, 0x206A)), *map(chr, range(0xE0000, 0xE1000))}
_BELOW, _ACUTE = "\u0323", "\u0301"


@cache
def _newer() -> list[str]:
    every = (chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
    return [char for char in every if ucd_3_2_0.category(char) == "Cn"]


@pytest.mark.long
@pytest.mark.slow
def test_what_is_newer_than_3_2_stays_as_it_is() -> None:
    for char in _newer():
        assert narrow(char) == char, hex(ord(char))
        assert wide(char) == ("" if char in _WITHOUT_WIDTH else char), hex(ord(char))


@pytest.mark.long
@pytest.mark.slow
def test_marks_do_not_move_across_what_is_newer_than_3_2() -> None:
    for char in _newer():
        text = f"q{_ACUTE}{char}{_BELOW}"
        seen = f"q{_BELOW}{_ACUTE}" if char in _WITHOUT_WIDTH else text
        assert (narrow(text), wide(text)) == (text, seen), hex(ord(char))


@pytest.mark.slow
def test_what_is_newer_than_3_2_never_composes() -> None:
    newer = set(_newer())
    for char in _newer():
        parts = unicodedata.decomposition(char)
        if parts and not parts.startswith("<"):
            text = "".join(chr(int(part, 16)) for part in parts.split())
            for form in (wide(text), narrow(text)):
                assert newer.isdisjoint(set(form) - set(text)), hex(ord(char))


def test_what_is_in_3_2_is_in_the_compatibility_form_of_3_2() -> None:
    for char in ("\uff21", "\u2460", "\ufb01", "A\u0301", "\u1e9b\u0323", "\u0130", "\u03c2"):
        folded = ucd_3_2_0.normalize("NFKC", char).casefold()
        assert wide(char) == ucd_3_2_0.normalize("NFKC", folded)
