"""One value, one byte form: RFC 8785, checked against another implementation of it."""

import hashlib
import json
import math
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

import evals
from critic import Plan, Proposal, Run, ToolStep, digest, score
from evals.canonical_json import canonical_bytes, canonical_json
from evals.joined_json import begin_object, finish_object, join_array, join_object
from harness import canonical
from harness.testing.strategies import edge_proposals, edge_runs
from harness.wire import parse, parse_json
from tests.support import json_values
from tests.support.effort import examples
from tests.support.examples import good_proposal, proposal_of
from tests.support.judging import judge_proposal
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(300))
WHOLE = settings(PATIENT, max_examples=examples(60))


@LAW
@given(json_values.values)
def test_the_bytes_are_those_of_rfc8785(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@LAW
@given(st.text())
def test_strings_are_spelled_as_in_rfc8785(text: str) -> None:
    # Without a float or a strange key the fast path is taken, so it is held to the same bytes.
    assert canonical_json([text]) == rfc8785.dumps([text])


@LAW
@given(json_values.finite)
def test_every_float_is_spelled_as_in_rfc8785(number: float) -> None:
    assert canonical_json(number) == rfc8785.dumps(number)


@LAW
@given(json_values.values)
def test_the_bytes_are_read_back_as_the_same_value(value: Any) -> None:
    spelled = canonical_json(value)
    assert parse_json(spelled) == value
    assert json.loads(spelled) == value
    assert canonical_json(parse_json(spelled)) == spelled


@pytest.mark.parametrize("value", ["x", {"a": 1}, None])
def test_only_an_envelope_has_a_digest(value: Any) -> None:
    kind = type(value).__name__
    words = f"only an envelope has a digest, and this is of type {kind}: build one, such as Plan"
    with pytest.raises(TypeError, match=words):
        digest(value)


@LAW
@example(members={"\ue000": 1, "\U00010000": 2, 'a"': 3}, elements=[])
@given(st.dictionaries(st.text(), json_values.values), st.lists(json_values.values))
def test_joined_parts_are_the_canonical_bytes_of_the_whole(
    members: dict[str, Any], elements: list[Any]
) -> None:
    parts = {name: canonical_json(value) for name, value in members.items()}
    assert join_object(parts) == canonical_json(members)
    assert join_array(map(canonical_json, elements)) == canonical_json(elements)


@LAW
@given(st.dictionaries(st.text(), json_values.values, min_size=2), st.data())
def test_a_beginning_and_an_end_are_the_canonical_bytes_of_the_whole(
    members: dict[str, Any], data: st.DataObject
) -> None:
    names = sorted(members, key=lambda name: name.encode("utf-16-be"))
    at = data.draw(st.integers(1, len(names) - 1))
    first, last = (
        {name: canonical_json(members[name]) for name in some} for some in (names[:at], names[at:])
    )
    assert begin_object(first) + finish_object(last) == canonical_json(members)
    outer = begin_object({"x": begin_object(first)}) + finish_object(last) + b"}"
    assert outer == canonical_json({"x": members})


# The numbers of RFC 8785, appendix B, and what ES6 does at the edges of its notations.
@pytest.mark.parametrize(
    ("number", "spelled"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (1e21, "1e+21"),
        (999999999999999900000.0, "999999999999999900000"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (333333333.33333325, "333333333.33333325"),
        (-0.0000033333333333333333, "-0.0000033333333333333333"),
        (2**53 - 1, "9007199254740991"),
        (-(2**53 - 1), "-9007199254740991"),
    ],
)
def test_numbers_are_written_as_rfc_8785_says(number: float, spelled: str) -> None:
    assert canonical_json(number) == spelled.encode()
    assert canonical_json({"n": [number]}) == f'{{"n":[{spelled}]}}'.encode()


def test_keys_are_sorted_by_utf16_code_units() -> None:
    # The example of RFC 8785, section 3.2.3.
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    right = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    spelled = canonical_json(dict.fromkeys(names, 0))
    assert list(json.loads(spelled)) == right
    assert sorted(right) != right


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, [1, {"a": math.nan}], "\ud800", {"\udfff": 1.5}, {1: 1.5}],
)
def test_what_is_not_json_has_no_bytes(value: Any) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError)):
        canonical_json(value)


