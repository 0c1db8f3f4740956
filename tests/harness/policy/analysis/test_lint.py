"""The lint: each way to be ineffective or risky has a finding, and a good policy has none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import Proposal
from harness.policy import LintFinding, lint, parse_policy
from harness.policy.schema_lint import has_place, impossible_parts, odd_keywords, property_names
from harness.testing.strategies import proposals
from tests.harness.policy.policies import (
    GOOD,
    document,
    good,
    plain,
    with_guard,
    with_spec,
    with_tool,
)
from tests.support.examples import PLAN_B, is_safe
from tests.support.patience import PATIENT

ARGS = good()["tool"][1]["args_schema"]
PROPERTIES = ARGS["properties"]


def linted(value: Any) -> tuple[LintFinding, ...]:
    found = lint(document(value).policy)
    assert all(is_safe(finding.message) for finding in found)
    return found


def with_args(**properties: Any) -> dict[str, Any]:
    return with_tool(good(), args_schema={**ARGS, "properties": {**PROPERTIES, **properties}})


def test_a_good_policy_is_quiet() -> None:
    assert lint(parse_policy(GOOD.encode()).policy) == ()
    assert {one.rule for one in linted(plain())} == {"evidence_from_untrusted"}


def test_the_manifest_of_the_refund_example_is_quiet() -> None:
    parts = json.loads(PLAN_B.read_text())
    policy = {
        "guard": {"safety_mode": "destructive"},
        "spec": parts["spec"],
        "tool": parts["compiled"]["manifests"]["tool_manifest"],
        "evidence": parts["compiled"]["manifests"]["evidence_manifest"],
    }
    assert {one.severity for one in linted(policy)} <= {"note"}


def open_beside(to: Any, **changes: Any) -> dict[str, Any]:
    schema = {**ARGS, "properties": {**PROPERTIES, "to": to}, "additionalProperties": True}
    return with_tool(good(), args_schema=schema, **changes)


PERSON = {"type": "object", "properties": {"x": {"type": "string"}}}
AT_X = {"amount": "attribute", "memo": "content", "/to/x": "recipient"}
AT_EACH = {"amount": "attribute", "memo": "content", "/to/*/x": "recipient"}


def with_roles(roles: Any, to: Any) -> dict[str, Any]:
    """Return the good policy with other roles, and a schema of the argument `to`."""
    return with_tool(
        good(), arg_roles=roles, args_schema={**ARGS, "properties": {**PROPERTIES, "to": to}}
    )


BARE: dict[str, Any] = {"arg_roles": ..., "requires_evidence": ..., "bound_args": ...}
LESS, SHORT = {"minimum": 9, "maximum": 3}, {"minLength": 9, "maxLength": 3}

RISKS = [
    # A bound argument, a role, a demand or a requirement for an argument that is not there.
    (with_tool(good(), bound_args={"amont": ["bill"]}), "unknown_argument", "did you mean amount?"),
    (with_tool(good(), arg_roles={"too": "recipient"}), "unknown_argument", "did you mean to?"),
    (with_tool(good(), arg_kinds={"too": "account"}), "unknown_argument", "did you mean to?"),
    (with_tool(good(), may_be_empty=["too"]), "unknown_argument", "did you mean to?"),
    (
        with_tool(good(), result={"author": "system", "makes": {"mem": "note"}}),
        "unknown_argument",
        "did you mean memo?",
    ),
    (
        with_tool(good(), arg_roles={"/to/x": "recipient", "/tu": "content"}),
        "unknown_argument",
        "tu",
    ),
    (
        with_tool(good(), requires_evidence=[{"class": "bill", "about": {"sum": "/amount"}}]),
        "unknown_argument",
        "its arguments are amount, memo, to",
    ),
    (
        with_tool(good(), args_schema={"properties": PROPERTIES, "required": ["two"]}),
        "unknown_argument",
        "two",
    ),
    (with_tool(good(), args_schema={"maxProperties": 0}), "unknown_argument", "amount"),
    # A class that nothing yields or holds.
    (with_tool(good(), requires_evidence=["bil"]), "unknown_class", "did you mean bill?"),
    (with_tool(good(), requires_evidence=[{"class": "zzz"}]), "unknown_class", "zzz"),
    (with_tool(good(), bound_args={"amount": ["bill", "zzz"]}), "unknown_class", "zzz"),
    (with_tool(good(), bound_args={"amount": {"from": ["zzz"]}}), "unknown_class", "zzz"),
    (with_spec(good(), required_evidence=["zzz"]), "unknown_class", "required_evidence"),
    (with_spec(good(), confined_evidence=["zzz"]), "unknown_class", "confined_evidence"),
    # A schema that nothing satisfies.
    (with_tool(good(), args_schema=False), "unsatisfiable_schema", "no value satisfies false"),
    (with_tool(good(), args_schema={"type": "string"}), "unsatisfiable_schema", "no object"),
    (with_args(amount={"type": "string", "enum": [1, 2]}), "unsatisfiable_schema", "enum"),
    (with_args(amount={"type": "integer", "const": "1"}), "unsatisfiable_schema", "const"),
    (with_args(amount={**LESS, "type": "integer"}), "unsatisfiable_schema", ""),
    (
        with_args(memo={"type": "string", "minLength": 9, "maxLength": 3}),
        "unsatisfiable_schema",
        "",
    ),
    (
        with_tool(good(), args_schema={**ARGS, "required": ["to", "amount", "gone"]}),
        "unsatisfiable_schema",
        "required",
    ),
    (
        with_tool(good(), requires_evidence=[{"class": "bill", "content_schema": False}]),
        "unsatisfiable_schema",
        "content_schema",
    ),
    (
        with_spec(good(), output_schemas={"receipt": {"type": "string", "const": 1}}),
        "unsatisfiable_schema",
        "output receipt",
    ),
    # An output that nothing produces.
    (with_spec(good(), required_outputs=["recept"]), "unproduced_output", "did you mean receipt?"),
    (with_tool(good(), produces=...), "unproduced_output", "receipt"),
    # Effects without roles, without any restriction, or out of reach.
    (with_tool(good(), arg_roles=...), "effect_without_roles", "judged as a recipient"),
    (with_tool(good(), arg_roles={"amount": "attribute"}), "argument_without_role", "memo"),
    (
        with_tool(with_spec(good(), provenance=..., approval_required_from=...), **BARE),
        "provenance_off",
        "nothing asks where the values of pay come from",
    ),
    (with_spec(good(), provenance=...), "provenance_off", "pay has arg_roles"),
    (with_guard(good(), safety_mode="network"), "mode_above_safety_mode", "guard.safety_mode"),
    (with_spec(good(), approval_mode="network"), "mode_above_safety_mode", "spec.approval_mode"),
    # A role at a place in an argument that may have another shape.
    (with_roles({**AT_X, "to": "recipient"}, {}), "target_of_any_shape", "of any members"),
    (with_tool(with_roles(AT_X, {}), approval_mode="read_only"), "read_only_with_target", "memo"),
    (with_roles(AT_X, {"type": "string"}), "role_may_miss", 'such as "x"'),
    (with_roles(AT_X, {"type": ["object", "array"]}), "role_may_miss", "/to may be an array"),
    (with_roles(AT_X, {"properties": {"x": {}}}), "role_may_miss", "a string or a number or an"),
    (with_roles(AT_X, {"anyOf": [PERSON, {"type": "number"}]}), "role_may_miss", "such as 7"),
    (with_tool(good(), arg_roles=AT_X, args_schema=...), "role_may_miss", 'type = "object"'),
    (with_roles({**AT_X, "/to/0": "content"}, {}), "role_may_miss", 'type = "array"'),
    (with_roles(AT_EACH, PERSON), "role_may_miss", "/to/* may be a string"),
    (with_roles(AT_EACH, {"type": "array"}), "role_may_miss", "/to/* may be a string"),
    (with_roles(AT_EACH, {"items": PERSON}), "role_may_miss", "/to may be a string or a number,"),
    (with_roles(AT_EACH, {"prefixItems": [PERSON, {}], "type": "array"}), "role_may_miss", "/to/*"),
    (with_roles(AT_EACH, {"additionalProperties": True}), "role_may_miss", "/to/* may be"),
    (with_roles({"/*/x": "recipient"}, PERSON), "role_may_miss", "/memo may be a string, such"),
    # Schemas that say less than they seem to.
    (with_args(memo={"type": "string", "maxLenght": 9}), "misspelt_keyword", "maxLength?"),
    (with_args(memo={"type": "string", "min_length": 9}), "misspelt_keyword", "minLength?"),
    (with_args(memo={"type": "string", "format": "e-mail"}), "misspelt_keyword", "email?"),
    (with_args(memo={"nullable": True}), "misspelt_keyword", "no effect in draft 2020-12"),
    (with_tool(good(), args_schema={**ARGS, "requierd": []}), "misspelt_keyword", "required?"),
    (with_spec(good(), output_schemas={"receipt": {"typ": 1}}), "misspelt_keyword", "type?"),
    # Arguments beside those that are judged.
    (open_beside({"type": "string", "pattern": "^ls$"}), "arguments_open", "any other argument"),
    (open_beside({"type": "string", "minLength": 1}), "arguments_open", "additionalProperties"),
    # What nothing can back, and what is never reached.
    (with_tool(good(), bound_args={"amount": []}), "unmeetable_demand", "no class may back"),
    (
        with_tool(good(), bound_args={"amount": {"from": ["bill"], "at": []}}),
        "unmeetable_demand",
        "no place may back",
    ),
    (
        with_tool(good(), requires_evidence=[{"class": "bill", "about": {"amount": "/*/sum"}}]),
        "star_is_a_key",
        "no wildcard",
    ),
    (with_tool(good(), min_tokens=200_001), "over_budget", "above guard.budget.bucket_tokens"),
    (with_guard(good(), budget={"max_steps": 0}), "empty_budget", "no plan with a step passes"),
    (with_tool(good(), 0, result={"author": "user"}), "trusted_result", "words of the user"),
    (with_tool(good(), 0, result={"author": "operator"}), "trusted_result", "public"),
    # What does nothing in a session.
    (
        with_tool(good(), follows=[{"adapter_id": "bank", "capability_id": "inbox"}]),
        "unknown_tool",
        "bank.inbox",
    ),
    (
        with_tool(good(), follows=[{"adapter_id": "files", "capability_id": "read_file"}]),
        "follows_too_much",
        "after any such reading",
    ),
    (with_tool(good(), bound_together=[["amount"]]), "group_of_one", "another argument"),
    (with_tool(good(), expires_after_s=0), "never_fresh", "never fresh"),
    # What the evidence that is always there can never meet.
    (
        with_tool(
            good(),
            requires_evidence=[
                {"class": "rate_table", "content_schema": {"required": ["usd"], "type": "object"}}
            ],
        ),
        "unmeetable_demand",
        "rate_table",
    ),
    (
        with_tool(good(), bound_args={"amount": {"from": ["rate_table"], "at": ["/usd"]}}),
        "unmeetable_demand",
        "/usd",
    ),
]


@pytest.mark.parametrize(("value", "rule", "words"), RISKS)
def test_what_is_ineffective_or_risky_is_found(value: Any, rule: str, words: str) -> None:
    found = [finding for finding in linted(value) if finding.rule == rule]
    assert found
    assert any(words in finding.message for finding in found), found


@pytest.mark.parametrize(
    "value",
    [
        with_tool(good(), arg_roles={"/to": "recipient", "memo": "content"}),
        with_roles(AT_X, PERSON),
        with_roles(AT_X, {"anyOf": [PERSON, {"type": ["null", "boolean"]}]}),
        with_roles({**AT_X, "/*/x": "content"}, PERSON),
        with_tool(good(), arg_roles={"/*": "recipient"}),
        with_roles(AT_EACH, {"type": "array", "items": PERSON}),
        with_roles({**AT_EACH, "/to/0": "recipient"}, {"type": "array", "items": PERSON}),
        with_roles({**AT_X, "/to": "recipient"}, {"type": "array"}),
        with_roles(AT_X, {"const": ""}),
        with_roles(AT_X, {"type": "array", "items": {"type": "boolean"}}),
        with_args(urgent={"type": "boolean"}, until={"type": ["null", "boolean"]}),
        with_args(memo={"type": "string", "format": "uri", "x-note": "1", "description": "d"}),
        with_spec(good(), output_schemas={"receipt": {"anyOf": [{"type": "object"}, True]}}),
        with_args(to={"type": "string", "pattern": "^ls$"}),
        with_tool(good(), args_schema={**ARGS, "properties": {**PROPERTIES, "never": False}}),
        with_tool(good(), bound_args={"amount": {"from": ["rate_table"], "at": ["/*"]}}),
        with_tool(good(), 0, arg_roles=..., args_schema={"properties": {"path": {}}}),
        with_tool(
            good(),
            arg_roles=...,
            args_schema={"maxProperties": 0},
            bound_args=...,
            requires_evidence=...,
        ),
        with_spec(good(), required_outputs=[]),
    ],
)
def test_what_is_meant_so_is_quiet(value: Any) -> None:
    quiet = {"argument_without_role"} if "never" in json.dumps(value) else set()
    found = [one for one in linted(value) if one.rule not in quiet | {"accepts_nothing"}]
    assert {one.severity for one in found} <= {"note"}, found


def test_findings_have_places_with_lines() -> None:
    text = GOOD.replace('"bill", about', '"bil", about').replace("minLength", "minLenght")
    read = parse_policy(text.encode())
    lines = text.split("\n")
    rules = {finding.rule: lines[read.line_of(finding.path) - 1] for finding in lint(read.policy)}
    assert set(rules) == {"unknown_class", "misspelt_keyword"}
    assert "bil" in rules["unknown_class"]
    assert "minLenght" in rules["misspelt_keyword"]


@PATIENT
@given(st.data())
def test_the_lint_has_an_answer_for_every_policy(data: st.DataObject) -> None:
    drawn: Proposal = data.draw(proposals())
    manifests = drawn.compiled.manifests.wire()
    reserved = ("call/", "user/", "operator/")
    value = {
        "guard": {"safety_mode": drawn.ctx.safety_mode},
        "spec": drawn.spec.wire(),
        "tool": [
            {**tool, "name": f"t{index}"} for index, tool in enumerate(manifests["tool_manifest"])
        ],
        "evidence": [
            item for item in manifests["evidence_manifest"] if not item["id"].startswith(reserved)
        ],
    }
    linted(value)


# --- schemas ----------------------------------------------------------------------------------

NESTED = {
    "$ref": "#/$defs/args",
    "$defs": {
        "args": {
            "allOf": [{"properties": {"to": {"$ref": "#/$defs/person"}}}],
            "anyOf": [{"properties": {"cc": {"items": {"$ref": "#/$defs/person"}}}}, {"$ref": "#"}],
            "patternProperties": {"^x_": True},
        },
        "person": {"properties": {"name": {}, "home": {"properties": {"street": {}}}}},
    },
}


@pytest.mark.parametrize(
    ("parts", "there"),
    [
        (("to",), True),
        (("cc",), True),
        (("x_1",), True),
        (("too",), False),
        (("to", "name"), True),
        (("to", "nam"), False),
        (("cc", "0", "home", "street"), True),
        (("cc", "*", "home", "city"), False),
        (("*", "home", "street"), True),
        (("to", "*", "street"), True),
        (("to", "*", "city"), False),
        (("*",), True),
        (("to", "name", "anything"), True),
        ((), True),
    ],
)
def test_places_are_found_through_references_and_alternatives(
    parts: tuple[str, ...], there: bool
) -> None:
    assert property_names(NESTED) == ["cc", "to"]
    assert has_place(NESTED, parts) is there


def test_an_open_schema_may_have_any_place() -> None:
    assert has_place(True, ("a", "b"))
    assert has_place({"type": "object"}, ("a",))
    assert not has_place({"type": "object", "additionalProperties": False}, ("a",))
    assert not has_place({"type": "object", "additionalProperties": False}, ("*",))


def test_properties_that_are_named_like_keywords_are_not_keywords() -> None:
    schema = {"properties": {"typ": {"const": {"typ": 1}}, "enum": {}}, "default": {"typ": 1}}
    assert list(odd_keywords(schema)) == []
    assert list(odd_keywords({"items": [], "typ": 1}))[0][0] == "/typ"  # noqa: RUF015
    assert list(odd_keywords(True)) == []


def test_parts_that_are_impossible_on_purpose_are_not_reported() -> None:
    assert list(impossible_parts({"properties": {"a": False}, "not": {"enum": []}})) == []
    assert [path for path, _ in impossible_parts({"properties": {"a": {"enum": []}}})] == [
        "/properties/a"
    ]


def test_one_item_must_back_all_of_an_array_that_is_bound_alone() -> None:
    bound = {"amount": {"from": ["bill"]}}
    alone = with_tool(with_args(amount={"type": "array"}), bound_args=bound, requires_evidence=...)
    assert linted(with_tool(alone, bound_together=[["amount"]])) == ()
    scalar = with_tool(good(), bound_args=bound, bound_together=[["amount"]])
    assert [finding.rule for finding in linted(scalar)] == ["group_of_one"]


def test_a_policy_may_name_the_formats_that_the_checks_assert() -> None:
    assert linted(with_args(to={"type": "string", "format": "file-path"})) == ()
    never = {"format": "email", "enum": ["nobody"], "type": "string"}
    assert "unsatisfiable_schema" in {one.rule for one in linted(with_args(to=never))}


def test_a_ceiling_below_where_a_person_is_asked_is_only_a_note() -> None:
    quiet = with_guard(
        with_spec(plain(), approval_required_from="destructive"), safety_mode="read_only"
    )
    found = {one.path: one.severity for one in linted(quiet)}
    assert found["/spec/approval_required_from"] == "note"


def test_tools_in_no_scope_hide_no_other_finding() -> None:
    value = with_tool(with_tool(good(), requested=...), bound_args=..., requires_evidence=["bil"])
    rules = [one.rule for one in linted({**value, "accept": []})]
    assert rules[-1] == "only_scope_allows"  # of many findings, the first thousand are listed
    assert {"unknown_class", "class_without_schema"} <= {*rules[:-1]}
