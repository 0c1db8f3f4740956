"""The two forms of a text, character by character: what counts in each, and what does not."""

import unicodedata
from typing import Final

import pytest

from critic.provenance.folding import (
    collapse_spaces,
    compatible,
    has_control,
    is_read_whole,
    mark_lines,
    mask_signs,
    narrow,
    small,
    unescape_breaks,
    wide,
    wide_links,
    write_scalar,
)

SIGN: Final = "\ufdfa"
CHARS: Final = [*map(chr, (*range(0x250), *range(0x2000, 0x2070), *range(0x3000, 0x3010)))]
SPACES: Final = " \t\xa0\u1680\u180e\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
BREAKS: Final = "\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"
WIDTHLESS: Final = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180E), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xE0000, 0xE0FFF)),
)
"""The first and the last of each run of characters that have no width."""


def test_any_white_space_is_one_space_or_the_break_of_a_line() -> None:
    for char in (*CHARS, "\u1680", "\u180e"):
        space, line = char in SPACES + BREAKS, char in BREAKS
        assert collapse_spaces(f"a{char}b") == ("a b" if space else f"a{char}b")
        assert mark_lines(f"A{char}B") == ("A\nB" if line else "A B" if space else f"A{char}B")
    assert mark_lines(f"a {SPACES}\nb\t\t") == "a\nb "
    assert collapse_spaces(f" {SPACES}{BREAKS}a  b ") == " a b "


def test_characters_that_end_a_line_or_are_not_printed_are_controls() -> None:
    for char in (*CHARS, "\ufeff"):
        is_control = unicodedata.category(char) == "Cc" or char in "\u2028\u2029"
        assert has_control(f"a{char}b") == is_control, hex(ord(char))


