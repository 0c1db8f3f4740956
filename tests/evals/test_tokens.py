"""Which characters part a token: every listed one, to the edges of its range, and no other."""

import re
from itertools import chain, product

import pytest

from evals.binding import ContentIndex, scalars
from tests.support.effort import sampled
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
JOINERS = ".:/#@+=~-!?&%^\\"
APOSTROPHES = "'\u2019\u00b4"
LISTED = frozenset(chain.from_iterable(range(low, high + 1) for low, high in SEPARATORS))
EDGES = sorted({edge + off for pair in SEPARATORS for edge in pair for off in (-1, 0, 1)} - {-1})


def parts(char: str) -> bool:
    """Return whether a token ends before the character when a letter follows."""
    return ContentIndex(f"pay_1{char}x").backs("pay_1")


def test_a_listed_character_parts_a_token_and_its_neighbours_do_not() -> None:
    expected = {code: code in LISTED and chr(code) not in JOINERS + APOSTROPHES for code in EDGES}
    wrong = [hex(code) for code, is_parted in expected.items() if parts(chr(code)) is not is_parted]
    assert wrong == []


@pytest.mark.slow
def test_every_character_below_the_surrogates_is_in_or_out_of_the_list() -> None:
    text = "".join(f"a{chr(code)}b " for code in range(1, 0xD800))
    assert all(
        parts(chr(code)) is (code in LISTED and chr(code) not in JOINERS + APOSTROPHES)
        for code in range(0x3100)
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


@pytest.mark.parametrize("apostrophe", APOSTROPHES)
def test_one_apostrophe_joins_two_words(apostrophe: str) -> None:
    text = f"for O{apostrophe}Brien, {apostrophe}pay_1{apostrophe} and x{apostrophe * 2}y"
    assert ContentIndex(text).backs(f"O{apostrophe}Brien")
    assert not ContentIndex(text).backs("Brien")
    assert ContentIndex(text).backs("pay_1")
    assert ContentIndex(text).backs("y")


NUMBER_500 = ["500", "500.", "(about 500)", "$500", "US$500", "**500**", "#500", "500/-", ">500<"]
OTHER_NUMBERS = [
    *("-500", "+500", ".500", "~500", "<500", "\u2264500", "\u00b1500", "\u2212500", "\uff0d500"),
    *("-$500", "-\u20ac 500", "\u2212\u20b9500", "(500)", "($500)", "(\u20ac 500)", "(500,25)"),
    *("500-", "500+", "500%", "500\u2030", "500\u2212", "500\uff05"),
    *("24 500", "24\u00a0500", "24\u2009500", "24\u202f500", "24\u3000500", "1 024 500"),
    *("24,500", "24.500", "24'500", "24\u2019500", "24\u00b7500", "24_500"),
    *("24\uff0c500", "24\uff0e500", "24\uff1a500", "24\uff0f500"),
    *(
        "10^500",
        "2*500",
        "2\u00d7500",
        "1000\u00f7500",
        "24:500",
        "24/500",
        "24-500",
        "24\u2014500",
    ),
    *("500 000", "500,25", "500\u00b2", "500\u00bd", "500k", "\u0665500", "500\u0665"),
    *("****500", "**** 500", "****-500", "\u2022\u2022500", "\u2022\u2022 500", "\u25cf\u25cf 500"),
    *("\u2026500", "...500", "xxxx500", "xxxx 500", "XXX 500", "###500", "500****", "500 ****"),
]


@pytest.mark.parametrize("before", ["", "sum "])
@pytest.mark.parametrize("after", ["", " due"])
@pytest.mark.parametrize("written", NUMBER_500)
def test_a_number_backs_itself_in_prose(written: str, before: str, after: str) -> None:
    assert ContentIndex(before + written + after).backs(500)


@pytest.mark.parametrize("written", OTHER_NUMBERS)
def test_a_part_of_another_number_backs_nothing(written: str) -> None:
    for before, after in product(["", "sum ", '"', "=", "a:"], ["", " due", ".", '"', ";"]):
        backing = ContentIndex(before + written + after)
        assert not backing.backs(500), (before, after)
        assert not backing.backs("500"), (before, after)


def test_a_plain_space_groups_digits_in_threes_only() -> None:
    for text in ("8861 500", "500 6001", "500 60", "A24 500", "500\n600", "500  600", "500, 600"):
        assert ContentIndex(text).backs(500), text
    assert ContentIndex("DE89 3704 0044").backs("3704")
    assert ContentIndex("24 500").backs("24 500")


@pytest.mark.parametrize(
    ("text", "value", "backed"),
    [
        ("~/data/x", "/data/x", False),
        ("see /data/x.", "/data/x", True),
        ("(/data/x)", "/data/x", True),
        ("//data/x", "/data/x", False),
        ("see data/x/", "data/x/", True),
        ("see data/x//", "data/x/", False),
        ("see data/x/.", "data/x", True),
        ("evil!ann@bank.example", "ann@bank.example", False),
        ("Ann <ann@bank.example>", "ann@bank.example", True),
        ("https://bank.example?to=evil", "https://bank.example", False),
        ("https://bank.example%2eevil", "https://bank.example", False),
        ("C:\\data\\x", "x", False),
        ("AT&T", "T", False),
        ("Paid pay_1! Really?", "pay_1", True),
        ("~/-5", "-5", True),
        ("~/-5", "5", False),
    ],
)
def test_an_address_or_a_path_is_quoted_as_a_whole(text: str, value: str, backed: bool) -> None:
    assert ContentIndex(text).backs(value) is backed


@pytest.mark.parametrize(("value", "word"), [(True, "true"), (False, "false"), (None, "null")])
def test_a_literal_counts_where_it_stands_as_a_value(value: object, word: str) -> None:
    for text in (
        f"consent: {word}",
        f'{{"open":{word}}}',
        f"open = {word}; x",
        word,
        f"a:\t{word}.",
    ):
        assert ContentIndex(text).backs(value), text
    prose = (
        f"it is {word} that",
        f"{word} or not",
        f"x:{word}y",
        f"x=y{word}",
        f" {word}",
        f"a={word}",
    )
    for text in prose:
        assert not ContentIndex(text).backs(value), text
        assert not ContentIndex.of_all([ContentIndex(text), ContentIndex("a:")]).backs(value)


SIGNS = ["-", "+", ".", "-+", "+-.", "--x", ".5"]
OTHERS = [
    "(5",
    "((",
    "5 ",
    "500 ",
    "(5,",
    "#",
    "*5",
    "xxx ",
    "~/",
    "~/-",
    "5-",
    "5%",
    "a'",
    "-$ ",
    "5*",
]


@pytest.mark.parametrize("signs", sampled([*SIGNS, *OTHERS, "5*"], one_in=2))
def test_the_tokens_of_many_signs_are_found_in_linear_time(signs: str) -> None:
    # A second try at each of the signs would take minutes.
    assert not ContentIndex(signs * 40_000 + "x").backs("7")


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
