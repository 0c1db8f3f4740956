"""What a JSON value inside an envelope may be: exact types, finite numbers, at most 64 levels."""

import math
from collections import OrderedDict
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from critic import EvidenceItem, Run, ToolCall, ToolCapability, ToolStep
from evals.envelope import Envelope
from evals.json_value import MAX_DEPTH, SAFE_INTEGER, detach_json
from tests.support import json_values
from tests.support.effort import examples
from tests.support.examples import good_run, refused_at
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(300))


class LyingText(str):
    """A string that is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class LyingNumber(int):
    """A number that is never more than another."""

    def __gt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return True


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    ONE = 1


class Table(dict[str, Any]):
    """A dict that could answer anything."""


def nested(levels: int, innermost: Any, *, in_objects: bool = False) -> Any:
    """Return `innermost` with that many containers around it."""
    value = innermost
    for _ in range(levels):
        value = {"k": value} if in_objects else [value]
    return value


def accepts_args(args: Any) -> bool:
    wire = {"kind": "tool", "adapter_id": "a", "capability_id": "b", "args": args}
    try:
        step = ToolStep(**wire)
    except ValueError:
        return False
    assert step.args == args
    return True


def is_json(value: Any, level: int = 1) -> bool:
    """Return whether the value is JSON, by the rules stated a second time."""
    if level > 64:
        return False
    kind = type(value)
    if kind is dict:
        named = all(type(key) is str and encodes(key) for key in value)
        return named and all(is_json(item, level + 1) for item in value.values())
    if kind is list:
        return all(is_json(item, level + 1) for item in value)
    if kind is float:
        return math.isfinite(value) and not 2**53 - 1 < abs(value) < 1e21
    text = kind is str and encodes(value)
    return text or (kind is int and abs(value) <= 2**53 - 1) or value is None or kind is bool


def encodes(text: str) -> bool:
    try:
        return bool(text.encode()) or True
    except UnicodeEncodeError:
        return False


ODD: tuple[Any, ...] = (
    *(math.nan, math.inf, -math.inf, 2**53, -(2**53), 10**30, 2.0**53, -1e20, 9.999e20),
    *("\ud800", "a\udfffb", b"x", (1,), {1}, 1j, object(), LyingText("x"), LyingNumber(1)),
    *(Colour.RED, Level.ONE, Table(a=1), OrderedDict(a=1), {1: 1}, {None: 1}, {b"k": 1}),
    *({LyingText("k"): 1}, {Colour.RED: 1}, {"\ud800": 1}, {"k": {"\udfff": 1}}),
)
odd = json_values.scalars | st.sampled_from(ODD) | st.floats() | st.integers()
any_value = st.recursive(odd, json_values.containers, max_leaves=6)


@LAW
@given(json_values.objects)
def test_every_json_object_can_be_args(args: dict[str, Any]) -> None:
    assert accepts_args(args)


@LAW
@given(st.dictionaries(json_values.keys, any_value, max_size=3) | any_value)
def test_args_are_accepted_exactly_where_the_rules_say_so(args: Any) -> None:
    assert accepts_args(args) is (type(args) is dict and is_json(args))


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [v], lambda v: {"a": [0, {"b": v}]}])
def test_what_is_not_json_is_refused_at_any_depth(value: Any, wrap: Any) -> None:
    assert not accepts_args({"x": wrap(value)})
    item = {"id": "e", "classification": "k", "content": wrap(value)}
    assert refused_at(EvidenceItem, item).path == "/content"


@pytest.mark.parametrize(
    "number",
    [SAFE_INTEGER, -SAFE_INTEGER, float(SAFE_INTEGER), 1e21, -1e21, 1.7e308, 5e-324, -0.0, 0.1],
)
def test_numbers_that_every_reader_keeps_exact(number: float) -> None:
    assert accepts_args({"x": number})
    assert accepts_args({"x": [number]})


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (2**53, "a whole number is outside +-(2^53 - 1)"),
        (-(2**53), "a whole number is outside +-(2^53 - 1)"),
        (float(2**53), "a whole number is outside +-(2^53 - 1)"),
        (1e20, "a whole number is outside +-(2^53 - 1)"),
        (10**400, "a whole number is outside +-(2^53 - 1)"),
        (math.nan, "a number is not finite"),
        (math.inf, "a number is not finite"),
        (-math.inf, "a number is not finite"),
    ],
)
def test_numbers_that_are_refused(number: float, message: str) -> None:
    error = refused_at(ToolStep, {"adapter_id": "a", "capability_id": "b", "args": {"x": number}})
    assert (error.path, error.message) == ("/args", message)


@pytest.mark.parametrize("in_objects", [False, True])
@pytest.mark.parametrize("innermost", ["x", 1, None, True, 0.5])
def test_the_value_itself_is_level_1_and_scalars_count(innermost: Any, in_objects: bool) -> None:
    def content(levels: int) -> dict[str, Any]:
        deep = nested(levels, innermost, in_objects=in_objects)
        return {"id": "e", "classification": "k", "content": deep}

    assert MAX_DEPTH == 64
    assert EvidenceItem(**content(63)).content == content(63)["content"]
    error = refused_at(EvidenceItem, content(64))
    assert (error.path, error.message) == ("/content", "JSON nested deeper than 64 levels")


@pytest.mark.parametrize("empty", [[], {}])
def test_an_empty_container_is_a_level(empty: Any) -> None:
    assert accepts_args({"x": nested(62, empty)})
    assert not accepts_args({"x": nested(63, empty)})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "a number is not finite"),
        (2**53, "a whole number is outside +-(2^53 - 1)"),
        ("\ud800", "a string holds a lone surrogate"),
        ({"\ud800": 1}, "an object key is no JSON string"),
        ((1,), "tuple is no JSON type"),
        (b"x", "bytes is no JSON type"),
        (nested(64, 1), "JSON nested deeper than 64 levels"),
    ],
)
def test_an_error_says_what_it_is(value: Any, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        EvidenceItem(id="e", classification="k", content=value)
    assert said in str(caught.value)


def test_args_themselves_are_level_1() -> None:
    assert accepts_args(nested(63, 1, in_objects=True))
    assert not accepts_args(nested(64, 1, in_objects=True))


def test_each_output_is_a_value_of_its_own() -> None:
    run = good_run()
    run["outputs"]["refund_amount_inr"] = nested(63, 1)
    assert Run(**run)
    run["outputs"]["refund_amount_inr"] = nested(64, 1)
    assert refused_at(Run, run).path == "/outputs/refund_amount_inr"


def test_a_value_that_holds_itself_is_too_deep() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert not accepts_args({"x": circle})
    args: dict[str, Any] = {}
    args["args"] = args
    assert not accepts_args(args)


@pytest.mark.parametrize("args", [[], "x", 1, True, [["a", 1]], Table(a=1), OrderedDict()])
def test_args_are_an_object(args: Any) -> None:
    error = refused_at(ToolStep, {"adapter_id": "a", "capability_id": "b", "args": args})
    assert (error.path, error.message) == ("/args", "must be a JSON object")


CALL = {"step": 0, "adapter_id": "a", "capability_id": "b", "args": {}, "status": "completed"}
ITEM = {"id": "e", "classification": "k"}
TOOL: Json = {"adapter_id": "a", "capability_id": "b", "approval_mode": "read_only"}


@pytest.mark.parametrize(
    ("model", "wire", "field"), [(ToolCall, CALL, "output"), (EvidenceItem, ITEM, "content")]
)
def test_an_optional_value_is_left_out_and_never_null(
    model: type[Envelope], wire: dict[str, Any], field: str
) -> None:
    error = refused_at(model, {**wire, field: None})
    assert (error.path, error.message) == (
        f"/{field}",
        "must not be null: omit the field",
    )
    with pytest.raises(ValidationError, match="must not be null: omit the field"):
        model.model_validate({**wire, field: None})
    assert field not in model(**wire).wire()
    falsy: list[Any] = [False, 0, "", [], {}, [None]]
    for value in falsy:
        assert model(**wire, **{field: value}).wire()[field] == value


def test_an_output_of_a_run_may_be_null() -> None:
    run = good_run()
    run["outputs"]["refund_amount_inr"] = None
    assert Run(**run).wire()["outputs"]["refund_amount_inr"] is None


@pytest.mark.parametrize("schema", [True, False, {}, {"type": "string", "pattern": "^a+$"}])
def test_a_schema_is_a_json_value(schema: Any) -> None:
    assert ToolCapability(**TOOL, args_schema=schema).args_schema == schema


@pytest.mark.parametrize(
    "schema",
    [
        *({"type": "strin"}, {"minLength": -1}, {"required": "x"}, {"not": 5}),
        *({"pattern": "("}, {"pattern": "(a)\\1"}, {"pattern": "(?=a)a"}),
        *({"$ref": "https://example.org/s"}, {"$ref": "file:///etc/passwd"}, {"$ref": "#/$defs/x"}),
    ],
)
def test_a_schema_that_is_none_or_reaches_out_is_refused(schema: Any) -> None:
    error = refused_at(ToolCapability, {**TOOL, "args_schema": schema})
    assert error.path == "/args_schema"
    assert error.message.startswith("no JSON Schema (draft 2020-12): ")


@pytest.mark.parametrize("schema", [5, 0, "string", [], [True], 1.5, ""])
def test_a_schema_is_an_object_or_a_boolean(schema: Any) -> None:
    error = refused_at(ToolCapability, {**TOOL, "args_schema": schema})
    assert error.path == "/args_schema"
    assert "JSON Schema" in error.message


def test_null_is_refused_as_a_schema() -> None:
    assert refused_at(ToolCapability, {**TOOL, "args_schema": None}).path == "/args_schema"


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"x": inner}])
def test_a_copy_is_as_deep_as_a_value_may_be(wrap: Any) -> None:
    value = innermost = wrap(1)
    for _ in range(MAX_DEPTH - 1):
        value = wrap(value)
    copy = detach_json(value)
    assert copy == value
    for _ in range(MAX_DEPTH - 1):
        (copy,) = copy.values() if type(copy) is dict else copy
    assert copy == innermost
    assert copy is not innermost
