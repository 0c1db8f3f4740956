"""Each character class and bound in the patterns of values, over every character that could differ.

What is listed in the module is listed here as code points, and tried where it shows.
"""

import re
import time
from itertools import chain

import pytest

from critic.provenance.content_values import content_values
from critic.provenance.folding import WORD, narrow, wide, write_scalar
from critic.provenance.item_parts import FieldTables
from critic.provenance.written_lists import elements
from evals.manifest import EvidenceClass, EvidenceItem, Manifests

NO_WORDS = (
    *((0x00, 0x2F), (0x3A, 0x40), (0x5B, 0x5E), (0x60, 0x60), (0x7B, 0xA9), (0xAB, 0xAC)),
    *((0xAE, 0xB1), (0xB4, 0xB4), (0xB6, 0xB8), (0xBB, 0xBB), (0xBF, 0xBF), (0xD7, 0xD7)),
    *((0xF7, 0xF7), (0x60C, 0x60C), (0x61B, 0x61B), (0x61F, 0x61F), (0x6D4, 0x6D4)),
    (0x964, 0x965),
    *((0x2000, 0x200A), (0x2010, 0x2029), (0x202F, 0x203E), (0x2041, 0x2053)),
    *(
        (0x2055, 0x205F),
        (0x20A0, 0x20CF),
        (0x2116, 0x2116),
        (0x2190, 0x22FF),
        (0x3000, 0x3004),
        (0x3008, 0x3020),
    ),
    *((0x3030, 0x3030), (0xFF01, 0xFF0F), (0xFF1A, 0xFF20), (0xFF3B, 0xFF3E), (0xFF40, 0xFF40)),
    (0xFF5B, 0xFF65),
)
SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u3000" + (
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
LINE_BREAKS = "\n\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029"
END_LINKS = "\x85\u1680\u180e\u2028\u2029<>\"'`|\\^{}()[]"
CHARS = [char for char in map(chr, range(0x3100)) if char not in "\ufdfa"]
LONG = "99999999999999999999"


def test_what_is_no_part_of_a_word_is_listed() -> None:
    every = "".join(map(chr, range(0x20000)))
    parts = chain.from_iterable(range(first, last + 1) for first, last in NO_WORDS)
    assert re.sub(f"{WORD}+", "", every) == "".join(map(chr, parts))


def test_any_white_space_is_one_space() -> None:
    for char in CHARS:
        assert (narrow(f"a{char}b") == "a b") == (char in SPACES), hex(ord(char))
    assert narrow(f"a{SPACES}b") == "a b"


def test_what_has_a_line_break_is_text() -> None:
    classes = (EvidenceClass(class_="r", fields={"k": "party"}),)
    tables = FieldTables(Manifests(tool_manifest=(), evidence_manifest=(), classes=classes))
    source = {"author": "public", "standing": "ambient"}
    for char in CHARS:
        wire = {"id": "e", "classification": "r", "content": {"k": f"a{char}b"}, "source": source}
        parts = tables.parts_of(EvidenceItem.model_validate(wire)).parts
        assert any(part.field for part in parts) == (char not in LINE_BREAKS), hex(ord(char))


def test_a_link_ends_at_white_space_brackets_and_quotes() -> None:
    for char in map(chr, range(0x100)):
        if char in "\\%" or not char.isascii():
            continue
        (found, *_) = content_values(f"https://a.example/b{char}c")
        ends = char <= " " or char in END_LINKS
        assert (found.shown == "a.example/b") == ends, hex(ord(char))


def test_a_text_is_cut_at_no_run_but_one_of_marks() -> None:
    for text in ("\xe9" + "x" * 99, "\u0434" * 99, "\u0434\xe9" * 50):
        assert wide(text) == text
    for mark in ("\u0300", "\u0327", "\U0001d165", "\U0001d1ad"):
        assert wide("b" + mark * 99) == wide("b" + mark * 30)
        assert wide("b" + mark * 30) != wide("b" + mark * 29)


