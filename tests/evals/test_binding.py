"""Whether evidence backs a value: equal leaves in JSON, whole tokens in text."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.binding import ContentIndex, scalars, unbacked_values
from evals.canonical_json import canonical_json
from evals.capability import ToolCapability
from evals.evidence import EvidenceReview, UnbackedArgument
from evals.manifest import EvidenceItem
from tests.support import json_values
from tests.support.effort import examples
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(250))


def unbacked_arguments(
    bound: dict[str, Any], args: dict[str, Any], items: list[EvidenceItem]
) -> list[str]:
    """Return the bound arguments that are not backed where a step pins these items."""
    tool = ToolCapability(
        adapter_id="a", capability_id="c", approval_mode="read_only", bound_args=bound
    )
    named = [item.model_copy(update={"id": f"e{at}"}) for at, item in enumerate(items)]
    review = EvidenceReview({item.id: item for item in named}, None)
    faults = review.faults(tool, None, [item.id for item in named], args)
    return [fault.name for fault in faults if isinstance(fault, UnbackedArgument)]


# They begin and end with letters: some of the joints below join digits.
words = st.from_regex(r"[abXY][019_]{0,3}[abXY]", fullmatch=True)
joints = st.sampled_from([" ", "\n", "\t", ", ", "; ", " (", ") ", '"', "<", "\u3000", "\u2014"])
json_content = json_values.values.filter(lambda value: type(value) is not str)


@LAW
@given(json_content, json_values.scalars)
def test_json_content_backs_exactly_its_leaves(content: Any, value: Any) -> None:
    leaves = [] if content is None else [canonical_json(leaf) for leaf in scalars(content)]
    assert ContentIndex(content).backs(value) is (canonical_json(value) in leaves)


texts = st.text("112ab_.,-+: (", max_size=8)


@LAW
@given(st.lists(st.one_of(texts, json_content)), st.lists(st.one_of(texts, json_values.scalars)))
def test_many_pieces_back_what_one_of_them_does(contents: list[Any], values: list[Any]) -> None:
    backings = [ContentIndex(content) for content in contents]
    alone = [any(one.backs(value) for one in backings) for value in values]
    together = ContentIndex.of_all(backings)
    assert [together.backs(value) for value in values] == alone
    expected = [value for value, backed in zip(values, alone, strict=True) if not backed]
    left = list(unbacked_values(values, backings))
    assert list(map(canonical_json, left)) == list(map(canonical_json, expected))


@pytest.mark.parametrize("many", [1, 2, 50])
def test_a_value_that_lies_across_two_texts_is_not_backed(many: int) -> None:
    halves = [ContentIndex("pay 1 "), ContentIndex("2 now")]
    for value in ("1 2", "12", "pay 1 \ud8012 now", "pay 1 2 now"):
        assert list(unbacked_values([value] * many, halves)) == [value] * many
    for value in ("1", "pay 1", "2 now"):
        assert list(unbacked_values([value] * many, halves)) == []


@LAW
@given(json_content.filter(lambda value: value is not None))
def test_every_leaf_of_json_content_is_backed(content: Any) -> None:
    backing = ContentIndex(content)
    assert all(backing.backs(leaf) for leaf in scalars(content))


@pytest.mark.parametrize(
    ("content", "value", "backed"),
    [
        ([1], 1.0, True),
        ([1.0], 1, True),
        ([0], -0.0, True),
        ([1], True, False),
        ([True], 1, False),
        ([0], False, False),
        ([1], "1", False),
        (["1"], 1, False),
        ([None], None, True),
        (["null"], None, False),
        ([False], None, False),
        ({"pay_1": "x"}, "pay_1", False),
        ({"a": {"b": [{"c": "pay_1"}]}}, "pay_1", True),
        (["pay_1 "], "pay_1", False),
        (["PAY_1"], "pay_1", False),
        (["e\u0301"], "\u00e9", False),
        ([[]], "", False),
        ([""], "", True),
        (24500, 24500.0, True),
        (True, True, True),
    ],
)
def test_a_value_is_backed_by_a_leaf_of_the_content(content: Any, value: Any, backed: bool) -> None:
    assert ContentIndex(content).backs(value) is backed


@pytest.mark.parametrize("value", [None, "", 0, False, "null", "x"])
def test_absent_content_backs_nothing(value: Any) -> None:
    item = EvidenceItem(id="e", classification="k")
    assert not item.backing.backs(value)
    assert unbacked_arguments({"x": ["k"]}, {"x": value}, [item]) == ["x"]


@LAW
@given(st.lists(st.tuples(words, joints), min_size=1, max_size=5), words)
def test_text_backs_its_whole_words_and_no_others(parts: list[tuple[str, str]], word: str) -> None:
    backing = ContentIndex("".join(part + joint for part, joint in parts))
    assert backing.backs(word) is (word in [part for part, _ in parts])


@LAW
@given(st.text(max_size=20))
def test_a_text_backs_itself(text: str) -> None:
    assert ContentIndex(text).backs(text)


@LAW
@given(words, words, st.sampled_from(["", "-", ".", "_", "/", "@", ":", "#", "+", "=", "~"]))
def test_part_of_a_token_is_never_backed(word: str, more: str, joint: str) -> None:
    backing = ContentIndex(f"paid {word}{joint}{more} today")
    longer = word + joint + more
    assert backing.backs(longer)
    assert not backing.backs(word) or word in ("paid", "today")
    assert not backing.backs(more) or more in ("paid", "today")


MASKS = "*\u00b7\u2022\u2026\u2217"
"""What masks the digits beside it."""


@pytest.mark.parametrize(
    ("text", "value", "backed"),
    [
        ("payment pay_8861 received", "pay_8861", True),
        ("payment pay_8861 received", "pay_88", False),
        ("payment pay_8861 received", "8861", False),
        *((f"card {mark * 3}8861 charged", 8861, False) for mark in MASKS),
        *((f"card 8861{mark * 3} charged", 8861, False) for mark in MASKS),
        ("refund 24,500 rupees", "24,500", True),
        ("refund 24,500 rupees", 24500, False),
        ("refund 24,500 rupees", 500, False),
        ("refund 24,500 rupees", 24, False),
        ("refund 24500 rupees.", 24500, True),
        ("refund 24500 rupees.", 24500.0, True),
        ("refund 24500 rupees.", "24500", True),
        ("a debt of -500 now", 500, False),
        ("a debt of -500 now", -500, True),
        ("a debt of \u2212500 now", 500, False),
        ("a debt of \u2013500 now", 500, False),
        ("a debt of \uff0d500 now", 500, False),
        ("from pay\u20108861 on", 8861, False),
        ("from pay\u20118861 on", 8861, False),
        ("a debt \u2014 500 now", 500, True),
        ("costs 1.50 each", 1.5, False),
        ("costs 1.5 each", 1.5, True),
        ("costs 1.5 each", 1, False),
        ("costs 1.5 each", 5, False),
        ("costs $500.", 500, True),
        ("mail to ann@bank.example.evil", "ann@bank.example", False),
        ("see bank.example.evil/x", "bank.example", False),
        ("see bank.example.", "bank.example", True),
        ("(bank.example)", "bank.example", True),
        ("DE89 3704 0044", "DE89 3704 0044", True),
        ("DE89 3704 0044", "3704", True),
        ("DE89 3704 0044", "DE89 3704", True),
        ("pay\u200d_1 is due", "pay", False),
        ("pay_1\u0301 is due", "pay_1", False),
        ("true or null", True, False),
        ("true or null", None, False),
        ("true or null", False, False),
        ("truethy", True, False),
        ("anything", "", False),
        ("", "", True),
        ("   ", "", False),
        ("a -- b", "--", False),
    ],
)
def test_a_value_is_backed_by_whole_tokens_of_a_text(text: str, value: Any, backed: bool) -> None:
    assert ContentIndex(text).backs(value) is backed


def test_scalars_are_values_and_never_keys() -> None:
    value = {"a": [1, "x", None, {"b": True}], "c": {}, "d": [], "e": 0.5}
    assert sorted(map(repr, scalars(value))) == ["'x'", "0.5", "1", "None", "True"]
    assert list(scalars("alone")) == ["alone"]
    assert list(scalars({})) == []


def parts_of(value: Any) -> Iterator[Any]:
    """Yield the value, its keys, and the same of everything in it."""
    yield value
    if isinstance(value, dict):
        for key, item in value.items():
            yield ("key", key)
            yield from parts_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from parts_of(item)


@LAW
@given(json_values.values)
def test_every_scalar_is_met_once(value: Any) -> None:
    parts = list(parts_of(value))
    leaves = [part for part in parts if not isinstance(part, dict | list | tuple)]
    assert sorted(map(repr, scalars(value))) == sorted(map(repr, leaves))


def evidence(classification: str, content: Any) -> EvidenceItem:
    return EvidenceItem(id="e", classification=classification, content=content)


@pytest.mark.parametrize(
    ("args", "unbacked"),
    [
        ({}, []),
        ({"x": "pay_1"}, []),
        ({"x": "pay_2"}, ["x"]),
        ({"x": ["pay_1", 500]}, []),
        ({"x": ["pay_1", 501]}, ["x"]),
        ({"x": {"deep": [{"er": "pay_1"}]}}, []),
        ({"x": []}, []),
        ({"y": "pay_1", "x": "z"}, ["x", "y"]),
        ({"free": "anything"}, []),
    ],
)
def test_a_bound_argument_is_backed_in_all_its_scalars(
    args: dict[str, Any], unbacked: list[str]
) -> None:
    items = [evidence("k", "order pay_1"), evidence("k", {"amount": 500}), evidence("K", "z")]
    assert unbacked_arguments({"x": ["k"], "y": ["k.x"]}, args, items) == unbacked


def test_an_argument_bound_to_no_class_is_never_backed() -> None:
    assert unbacked_arguments({"x": []}, {"x": "pay_1"}, [evidence("k", "pay_1")]) == ["x"]
