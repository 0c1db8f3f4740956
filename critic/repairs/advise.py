"""advise: suggest what would repair a refused plan, and say whether the planner can do it.

Rule 1: advice to replan is a proof: the repairs were applied, and the checks accept the outcome.
Rule 2: what only an approver or an operator can do is never left to the planner to try.
Rule 3: a repair follows from the facts at the place of a violation, never from its wording.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Final, Literal, assert_never

from critic.checks.coverage_check import unproduced_outputs
from critic.checks.loop_check import planned_tokens
from critic.checks.violation import Found
from critic.prepared import PreparedPlan
from critic.provenance import doubts_of
from critic.repairs.apply import RepairedPlan, apply
from critic.repairs.evidence_repairs import EvidenceRepairs
from critic.repairs.options import RepairOptions
from critic.repairs.repair_kinds import (
    Advice,
    AllowTool,
    CorrectArgs,
    DeclareOutput,
    DropDependency,
    DropId,
    DropStep,
    GrantBudget,
    ProduceOutput,
    Repair,
    SaveTokens,
    SetTrace,
    Shorten,
    TakeValue,
    ValueSource,
)
from critic.repairs.stand_ins import approvals_to_ask, repaired_case
from critic.repairs.value_sources import ValueSources
from critic.repairs.violation_places import (
    ArgsPlace,
    DependencyPlace,
    IdPlace,
    LatePlace,
    Place,
    PlanPlace,
    RefPlace,
    StepPlace,
    parse_place,
)
from critic.surface import kept_surface
from critic.verify import found_in, verify
from evals.context import RunContext
from evals.escaping import pointer
from evals.json_value import SAFE_INTEGER
from evals.kinds import Check
from evals.manifest import CompiledContext
from evals.plan import Plan, Proposal, is_late_plan
from evals.spec import DecisionSpec

# Repairs have consequences: a dropped step takes its outputs and pins with it, and producing them
# elsewhere takes a step. They settle in this order: violations of steps, outputs, the number of
# steps, outputs, room for the step they need, pins, tokens; then outputs and pins once more.
_PASSES: Final = 12


def advise(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan
) -> Advice | None:
    """Suggest repairs of a refused plan and say who can do them; None for a plan that passes.

    The repairs fix every violation that `verify` finds, and those that a repair brings about.

    `replan`: applying the repairs, all the planner's, gives a plan that `verify` accepts, once the
    planner has written the calls that its new reason steps stand for.
    `reject`: an approver or an operator has to act too. A plan that changes loses its approvals.
    For a late plan it may come without repairs: nobody can tell what is to be written where so much
    is still to come.

    Pure. Linear in the plan, the manifests and the violations; candidates are cut after five.

    Raises:
        TypeError: an argument is not exactly the envelope it should be, as for `verify`.
    """
    if verify(ctx, compiled, spec, plan):
        return None
    proposal = Proposal(ctx=ctx, compiled=compiled, spec=spec, plan=plan)
    advice = _find_repairs(proposal, ValueSources(compiled))
    if _says_enough(advice):
        return advice
    if is_late_plan(plan):
        return Advice(disposition="reject", repairs=())
    return _find_repairs(proposal, None)


def _says_enough(advice: Advice) -> bool:
    """Return whether the repairs make a plan that passes, or somebody else has to act too."""
    return advice.disposition == "replan" or any(one.by != "planner" for one in advice.repairs)


def _find_repairs(proposal: Proposal, sources: ValueSources | None) -> Advice:
    plan = proposal.plan
    options = RepairOptions(proposal.ctx, kept_surface(proposal.compiled), proposal.spec)
    repairs, kept = _collect_repairs(proposal, options, sources)
    # Leave out what others would do for a step that has been dropped.
    needed = [
        repair for repair in repairs if repair.by == "planner" or _step_of(repair) in {None, *kept}
    ]
    case = repaired_case(proposal, apply(plan, needed), needed)
    asked = approvals_to_ask(proposal, needed, kept, options.approved_from)
    repairs = [*_fold_shortenings(needed), *asked]
    passes = next(found_in(case), None) is None
    fixable = passes and all(repair.by == "planner" for repair in repairs)
    return Advice(disposition="replan" if fixable else "reject", repairs=tuple(repairs))


def _collect_repairs(
    proposal: Proposal, options: RepairOptions, sources: ValueSources | None
) -> tuple[list[Repair], set[int]]:
    """Return the repairs of all rounds, and the steps of the refused plan that they keep."""
    plan = proposal.plan
    repaired, repairs = RepairedPlan(plan, tuple(range(len(plan.steps)))), list[Repair]()
    for _ in range(_PASSES):
        case = repaired_case(proposal, repaired, repairs)
        round_ = _RepairRound(options, case, repaired, sources)
        new = round_.repairs(found_in(case), repairs)
        if not new:
            break
        repairs += new
        repaired = apply(plan, repairs)
    return repairs, set(repaired.origins)


def _fold_shortenings(repairs: list[Repair]) -> list[Repair]:
    """Return the repairs, with those that shorten the plan as one, at the end."""
    steps = sum(repair.steps for repair in repairs if isinstance(repair, Shorten))
    folded: list[Repair] = [repair for repair in repairs if not isinstance(repair, Shorten)]
    if steps:
        folded.append(Shorten(steps=steps))
    return folded


class _RepairRound:
    """The repairs of the plan as it is now. Steps are named by their index in the refused plan."""

    def __init__(
        self,
        options: RepairOptions,
        case: PreparedPlan,
        repaired: RepairedPlan,
        sources: ValueSources | None,
    ) -> None:
        self._options = options
        self._sources = sources
        self._case = case
        self._plan = repaired.plan
        self._origins = repaired.origins
        self._evidence = EvidenceRepairs(options, case, repaired.origins)

    def repairs(self, findings: Iterable[Found], earlier: Iterable[Repair]) -> list[Repair]:
        """Return the repairs that are new. The plan's size comes last: other repairs change it.

        What an approval clears is left to the approver: see `approvals_to_ask`.
        """
        places = dict.fromkeys(
            (each.check, parse_place(each.words()[1])) for each in findings if not each.approvable
        )
        repairs = dict.fromkeys(chain.from_iterable(self._repair_place(*place) for place in places))
        dropped = {repair.step for repair in repairs if isinstance(repair, DropStep)}
        before = set(earlier)
        new = [repair for repair in repairs if repair not in before]
        # Nothing else is to be done within a step that is dropped.
        wanted = [
            repair
            for repair in new
            if isinstance(repair, DropStep) or _step_of(repair) not in dropped
        ]
        return wanted or self._size(before)

    def _repair_place(self, check: Check, place: Place) -> Iterator[Repair]:
        """Yield the repairs of what a check found at a place."""
        match place:
            case PlanPlace():
                yield from self._plan_field(check, place.field)
            case StepPlace():
                yield from self._repair_step(check, place.step)
            case ArgsPlace():
                yield from self._repair_args(check, place)
            case LatePlace():
                step = self._origins[place.step]
                yield CorrectArgs(step=step, path=pointer("steps", step, *place.rest))
            case RefPlace():
                yield from self._evidence.of_step(place.step)
            case IdPlace():
                yield DropId(step=self._origins[place.step])
            case DependencyPlace():
                name = self._fields_of(place.step)["depends_on"][place.position]
                yield DropDependency(step=self._origins[place.step], dependency=name)
            case _:
                assert_never(place)

    def _fields_of(self, index: int) -> Mapping[str, Any]:
        return self._case.steps[index][2]

    def _plan_field(
        self, check: Check, field: Literal["declared_outputs", "trace_id", "steps"]
    ) -> Iterator[Repair]:
        match field:
            case "declared_outputs":
                yield from self._outputs()
            case "trace_id":
                yield SetTrace(trace_id=self._case.ctx.trace_id)
            case "steps":
                # The size of the plan is left to the end: see `_size`.
                yield from self._evidence.of_plan() if check == "evidence" else ()
            case _:
                assert_never(field)

    def _outputs(self) -> Iterator[Repair]:
        case, required = self._case, dict.fromkeys(self._case.spec.required_outputs)
        undeclared = set(required).difference(case.plan.declared_outputs)
        unproduced = unproduced_outputs(case, set(required))
        for output in required:
            if output in undeclared:
                yield DeclareOutput(output=output)
            if output in unproduced:
                yield self._producing_repair(output, unproduced)

    def _producing_repair(self, output: str, wanted: set[str]) -> ProduceOutput | AllowTool:
        options = self._options
        candidates = options.producers(output, wanted)
        if candidates or output not in options.surface.listed:
            return ProduceOutput(output=output, candidates=candidates)
        return AllowTool(output=output, candidates=options.forbidden_producers(output))

    def _repair_step(self, check: Check, index: int) -> Iterator[Repair]:
        if check == "evidence":
            yield from self._evidence.of_step(index)
        else:
            yield DropStep(step=self._origins[index])

    def _repair_args(self, check: Check, place: ArgsPlace) -> Iterator[Repair]:
        step = self._origins[place.step]
        if check == "evidence":
            yield from self._evidence.of_step(place.step)
        at = pointer("steps", place.step, "args", *place.rest)
        is_doubted = at in self._doubted
        if check == "evidence" and not is_doubted:
            return
        path = pointer("steps", step, "args", *place.rest)
        sources = self._sources_of(place) if is_doubted else ()
        if sources:
            yield TakeValue(step=step, path=path, candidates=sources)
        else:
            yield CorrectArgs(step=step, path=path)

    def _sources_of(self, place: ArgsPlace) -> tuple[ValueSource, ...]:
        if self._sources is None:
            return ()
        found = self._sources.sources_of(self._plan, self._case, place)
        return tuple(ValueSource(step=self._origins[one.step], at=one.at) for one in found)

    @cached_property
    def _doubted(self) -> frozenset[str]:
        """The places of values that provenance refuses: another value has to take their place."""
        return frozenset(doubt.path for doubt in doubts_of(self._case).refused_values)

    def _size(self, earlier: set[Repair]) -> list[Repair]:
        """Return what brings the plan within the budget that is left: steps first, then tokens."""
        granted = {repair.of for repair in earlier if isinstance(repair, GrantBudget)}
        steps_left, tokens_left = self._options.steps_left, self._options.tokens_left
        steps = min(len(self._case.steps) - steps_left, SAFE_INTEGER)
        tokens = min(planned_tokens(self._case) - tokens_left, SAFE_INTEGER)
        if steps > 0 and "steps" not in granted:
            # Steps that a repair added are there for outputs: they are not dropped.
            droppable = min(steps, len(self._origins)) if steps_left > 0 else 0
            none_left = GrantBudget(of="steps", by_how_much=steps)
            return [Shorten(steps=droppable) if droppable else none_left]
        if tokens > 0 and "tokens" not in granted:
            none_left = GrantBudget(of="tokens", by_how_much=tokens)
            return [self._saving_repair(tokens) if tokens_left > 0 else none_left]
        return []

    def _saving_repair(self, tokens: int) -> SaveTokens:
        """Return the repair that saves the tokens by dropping the fewest steps."""
        costs = {
            index: max(fields["estimated_tokens"] or 0, tool.least_tokens)
            for index, tool, fields in self._case.steps
        }
        over, steps = sum(costs.values()) - self._options.tokens_left, list[int]()
        for index in sorted(costs, key=costs.__getitem__, reverse=True):
            if over > 0:
                steps.append(self._origins[index])
                over -= costs[index]
        return SaveTokens(tokens=tokens, steps=tuple(steps))


def _step_of(repair: Repair) -> int | None:
    step: int | None = getattr(repair, "step", None)
    return step