def test_printable_keys_are_sorted_by_utf16_code_units_too() -> None:
    assert list(json.loads(canonical_json({"\ufb33": 0, "\U0001f600": 0}))) == [
        "\U0001f600",
        "\ufb33",
    ]


@pytest.mark.parametrize("value", [{1: 2}, {None: 1}, [{True: 1}]])
def test_keys_that_are_not_strings_have_no_bytes(value: Any) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_json(value)


def test_the_digest_is_the_sha256_of_the_canonical_bytes() -> None:
    plan = Plan(steps=(), declared_outputs=("b", "a"), plan_id="p")
    spelled = b'{"declared_outputs":["b","a"],"plan_id":"p","steps":[]}'
    assert canonical_bytes(plan) == spelled
    assert digest(plan) == hashlib.sha256(spelled).hexdigest()


def test_defaults_are_written_and_absent_fields_are_not() -> None:
    step = ToolStep(adapter_id="a", capability_id="b")
    assert (
        canonical_bytes(step) == b'{"adapter_id":"a","args":{},"capability_id":"b","kind":"tool"}'
    )


def test_null_inside_a_json_value_is_kept() -> None:
    step = ToolStep(adapter_id="a", capability_id="b", args={"x": None, "y": [None, {"z": None}]})
    assert b'"args":{"x":null,"y":[null,{"z":null}]}' in canonical_bytes(step)
    wire = good_proposal()
    wire["compiled"]["manifests"]["evidence_manifest"][0]["content"] = {"x": None}
    assert b'"content":{"x":null}' in canonical_bytes(proposal_of(wire))


def respelled(wire: Any) -> Any:
    """Return the same value with its keys in reverse order."""
    if isinstance(wire, dict):
        return {name: respelled(wire[name]) for name in reversed(wire)}
    return [respelled(item) for item in wire] if isinstance(wire, list) else wire


def test_two_spellings_of_one_proposal_have_one_digest() -> None:
    wire = good_proposal()
    one = digest(proposal_of(wire))
    other = respelled(wire)
    other["ctx"]["as_of"] = "2026-05-09t15:15:00.000+05:30"
    other["ctx"]["run_budget"].pop("max_steps")  # 12, the default
    other["plan"]["steps"][1]["args"]["amount_inr"] = 24500.0
    assert digest(parse(Proposal, json.dumps(other, indent=4).encode())) == one


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, "1"), (None, "null"), ([], {}), ("e\u0301", "\u00e9")]
)
def test_other_values_have_other_digests(one: Any, other: Any) -> None:
    step = ToolStep(adapter_id="a", capability_id="b", args={"x": one})
    assert digest(step) != digest(step.model_copy(update={"args": {"x": other}}))


@WHOLE
@given(edge_proposals())
def test_a_proposal_survives_its_canonical_form(proposal: Proposal) -> None:
    again = parse(Proposal, canonical_bytes(proposal))
    assert again == proposal
    assert canonical_bytes(again) == canonical_bytes(proposal)
    assert canonical_bytes(judge_proposal(again)) == canonical_bytes(judge_proposal(proposal))


@WHOLE
@given(edge_proposals(), st.sampled_from([None, 1]), st.booleans())
def test_the_digest_is_of_the_value_and_not_of_its_spelling(
    proposal: Proposal, indent: int | None, escaped: bool
) -> None:
    wire = respelled(proposal.wire())
    for step in wire["plan"]["steps"]:
        if step.get("args") == {}:
            del step["args"]  # the default
    text = json.dumps(wire, indent=indent, ensure_ascii=escaped)
    assert digest(parse(Proposal, text.encode())) == digest(proposal)


@WHOLE
@given(edge_runs())
def test_a_run_survives_its_canonical_form(run: Run) -> None:
    again = parse(Run, canonical_bytes(run))
    assert again == run
    assert canonical_bytes(again) == canonical_bytes(run)
    assert canonical_bytes(score(again)) == canonical_bytes(score(run))


def test_the_harness_opens_the_same_door() -> None:
    assert canonical.__all__ == ["ascii_json", "canonical_bytes", "canonical_json", "digest"]
    assert canonical.digest is digest is evals.digest
    assert canonical.canonical_bytes is canonical_bytes
    assert canonical.canonical_json is canonical_json
