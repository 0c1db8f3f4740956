"""Hypothesis strategies that know the manifest: plans that pass, all but pass, or mean harm.

    from harness.testing.strategies import near_misses, plans

    @given(plans(compiled, spec, ctx))
    def test_my_planner_accepts(plan): ...

Whatever is not given is drawn. Everything shrinks to the smallest plan that a person would write:
one step where one will do, no optional fields, short names. Args are made from `args_schema` and,
where `bound_args` says so, from the content of evidence; for tools whose schema asks for more than
can be made here, give a strategy in `args`, by (adapter_id, capability_id).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from hypothesis import reject
from hypothesis import strategies as st

from critic import (
    Check,
    CompiledContext,
    DecisionSpec,
    Plan,
    Proposal,
    RefusalKind,
    Run,
    RunContext,
    consolidate,
    score,
    verify_proposal,
)
from harness.record import GENESIS, Decision, DecisionRecord, Head, RunFacts, draft, sealed
from harness.testing._draw.bounds import Bounds, NoPlan, bounds_of
from harness.testing._draw.hostile import hostile_plan
from harness.testing._draw.near_misses import MISSES, Miss, fits, spoiled
from harness.testing._draw.plans import Args, Drafter
from harness.testing._draw.primitives import chance, pick
from harness.testing._draw.runs import a_run
from harness.testing._draw.worlds import a_context, a_manifest, a_spec
from harness.testing._draw.worlds_given import Given, proposal_of
from harness.wire import build

__all__ = [
    "NearMiss",
    "NoPlan",
    "contexts",
    "decisions",
    "hostile_plans",
    "labelled_near_misses",
    "manifests",
    "near_misses",
    "plans",
    "proposals",
    "records",
    "runs",
    "specs",
    "valid_proposals",
]

_NO_ARGS: Final[Args] = MappingProxyType({})
_DECIDED: Final = datetime(2026, 1, 1, tzinfo=UTC)


class NearMiss(NamedTuple):
    """A proposal with exactly one violation, and what that violation is."""

    way: str
    """The name of the way to miss: see `harness.testing._draw.near_misses.MISSES`."""
    check: Check
    kind: RefusalKind
    proposal: Proposal


@st.composite
def manifests(draw: st.DrawFn) -> CompiledContext:
    """A small surface with its evidence."""
    return build(CompiledContext, a_manifest(draw))


@st.composite
def specs(draw: st.DrawFn, compiled: CompiledContext | None = None) -> DecisionSpec:
    """A spec, in the terms of `compiled` if that is given."""
    return build(DecisionSpec, a_spec(draw, None if compiled is None else compiled.wire()))


@st.composite
def contexts(draw: st.DrawFn, compiled: CompiledContext | None = None) -> RunContext:
    """A context that leaves room for a step; evidence of `compiled` may have expired by then."""
    return build(RunContext, a_context(draw, None if compiled is None else compiled.wire()))


@st.composite
def plans(
    draw: st.DrawFn,
    compiled: CompiledContext,
    spec: DecisionSpec,
    ctx: RunContext,
    *,
    args: Args = _NO_ARGS,
) -> Plan:
    """A plan that `verify(ctx, compiled, spec, plan)` accepts.

    Steps that need an approval do not occur, since `ctx` cannot hold one: see `valid_proposals`.

    Raises:
        NoPlan: there is none.
    """
    drafter = Drafter(draw, bounds_of(compiled, spec, ctx), args, approving=False)
    return build(Plan, drafter.plan(drafter.steps()))


@st.composite
def valid_proposals(
    draw: st.DrawFn,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    args: Args = _NO_ARGS,
) -> Proposal:
    """A proposal that `verify` accepts; where a step needs an approval, `ctx` is given one.

    Raises:
        NoPlan: there is none for what was given.
    """
    return _valid(draw, Given(compiled, spec, ctx).bounds(draw), args)


def _valid(draw: st.DrawFn, bounds: Bounds, args: Args) -> Proposal:
    drafter = Drafter(draw, bounds, args, approving=True)
    return proposal_of(bounds, drafter.plan(drafter.steps()))


@st.composite
def labelled_near_misses(
    draw: st.DrawFn,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    kind: RefusalKind | None = None,
    check: Check | None = None,
    way: str | None = None,
    args: Args = _NO_ARGS,
) -> NearMiss:
    """As `near_misses`, with the violation that each must meet."""
    misses = [one for one in MISSES if fits(one, kind, check) and way in (None, one.name)]
    if not misses:
        raise NoPlan(f"no near miss is of kind {kind}, check {check} and way {way} at once")
    given = Given(compiled, spec, ctx)
    found = _near_miss(draw, given, misses, args)
    return _none(given, found, misses) if isinstance(found, Drafter) else found


def _near_miss(draw: st.DrawFn, given: Given, misses: list[Miss], args: Args) -> NearMiss | Drafter:
    """A near miss, or the drafter that found no occasion for any."""
    # First what the refusal says, then the way to it: no kind is rare for having few ways.
    groups = list(dict.fromkeys((miss.check, miss.kind) for miss in misses))
    group = pick(draw, groups)
    ways = [miss for miss in misses if (miss.check, miss.kind) == group]
    first = misses.index(pick(draw, ways))
    misses = [*misses[first:], *misses[:first]]
    bounds = given.bounds(draw, misses[0].name)
    drafter = Drafter(draw, bounds, args, approving=True)
    found = spoiled(drafter, misses) if bounds.obstacle() is None else None
    if found is None:
        return drafter
    miss, one = found
    return NearMiss(miss.name, miss.check, miss.kind, proposal_of(bounds, one.plan, one.unapproved))


def _none(given: Given, drafter: Drafter, misses: list[Miss]) -> NearMiss:
    """No occasion for any of the misses: for good, if the next draw cannot change that."""
    if None in given or drafter.unlucky:
        reject()
    if fault := drafter.bounds.obstacle():
        raise NoPlan(f"no plan can all but pass: {fault}")
    names = ", ".join(miss.name for miss in misses)
    raise NoPlan(f"this manifest, spec and context give no occasion for: {names}")


def near_misses(
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    kind: RefusalKind | None = None,
    check: Check | None = None,
    way: str | None = None,
    args: Args = _NO_ARGS,
) -> st.SearchStrategy[Proposal]:
    """A proposal with exactly one violation, of the kind, check or way that is asked for.

    All other steps are approved where they need to be, so `ctx` may gain an approval.

    Raises:
        NoPlan: what was given has no occasion for it; for example, no plan can go above the
            safety mode of a context that allows everything.
    """
    labelled = labelled_near_misses(compiled, spec, ctx, kind=kind, check=check, way=way, args=args)
    return labelled.map(lambda found: found.proposal)


@st.composite
def hostile_plans(
    draw: st.DrawFn,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    args: Args = _NO_ARGS,
) -> Plan:
    """Any plan at all, in the names of the manifest: forged refs, wrong claims, odd args, loops."""
    bounds = Given(compiled, spec, ctx).bounds(draw)
    return build(Plan, hostile_plan(Drafter(draw, bounds, args, approving=True)))


@st.composite
def proposals(
    draw: st.DrawFn,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    args: Args = _NO_ARGS,
) -> Proposal:
    """Valid ones, near misses and hostile ones, in equal shares.

    Where nothing can pass, hostile ones only.
    """
    given = Given(compiled, spec, ctx)
    style = pick(draw, ("valid", "near miss", "hostile"))
    if style == "near miss":
        found = _near_miss(draw, given, list(MISSES), args)
        if isinstance(found, NearMiss):
            return found.proposal
    bounds = given.bounds(draw)
    if style == "hostile" or bounds.obstacle() is not None:
        return proposal_of(bounds, hostile_plan(Drafter(draw, bounds, args, approving=True)))
    return _valid(draw, bounds, args)


@st.composite
def runs(
    draw: st.DrawFn,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    faithful: bool | None = None,
    args: Args = _NO_ARGS,
) -> Run:
    """A run of a proposal. `faithful`: of a valid one, as planned; false: of any, anyhow."""
    as_planned = not chance(draw) if faithful is None else faithful
    source = valid_proposals if as_planned else proposals
    proposal = draw(source(compiled, spec, ctx, args=args))
    return build(Run, a_run(draw, proposal, faithful=as_planned))


@st.composite
def decisions(
    draw: st.DrawFn,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    args: Args = _NO_ARGS,
) -> Decision:
    """A decision that a log takes: refused, executed and scored, or passed and not executed."""
    run = draw(runs(compiled, spec, ctx, args=args))
    proposal = run.proposal
    verdict = verify_proposal(proposal)
    executed: Mapping[str, Any] = {}
    if verdict and not chance(draw):
        executed = {"run": RunFacts.of(run)}
    report = consolidate(
        trace_id=proposal.ctx.trace_id,
        decision_key=proposal.spec.id,
        verify=verdict,
        score=score(run) if executed else None,
        decided_at=_DECIDED,
    )
    return Decision(proposal=proposal, report=report, **executed)


def records(
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    before: tuple[int, str] = (0, GENESIS),
    args: Args = _NO_ARGS,
) -> st.SearchStrategy[DecisionRecord]:
    """A record of a decision as a log keeps it, following `before`: (number, hash)."""
    made = decisions(compiled, spec, ctx, args=args)
    return made.map(lambda decision: sealed(draft(decision), Head(*before)).record)
