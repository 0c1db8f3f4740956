"""Which characters part a token: every listed one, to the edges of its range, and no other."""

import re
from itertools import chain

import pytest

from evals.binding import ContentIndex, scalars
from tests.support.model.facts import Json

# Written out once more, since the engine's own list cannot testify for itself.
SEPARATORS = (
    *((0x00, 0x2F), (0x3A, 0x40), (0x5B, 0x5E), (0x60, 0x60), (0x7B, 0xA9), (0xAB, 0xAC)),
    *((0xAE, 0xB1), (0xB4, 0xB4), (0xB6, 0xB8), (0xBB, 0xBB), (0xBF, 0xBF), (0xD7, 0xD7)),
    *((0xF7, 0xF7), (0x2000, 0x200A), (0x2010, 0x2029), (0x202F, 0x203E), (0x2041, 0x2053)),
    *((0x2055, 0x205F), (0x20A0, 0x20CF), (0x2190, 0x22FF), (0x3000, 0x3004), (0x3008, 0x3020)),
    *((0x3030, 0x3030), (0xFF01, 0xFF0F), (0xFF1A, 0xFF20), (0xFF3B, 0xFF3E), (0xFF40, 0xFF40)),
    (0xFF5B, 0xFF65),
)
JOINERS = ".:/#@+=~-"
LISTED = frozenset(chain.from_iterable(range(low, high + 1) for low, high in SEPARATORS))
EDGES = sorted({edge + off for pair in SEPARATORS for edge in pair for off in (-1, 0, 1)} - {-1})


def parts(char: str) -> bool:
    """Return whether a token ends before the character when a letter follows."""
    return ContentIndex(f"pay_1{char}x").backs("pay_1")


@pytest.mark.parametrize("code", EDGES)
def test_a_listed_character_parts_a_token_and_its_neighbours_do_not(code: int) -> None:
    char = chr(code)
    assert parts(char) is (code in LISTED and char not in JOINERS)


def test_every_character_below_the_surrogates_is_in_or_out_of_the_list() -> None:
    text = "".join(f"a{chr(code)}b " for code in range(1, 0xD800))
    assert all(
        parts(chr(code)) is (code in LISTED and chr(code) not in JOINERS) for code in range(0x3100)
    )
    assert ContentIndex(text).backs("a") and ContentIndex(text).backs("b")


@pytest.mark.parametrize("joiner", JOINERS)
def test_a_joiner_joins_only_where_something_follows(joiner: str) -> None:
    assert not ContentIndex(f"pay_1{joiner}x").backs("pay_1")
    assert ContentIndex(f"pay_1{joiner}x").backs(f"pay_1{joiner}x")
    assert ContentIndex(f"pay_1{joiner} x").backs("pay_1")
    assert ContentIndex(f"x pay_1{joiner}").backs("pay_1")
    assert not ContentIndex(f"pay_1{joiner * 3}x").backs("pay_1")


@pytest.mark.parametrize("signs", ["-", "+", ".", "-.", "+-", ".+", "-+.", "--", "++", "..", "+.-"])
def test_signs_belong_to_the_number_after_them(signs: str) -> None:
    backing = ContentIndex(f"owed {signs}5 now")
    assert not backing.backs("5")
    assert backing.backs(f"{signs}5")
    for shorter in range(1, len(signs)):
        assert not backing.backs(f"{signs[shorter:]}5")


@pytest.mark.parametrize("signs", ["-", "+", ".", "-+", "+-.", "--x", ".5"])
def test_the_tokens_of_many_signs_are_found_in_linear_time(signs: str) -> None:
    # A second try at each of the signs would take minutes.
    assert not ContentIndex(signs * 300_000 + "x").backs("5")


def test_a_sign_before_a_word_is_not_part_of_it() -> None:
    for signs in ("-", "+", ".", "+-"):
        assert ContentIndex(f"owed {signs}five now").backs("five")


def test_a_comma_joins_digits_only() -> None:
    assert not ContentIndex("1,2").backs("1")
    assert not ContentIndex("1,2").backs("2")
    assert ContentIndex("1,2").backs("1,2")
    for text in ("1,a", "a,1", "1, 2", "a,b"):
        first, second = re.split(", ?", text)
        assert ContentIndex(text).backs(first)
        assert ContentIndex(text).backs(second)


def test_content_that_is_text_has_no_leaves_and_absent_content_nothing() -> None:
    assert not ContentIndex(None).backs(None)
    assert ContentIndex([None]).backs(None)
    assert not ContentIndex({}).backs("")
    assert not ContentIndex(5).backs("")
    nested: Json = {"a": ["b", {"c": None}], "d": True}
    assert sorted(map(repr, scalars(nested))) == ["'b'", "None", "True"]
