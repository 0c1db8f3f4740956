"""What the loop decides by is held: nothing that is handed out leads to it, or changes it."""

import asyncio
import copy
import gc
import pickle
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from critic import CompiledContext, Plan, Proposal, digest, verify
from critic.surface import surface_of
from evals.canonical_json import canonical_bytes
from evals.unread import UnreadContext, unread_body
from harness.record import Begun, Decision, DecisionRecord
from harness.record.inputs import HeldInputs, held_context
from harness.runtime import (
    Execution,
    LoopEvent,
    Outcome,
    Permit,
    PermitError,
    Recorder,
)
from harness.runtime.permit import permit_for
from tests.harness.runtime.spoiling import parts, spoil
from tests.harness.runtime.world import KeptLog, Scripted, call_of, do_all, shown, still, turn
from tests.support.examples import good_proposal, long_proposal, proposal_of, refused_proposal

TURNS = 3
OPAQUE = (type, types.ModuleType, types.CodeType, types.FrameType, str, bytes, int, float)


def reached(*starts: Any) -> dict[int, Any]:
    """Return every object that some objects lead to, by any attribute, slot or closure."""
    found: dict[int, Any] = {}
    waiting = list(starts)
    while waiting:
        current = waiting.pop()
        if id(current) in found or isinstance(current, OPAQUE):
            continue
        found[id(current)] = current
        if isinstance(current, types.FunctionType):  # its globals are everybody's
            waiting += [*(current.__closure__ or ()), *(current.__defaults__ or ())]
        else:
            waiting += gc.get_referents(current)
    return found


def changeable(values: dict[int, Any]) -> set[int]:
    """Return those that hold something: no empty tuple, None, or other object of everybody's."""
    shared = reached(proposal_of(refused_proposal()).spec)
    holds: tuple[type, ...] = (
        dict,
        list,
        set,
        *(type(one) for one in parts(proposal_of(good_proposal()))),
    )
    atoms = (str, int, float, bool, type(None), tuple)
    return {
        key
        for key, value in values.items()
        if isinstance(value, holds) and not isinstance(value, atoms) and key not in shared
    }


class Everything:
    """Ports that keep all that they are given, and all that they are told."""

    def __init__(self, proposal: Proposal) -> None:
        self.kept: list[Any] = []
        self._plan = proposal.plan
        self._log = KeptLog()

    def plan(self, *given: Any) -> Plan:
        self.kept += given
        return self._plan

    def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        self.kept += [permit, proposal, record]
        return do_all(permit.redeem(proposal), record)

    def begin(self, begun: Begun) -> Any:
        self.kept.append(begun)
        raise OSError("not today")

    def append(self, decision: Decision) -> DecisionRecord:
        self.kept += [decision, record := self._log.append(decision)]
        return record

    def __call__(self, event: LoopEvent) -> None:
        self.kept.append(event)


class WithoutBegin(Everything):
    """The same, with a log that keeps decisions only."""

    begin = None  # type: ignore[assignment]


@pytest.mark.parametrize("ports", [Everything, WithoutBegin])
@pytest.mark.parametrize("wire", [good_proposal(), refused_proposal()], ids=["good", "refused"])
@pytest.mark.parametrize("read", [False, True])
def test_nothing_that_is_handed_out_leads_to_what_is_held(
    ports: type[Everything], wire: dict[str, Any], read: bool
) -> None:
    proposal = proposal_of(wire)
    world = ports(proposal)
    outcome: Any = None
    with suppress(Exception):
        outcome = asyncio.run(
            turn(world, proposal=proposal, planner=world, log=world, listener=world)
        )
    handed = [*world.kept, outcome]
    if read:
        list(parts([one for one in handed if not isinstance(one, Permit)]))
    held = held_context(proposal.compiled)
    own = changeable(reached(held.envelope, held._tools, held._hash, held))
    assert len(own) > 20
    assert len(handed) > 3
    assert not own & reached(*handed).keys()


def reading(compiled: CompiledContext) -> None:
    surface_of(compiled)


def with_more_tools(compiled: CompiledContext) -> None:
    """Make an index allow what the manifest does not, and put it in the place of the kept one."""
    surface = surface_of(compiled)
    any_tool = next(iter(surface.tools.values()))
    surface.tools["adp_payments", "bulk_refund"] = any_tool
    with suppress(AttributeError):
        object.__setattr__(compiled, "_surface", surface)


