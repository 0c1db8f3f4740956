"""What a caveat names, and how many: cases that small changes of the caveats would get wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import Verified
from critic.caveats import _loose_args
from critic.provenance.roles import roles_tree, without_role
from tests.support.judging import judge
from tests.support.model.facts import Json

TOOL = {"adapter_id": "a", "capability_id": "b", "approval_mode": "read_only"}
STEP = {"kind": "tool", "adapter_id": "a", "capability_id": "b"}
CHECKED: Json = {"maxProperties": 9}


def proposal(tool: Json, steps: list[Json], outputs: list[str]) -> Json:
    item = {"id": "e", "classification": "k", "content": ["pay_1", 1]}
    manifests = {"tool_manifest": [{**TOOL, **tool}], "evidence_manifest": [item]}
    budget = {"max_steps": 100}
    return {
        "ctx": {"trace_id": "t", "safety_mode": "read_only", "run_budget": budget},
        "compiled": {"manifests": manifests},
        "spec": {"id": "d", "required_outputs": outputs},
        "plan": {"steps": steps, "declared_outputs": outputs},
    }


def caveats(tool: Json, steps: list[Json], outputs: list[str]) -> tuple[str, ...]:
    verdict = judge(proposal(tool, steps, outputs))
    assert isinstance(verdict, Verified)
    return verdict.caveats


@pytest.mark.parametrize(
    ("value", "keyed"),
    [
        ({"id": "pay_1"}, True),
        ([{"id": "pay_1"}], True),
        ([[{"id": "pay_1"}]], True),
        (["pay_1", {"id": "pay_1"}], True),
        ({}, False),
        ([{}], False),
        ([], False),
        ("pay_1", False),
        (["pay_1", 1], False),
    ],
)
def test_keys_of_an_object_anywhere_in_a_bound_argument_are_named(value: Any, keyed: bool) -> None:
    step = {**STEP, "args": {"x": value}, "evidence_refs": ["e"], "estimated_tokens": 1}
    tool = {"bound_args": {"x": ["k"]}, "args_schema": CHECKED}
    said = [line for line in caveats(tool, [step], []) if line.startswith("keys of bound")]
    assert said == (["keys of bound object arguments not checked: step 0"] if keyed else [])


@pytest.mark.parametrize(
    ("args", "bare"),
    [
        ({}, True),
        ({"x": []}, True),
        ({"x": {}}, True),
        ({"x": [[], {"pay_1": []}]}, True),
        ({"y": "pay_1"}, True),
        ({"x": "pay_1"}, False),
        ({"x": [[], 1]}, False),
    ],
)
def test_a_bound_argument_with_nothing_to_back_is_named(args: Json, bare: bool) -> None:
    step = {**STEP, "args": args, "evidence_refs": ["e"], "estimated_tokens": 1}
    tool = {"bound_args": {"x": ["k"]}, "args_schema": CHECKED}
    said = [line for line in caveats(tool, [step], []) if line.startswith("bound")]
    assert said == (["bound arguments without a value: step 0"] if bare else [])


def test_each_bound_argument_needs_a_value() -> None:
    step = {**STEP, "args": {"x": 1}, "evidence_refs": ["e"], "estimated_tokens": 1}
    tool = {"bound_args": {"w": ["k"], "x": ["k"], "y": ["k"]}, "args_schema": CHECKED}
    assert caveats(tool, [step], []) == ("bound arguments without a value: step 0",)


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (1, "step 0"),
        (2, "steps 0, 1"),
        (9, "steps 0, 1, 2, 3, 4, 5, 6, 7, 8"),
        (10, "steps 0, 1, 2, 3, 4, 5, 6, 7, 8, 9"),
        (11, "steps 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1 more"),
        (12, "steps 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"),
    ],
)
def test_ten_steps_are_named_and_the_rest_is_counted(count: int, shown: str) -> None:
    assert caveats({"args_schema": CHECKED}, [STEP] * count, [])[0] == (
        f"tokens not estimated by the plan: {shown}"
    )


@pytest.mark.parametrize("count", [9, 10, 11, 12])
def test_ten_outputs_are_named_and_the_rest_is_counted(count: int) -> None:
    names = [f"o{number}" for number in range(count)]
    step = {**STEP, "estimated_tokens": 1}
    (said,) = caveats({"args_schema": CHECKED}, [step], names)
    more = f" and {count - 10} more" if count > 10 else ""
    assert said == f"outputs not traced to a step that lists them: {', '.join(names[:10])}{more}"


VACUOUS: list[Any] = [
    *(True, {}, {"$ref": "#"}, {"$ref": "#/$defs/any", "$defs": {"any": {}}}),
    *({"type": "object"}, {"type": ["null", "object"]}, {"title": "t", "description": "d"}),
    *({"propertes": {"x": {"type": "string"}}}, {"properties": {}}, {"properties": {"x": True}}),
    *({"required": []}, {"minProperties": 0}, {"additionalProperties": True}, {"allOf": [{}]}),
    *({"minLength": 3}, {"items": {"type": "string"}}, {"if": {"type": "string"}}),
    *({"format": "date"}, {"properties": {"x": {"format": "no-such-format"}}}),
    {"properties": {"x": {"contentMediaType": "a/b", "contentSchema": {"type": "object"}}}},
    {"properties": {"x": {"$recursiveRef": "#/$defs/s"}}, "$defs": {"s": {"type": "string"}}},
    {"properties": {"x": {"$ref": "#/properties/y"}, "y": {"$ref": "#/properties/x"}}},
]
TELLING: list[Any] = [
    *({"required": ["x"]}, {"maxProperties": 9}, {"not": False}),
    *(
        {"properties": {"x": {"minLength": 1}}},
        {"properties": {"z": False}},
        {"properties": {"x": {"items": {"type": "string"}}}},
    ),
    *(
        {"$ref": "#/$defs/one", "$defs": {"one": {"minProperties": 1}}},
        {"anyOf": [True, {"const": 1}]},
    ),
    *({"propertyNames": {"maxLength": 9}}, {"dependentSchemas": {"x": {"required": ["x"]}}}),
    *(
        {"properties": {"x": {"format": "date"}}},
        {"patternProperties": {"x": {"const": "2026-01-01"}}},
    ),
]


@pytest.mark.parametrize("schema", [*VACUOUS, *TELLING], ids=str)
def test_an_args_schema_that_constrains_nothing_is_none(schema: Any) -> None:
    step = {**STEP, "args": {"x": "2026-01-01"}, "estimated_tokens": 1}
    said = ["args not checked, no args_schema: step 0"] if schema in VACUOUS else []
    assert list(caveats({"args_schema": schema}, [step], [])) == said


@pytest.mark.parametrize("left_out", [{}, {"x": []}, {"x": ""}])
def test_an_optional_binding_is_left_out_without_a_caveat(left_out: Json) -> None:
    step = {**STEP, "args": left_out, "estimated_tokens": 1}
    tool = {"bound_args": {"x": {"from": ["k"], "optional": True}}, "args_schema": CHECKED}
    assert caveats(tool, [step], []) == ()


def test_arguments_without_a_role_are_named_by_name_in_any_order_of_the_args() -> None:
    tool = {"approval_mode": "local_write", "arg_roles": {"x": "content"}, "args_schema": CHECKED}
    for args in ({"w": 1, "y": 2}, {"y": 2, "w": 1}):
        wire = proposal(tool, [{**STEP, "args": args, "estimated_tokens": 1}], [])
        wire["ctx"]["safety_mode"] = "local_write"
        wire["spec"]["provenance"] = "closed"
        verdict = judge(wire)
        assert isinstance(verdict, Verified)
        assert verdict.caveats == ("arguments not judged, no role: a.b w, a.b y",)


_NAMES = st.sampled_from(["a", "b", "*"])
_VALUES = st.recursive(
    st.sampled_from([1, "x", None, ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)
_PLACES = st.lists(_NAMES, min_size=1, max_size=3).map(lambda names: f"/{'/'.join(names)}")
_ROLES = st.dictionaries(_NAMES | _PLACES, st.sampled_from(["recipient", "content"]), max_size=4)


@given(roles=_ROLES, args=st.dictionaries(_NAMES, _VALUES, max_size=3))
def test_a_value_without_a_role_is_in_an_argument_that_is_looked_into(
    roles: dict[str, Any], args: dict[str, Any]
) -> None:
    tree = roles_tree(roles)
    loose = [*without_role(tree, _loose_args(tree, args))]
    assert sorted(loose) == sorted(without_role(tree, args))
