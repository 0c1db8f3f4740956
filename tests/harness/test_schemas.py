"""The schemas: current, true of every valid document, and strict where the wire is strict."""

import copy
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

import critic
from critic import CriticReport, Proposal, Run
from evals.envelope import Envelope
from harness.cases import Case, ConsolidateInput, case_files, read_case
from harness.record import Decision, DecisionRecord, Head, draft, seal_record
from harness.schemas import DIALECT, Schema, render_schemas, schemas
from harness.wire import InvalidInput, build, parse_json
from tests.support.paths import FIXTURES

INPUTS = {"verify": "Proposal", "score": "Run", "consolidate": "ConsolidateInput"}
SCHEMAS = schemas()
VERDICTS = {"verify": "VerifyVerdict", "score": "ScoreVerdict", "consolidate": "CriticReport"}


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(SCHEMAS[name], validate_formats=True)


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schema_is_current_and_a_schema(name: str) -> None:
    schema = SCHEMAS[name]
    assert (FIXTURES / "schemas" / f"{name}.json").read_bytes() == render_schemas(schema)
    assert meta.is_valid(schema)
    assert (schema["$schema"], schema["title"]) == (DIALECT, name)


def test_whoever_asks_for_the_schemas_may_change_them() -> None:
    changed = schemas()
    assert changed == SCHEMAS
    changed["Proposal"]["$defs"].clear()
    assert schemas() == SCHEMAS != changed


def test_no_schema_file_is_left_over() -> None:
    assert {path.stem for path in (FIXTURES / "schemas").iterdir()} == set(SCHEMAS)


def test_every_public_envelope_has_a_schema() -> None:
    public = {name for name in critic.__all__ if _is_envelope(getattr(critic, name))}
    assert public <= set(SCHEMAS)


def _is_envelope(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Envelope)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
def test_only_standard_keywords_and_no_null(schema: Schema) -> None:
    for part in subschemas(schema):
        assert not {"discriminator", "$id", "nullable"} & set(part)
        assert part.get("default", "") is not None
        assert ("title" in part) is (part is schema)
        if part.get("type") == "object" and {"properties", "patternProperties"} & set(part):
            assert part["additionalProperties"] is False


def test_the_schema_of_a_policy_takes_the_policies_of_the_examples() -> None:
    files = (*FIXTURES.glob("refund/*.toml"), *FIXTURES.glob("examples/*/*.toml"))
    policies = [path for path in files if path.name == "critic.toml"]
    assert len(policies) == 3
    for path in policies:
        wire = tomllib.loads(path.read_text(encoding="utf-8"))
        assert validator("Policy").is_valid(wire)
        for part in (wire, wire["guard"], wire["spec"], wire["tool"][0]):
            part["unknown"] = 1
            assert not validator("Policy").is_valid(wire)
            del part["unknown"]


def subschemas(schema: Any) -> Iterator[Schema]:
    if not isinstance(schema, dict):
        return
    yield schema
    named = [schema.get(keyword, {}) for keyword in ("properties", "patternProperties", "$defs")]
    parts = [part for group in named for part in group.values()]
    for part in (*parts, *schema.get("oneOf", []), *schema.get("anyOf", []), schema.get("items")):
        yield from subschemas(part)


# True of what is valid.


def test_every_valid_document_satisfies_its_schema() -> None:
    for path in case_files(FIXTURES / "cases"):
        assert validator("Case").is_valid(parse_json(path.read_bytes())), path
        case = read_case(path)
        if case.expect is None or case.expect.verdict is None:
            continue
        assert validator(INPUTS[case.command]).is_valid(parse_json(case.document())), path
        assert validator(VERDICTS[case.command]).is_valid(case.expect.verdict), path


# Strict where the wire is strict.

OTHER_TYPES = {
    "string": 7,
    "integer": "7",
    "number": "7",
    "boolean": "true",
    "array": {},
    "object": [],
}