def with_no_rules(compiled: CompiledContext) -> None:
    for tool in compiled.manifests.tool_manifest:
        tool.__dict__ |= {"approval_mode": "read_only", "requires_evidence": None}
        for name in ("args_schema", "bound_args"):
            if tool.__dict__[name] is not None:
                dict.clear(tool.__dict__[name])


def with_other_bytes(compiled: CompiledContext) -> None:
    free = b'{"manifests":{"evidence_manifest":[],"tool_manifest":[]}}'
    object.__setattr__(compiled, "_body", free)


def without_fields(compiled: CompiledContext) -> None:
    object.__setattr__(compiled, "__dict__", {})


def all_of_it(compiled: CompiledContext) -> None:
    spoil(compiled)


SPOILT: dict[str, Callable[[CompiledContext], None]] = {
    "read": reading,
    "index": with_more_tools,
    "rules": with_no_rules,
    "bytes": with_other_bytes,
    "fields": without_fields,
    "all": all_of_it,
}


class Spoiling:
    """Ports that spoil the contexts that they are given, and the one that the caller holds."""

    def __init__(self, held: Proposal, how: Callable[[CompiledContext], None]) -> None:
        self._held, self._how = held, how
        self._plan = proposal_of(held.wire()).plan
        self.log = KeptLog()

    def _spoil(self, *contexts: CompiledContext) -> None:
        for compiled in (*contexts, self._held.compiled):
            with suppress(Exception):
                self._how(compiled)

    def plan(self, _ctx: Any, compiled: CompiledContext, _spec: Any) -> Plan:
        self._spoil(compiled)
        return self._plan

    def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        plan = permit.redeem(proposal)
        self._spoil(proposal.compiled)
        for at in range(len(plan.steps)):
            record(call_of(plan, at, tokens=100, cost_micros=1))
        return do_all(plan, lambda _call: None)

    def append(self, decision: Decision) -> DecisionRecord:
        record = self.log.append(decision)
        self._spoil(decision.proposal.compiled)
        return record


@pytest.mark.one_in(4)
@pytest.mark.parametrize("wire", [good_proposal(), refused_proposal()], ids=["good", "refused"])
@pytest.mark.parametrize("how", SPOILT)
def test_no_later_turn_is_decided_otherwise(wire: dict[str, Any], how: str) -> None:
    honest, held = proposal_of(wire), proposal_of(wire)
    expected = asyncio.run(turn(Scripted(do_all), proposal=honest, clock=still()))
    world = Spoiling(held, SPOILT[how])
    for number in range(TURNS):
        outcome: Outcome = asyncio.run(run_once(world, held=held, ctx=honest.ctx, spec=honest.spec))
        assert shown(outcome) == shown(expected), f"turn {number}"
        assert outcome.record.inputs == expected.record.inputs
        assert world.log.records[-1].report == expected.report
        with suppress(Exception):
            SPOILT[how](outcome.proposal.compiled)


def run_once(world: Spoiling, *, held: Proposal, ctx: Any, spec: Any) -> Any:
    given = held.__copy__()
    given.__dict__ |= {"ctx": ctx, "spec": spec}
    return turn(world, proposal=given, planner=world, log=world, clock=still())


# --- the permit -----------------------------------------------------------------------------------


def test_a_proposal_that_was_read_and_left_alone_is_the_one_that_was_verified() -> None:
    inputs = HeldInputs.of(proposal_of(good_proposal()))
    given = inputs.handed_out()
    assert given.compiled.manifests == inputs.proposal.compiled.manifests
    assert unread_body(given.compiled) is None
    assert permit_for(inputs).redeem(given) == inputs.proposal.plan


def unread(proposal: Proposal) -> Any:
    """Return the context of a proposal without looking at it."""
    return proposal.__dict__["compiled"]


FORGERIES: dict[str, Callable[[Proposal], object]] = {
    "other bytes": lambda given: with_other_bytes(unread(given)),
    "equal bytes, another plan": lambda given: given.__dict__.update(
        plan=proposal_of(refused_proposal()).plan
    ),
    "rules": lambda given: with_no_rules(given.compiled),
    "mode": lambda given: given.ctx.__dict__.update(safety_mode="network"),
    "another run": lambda given: given.__dict__.update(ctx=None),
}


