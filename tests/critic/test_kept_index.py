"""The index that verify keeps with a context: never another context's, and safe between threads."""

import copy
import gc
import json
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

import pytest

from critic import CompiledContext, Refused, advise, score, verify_proposal
from critic.surface import Surface, kept_surface, surface_of
from evals.canonical_json import canonical_bytes
from tests.support.examples import good_run, proposal_of, run_of
from tests.support.judging import judge
from tests.support.model.facts import Json

ROUNDS = 200


def proposal_with(**tool: Any) -> Json:
    """Return a proposal of one step that calls one tool and pins evidence of one class."""
    entry = {"adapter_id": "a", "capability_id": "c", "approval_mode": "read_only", **tool}
    item = {"id": "e", "classification": "k", "content": {"order": "o1", "sizes": [1]}}
    step = {"kind": "tool", "adapter_id": "a", "capability_id": "c"}
    wire = {
        "ctx": {"trace_id": "t", "safety_mode": "read_only"},
        "compiled": {"manifests": {"tool_manifest": [entry], "evidence_manifest": [item]}},
        "spec": {"id": "d", "required_outputs": []},
        "plan": {
            "steps": [{**step, "args": {"x": "o1", "n": 1}, "evidence_refs": ["e"]}],
            "declared_outputs": [],
        },
    }
    return copy.deepcopy(wire)


SCHEMA: Json = {"properties": {"n": {"maximum": 5}}}
BOUND: Json = {"x": ["k"]}


def the_schema(compiled: CompiledContext) -> Any:
    return compiled.manifests.tool_manifest[0].args_schema


def the_content(compiled: CompiledContext) -> Any:
    return compiled.manifests.evidence_manifest[0].content


def the_binding(compiled: CompiledContext) -> Any:
    return compiled.manifests.tool_manifest[0].bound_args


def tighten(compiled: CompiledContext) -> None:
    dict.__setitem__(the_schema(compiled)["properties"]["n"], "maximum", 0)


def number_to_true(compiled: CompiledContext) -> None:
    dict.__setitem__(the_schema(compiled)["properties"]["n"], "const", True)


def forget(compiled: CompiledContext) -> None:
    dict.__setitem__(the_content(compiled), "order", "o2")


def empty(compiled: CompiledContext) -> None:
    dict.clear(the_content(compiled))


def bind(compiled: CompiledContext) -> None:
    dict.__setitem__(the_binding(compiled), "n", ("other",))


