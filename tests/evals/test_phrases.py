"""Phrases in a text: the index of its suffixes finds what reading it finds, in linear time."""

from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from critic import Refused
from evals import phrases
from evals.binding import ContentIndex
from evals.phrases import Phrases
from evals.tokens import has_token, mark_tokens
from tests.support.judging import LAW, judge
from tests.support.model.facts import Json

PIECES = st.sampled_from(["a", "b", "ab", "5", "24 500", " ", "  ", "-", "(", ")", ".", "\u2026"])
TEXTS = st.lists(PIECES, max_size=14).map("".join)


@LAW
@given(TEXTS, TEXTS)
@example("a b a b b", "a b b")
@example("(5) 5 (5)", "5")
def test_the_index_of_suffixes_holds_what_the_text_holds(text: str, phrase: str) -> None:
    """Nobody asks for a text without a token: it must be the whole text."""
    whole = mark_tokens(text)
    suffixes = phrases._Suffixes(whole)
    for part in (phrase, *(text[start : start + 5] for start in range(len(text)))):
        if has_token(part):
            assert (mark_tokens(part) in suffixes) == (mark_tokens(part) in whole)


@LAW
@given(TEXTS, st.lists(TEXTS | st.integers(0, 9), max_size=5))
def test_what_a_text_backs_does_not_change_once_it_is_indexed(
    text: str, values: list[str | int]
) -> None:
    read = [ContentIndex(text).backs(value) for value in values]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phrases, "_MOST_SCANS", 0)
        assert [ContentIndex(text).backs(value) for value in values] == read


def test_a_text_is_read_from_its_beginning_a_thousand_times_only() -> None:
    held = Phrases(mark_tokens("a b c"))
    for _ in range(1000):
        assert mark_tokens("b c") in held
    assert "_suffixes" not in vars(held)
    assert mark_tokens("b c") in held
    assert mark_tokens("a c") not in held
    assert "_suffixes" in vars(held)


@pytest.mark.slow
@pytest.mark.parametrize("one_step", [True, False])
def test_many_values_of_two_words_are_looked_for_in_linear_time(one_step: bool) -> None:
    """Reading the text for each value takes four times as long here, and grows with the square."""
    count = 30_000
    pair: Json = {"adapter_id": "a", "capability_id": "b"}
    item = {"id": "e", "classification": "k"}
    item["content"] = " ".join(f"word{at}" for at in range(count))
    values = [f"word{at} word{at + 1}" for at in range(count)]
    groups = [values] if one_step else [[value] for value in values]
    steps = [{"kind": "tool", **pair, "args": {"x": one}, "evidence_refs": ["e"]} for one in groups]
    tool = {**pair, "approval_mode": "network", "bound_args": {"x": ["k"]}}
    wire: Json = {
        "ctx": {"trace_id": "t", "safety_mode": "network"},
        "compiled": {"manifests": {"tool_manifest": [tool], "evidence_manifest": [item]}},
        "spec": {"id": "d", "required_outputs": []},
        "plan": {"steps": steps, "declared_outputs": []},
    }
    wire["ctx"]["run_budget"] = {"max_steps": count}
    start = process_time()
    verdict = judge(wire)
    assert process_time() - start < 8
    assert isinstance(verdict, Refused)
    assert len(verdict.violations) == 1  # the last value: no word follows the last one
