"""What every field of every envelope takes and refuses, asked of the fields themselves."""

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

import critic
from critic import Finding, Plan, ReasonStep, ToolCall, ToolStep
from evals.envelope import ARRAY, Envelope
from evals.json_value import JsonObject, JsonValue, PresentJson, Text
from evals.kinds import ApprovalMode
from evals.run import Run
from evals.timestamps import Time
from evals.verdict import Share
from tests.support.model.facts import Json

PUBLIC = [getattr(critic, name) for name in critic.__all__]
ENVELOPES = [one for one in PUBLIC if isinstance(one, type) and issubclass(one, Envelope)]
FIELDS = [(model, name) for model in ENVELOPES for name in model.model_fields]
OPTIONAL = [(model, name) for model, name in FIELDS if model.model_fields[name].default is None]
ARRAYS = [(model, name) for model, name in FIELDS if ARRAY in model.model_fields[name].metadata]

every_optional = pytest.mark.parametrize(("model", "name"), OPTIONAL)
every_array = pytest.mark.parametrize(("model", "name"), ARRAYS)


def errors(model: type[Envelope], name: str, value: Any) -> list[str]:
    """Return the types of the errors at a field or within it, as read from the wire."""
    try:
        model.model_validate({name: value})
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return [one["type"] for one in found if one["loc"][:1] == (name,)]
    return []


def test_there_are_fields_of_every_sort() -> None:
    assert len(FIELDS) > 90
    assert len(OPTIONAL) > 40
    assert len(ARRAYS) > 15


@every_optional
def test_null_is_not_a_value_of_an_optional_field(model: type[Envelope], name: str) -> None:
    assert errors(model, name, None)


@every_array
def test_a_tuple_of_any_length_is_an_array(model: type[Envelope], name: str) -> None:
    for length in (1, 2, 3):
        value = (object(),) * length
        assert {"too_long", "too_short"}.isdisjoint(errors(model, name, value))


def test_a_step_is_what_its_class_says_where_no_kind_is_given() -> None:
    assert ReasonStep().wire() == {"kind": "reason"}
    call = ToolStep(adapter_id="a", capability_id="b")
    assert call.wire() == {"kind": "tool", "adapter_id": "a", "capability_id": "b", "args": {}}
    plan = Plan(steps=(ReasonStep(), call, ReasonStep()), declared_outputs=("o", "p"))
    assert [step.kind for step in plan.steps] == ["reason", "tool", "reason"]


def test_an_attempt_is_the_first_where_none_is_given() -> None:
    call = ToolCall(step=0, adapter_id="a", capability_id="b", args={}, status="completed")
    assert call.attempt == 1
    assert call.wire()["attempt"] == 1


def _takes(adapter: TypeAdapter[Any], value: Any) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def test_a_text_with_a_lone_surrogate_is_none() -> None:
    assert not _takes(TypeAdapter(Text), "\ud800")
    assert not _takes(TypeAdapter(PresentJson), ["\ud800"])
    assert not _takes(TypeAdapter(JsonObject), {"\ud800": 1})
    assert not _takes(TypeAdapter(JsonObject), {"a": "\ud800"})


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ({1: 2}, False),
        ({"a": {1: 2}}, False),
        ({"\u00e9": {1: 2}}, False),
        ({"a": {"b": object()}}, False),
        ({"a": 2**53 - 1}, True),
        ({"a": -(2**53) + 1}, True),
        ({"a": 2**53}, False),
        ({"a": -(2**53)}, False),
        ({"a": -1}, True),
        ({"a": 0}, True),
        ({"\u00e9": "\u00e9"}, True),
        ({"a": b"x"}, False),
        ([], False),
        ("a", False),
        (None, False),
    ],
)
def test_args_are_a_json_object(value: Any, taken: bool) -> None:
    assert _takes(TypeAdapter(JsonObject), value) is taken


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (JsonValue, {}),
        (PresentJson, {"not": {"type": "null"}}),
        (JsonObject, {"type": "object"}),
        (Share, {"type": "number", "minimum": 0, "maximum": 1}),
        (Time, {"type": "string", "format": "date-time"}),
    ],
)
def test_the_schema_of_a_field_says_what_it_takes(kind: Any, schema: Json) -> None:
    for mode in ("validation", "serialization"):
        assert TypeAdapter(kind).json_schema(mode=mode) == schema


def test_modes_are_ranked_from_0_to_4() -> None:
    assert dict(critic.MODE_RANK) == {
        mode: rank for rank, mode in enumerate(get_args(ApprovalMode))
    }


def test_a_score_may_be_spelled_as_an_integer() -> None:
    facts: Any = {"evaluator_id": "cost", "evaluator_version": "1", "trace_id": "t"}
    for score in (0, 1):
        verdict = critic.EvaluatorVerdict(**facts, score=score, status="pass", findings=())
        assert (verdict.score, type(verdict.score)) == (score, float)


def test_contradictions_have_a_name() -> None:
    tool = {"adapter_id": "a", "capability_id": "b", "approval_mode": "network"}
    item = {"id": "e", "classification": "k"}
    verdict = {"evaluator_id": "cost", "evaluator_version": "1", "trace_id": "t", "score": 1}
    wrong: list[tuple[type[Envelope], Any, str]] = [
        (critic.Manifests, {"tool_manifest": [tool] * 2, "evidence_manifest": []}, "duplicate"),
        (critic.Manifests, {"tool_manifest": [], "evidence_manifest": [item] * 2}, "duplicate"),
        (critic.EvaluatorVerdict, {**verdict, "status": "fail", "findings": []}, "contradiction"),
    ]
    for model, wire, name in wrong:
        with pytest.raises(ValidationError) as caught:
            model(**wire)
        (error,) = caught.value.errors()
        assert error["type"].startswith(name)


def test_the_kinds_of_errors_have_names() -> None:
    """A reader of pydantic's errors tells them apart by `type`."""
    found: dict[str, Any] = {}
    for model, fields in (
        (critic.EvidenceItem, {"content": None}),
        (critic.EvidenceItem, {"content": float("nan")}),
        (critic.EvidenceItem, {"expires_at": "now"}),
        (critic.ToolStep, {"args": 1}),
        (critic.ToolCapability, {"args_schema": 1}),
        (critic.ToolCapability, {"args_schema": {"type": 1}}),
        (critic.EvaluatorVerdict, {"score": 2}),
    ):
        for name, value in fields.items():
            found[f"{name} {value}"] = errors(model, name, value)
    assert found == {
        "content None": ["json_value"],
        "content nan": ["json_value"],
        "expires_at now": ["time"],
        "args 1": ["json_value"],
        "args_schema 1": ["json_schema"],
        "args_schema {'type': 1}": ["json_schema"],
        "score 2": ["share"],
    }


def test_findings_and_runs_keep_what_they_are_given() -> None:
    finding = Finding(severity="info", message="m", evidence_ref="e")
    assert finding.wire() == {"severity": "info", "message": "m", "evidence_ref": "e"}
    assert {"wall_ms", "tokens", "cost_micros", "pack_version", "intent"} < set(Run.model_fields)
