"""Confined content is found in all that leaves, by one rule, and in linear time."""

import string
from itertools import pairwise
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import EvidenceItem
from evals import confinement
from evals.canonical_json import canonical_json
from evals.confinement import ConfinedContent, confined_texts
from tests.support.judging import LAW


def content_of(*contents: Any) -> ConfinedContent:
    items = [
        EvidenceItem(id=f"e{at}", classification="k", content=content)
        for at, content in enumerate(contents)
    ]
    return ConfinedContent(items)


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("12345678", ["12345678"]),
        ("1234567", []),
        ("", []),
        ({"a long enough key": "short"}, []),
        ({"k": ["deep and long"]}, ["deep and long"]),
        (441712, ["441712"]),
        (441712.0, ["441712"]),
        (44171, []),
        (-441712, ["-441712"]),
        (1234.56, ["1234.56"]),
        (1234.5, []),
        (1e21, []),
        ([True, None, False], []),
        (None, []),
    ],
)
def test_what_is_confined(content: Any, texts: list[str]) -> None:
    assert [*confined_texts(content)] == texts


@pytest.mark.parametrize(
    "value",
    [
        "tok-48fz91",
        "the key is tok-48fz91.",
        ["x", ["tok-48fz91"]],
        {"tok-48fz91": 1},
        {"x-tok-48fz91-x": {}},
        441712,
        441712.0,
        "pin441712",
        {"a": 94417120},
    ],
)
def test_it_is_found_anywhere(value: Any) -> None:
    found = content_of("nothing of it", ["tok-48fz91", 441712]).found_in([value, "x", value])
    assert found == ["e1", None, "e1"]


@pytest.mark.parametrize(
    "value",
    ["TOK-48FZ91", ["tok-", "48fz91"], {"tok-": "48fz91"}, "tok-48fz9", 44171, True, None, {}, []],
)
def test_what_only_resembles_it_is_not_found(value: Any) -> None:
    assert content_of(["tok-48fz91", 441712]).found_in([value]) == [None]


def test_nothing_confined_is_nothing_found() -> None:
    assert content_of("short", 1, True).found_in(["short", 1]) == [None, None]
    assert ConfinedContent([]).found_in(["x"]) == [None]
    assert content_of("12345678").found_in([]) == []


# --- against a statement by one loop over everything -------------------------------------------

LETTERS = st.text("ab1", min_size=0, max_size=14)
LEAVES = LETTERS | st.integers(0, 1_200_000) | st.floats(0, 1e7) | st.booleans() | st.none()
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LETTERS, inner, max_size=3),
    max_leaves=6,
)


def spelled(value: Any) -> list[str]:
    """Return all that a value spells: strings, keys, and numbers."""
    if isinstance(value, dict):
        return [*value, *(text for inner in value.values() for text in spelled(inner))]
    if isinstance(value, list):
        return [text for inner in value for text in spelled(inner)]
    if isinstance(value, str):
        return [value]
    return [] if value is None or isinstance(value, bool) else [canonical_json(value).decode()]


@LAW
@given(st.lists(VALUES.filter(lambda value: value is not None), max_size=6), VALUES, st.booleans())
def test_it_finds_what_a_plain_loop_finds(contents: list[Any], value: Any, few: bool) -> None:
    """With many texts it takes the other way, and the answer is the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confinement, "_FEW", 32 if few else 0)
        (found,) = content_of(*contents).found_in([value])
    wanted = (
        f"e{at}"
        for at, content in enumerate(contents)
        for text in confined_texts(content)
        if any(text in one for one in spelled(value))
    )
    assert found == next(wanted, None)


@pytest.mark.parametrize("few", [0, 32])
def test_of_texts_within_one_another_one_is_found(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(confinement, "_FEW", few)
    nested = content_of("bbbbbbbbb", "abbbbbbbbb", "abbbbbbbbc")
    assert nested.found_in(["abbbbbbbbc"]) == ["e2"]
    assert nested.found_in(["aabbbbbbbbb"])[0] in ("e0", "e1")
    assert nested.found_in(["abbbbbbbbd", "bbbbbbbbb"]) == [None, "e0"]


# More than are looked for one by one. Later items have texts that come first in the alphabet.
MANY = [f"{chr(ord('z') - at % 26)}-{at:02}-of-many-texts" for at in range(40)]


def test_of_many_texts_the_first_item_is_named_and_nothing_is_half_found() -> None:
    many = content_of(*MANY)
    searched = [*MANY, *(text[1:] for text in MANY), *(text[:-1] for text in MANY)]
    both = [f"{later} and {first}" for first, later in pairwise(MANY)]
    names = [f"e{at}" for at in range(40)]
    assert many.found_in([*searched, *both]) == [*names, *[None] * 80, *names[:-1]]
    assert [many.found_in([text]) for text in both] == [[name] for name in names[:-1]]


def test_a_text_is_found_at_the_end_of_what_begins_another() -> None:
    """Of many texts at once: where one fails, the next may have begun within it."""
    texts = [f"{'a' * at}bbbbbbbb-{at:02}" for at in range(40)]
    nested = content_of(*texts, "bbbbbbbb")
    begun = [f"{'a' * at}bbbbbbbb!" for at in range(40)]
    ended = [f"{'a' * at}bbbbbbbb-00" for at in range(40)]
    names = [f"e{at}" for at in range(40)]
    assert nested.found_in([*texts, *begun, *ended]) == [*names, *["e40"] * 40, *["e0"] * 40]


def test_later_items_can_be_left_out() -> None:
    content = content_of("the first one", None, "the third one", 7, *MANY)
    values = ["the first one", "the third one", MANY[0], MANY[39]]
    for count, found in (
        (0, [None, None, None, None]),
        (1, ["e0", None, None, None]),
        (3, ["e0", "e2", None, None]),
        (5, ["e0", "e2", "e4", None]),
        (None, ["e0", "e2", "e4", "e43"]),
    ):
        assert content.found_in(values, count) == found
    assert [content.without_text(count) for count in (1, 2, 4, None)] == [
        *([], ["e1"], ["e1", "e3"], ["e1", "e3"])
    ]


# --- time --------------------------------------------------------------------------------------


def numbered(count: int) -> list[str]:
    return [f"https://intern.example/keys/{at:08}/value" for at in range(count)]


def near_misses(count: int) -> list[str]:
    """Return texts with the same beginnings and ends as the confined ones."""
    return [f"https://intern.example/keys/{at:08}x/value" for at in range(count)]


def seconds(secrets: Any, values: list[Any]) -> float:
    content = content_of(secrets)
    before = process_time()
    content.found_in(values)
    return process_time() - before


@pytest.mark.slow
@pytest.mark.parametrize("values", [numbered, near_misses])
def test_it_takes_linear_time(values: Any) -> None:
    small = min(seconds(numbered(1000), values(1000)) for _ in range(3))
    large = min(seconds(numbered(8000), values(8000)) for _ in range(2))
    assert large < 8 * 4 * small + 0.1


def test_a_long_repetition_takes_linear_time() -> None:
    """Every place of the text begins most of a confined text, and none ends it."""
    secrets = [letter * 400 + "!" + "a" * 10 for letter in string.ascii_lowercase * 2]
    secrets += [f"{secret}{at}" for at, secret in enumerate(secrets)]
    text = "a" * 100_000 + "!" + "a" * 10
    assert seconds(secrets, [text[: 1000 + len(text) // 4]]) < 3
    assert seconds(secrets, [text]) < 3
