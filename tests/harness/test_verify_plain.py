"""A plan that is judged without its envelope is a plan, and gets the verdict of its envelope.

What is not taken the short way goes the long way, which says all that is ever said against it.
"""

import copy
import json
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Plan, Proposal, digest, verify
from critic.verify import verify_plain
from evals.canonical_json import canonical_bytes
from evals.plain_plan import plain_plan
from harness.testing.strategies import edge_proposals, seeded_edge_proposal
from harness.wire import InvalidInput, build, parse, verify_bytes
from tests.support.effort import examples
from tests.support.examples import good_proposal, proposal_of
from tests.support.judging import with_changes
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

STEPS: Final[list[Json]] = [
    {
        "kind": "tool",
        "adapter_id": "a",
        "capability_id": "b",
        "args": {"s": "x", "n": 1, "f": 1.5, "in": {"deep": [1, None, True]}, "é": "ü"},
        "id": "one",
        "depends_on": [],
        "requires_evidence": ["k"],
        "evidence_refs": ["e/1", "e/1"],
        "estimated_tokens": 7,
    },
    {"kind": "tool", "adapter_id": "a", "capability_id": "b"},
    {
        "kind": "reason",
        "summary": "why",
        "id": "two",
        "depends_on": ["one"],
        "evidence_refs": ["e/1"],
        "estimated_tokens": 0,
    },
    {"kind": "reason"},
]
PLAN: Final[Json] = {
    "steps": STEPS,
    "declared_outputs": ["o"],
    "plan_id": "p",
    "trace_id": "trace_refund_881",
}

GONE: Final = object()
TWICE: Final = object()
ODD: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 1.0, 1.5, -0.0, 2**53 - 1, 2**53, 2**63, 2**64 - 1, 1e300),
    *(
        "",
        "x",
        "tool",
        "reason",
        "x\n",
        "\nx",
        " ",
        "é",
        "a" * 128,
        "a" * 129,
        "a" * 512,
        "a" * 513,
    ),
    *([], [[]], [1], ["x"], ["x", "x"], [None], {}, {"x": 1}, {"kind": "tool"}, GONE, TWICE),
)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each member and element of a JSON value."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for part, item in inner:
        yield (*place, part)
        yield from places(item, (*place, part))


def changed(place: tuple[Any, ...], value: Any) -> Json:
    """Return the plan with another value at a place; it is gone, or there under a second name."""
    plan = copy.deepcopy(PLAN)
    parent: Any = plan
    for part in place[:-1]:
        parent = parent[part]
    if value is TWICE:
        if isinstance(parent, list):
            parent.append(parent[place[-1]])
        else:
            parent[f"{place[-1]}_"] = parent[place[-1]]
    elif value is GONE:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    return plan


def deep(levels: int) -> Json:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return changed(("steps", 1), {**STEPS[1], "args": {"x": value}})


DOCUMENTS: Final[list[Any]] = [
    PLAN,
    *(changed(place, value) for place, value in product(places(PLAN), ODD)),
    *map(deep, (1, 62, 63, 64, 198, 240)),
    *([], None, 1, "x", {}, {"steps": [], "declared_outputs": []}, {"steps": []}),
]


def long_way(given: Proposal, data: bytes) -> object:
    """Return the verdict by the envelope as bytes, or the problems of what is no plan."""
    try:
        verdict = verify(given.ctx, given.compiled, given.spec, parse(Plan, data))
    except InvalidInput as error:
        return str(error), error.problems
    return verdict.model_dump_json().encode()


def short_way(given: Proposal, data: bytes) -> object:
    try:
        return verify_bytes(given.ctx, given.compiled, given.spec, data)
    except InvalidInput as error:
        return str(error), error.problems


def test_what_is_taken_is_a_plan_with_the_same_fields() -> None:
    """For each value in a plan, and many that may take its place."""
    taken = 0
    for document in DOCUMENTS:
        value = orjson.loads(orjson.dumps(document))
        plain = plain_plan(value)
        if plain is None:
            continue
        taken += 1
        plan = build(Plan, orjson.loads(orjson.dumps(document)))
        assert plain.trace_id == plan.trace_id
        assert tuple(plain.declared_outputs) == plan.declared_outputs
        assert len(plain.steps) == len(plan.steps)
        for step, envelope in zip(plain.steps, plan.steps, strict=True):
            as_tuples = {
                name: tuple(field) if isinstance(field, list) else field
                for name, field in step.items()
            }
            assert as_tuples == envelope.__dict__
            assert type(step["estimated_tokens"]) is type(envelope.estimated_tokens)
    assert taken > len(DOCUMENTS) / 10


