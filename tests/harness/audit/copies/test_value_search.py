"""A value is found in any spelling, and what does not hold it is left alone."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.escaping import escape_line, escape_name
from harness.audit.copies.value_search import SHORTEST, SoughtValues
from harness.canonical import canonical_json
from harness.errors import UsageError
from tests.support.effort import examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=SHORTEST, max_size=30)
AROUND = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def spelled(value: str, way: int) -> str:
    escaped = "".join(
        f"\\u{unit:04x}"
        for at in range(0, len(value.encode("utf-16-be")), 2)
        for unit in [int.from_bytes(value.encode("utf-16-be")[at : at + 2], "big")]
    )
    ways = (value, json.dumps({"a": [value]}), f'{{"a":"{escaped}"}}', escape_line(value))
    more = (json.dumps(json.dumps({value: 1})), escape_name(value), value.swapcase())
    return (*ways, *more)[way]


@settings(max_examples=examples(200))
@given(value=TEXTS.filter(lambda one: len(one.strip()) >= SHORTEST), way=st.integers(0, 5))
def test_a_text_is_found_in_every_spelling(value: str, way: int) -> None:
    sought = SoughtValues([value])
    if sought.hold("\\" + value) and "\\" in value:
        return  # what has escapes of its own may be read in two ways
    for held in ([spelled(value, way)], {spelled(value, way): 1}, {"a": [{"b": f"x{value}y"}]}):
        assert sought.hold(held)
        assert sought.may_hold(canonical_json(held))
        assert sought.hold_bytes(json.dumps(held).encode())


@settings(max_examples=examples(100))
@given(
    number=st.integers(1000, 2**53) | st.decimals(1000, 10**9, places=3), shift=st.integers(0, 3)
)
def test_a_number_is_found_in_every_spelling(number: int | Decimal, shift: int) -> None:
    exact = Decimal(number)
    spellings = [str(exact), f"{exact:f}", f"{exact.scaleb(-shift)}e{shift}", f"{exact:E}"]
    for given_as in spellings:
        sought = SoughtValues([given_as])
        value = int(exact) if exact == int(exact) else float(exact)
        assert sought.hold({"a": [value]})
        assert sought.may_hold(canonical_json({"a": [value]}))
        for other in spellings:
            assert sought.hold([other])
        assert not sought.hold([int(exact) + 1, True, None, "other"])
        assert not sought.hold([value], numbers=False)


@pytest.mark.parametrize(
    ("text", "is_held"),
    [
        ("it is [UK123456...] of 22", True),
        ("it is [UK12... of 22", True),
        ("it is [UK1...", False),
        ("it is [UK12", False),
        ("uk12345678901234567890", True),
        ("UK1234567890 1234567890", False),
    ],
)
def test_the_beginning_of_a_value_is_enough_where_a_text_was_cut(text: str, is_held: bool) -> None:
    sought = SoughtValues(["UK12345678901234567890"])
    assert sought.hold(text) is is_held
    assert not is_held or sought.may_hold(canonical_json(text))


def test_what_a_digest_has_by_chance_is_not_a_value() -> None:
    digest = "0123456789abcdef" * 4
    assert not SoughtValues(["4567"]).hold([digest, f"sha256:{digest}"])
    assert SoughtValues(["4567"]).hold([f"{digest}4567"])
    assert SoughtValues([digest]).hold([f"sha256:{digest}"])


@pytest.mark.parametrize("value", ["", "abc", " abc ", "1e3"])
def test_a_value_that_is_everywhere_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="needs at least 4 characters"):
        SoughtValues([value])


@settings(max_examples=examples(100))
@given(value=TEXTS.filter(lambda one: one.strip() == one), other=AROUND)
def test_what_may_not_hold_a_value_does_not(value: str, other: str) -> None:
    sought = SoughtValues([value])
    data = canonical_json({"a": [other, 7]})
    assert sought.may_hold(data) or not sought.hold_bytes(data)
