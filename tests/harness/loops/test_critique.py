"""A critic's reply is a judgement only if it is exactly the form that was asked for."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops.critique import Critique, judge, parse_critique
from harness.loops.revise import Malformed
from tests.harness.loops.scripted import cases

NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers() | st.booleans()
SCORES = NUMBERS | st.text() | st.none() | st.lists(st.floats(0, 1))
ISSUES = st.lists(st.text(min_size=1)) | st.text() | st.none() | st.lists(st.integers(), min_size=1)


@pytest.mark.parametrize("case", cases("critique"))
def test_a_reply_is_parsed_or_malformed(case: dict[str, Any]) -> None:
    read, expected = parse_critique(case["reply"]), case["expect"]
    if expected == "malformed":
        assert isinstance(read, Malformed)
        assert read.why.isascii()
        assert "\n" not in read.why
        return
    assert isinstance(read, Critique)
    assert (read.score, list(read.issues)) == (expected["score"], expected["issues"])
    assert judge(read, 0.9).ruling == expected["ruling"]


def test_the_error_in_a_reply_is_named() -> None:
    read = parse_critique('{"issues": [], "score": 1.5}')
    assert read == Malformed("/score: input should be less than or equal to 1")


def test_a_reply_of_megabytes_is_none() -> None:
    head, tail = '{"issues": [],', '"score": 1}'
    most = " " * ((1 << 20) - len(head + tail))
    assert isinstance(parse_critique(head + most + tail), Critique)
    assert isinstance(parse_critique(head + most + " " + tail), Malformed)


def test_text_without_a_form_in_bytes_is_malformed() -> None:
    assert isinstance(parse_critique('{"issues": ["\ud800"], "score": 1}'), Malformed)


@given(st.text())
def test_no_text_but_the_form_is_a_judgement(text: str) -> None:
    read = parse_critique(text)
    if not isinstance(read, Malformed):
        assert {"issues", "score"} <= {*json.loads(text)}


@given(SCORES, ISSUES, st.floats(0, 1))
def test_whatever_approves_is_a_number_in_range_without_issues(
    score: Any, issues: Any, threshold: float
) -> None:
    read = parse_critique(json.dumps({"issues": issues, "score": score}))
    proper = type(score) in (int, float) and 0 <= score <= 1
    if isinstance(read, Malformed):
        assert not proper or issues != []
    elif judge(read, threshold).ruling == "approved":
        assert proper
        assert score >= threshold
        assert issues == []


@given(st.text().filter(str.strip), st.text())
def test_no_prose_around_an_approval_approves(before: str, after: str) -> None:
    approval = '{"issues": [], "score": 1.0}'
    assert isinstance(parse_critique(before + approval + after), Malformed)
    assert isinstance(parse_critique(after + approval + before), Malformed)


@given(st.floats(0, 1), st.lists(st.just("x"), max_size=3), st.floats(0, 1))
def test_of_two_refusals_the_higher_score_is_the_better(
    score: float, issues: list[str], other: float
) -> None:
    one = judge(Critique(issues=tuple(issues), score=score), 1.0)
    two = judge(Critique(issues=(), score=other), 1.0)
    if score > other:
        assert one.rank > two.rank
    if score == other and issues:
        assert one.rank < two.rank


@pytest.mark.parametrize(
    "fenced",
    [
        "```JSON\n{}\n```",
        "```json\r\n{}\r\n```",
        "```json\n{}```",
        "``` {} ```",
        "\n```\n\n{}\n\n```",
    ],
)
def test_one_fenced_object_is_read_however_it_is_fenced(fenced: str) -> None:
    approval = '{"issues": [], "score": 1.0}'
    assert isinstance(parse_critique(fenced.replace("{}", approval)), Critique)
    assert isinstance(parse_critique(fenced.replace("{}", approval * 2)), Malformed)
    assert isinstance(parse_critique(fenced.replace("{}", approval) * 2), Malformed)