def test_what_is_not_taken_is_no_plan_or_names_no_kind() -> None:
    """Of plans as they are written, none goes the long way in vain."""
    for document in DOCUMENTS:
        value = orjson.loads(orjson.dumps(document))
        try:
            build(Plan, orjson.loads(orjson.dumps(document)))
        except InvalidInput:
            continue
        assert plain_plan(value) is not None, document


def test_both_ways_say_the_same_of_every_document() -> None:
    given = proposal_of(with_changes(good_proposal(), "spec", confined_evidence=["k"]))
    for document in DOCUMENTS:
        data = orjson.dumps(document)
        assert short_way(given, data) == long_way(given, data)


@settings(PATIENT, max_examples=examples(150))
@given(edge_proposals(), st.sampled_from(["compact", "spaced", "escaped", "canonical"]))
def test_both_ways_say_the_same_of_every_proposal(given: Proposal, spelled: str) -> None:
    wire = given.plan.wire()
    data = {
        "compact": lambda: orjson.dumps(wire),
        "spaced": lambda: json.dumps(wire, ensure_ascii=False).encode(),
        "escaped": lambda: json.dumps(wire).encode(),
        "canonical": lambda: canonical_bytes(given.plan),
    }[spelled]()
    assert short_way(given, data) == long_way(given, data)


@pytest.mark.parametrize("seed", range(40))
def test_a_proposal_without_approvals_and_provenance_takes_the_short_way(seed: int) -> None:
    given = seeded_edge_proposal(seed)
    value = orjson.loads(canonical_bytes(given.plan))
    verdict = verify_plain(given.ctx, given.compiled, given.spec, value)
    short = not given.ctx.approvals and given.spec.provenance is None
    assert (verdict is not None) == short
    if short:
        assert verdict == verify(given.ctx, given.compiled, given.spec, given.plan)


def test_an_approval_is_judged_by_the_digest_of_the_plan() -> None:
    wire = with_changes(good_proposal(), "spec", approval_required_from="read_only")
    plan = proposal_of(wire).plan
    yes = {"approval_id": "a", "approver": "emma", "plan_digest": digest(plan)}
    given = proposal_of(with_changes(wire, "ctx", approvals=[yes]))
    data = canonical_bytes(plan)
    assert short_way(given, data) == long_way(given, data)
    assert b'"ok":true' in verify_bytes(given.ctx, given.compiled, given.spec, data)


@pytest.mark.parametrize("name", ["ctx", "compiled", "spec"])
def test_what_is_not_exactly_its_envelope_is_a_type_error(name: str) -> None:
    given = proposal_of(good_proposal())
    parts: dict[str, Any] = {part: getattr(given, part) for part in ("ctx", "compiled", "spec")}
    value = orjson.loads(canonical_bytes(given.plan))
    with pytest.raises(TypeError, match="verify needs a"):
        verify_plain(**{**parts, name: object()}, value=value)
    assert verify_plain(**{**parts, name: object()}, value=1) is None


@pytest.mark.parametrize(
    "data",
    [
        b'{"steps":[],"declared_outputs":[],"declared_outputs":["o"]}',
        b'\xef\xbb\xbf{"steps":[],"declared_outputs":[]}',
        b'{"steps":[],"declared_outputs":["\\ud800"]}',
        b'{"steps":[],"declared_outputs":["\xff"]}',
        b'{"steps":[{"kind":"tool","adapter_id":"a","capability_id":"b","args":{"n":1e400}}],'
        b'"declared_outputs":[]}',
        b'{"steps":[{"kind":"tool","adapter_id":"a","capability_id":"b","args":{"n":NaN}}],'
        b'"declared_outputs":[]}',
        b'{"steps":[{"kind":"reason","estimated_tokens":18446744073709551616}],'
        b'"declared_outputs":[]}',
        b"",
        b" ",
        b"[" * 300 + b"]" * 300,
        b"[" * 220 + b"]" * 220,
        b"[" * 5000 + b"]" * 5000,
    ],
)
def test_what_is_no_strict_json_is_refused_in_the_same_words(data: bytes) -> None:
    given = proposal_of(good_proposal())
    assert isinstance(long_way(given, data), tuple)
    assert short_way(given, data) == long_way(given, data)