@pytest.mark.parametrize(
    ("tool", "edit", "check"),
    [
        ({"args_schema": SCHEMA}, tighten, "surface"),
        ({"args_schema": {"properties": {"n": {"const": 1}}}}, number_to_true, "surface"),
        ({"bound_args": BOUND}, forget, "evidence"),
        ({"bound_args": BOUND}, empty, "evidence"),
        ({"bound_args": BOUND}, bind, "evidence"),
        ({"bound_args": {}}, bind, "evidence"),
    ],
    ids=["schema", "schema_const", "content", "content_emptied", "binding", "first_binding"],
)
@pytest.mark.parametrize("back", [False, True])
def test_an_edit_in_place_is_judged_as_it_stands(
    tool: Json, edit: Callable[[CompiledContext], None], check: str, back: bool
) -> None:
    """The verdict equals that on the context that digest and replay see, in both directions."""
    proposal = proposal_of(proposal_with(**tool))
    before = copy.deepcopy(proposal)
    assert verify_proposal(proposal)
    edit(proposal.compiled)
    edited = verify_proposal(proposal)
    assert isinstance(edited, Refused)
    assert {violation.check for violation in edited.violations} == {check}
    assert edited == judge(json.loads(canonical_bytes(proposal)))
    advice = advise(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
    assert advice is not None
    assert advice.repairs
    if back:
        undo(proposal.compiled, before.compiled)
        assert verify_proposal(proposal) == verify_proposal(before)


def undo(edited: CompiledContext, original: CompiledContext) -> None:
    for part in (the_schema, the_content, the_binding):
        if part(original) is not None:
            dict.clear(part(edited))
            dict.update(part(edited), copy.deepcopy(part(original)))


def let_all_pass(index: Surface) -> None:
    """Change an index, by all means there are, so that it allows what the manifest does not."""
    (known,) = index.tools.values()
    known.traits, known.rank, known.needs, known.args_schema = 1, 0, frozenset(), None
    for call in (("a", "other"), ("a", "c")):
        dict.__setitem__(index.tools, call, known)
    classes: Any = index.classes
    dict.__setitem__(classes, "forged", "k")


@pytest.mark.parametrize("verified_before", [False, True])
def test_nothing_that_is_done_to_an_index_changes_a_verdict(verified_before: bool) -> None:
    wire = proposal_with(approval_mode="network", args_schema={"properties": {"n": False}})
    wire["plan"]["steps"] += [
        {"kind": "tool", "adapter_id": "a", "capability_id": "other"},
        {"kind": "reason", "evidence_refs": ["forged"]},
    ]
    proposal, spoilt = proposal_of(wire), proposal_of(wire)
    if verified_before:
        verify_proposal(spoilt)
    index = surface_of(spoilt.compiled)
    let_all_pass(index)
    with suppress(AttributeError):
        object.__setattr__(spoilt.compiled, "_surface", index)
    verdict = verify_proposal(spoilt)
    assert isinstance(verdict, Refused)
    assert {one.check for one in verdict.violations} == {"surface", "approval", "evidence"}
    assert verdict == verify_proposal(proposal)
    assert canonical_bytes(spoilt) == canonical_bytes(proposal)


def test_no_attribute_of_a_context_leads_to_the_index_that_decides() -> None:
    compiled = proposal_of(proposal_with(args_schema=SCHEMA)).compiled
    kept = kept_surface(compiled)
    seen: set[int] = set()
    waiting: list[Any] = [compiled]
    while waiting:
        one = waiting.pop()
        if id(one) not in seen and not isinstance(one, type | ModuleType | FunctionType):
            seen.add(id(one))
            waiting += gc.get_referents(one)
    assert not seen & {id(kept), id(kept.tools), id(kept.classes), *map(id, kept.tools.values())}


def test_a_schema_is_compiled_once() -> None:
    compiled = proposal_of(proposal_with(args_schema=SCHEMA)).compiled
    checked = [tool for tool in kept_surface(compiled).tools.values() if tool.args_schema]
    first = [tool.validator() for tool in checked]
    again = [tool.validator() for tool in checked]
    assert checked
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_an_edit_that_leaves_no_schema_lets_nothing_pass() -> None:
    proposal = proposal_of(proposal_with(args_schema=SCHEMA))
    assert verify_proposal(proposal)
    dict.__setitem__(the_schema(proposal.compiled), "properties", 7)
    with pytest.raises(Exception, match="7"):
        verify_proposal(proposal)


def test_an_edited_content_is_scored_as_it_stands() -> None:
    run = run_of(good_run())
    assert score(run)
    for item in run.proposal.compiled.manifests.evidence_manifest:
        dict.clear(item.content)
    assert not score(run)


COPIES: dict[str, Callable[[Any], object]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda compiled: pickle.loads(pickle.dumps(compiled)),  # noqa: S301
    "dump": lambda compiled: compiled.model_dump(),
    "wire": lambda compiled: compiled.wire(),
    "equal": lambda compiled: compiled == copy.copy(compiled),
}


@pytest.fixture
def _threads_take_turns_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.slow
@pytest.mark.usefixtures("_threads_take_turns_often")
@pytest.mark.parametrize("name", COPIES)
def test_another_thread_may_copy_a_context_while_its_index_is_built(name: str) -> None:
    run = run_of(good_run())
    errors: list[BaseException] = []
    for _ in range(ROUNDS):
        # A deep copy has nothing derived from it yet; so each round builds every index anew.
        proposal = copy.deepcopy(run.proposal)
        start, done = threading.Barrier(2), threading.Event()
        arguments = (COPIES[name], proposal.compiled, start, done, errors)
        other = threading.Thread(target=copy_repeatedly, args=arguments)
        other.start()
        start.wait()
        assert verify_proposal(proposal)
        assert score(run.model_copy(update={"proposal": proposal}))
        done.set()
        other.join()
    assert errors == []


def copy_repeatedly(
    copied: Callable[[Any], object],
    compiled: CompiledContext,
    start: threading.Barrier,
    done: threading.Event,
    errors: list[BaseException],
) -> None:
    start.wait()
    try:
        while not done.is_set():
            copied(compiled)
    except BaseException as error:  # a panic of the serializer is not an Exception
        errors.append(error)


def test_nothing_is_added_to_what_another_thread_may_be_copying() -> None:
    run = copy.deepcopy(run_of(good_run()))
    compiled = run.proposal.compiled
    manifests = compiled.manifests
    parts = [compiled, manifests, *manifests.tool_manifest, *manifests.evidence_manifest]
    before = [dict(part.__dict__) for part in parts]
    assert verify_proposal(run.proposal)
    assert score(run)
    assert [part.__dict__ for part in parts] == before
