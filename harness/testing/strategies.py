"""Hypothesis strategies that know the manifest: plans that pass, nearly pass, or mean harm.

    from harness.testing.strategies import near_misses, plans

    @given(plans(compiled, spec, ctx))
    def test_my_planner_accepts(plan): ...

What is not given is drawn. Everything shrinks to the smallest plan that a person would write:
one step where one is enough, no optional fields, short names. Args are made from `args_schema` and,
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
from evals.kinds import RecordedAction
from harness.policy import Policy
from harness.record import GENESIS, Decision, DecisionRecord, Head, RunFacts, draft, seal_record
from harness.testing._draw.bounds import Bounds, NoPlan, NotCovered, bounds_of
from harness.testing._draw.drawn_plans import Args, Drafter
from harness.testing._draw.drawn_runs import a_run
from harness.testing._draw.drawn_sources import a_sourced_proposal
from harness.testing._draw.drawn_streams import StreamDrafter
from harness.testing._draw.edge_proposals import make_proposal
from harness.testing._draw.edge_runs import make_run
from harness.testing._draw.fixed_inputs import (
    FixedInputs,
    hostile_proposal,
    near_miss_proposal,
    proposal_of,
)
from harness.testing._draw.hostile import hostile_plan
from harness.testing._draw.near_misses import NEAR_MISSES, Way, first_near_miss, fits
from harness.testing._draw.primitives import HypothesisPick, Json, chance, composite, seeded_pick
from harness.testing._draw.worlds import a_context, a_manifest, a_spec
from harness.wire import build

__all__ = [
    "NearMiss",
    "NoPlan",
    "contexts",
    "decisions",
    "edge_proposals",
    "edge_runs",
    "hostile_plans",
    "labelled_near_misses",
    "manifests",
    "near_misses",
    "plans",
    "proposals",
    "records",
    "runs",
    "seeded_edge_proposal",
    "seeded_edge_run",
    "sourced_proposals",
    "specs",
    "streams",
    "valid_proposals",
]

_NO_ARGS: Final[Args] = MappingProxyType({})
_DECIDED: Final = datetime(2026, 1, 1, tzinfo=UTC)


class NearMiss(NamedTuple):
    """A proposal with exactly one violation, and what that violation is."""

    way: str
    """The name of the way it misses: see `harness.testing._draw.near_misses.NEAR_MISSES`."""
    check: Check
    kind: RefusalKind
    proposal: Proposal
    repaired: Proposal | None = None
    """The proposal without what is wrong with it, which passes, where one is at hand."""


@composite
def manifests(pick: HypothesisPick) -> CompiledContext:
    """Draw a small surface with its evidence."""
    return build(CompiledContext, a_manifest(pick))


@composite
def specs(pick: HypothesisPick, compiled: CompiledContext | None = None) -> DecisionSpec:
    """Draw a spec, in the terms of `compiled` if that is given."""
    return build(DecisionSpec, a_spec(pick, None if compiled is None else compiled.wire()))


@composite
def contexts(pick: HypothesisPick, compiled: CompiledContext | None = None) -> RunContext:
    """Draw a context that leaves room for a step; by then evidence of `compiled` may be stale."""
    return build(RunContext, a_context(pick, None if compiled is None else compiled.wire()))


@composite
def plans(
    pick: HypothesisPick,
    compiled: CompiledContext,
    spec: DecisionSpec,
    ctx: RunContext,
    *,
    args: Args = _NO_ARGS,
) -> Plan:
    """Draw a plan that `verify(ctx, compiled, spec, plan)` accepts.

    Steps that need an approval do not occur, since `ctx` cannot hold one: see `valid_proposals`.

    Raises:
        NoPlan: no such plan exists.
    """
    drafter = Drafter(pick, bounds_of(compiled, spec, ctx), args, approving=False)
    return build(Plan, drafter.plan(drafter.steps()))


@composite
def valid_proposals(
    pick: HypothesisPick,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    args: Args = _NO_ARGS,
) -> Proposal:
    """Draw a proposal that `verify` accepts; where a step needs an approval, `ctx` is given one.

    Raises:
        NoPlan: no such proposal exists for the given inputs.
    """
    fixed = FixedInputs(compiled, spec, ctx)
    try:
        return _draw_valid(pick, fixed.bounds(pick), args)
    except NotCovered:
        if None not in fixed:
            raise
        reject()


def _draw_valid(pick: HypothesisPick, bounds: Bounds, args: Args) -> Proposal:
    drafter = Drafter(pick, bounds, args, approving=True)
    return proposal_of(bounds, drafter.plan(drafter.steps()))


@composite
def labelled_near_misses(
    pick: HypothesisPick,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    kind: RefusalKind | None = None,
    check: Check | None = None,
    way: str | None = None,
    args: Args = _NO_ARGS,
) -> NearMiss:
    """Draw as `near_misses` does, with the violation that each must get."""
    ways = [
        entry for entry in NEAR_MISSES if fits(entry, kind, check) and way in (None, entry.name)
    ]
    if not ways:
        raise NoPlan(f"no near miss is of kind {kind}, check {check} and way {way} at once")
    fixed = FixedInputs(compiled, spec, ctx)
    drawn = _near_miss(pick, fixed, ways, args)
    return _reject_draw(fixed, drawn, ways) if isinstance(drawn, Drafter) else drawn


def _near_miss(
    pick: HypothesisPick, fixed: FixedInputs, ways: list[Way], args: Args
) -> NearMiss | Drafter:
    """Draw a near miss; or return the drafter that could draw none."""
    # Draw the kind of refusal first, then the way: a kind with few ways is drawn as often.
    groups = list(dict.fromkeys((way.check, way.kind) for way in ways))
    group = pick(groups)
    of_group = [way for way in ways if (way.check, way.kind) == group]
    first = ways.index(pick(of_group))
    ways = [*ways[first:], *ways[:first]]
    bounds = fixed.bounds(pick, ways[0].name)
    drafter = Drafter(pick, bounds, args, approving=True)
    miss = first_near_miss(drafter, ways) if bounds.obstacle() is None else None
    if miss is None:
        return drafter
    way, broken = miss
    proposal = near_miss_proposal(bounds, broken)
    repaired = None if broken.repaired is None else proposal_of(bounds, broken.repaired)
    return NearMiss(way.name, way.check, way.kind, proposal, repaired)


def _reject_draw(fixed: FixedInputs, drafter: Drafter, ways: list[Way]) -> NearMiss:
    """Reject this draw if another may have a near miss; else raise `NoPlan`, which says why."""
    if None in fixed or drafter.retry_may_help:
        reject()
    if obstacle := drafter.bounds.obstacle():
        raise NoPlan(f"no plan can nearly pass: {obstacle}")
    names = ", ".join(way.name for way in ways)
    raise NoPlan(f"this manifest, spec and context make impossible: {names}")


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
    """Draw a proposal with exactly one violation, of the given kind, check or way.

    All other steps are approved where they need to be, so `ctx` may gain an approval.

    Raises:
        NoPlan: the given inputs make it impossible; for example, no plan can go above the
            safety mode of a context that allows everything.
    """
    labelled = labelled_near_misses(compiled, spec, ctx, kind=kind, check=check, way=way, args=args)
    return labelled.map(lambda near_miss: near_miss.proposal)


@composite
def hostile_plans(
    pick: HypothesisPick,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    args: Args = _NO_ARGS,
) -> Plan:
    """Draw any plan, in the names of the manifest: forged refs, wrong claims, odd args, loops."""
    bounds = FixedInputs(compiled, spec, ctx).bounds(pick)
    return build(Plan, hostile_plan(Drafter(pick, bounds, args, approving=True)))


@composite
def proposals(
    pick: HypothesisPick,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    args: Args = _NO_ARGS,
) -> Proposal:
    """Draw valid proposals, near misses and hostile proposals, in equal shares.

    Draw only hostile ones if no plan can pass.
    """
    fixed = FixedInputs(compiled, spec, ctx)
    style = pick(("valid", "near miss", "hostile"))
    if style == "near miss":
        near_miss = _near_miss(pick, fixed, list(NEAR_MISSES), args)
        if isinstance(near_miss, NearMiss):
            return near_miss.proposal
    bounds = fixed.bounds(pick)
    if style == "hostile" or bounds.obstacle() is not None:
        plan = hostile_plan(Drafter(pick, bounds, args, approving=True))
        return hostile_proposal(pick, bounds, plan)
    try:
        return _draw_valid(pick, bounds, args)
    except NotCovered:
        plan = hostile_plan(Drafter(pick, bounds, args, approving=True))
        return hostile_proposal(pick, bounds, plan)


@composite
def sourced_proposals(
    pick: HypothesisPick,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    args: Args = _NO_ARGS,
) -> Proposal:
    """Draw calls whose values were seen somewhere, and what a session knows: for provenance.

    The manifest gains items with a source, and the context facts of a session, even where they are
    given; a spec that is drawn judges provenance.
    """
    return a_sourced_proposal(pick, FixedInputs(compiled, spec, ctx), args)


@composite
def runs(
    pick: HypothesisPick,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    faithful: bool | None = None,
    args: Args = _NO_ARGS,
) -> Run:
    """Draw a run. `faithful`: of a valid proposal, as planned; else of any proposal, in any way."""
    as_planned = not chance(pick) if faithful is None else faithful
    source = valid_proposals if as_planned else proposals
    proposal = pick.draw(source(compiled, spec, ctx, args=args))
    return build(Run, a_run(pick, proposal, faithful=as_planned))


@composite
def decisions(
    pick: HypothesisPick,
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    args: Args = _NO_ARGS,
) -> Decision:
    """Draw a decision that a log takes: refused, executed and scored, or passed and not run."""
    run = pick.draw(runs(compiled, spec, ctx, args=args))
    proposal = run.proposal
    verdict = verify_proposal(proposal)
    executed: Mapping[str, Any] = {}
    if verdict and not chance(pick):
        executed = {"run": RunFacts.of(run)}
    report = consolidate(
        trace_id=proposal.ctx.trace_id,
        decision_key=proposal.spec.id,
        verify=verdict,
        score=score(run) if executed else None,
        decided_at=_DECIDED,
    )
    action: RecordedAction = "allow" if verdict.ok else "refuse"
    return Decision(proposal=proposal, report=report, action=action, **executed)


def records(
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    before: tuple[int, str] = (0, GENESIS),
    args: Args = _NO_ARGS,
) -> st.SearchStrategy[DecisionRecord]:
    """Draw a record of a decision as a log keeps it, following `before`: (number, hash)."""
    made = decisions(compiled, spec, ctx, args=args)
    return made.map(lambda decision: seal_record(draft(decision), Head(*before)).record)


@composite
def edge_proposals(pick: HypothesisPick) -> Proposal:
    """Draw proposals on the edge between yes and no, in a small alphabet of their own.

    A sound proposal is built as tightly as it can be: budgets without slack, evidence that expires
    a microsecond later, values that the evidence holds as equal numbers of another type or in part
    of a text. Then it is left alone, or one violation of one kind is put in, or a field is drawn
    again; some are wild throughout, and some are of values that were seen somewhere. Nothing can be
    given: they are for an evaluator, a store or a second implementation, not for a manifest.
    """
    return Proposal(**make_proposal(pick))


@composite
def edge_runs(pick: HypothesisPick) -> Run:
    """Draw runs of such proposals: retried, disturbed, measured at, just under and over a limit."""
    return Run(**make_run(pick))


def seeded_edge_proposal(seed: int) -> Proposal:
    """Return what `edge_proposals` draws by that seed: fast, to be counted, and not shrunk."""
    return Proposal(**make_proposal(seeded_pick(seed)))


def seeded_edge_run(seed: int) -> Run:
    """Return what `edge_runs` draws by that seed."""
    return Run(**make_run(seeded_pick(seed)))


@composite
def streams(
    pick: HypothesisPick, policy: Policy, session: str = "s", *, most: int = 10
) -> list[Json]:
    """Draw the events of a guarded session, as JSON: most are in their place, and some are not.

    Their time moves to before, at and after whatever expires. An answer names the digest of the
    last ruling as `$LAST`, and that of the one before as `$EARLIER`.

    Args:
        most: how many events come after the first.
    """
    return StreamDrafter(pick, policy, session).events(most)