@pytest.mark.parametrize(
    "text", ["\u0350\u0327", "\u0357\u0301", "\u1b05\u1b35", "\U00011131\U00011127"]
)
def test_what_is_newer_than_unicode_3_2_is_not_sorted_or_composed(text: str) -> None:
    assert wide(text) == text
    assert wide(f"\uff21e\u0301{text}e\u0301") == f"a\xe9{text}\xe9"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # Integers keep all their digits.
        (f"[{LONG}]", [LONG]),
        (f"[-{LONG}]", [f"-{LONG}"]),
        ("[123456789012345678901]", ["123456789012345678901"]),
        ("[-9999999999999999999]", ["-9999999999999999999"]),
        ("[503456789012345678901, 4]", ["503456789012345678901", 4]),
        ("[123456789012345678]", [123456789012345678]),
        ("[12, -34]", [12, -34]),
        # What is part of a number with a fraction or an exponent is none.
        (f"[1.{LONG}, 2]", [2.0, 2]),
        *((f"[1.{digit}{LONG}9]", [float(f"1.{digit}{LONG}9")]) for digit in range(10)),
        (f"[{LONG}.5]", [1e20]),
        (f"[{LONG}e5]", [1e25]),
        (f"[{LONG}E5]", [1e25]),
        (f"[1e-{LONG}]", [0.0]),
        (f"[1E-{LONG}]", [0.0]),
        (f"[0e+{LONG}, 0E+{LONG}]", [0.0, 0.0]),
        # In JSON, and not as Python reads them: `\\/` is a slash.
        (f'["\\/", {LONG}]', ["/", LONG]),
        (f'["a {LONG} \\/"]', [f"a {LONG} /"]),
        (f'["\\" {LONG} \\/"]', [f'" {LONG} /']),
        (f'["\\\\", "{LONG} \\/"]', ["\\", f"{LONG} /"]),
        (f'["", "\\/ {LONG} "]', [f"/ {LONG} "]),
        (f'["\\/ a", {LONG}, "b"]', ["/ a", LONG, "b"]),
        # In Python.
        ("[True, 'a', None]", ["a"]),
        ("[None]", []),
        ("[False, 'True', \"None\"]", ["True", "None"]),
        ('["\\x41\\"b", \'c\']', ['A"b', "c"]),
        ('["\\x41", "", "b"]', ["A", "b"]),
        ("[\"\", 'a']", ["a"]),
        ('["\\x41", "\\\\"]', ["A", "\\"]),
        ("[\"\\x41\",\n'a\nb']", ["['\\x41',\n'a\nb']".replace("'", '"', 2)]),
        *((f"['a',{gap}]", ["a"]) for gap in ("", " ", "\t", "\r", "\n", " \t\r\n ")),
        ("['a', , ]", ["['a', , ]"]),
        # Escapes.
        (r"['\1234']", ["S4"]),
        (r"['\129', '\18', '\7x']", ["\n9", "\x018", "\x07x"]),
        (r"['\x414']", ["A4"]),
        (r"['\U000000414']", ["A4"]),
        *((rf"['\x{code:02x}\x{code:02X}']", [chr(code) * 2]) for code in range(0x20, 0x100)),
        *((rf"['\U{code:08x}\U{code:08X}']", [chr(code) * 2]) for code in (0xABCDE, 0x109F0)),
        *((rf"['\U{code:08x}']", [chr(code)]) for code in (0x20, 0xD7FF, 0xE000, 0x10FFFF)),
        *((text, [text]) for text in (r"['\U0000d800']", r"['\U0000dfff']", r"['\U00110000']")),
        (2.5, [2.5]),
    ],
)
def test_lists_in_text_are_read_to_the_character(written: object, expected: list[object]) -> None:
    assert list(elements(written)) == expected
    assert [*map(type, elements(written))] == [*map(type, expected)]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_an_unclosed_quote_is_read_in_linear_time(quote: str) -> None:
    text = f"[{quote}" + f"\\{quote}" * 50_000 + "]"
    started = time.process_time()
    assert list(elements(text)) == [text]
    assert time.process_time() - started < 5


def test_numbers_are_values_whether_whole_or_not() -> None:
    assert [*map(write_scalar, (2.5, 7, 7.0, True, False))] == ["2.5", "7", "7", "true", "false"]
