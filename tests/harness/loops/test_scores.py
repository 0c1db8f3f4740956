"""A score is read from one line of one form, and never guessed."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops.critique import is_phrase, parse_score
from tests.harness.loops.scripted import cases

DECIMALS = st.decimals(0, 1, places=4).map(lambda number: f"{number:f}")


@pytest.mark.parametrize("case", cases("score"))
def test_a_score_is_read_from_a_reply(case: dict[str, Any]) -> None:
    score = parse_score(case["reply"])
    assert score == case["expect"]
    assert type(score) in (float, type(None))


@given(DECIMALS, st.sampled_from(":="), st.text("abc .\n"))
def test_every_plain_decimal_is_read(number: str, sign: str, rest: str) -> None:
    assert parse_score(f"score{sign} {number}\n{rest}") == float(number)
    assert parse_score(f"{rest}\nscore {sign}{number}") == float(number)


@given(st.text("score:=01.9%/-e \n", max_size=20))
def test_a_number_comes_from_exactly_one_line(text: str) -> None:
    score = parse_score(text)
    lines = re.findall(r"(?m)^[ ]*score[ ]*[:=](.*)$", text)
    if score is not None:
        assert [float(line) for line in lines] == [score]
        assert 0 <= score <= 1


@given(st.text(), st.text(min_size=1).filter(str.strip))
def test_a_phrase_counts_only_as_the_whole_reply(text: str, phrase: str) -> None:
    assert is_phrase(f" {phrase}\n", phrase)
    assert is_phrase(text, phrase) == (text.strip().casefold() == phrase.strip().casefold())
    assert not is_phrase(f"{phrase} x", phrase)