def documents() -> list[tuple[type[Envelope], Any]]:
    """Return documents that together hold every envelope and nearly every field."""

    def given(name: str) -> Any:
        return copy.deepcopy(read_case(FIXTURES / "cases" / f"{name}.json").input)

    run = given("refund/plan-b-score")
    context = given("verify/context-everything-declared")["ctx"]
    approval = given("verify/approval-expires-later")["ctx"]["approvals"]
    run["proposal"]["ctx"] = {**context, "trace_id": "trace_refund_881", "approvals": approval}
    run["proposal"]["spec"] |= {"approval_mode": "destructive", "approval_required_from": "network"}
    run["proposal"]["plan"]["steps"].append({"kind": "reason", "summary": "done", "depends_on": []})
    scored = given("consolidate/refused-by-score-both")
    report = critic_report(given("refund/plan-b-consolidate"))
    case = read_case(FIXTURES / "cases" / "hostile" / "a03-duplicate.json")
    return [
        (Proposal, run["proposal"]),
        (Run, run),
        (ConsolidateInput, given("consolidate/refused-by-verify-many")),
        (ConsolidateInput, scored),
        (CriticReport, report.wire()),
        (DecisionRecord, record(given("refund/plan-b-score"), report).wire()),
        (Case, parse_json((FIXTURES / "cases/hostile/a03-duplicate.json").read_bytes())),
        (Case, {"title": case.title, "command": "score", "input_text": "", "must": {"ok": True}}),
    ]


def critic_report(value: Any) -> CriticReport:
    arguments = build(ConsolidateInput, value)
    return critic.consolidate(
        **{name: getattr(arguments, name) for name in type(arguments).model_fields}
    )


def record(run: Any, report: CriticReport) -> DecisionRecord:
    done = build(Run, run)
    decision = Decision(proposal=done.proposal, run=done, report=report, action="allow")
    return seal_record(draft(decision), Head(0, "0" * 64)).record


def spoiled(root: Schema, schema: Schema, value: Any) -> Iterator[Any]:
    """Yield copies of the value with one place changed, for each way to make it wrong."""
    schema = resolved(root, schema, value)
    if isinstance(value, list):
        for at, item in enumerate(value):
            for wrong in spoiled(root, schema.get("items", {}), item):
                yield [*value[:at], wrong, *value[at + 1 :]]
    if not isinstance(value, dict) or "properties" not in schema:
        return
    yield {**value, "unknown_field": 1}
    for required in schema.get("required", []):
        yield {name: item for name, item in value.items() if name != required}
    for name, item in value.items():
        part = schema["properties"][name]
        yield {**value, name: None}
        if "type" in part and isinstance(part["type"], str):
            yield {**value, name: OTHER_TYPES[part["type"]]}
        yield from ({**value, name: wrong} for wrong in spoiled(root, part, item))


def resolved(root: Schema, schema: Schema, value: Any) -> Schema:
    """Return the schema behind references and choices: the choice whose constants the value has."""
    if "$ref" in schema:
        return resolved(root, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], value)
    choices = [resolved(root, choice, value) for choice in schema.get("oneOf", [])]
    choices = [
        choice for choice in choices if "properties" in choice or not isinstance(value, dict)
    ]
    fits = [choice for choice in choices if has_constants(choice, value)]
    return (
        {**fits[0], "required": [*fits[0].get("required", []), *schema.get("required", [])]}
        if fits
        else schema
    )


def has_constants(schema: Schema, value: Any) -> bool:
    parts = schema.get("properties", {}).items()
    constants = {name: part["const"] for name, part in parts if "const" in part}
    return all(value.get(name) == constant for name, constant in constants.items())


@pytest.mark.parametrize(
    ("model", "value"), documents(), ids=lambda part: getattr(part, "__name__", "")
)
def test_what_the_schema_refuses_the_wire_refuses_too(model: type[Envelope], value: Any) -> None:
    schema, name = SCHEMAS[model.__name__], model.__name__
    build(model, value)
    assert validator(name).is_valid(value)
    wrongs = list(spoiled(schema, schema, value))
    assert len(wrongs) > 3
    for wrong in wrongs:
        assert not validator(name).is_valid(wrong), wrong
        with pytest.raises(InvalidInput):
            build(model, wrong)


def test_the_schema_refuses_one_value_of_each_sort() -> None:
    context = {"trace_id": "t", "safety_mode": "network", "as_of": "2026-05-09T10:00:00Z"}
    assert validator("RunContext").is_valid(context)
    wrongs: list[dict[str, Any]] = [
        {"now": "2026-05-09T10:00:00Z"},
        {"run_id": None},
        {"trace_id": "two words"},
        {"trace_id": "t\n"},
        {"safety_mode": "root"},
        {"as_of": "2026-05-09T10:00:00"},
        {"as_of": "2026-02-30T10:00:00Z"},
        {"spent": {"tokens": -1}},
        {"spent": {"tokens": 2**53}},
        {"spent": {"tokens": True}},
        {"run_budget": {"max_step": 1}},
    ]
    for wrong in wrongs:
        assert not validator("RunContext").is_valid({**context, **wrong}), wrong
        with pytest.raises(InvalidInput):
            build(critic.RunContext, {**context, **wrong})
