"""Reading stops at the first hundred faults, says so, and changes nothing but that."""

import random
import tracemalloc
from collections.abc import Iterator
from time import process_time
from typing import Any, get_args

import orjson
import pytest
from pydantic import ValidationError

from critic import CompiledContext, Plan, Run
from evals import bounded
from evals.bounded import REST_NOT_READ, WireArray, WireMembers
from evals.canonical_json import canonical_bytes
from evals.envelope import Envelope
from harness.wire import MOST_PROBLEMS, InvalidInput, build, parse
from tests.support.examples import good_run
from tests.support.model.facts import Json

STOPPED = " (and more: reading stops at the first 100 faults)"
BAD: tuple[Any, ...] = ({}, [], 1, "", None, {"kind": "tool"}, {"kind": "x"}, "a b", {"a": None})


def fault_of(model: type[Envelope], value: Any) -> InvalidInput | None:
    try:
        build(model, value)
    except InvalidInput as error:
        return error
    return None


def long_plan(rng: random.Random) -> Json:
    """Return a plan with long arrays, in which some elements may be invalid."""
    step = {"kind": "tool", "adapter_id": "a", "capability_id": "b"}
    steps: list[Any] = []
    for _ in range(rng.choice([1, 100, 129, 300, 700])):
        refs = [f"e{number}" for number in range(rng.choice([0, 1, 1, 1, 150]))]
        steps.append({**step, "evidence_refs": refs})
    outputs: list[Any] = [f"o{number}" for number in range(rng.choice([1, 200]))]
    plan: Json = {"steps": steps, "declared_outputs": outputs}
    for array in (steps[-1]["evidence_refs"], steps, outputs):
        for _ in range(rng.choice([0, 0, 1, 5, 90, 150, 400])):
            array.insert(rng.randint(0, len(array)), rng.choice(BAD))
    return plan


@pytest.mark.parametrize("seed", range(40))
def test_in_pieces_as_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is valid is the same, and of what is not the first hundred faults are the same."""
    plan = long_plan(random.Random(seed))  # noqa: S311 - not a secret
    in_pieces = fault_of(Plan, plan)
    valid = None if in_pieces else canonical_bytes(build(Plan, plan))
    monkeypatch.setattr(bounded, "_SHORT", 10**9)
    at_once = fault_of(Plan, plan)
    if in_pieces is None or at_once is None:
        assert in_pieces is at_once
        assert valid == canonical_bytes(build(Plan, plan))
        return
    shared = min(len(in_pieces.problems), MOST_PROBLEMS)
    assert in_pieces.problems[:shared] == at_once.problems[:shared]
    if in_pieces.message.endswith(STOPPED):
        assert at_once.message.endswith(STOPPED)
    else:
        assert (in_pieces.message, in_pieces.problems) == (at_once.message, at_once.problems)


def bounded_fields() -> Iterator[tuple[type[Envelope], str, bool]]:
    """Yield each field that is read in pieces, and whether it is an array."""
    waiting: list[type[Envelope]] = [Envelope]
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        for name, field in model.model_fields.items():
            marks = [type(mark) for mark in field.metadata]
            if WireArray in marks or WireMembers in marks:
                yield model, field.alias or name, WireArray in marks


@pytest.mark.parametrize(("model", "name", "is_array"), [*bounded_fields()])
def test_no_field_takes_what_stands_for_the_rest(
    model: type[Envelope], name: str, is_array: bool
) -> None:
    value: Any = [REST_NOT_READ] if is_array else {REST_NOT_READ: None}
    with pytest.raises(ValidationError) as caught:
        model.__pydantic_validator__.validate_python({name: value})
    inputs = [error["input"] for error in caught.value.errors() if error["loc"][:1] == (name,)]
    assert REST_NOT_READ in inputs


@pytest.mark.parametrize(("model", "name", "is_array"), [*bounded_fields()])
def test_every_array_and_object_with_names_of_its_own_stops(
    model: type[Envelope], name: str, is_array: bool
) -> None:
    bad = object()
    value: Any = [bad] * 5_000 if is_array else {f" {n}\ud800": bad for n in range(5_000)}
    with pytest.raises(ValidationError) as caught:
        model.__pydantic_validator__.validate_python({name: value})
    errors = [error for error in caught.value.errors() if error["loc"][:1] == (name,)]
    assert 100 <= len(errors) < 1_000


def marks_of(part: Any) -> tuple[Any, ...]:
    """Return the marks of a field, or of a type that is a part of its own."""
    return (*getattr(part, "metadata", ()), *getattr(part, "__metadata__", ()))


def test_every_dict_of_an_envelope_is_read_in_pieces_or_is_json() -> None:
    """A field whose keys the user chooses can have as many faults as a document has room for."""
    from evals.field import CustomType  # noqa: PLC0415

    waiting: list[type[Envelope]] = [Envelope]
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        if not model.__module__.startswith(("evals.", "critic.", "harness.record")):
            continue
        for name, field in model.model_fields.items():
            if "dict[" in str(field.annotation):
                parts = (field, *get_args(field.annotation))
                marks = {type(mark) for one in parts for mark in marks_of(one)}
                assert marks & {WireMembers, CustomType}, f"{model.__name__}.{name}"


def documents(size: int) -> dict[str, tuple[type[Envelope], bytes]]:
    step = b'{"kind":"tool","adapter_id":"a","capability_id":"b","evidence_refs":['
    run = good_run()
    run["outputs"] = {f"bad key {n}": None for n in range(size // 18)}
    tools = b",".join([b'{"adapter_id":""}'] * (size // 18))
    return {
        "empty steps": (Plan, b'{"steps":[' + b"{}," * (size // 3) + b'{}],"declared_outputs":[]}'),
        "empty refs": (Plan, b'{"steps":[' + step + b'"",' * (size // 3) + b'""]}]}'),
        "refs of steps": (
            Plan,
            b'{"steps":[' + b",".join([step + b'"",' * 99 + b'""]}'] * (size // 400)) + b"]}",
        ),
        "unknown fields": (
            Plan,
            b'{"steps":[],' + b",".join(b'"k%d":1' % n for n in range(size // 10)) + b"}",
        ),
        "outputs": (Run, orjson.dumps(run)),
        "tools": (
            CompiledContext,
            b'{"manifests":{"evidence_manifest":[],"tool_manifest":[' + tools + b"]}}",
        ),
    }


@pytest.mark.parametrize("name", documents(0))
def test_a_large_document_of_faults_costs_little_more_than_to_read_it(name: str) -> None:
    model, data = documents(400_000)[name]
    fault_of(model, orjson.loads(data))  # what is made once is not counted
    plain = min(cost(data, None) for _ in range(3))
    refused = min(cost(data, model) for _ in range(3))
    assert refused < 25 * plain + 0.05
    value = orjson.loads(data)
    tracemalloc.start()
    error = fault_of(model, value)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert error is not None
    assert len(error.problems) == MOST_PROBLEMS
    assert error.message.endswith(STOPPED)
    assert most < 60 * len(data)


def cost(data: bytes, model: type[Envelope] | None) -> float:
    start = process_time()
    if model is None:
        orjson.loads(data)
    else:
        with pytest.raises(InvalidInput):
            parse(model, data)
    return process_time() - start