def test_characters_without_width_count_in_the_narrow_form_alone() -> None:
    for first, last in WIDTHLESS:
        for code in range(first, last + 1, max(1, (last - first) // 16)):
            assert wide(f"a{chr(code)}b") == "ab", hex(code)
        for code in (first, last):
            assert wide(f"a{chr(code)}b") == "ab", hex(code)
            assert narrow(f"a{chr(code)}b") != "ab", hex(code)
        for code in (first - 1, last + 1):
            assert wide(f"a{chr(code)}b") != "ab", hex(code)


def test_case_counts_where_no_two_characters_are_a_pair() -> None:
    for pair in ("Aa", "\xc9\xe9", "\u03a3\u03c3", "\u0410\u0430", "\U00010400\U00010428"):
        assert small(pair) == narrow(pair) == wide(pair) == pair[1] * 2
    for char in ("\u0130", "\u01c5", "\u212a", "\xdf", "\u03c2", "\u017f", "\u1e9e"):
        assert small(char) == narrow(char) == char
    folded = {"\xdf": "ss", "\u212a": "k", "\u03c2": "\u03c3", "\u017f": "s", "\u0130": "i\u0307"}
    assert {char: wide(char) for char in folded} == folded
    for newer in ("\u1e9e", "\u2c00", "\ua640", "\u1c90"):
        assert small(newer) == wide(newer) == compatible(newer) == newer


SCHEMES: Final = {
    "http://a": "a",
    "HTTPS://A/B": "a/b",
    "x://a": "a",
    "a1+.-z://b": "b",
    "see x://a y://b": "see a b",
    "(ftp://a)": "(a)",
    f"{'a' * 20}://b": "b",
    f"{'m' * 21}://b": f"{'m' * 21}:/b",
    "1x://a": "1x:/a",
    "+x://a": "+x:/a",
    ".x://a": ".x:/a",
    "-x://a": "-x:/a",
    "://a": ":/a",
    "x:/a": "x:/a",
    "a\\\\b//c\\/d": "a/b/c/d",
    "a\\b": "a/b",
}


@pytest.mark.parametrize("text", SCHEMES)
def test_schemes_and_turned_or_doubled_slashes_do_not_count_in_the_wide_form(text: str) -> None:
    assert wide(text) == SCHEMES[text]
    assert narrow(text) == text.lower()
    assert wide_links(text) == text.lower()


def test_a_dot_a_slash_and_a_colon_may_be_written_as_escapes_in_links() -> None:
    for sign, code, name in ((".", "2e", "period"), ("/", "2f", "sol"), (":", "3a", "colon")):
        for zeros in ("", "0", "000000", "0" * 40):
            for escape in (f"&#{zeros}{ord(sign)};", f"&#x{zeros}{code};", f"&#X{zeros}{code};"):
                assert wide_links(f"a{escape}b") == f"a{sign}b", escape
                assert wide(f"a{escape}b") == f"a{escape.lower()}b", escape
        assert wide_links(f"a&{name};b&{name.upper()};c") == f"a{sign}b{sign}c"
        assert wide_links(f"a&#{ord(sign)}-b") == f"a{sign}-b", "a reference may lack its end"
        assert wide_links(f"a&{name}b") == f"a&{name}b"
        assert wide_links(f"\xe9&#{ord(sign)};b") == f"\xe9{sign}b"
    assert wide_links("a%2eb%2Ec") == "a.b.c"
    for unread in ("&#0;", "&#x0;", "&#1;", "&#xd800;", "&#x110000;", "&#99999999999;"):
        assert wide_links(f"a{unread}b") == "a\ufffdb", unread
    for none in ("%2f", "%3a", "&comma;", "&amp;", "2e", "&"):
        assert wide_links(f"a{none}b") == f"a{none}b"
    assert wide_links("a\u3002b\uff0ec") == "a.b.c"
    assert wide("a\u3002b\uff0ec") == "a\u3002b.c"


BREAKS_WRITTEN: Final = {
    "a\\nb\\rc\\td": "a b c d",
    "a\\Nb": "a b",
    "a\\xb": "a\\xb",
    "a\\\\nb": "a\\\\nb",
    "a/\\nb": "a/\\nb",
    "https:\\nb": "https:\\nb",
    "http:\\nb": "http:\\nb",
    "HTTP:\\nb": "HTTP:\\nb",
    "ftp:\\nb": "ftp: b",
    "ttps:\\nb": "ttps: b",
    "ttp:\\nb": "ttp: b",
    "http\\nb": "http b",
    "https \\nb": "https  b",
}


@pytest.mark.parametrize("text", BREAKS_WRITTEN)
def test_an_escaped_line_break_is_a_space_but_where_it_may_begin_a_path(text: str) -> None:
    assert unescape_breaks(text) == BREAKS_WRITTEN[text]
    assert wide_links(text) == collapse_spaces(BREAKS_WRITTEN[text]).lower()


def test_eighty_signs_that_stand_for_many_letters_are_read_and_one_more_per_sixteen() -> None:
    for sign in (SIGN, "\ufdfb"):
        assert mask_signs(f"a{sign}b") == "a\ue000b"
        assert is_read_whole((sign * 80,))
        assert is_read_whole(("x" * 5, sign * 86, "x" * 5))
        assert not is_read_whole(("x" * 5, sign * 86, "x" * 4))
        assert not is_read_whole((sign * 43, "\xe9" * 9, sign * 43))
        assert wide(sign * 86 + "x" * 10) == compatible(sign) * 86 + "x" * 10
        assert wide(sign * 86 + "x" * 9) == "\ue000" * 86 + "x" * 9
    assert is_read_whole(())
    assert mask_signs("\xe9\ufdf9\ufdfc") == "\xe9\ufdf9\ufdfc"


def test_compatibility_forms_are_of_one_spelling_in_the_wide_form_alone() -> None:
    for text, form in {"\ufb01": "fi", "\uff21": "a", "e\u0301": "\xe9", "\u2460": "1"}.items():
        assert wide(text) == wide_links(text) == form
        assert compatible(text).lower() == form
        assert narrow(text) == small(text) != form
    # What normalization makes of a character may have another case, which may have another form.
    assert wide("\u2102\u01f0") == "c\u01f0"
    assert wide("\u03d4") == "\u03cb"


def test_a_value_is_written_as_a_text() -> None:
    written = [write_scalar(one) for one in ("A b", "", 7, 7.0, 7.5, True, False, -0.5)]
    assert written == ["A b", "", "7", "7", "7.5", "true", "false", "-0.5"]