@pytest.mark.parametrize("how", FORGERIES)
def test_a_proposal_that_was_changed_unread_or_not_is_refused(how: str) -> None:
    inputs = HeldInputs.of(proposal_of(good_proposal()))
    given = inputs.handed_out()
    FORGERIES[how](given)
    with pytest.raises(PermitError):
        permit_for(inputs).redeem(given)


def test_a_permit_names_the_proposal_and_gives_the_tools_of_its_plan() -> None:
    proposal = proposal_of(good_proposal())
    permit = permit_for(HeldInputs.of(proposal))
    assert permit.digest == digest(proposal)
    for tool in proposal.compiled.manifests.tool_manifest:
        given = permit.capability(tool.adapter_id, tool.capability_id)
        assert given == tool
        assert given is not permit.capability(tool.adapter_id, tool.capability_id)
    assert permit.capability("adp", "none") is None


# --- a context that nobody has read ---------------------------------------------------------------


LOOKS: dict[str, Callable[[Any], object]] = {
    "attribute": lambda one: one.manifests,
    "wire": lambda one: one.wire(),
    "json": lambda one: one.model_dump_json(),
    "equal": lambda one: one == one,  # noqa: PLR0124
    "repr": repr,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301
    "vars": vars,
    "iter": list,
    "verify": lambda one: verify(*_with(one)),
    "field": lambda one: Proposal(
        **{**_parts(), "compiled": one},
    ),
}


def _parts() -> dict[str, Any]:
    proposal = proposal_of(good_proposal())
    return {name: getattr(proposal, name) for name in ("ctx", "compiled", "spec", "plan")}


def _with(compiled: CompiledContext) -> tuple[Any, ...]:
    given = _parts()
    return given["ctx"], compiled, given["spec"], given["plan"]


@pytest.mark.parametrize("how", LOOKS)
def test_looking_at_an_unread_context_in_any_way_makes_it_an_ordinary_one(how: str) -> None:
    original = proposal_of(good_proposal()).compiled
    context = held_context(original).handed_out()
    assert type(context) is UnreadContext
    assert isinstance(context, CompiledContext)
    assert unread_body(context) == canonical_bytes(original)
    LOOKS[how](context)
    assert type(context) is CompiledContext
    assert context == original
    assert canonical_bytes(context) == canonical_bytes(original)


@pytest.mark.parametrize("how", ["copy", "deepcopy", "pickle"])
def test_a_copy_of_an_unread_context_is_an_ordinary_one(how: str) -> None:
    original = proposal_of(good_proposal()).compiled
    copied = LOOKS[how](held_context(original).handed_out())
    assert type(copied) is CompiledContext
    assert copied == original


PRINTS: dict[str, Callable[[Any], str]] = {
    "repr": repr,
    "str": str,
    "format": format,
    "in a proposal": lambda one: repr(parts_with(one)),
}


def parts_with(compiled: CompiledContext) -> Proposal:
    """Return a proposal with a context that nobody has looked at."""
    proposal = proposal_of(good_proposal())
    proposal.__dict__["compiled"] = compiled
    return proposal


@pytest.mark.parametrize("how", PRINTS)
def test_a_long_context_is_printed_unread_and_as_if_it_were_read(how: str) -> None:
    original = long_proposal(1000, 1000).compiled
    context = held_context(original).handed_out()
    printed = PRINTS[how](context)
    assert type(context) is UnreadContext
    assert printed == PRINTS[how](original)
    assert unread_body(context) == canonical_bytes(original)


def test_threads_that_look_at_one_unread_context_see_the_same() -> None:
    def many() -> Iterator[object]:
        for _ in range(50):
            yield held_context(proposal_of(good_proposal()).compiled).handed_out()

    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    with ThreadPoolExecutor(8) as pool:
        for context in many():
            seen = list(pool.map(lambda one: one.manifests, [context] * 8))
            assert all(one is seen[0] for one in seen)


def test_a_context_is_held_once_and_as_long_as_it_lives() -> None:
    from harness.record import inputs  # noqa: PLC0415

    first = proposal_of(good_proposal()).compiled
    assert held_context(first) is held_context(first)
    assert held_context(first) is not held_context(copy.copy(first))
    gc.collect()
    before = len(inputs._CONTEXTS)
    del first
    gc.collect()
    assert len(inputs._CONTEXTS) == before - 1
