"""advise: suggest what would repair a refused plan, and say whether the planner can do it.

Rule 1: advice to replan is a proof: the repairs were applied, and `verify` accepted the outcome.
Rule 2: what only an approver or an operator can do is never left to the planner to try.
Rule 3: a repair follows from the facts at the place of a violation, never from its wording.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Final, Literal, assert_never

from critic.checks.coverage import unlisted_outputs
from critic.checks.loop import planned_tokens
from critic.prepared import PreparedPlan, prepare_plan
from critic.repairs.apply import RepairedPlan, apply
from critic.repairs.kinds import (
    MOST_CANDIDATES,
    Advice,
    AskApproval,
    BackArgument,
    CorrectArgs,
    DeclareOutput,
    DropClaim,
    DropDependency,
    DropId,
    DropStep,
    GrantBudget,
    ObtainEvidence,
    PinEvidence,
    ProduceOutput,
    Repair,
    SaveTokens,
    SetTrace,
    Shorten,
    UnpinEvidence,
)
from critic.repairs.options import RepairOptions
from critic.repairs.places import (
    ArgsPlace,
    DependencyPlace,
    IdPlace,
    Place,
    PlanPlace,
    RefPlace,
    StepPlace,
    parse_place,
)
from critic.surface import NO_PIN, PRODUCES_ANYTHING, ToolEntry, surface_of
from critic.verdicts import Check, Refused, Verified, Violation
from critic.verify import verify
from evals.approval import approved_steps
from evals.binding import scalars, unbacked
from evals.context import RunContext
from evals.envelope import MODE_RANK, ApprovalMode
from evals.escaping import pointer
from evals.evidence import resolve_pins
from evals.json_value import SAFE_INTEGER
from evals.manifest import CompiledContext, EvidenceItem
from evals.plan import Plan
from evals.spec import DecisionSpec
from evals.timestamps import unexpired

# Repairs have consequences: a dropped step takes its outputs and pins with it, and producing them
# elsewhere takes a step. They settle in this order: violations of steps, outputs, the number of
# steps, outputs, room for the step they need, pins, tokens; then outputs and pins once more.
_PASSES: Final = 12


def advise(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan
) -> Advice | None:
    """Suggest repairs of a refused plan and say who can do them; None for a plan that passes.

    The repairs fix every violation that `verify` finds, and those that a repair brings about.

    `replan`: applying the repairs, all the planner's, gives a plan that `verify` accepts.
    `reject`: somebody else has to act as well. A plan that changes loses its approvals.

    Pure. Linear in the plan, the manifests and the violations; candidates are cut after five.

    Raises:
        TypeError: an argument is not exactly the envelope it should be, as for `verify`.
    """
    outcome = verify(ctx, compiled, spec, plan)
    if isinstance(outcome, Verified):
        return None
    options = RepairOptions(ctx, surface_of(compiled), spec)
    repaired, repairs = RepairedPlan(plan, tuple(range(len(plan.steps)))), list[Repair]()
    for _ in range(_PASSES):
        case = prepare_plan(ctx, options.surface, spec, repaired.plan)
        current = _RepairRound(options, case, repaired.origins)
        new = current.repairs(outcome.violations, repairs) if isinstance(outcome, Refused) else []
        if not new:
            break
        repairs += new
        repaired = apply(plan, repairs)
        outcome = verify(ctx, compiled, spec, repaired.plan)
    case, kept = prepare_plan(ctx, options.surface, spec, plan), set(repaired.origins)
    # Ask nobody to act for a step that has been dropped.
    needed = [
        repair for repair in repairs if repair.by == "planner" or _step_of(repair) in {None, *kept}
    ]
    if len(needed) < len(repairs):
        repairs, outcome = needed, verify(ctx, compiled, spec, apply(plan, needed).plan)
    repairs = [*_folded(repairs), *_approvals(options, case, repairs, kept)]
    fixable = bool(outcome) and all(repair.by == "planner" for repair in repairs)
    return Advice(disposition="replan" if fixable else "reject", repairs=tuple(repairs))


def _folded(repairs: list[Repair]) -> list[Repair]:
    """Return the repairs, with those that shorten the plan as one, at the end."""
    steps = sum(repair.steps for repair in repairs if isinstance(repair, Shorten))
    folded: list[Repair] = [repair for repair in repairs if not isinstance(repair, Shorten)]
    if steps:
        folded.append(Shorten(steps=steps))
    return folded


def _approvals(
    options: RepairOptions, case: PreparedPlan, repairs: Iterable[Repair], kept: set[int]
) -> Iterator[AskApproval]:
    """Yield the approvals that the kept steps need. Any change of the plan voids those it has."""
    changed = any(repair.by == "planner" for repair in repairs)
    held = () if changed else approved_steps(options.ctx, case.plan)
    asked: dict[ApprovalMode, list[int]] = {}
    for index, tool, _ in case.steps:
        if tool.rank >= options.approved_from and index in kept and index not in held:
            asked.setdefault(tool.mode, []).append(index)
    for mode in sorted(asked, key=MODE_RANK.__getitem__):
        yield AskApproval(tier=mode, steps=tuple(asked[mode]))


class _RepairRound:
    """The repairs of the plan as it is now. Steps are named by their index in the refused plan."""

    def __init__(
        self, options: RepairOptions, case: PreparedPlan, origins: tuple[int, ...]
    ) -> None:
        self._options = options
        self._case = case
        self._origins = origins
        self._omittable: dict[int, bool] = {}
        self._pinned: dict[int, list[EvidenceItem]] = {}

    def repairs(self, violations: Iterable[Violation], earlier: Iterable[Repair]) -> list[Repair]:
        """Return the repairs that are new. The plan's size comes last: other repairs change it."""
        places = dict.fromkeys((each.check, parse_place(each.path or "")) for each in violations)
        repairs = dict.fromkeys(chain.from_iterable(self._at(*place) for place in places))
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

    def _at(self, check: Check, place: Place) -> Iterator[Repair]:
        """Yield the repairs of what a check found at a place."""
        match place:
            case PlanPlace():
                return self._plan_field(check, place.field)
            case StepPlace():
                return self._step(check, place.step)
            case ArgsPlace():
                return self._args(check, place)
            case RefPlace():
                ref = self._fields(place.step)["evidence_refs"][place.position]
                return iter((UnpinEvidence(step=self._origins[place.step], ref=ref),))
            case IdPlace():
                return iter((DropId(step=self._origins[place.step]),))
            case DependencyPlace():
                name = self._fields(place.step)["depends_on"][place.position]
                step = self._origins[place.step]
                return iter((DropDependency(step=step, dependency=name),))
            case _:
                assert_never(place)

    def _fields(self, index: int) -> Mapping[str, Any]:
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
                yield from self._required_evidence() if check == "evidence" else ()
            case _:
                assert_never(field)

    def _outputs(self) -> Iterator[Repair]:
        case, required = self._case, dict.fromkeys(self._case.spec.required_outputs)
        undeclared = set(required).difference(case.plan.declared_outputs)
        unlisted = (
            set() if case.traits & PRODUCES_ANYTHING else unlisted_outputs(case, set(required))
        )
        for output in required:
            if output in undeclared:
                yield DeclareOutput(output=output)
            if output in unlisted:
                yield ProduceOutput(output=output, candidates=self._options.producers(output))

    def _step(self, check: Check, index: int) -> Iterator[Repair]:
        step, (_, tool, fields) = self._origins[index], self._case.steps[index]
        if check == "evidence":
            yield from self._classes(step, tool, fields)
        # A step within the bounds lacks an approval only: see `_approvals`.
        elif check != "approval" or tool.rank > self._options.highest_rank:
            yield DropStep(step=step)

    def _args(self, check: Check, place: ArgsPlace) -> Iterator[Repair]:
        step, (_, tool, fields) = self._origins[place.step], self._case.steps[place.step]
        if check == "evidence":
            yield from self._argument(step, tool, fields, place.rest[0])
        else:
            yield CorrectArgs(step=step, path=pointer("steps", step, "args", *place.rest))

    def _classes(self, step: int, tool: ToolEntry, fields: Mapping[str, Any]) -> Iterator[Repair]:
        held = self._held(fields)
        for name in dict.fromkeys((*tool.requires, *(fields["requires_evidence"] or ()))):
            if name in held:
                continue
            if candidates := self._options.evidence_for(name):
                yield PinEvidence(step=step, classification=name, candidates=candidates)
            elif name in tool.needs:
                yield self._missing(step, tool, fields, (name,))
            else:
                yield DropClaim(step=step, classification=name)

    def _required_evidence(self) -> Iterator[Repair]:
        held = set().union(*(self._held(fields) for _, _, fields in self._case.steps))
        for name in dict.fromkeys(self._case.spec.required_evidence or ()):
            if name in held:
                continue
            if candidates := self._options.evidence_for(name):
                yield PinEvidence(classification=name, candidates=candidates)
            else:
                yield ObtainEvidence(classifications=(name,))

    def _held(self, fields: Mapping[str, Any]) -> set[str]:
        """Return the classes of the fresh evidence that a step pins."""
        pins, as_of = self._options.surface.pins, self._case.ctx.as_of
        held = (pins.get(ref, NO_PIN) for ref in fields["evidence_refs"] or ())
        return {name for name, expiry in held if name is not None and unexpired(expiry, as_of)}

    def _argument(
        self, step: int, tool: ToolEntry, fields: Mapping[str, Any], name: str
    ) -> Iterator[Repair]:
        options, allowed = self._options, tool.bound_args[name]
        if step not in self._pinned:
            refs = fields["evidence_refs"] or ()
            self._pinned[step] = resolve_pins(
                refs, options.surface.evidence, options.ctx.as_of
            ).fresh
        pinned = [
            options.index_of(item) for item in self._pinned[step] if item.classification in allowed
        ]
        values = unbacked(list(scalars(fields["args"][name])), pinned)
        backers = dict.fromkeys(options.evidence_backing(tool, name, value) for value in values)
        if () not in backers:
            for candidates in backers:
                yield BackArgument(step=step, argument=name, candidates=candidates)
        elif (
            not allowed
            or options.allowed(tool, name)
            or self._can_omit_args(step, tool, fields["args"])
        ):
            yield CorrectArgs(step=step, path=pointer("steps", step, "args", name))
        else:
            classes = tuple(dict.fromkeys(allowed))[:MOST_CANDIDATES]
            yield self._missing(step, tool, fields, classes)

    def _missing(
        self, step: int, tool: ToolEntry, fields: Mapping[str, Any], classes: tuple[str, ...]
    ) -> DropStep | ObtainEvidence:
        """Return the repair for missing evidence: drop a step that nothing needs, or obtain it."""
        if self._removable(tool) and fields["id"] not in self._needed:
            return DropStep(step=step)
        return ObtainEvidence(step=step, classifications=classes)

    def _removable(self, tool: ToolEntry) -> bool:
        return tool.mode == "read_only" and tool in self._unneeded_tools

    @cached_property
    def _unneeded_tools(self) -> set[ToolEntry]:
        """Tools whose listed outputs are not required, when other tools cover all that are."""
        required = {*self._case.spec.required_outputs}
        if not required or unlisted_outputs(self._case, required):
            return set()
        tools = {tool for _, tool, _ in self._case.steps if not tool.traits & PRODUCES_ANYTHING}
        return {tool for tool in tools if tool.produces.isdisjoint(required)}

    @cached_property
    def _needed(self) -> set[str]:
        """Ids that steps depend on, not counting steps that can be removed themselves."""
        needed = set[str]()
        for _, tool, fields in reversed(self._case.steps):
            if not self._removable(tool) or fields["id"] in needed:
                needed.update(fields["depends_on"] or ())
        return needed

    def _can_omit_args(self, step: int, tool: ToolEntry, args: dict[str, Any]) -> bool:
        """Return whether the args satisfy the schema without those that no evidence can back."""
        if step not in self._omittable:
            bound = {name for name in args if name in tool.bound_args}
            bare = {name for name in bound if not self._options.allowed(tool, name)}
            others = {name: value for name, value in args.items() if name not in bare}
            validator = self._options.validator_of(tool)
            self._omittable[step] = validator is None or validator.is_valid(others)
        return self._omittable[step]

    def _size(self, earlier: set[Repair]) -> list[Repair]:
        """Return what brings the plan within the budget that is left: steps first, then tokens."""
        granted = {repair.of for repair in earlier if isinstance(repair, GrantBudget)}
        steps_left, tokens_left = self._options.steps_left, self._options.tokens_left
        steps = min(len(self._case.steps) - steps_left, SAFE_INTEGER)
        tokens = min(planned_tokens(self._case) - tokens_left, SAFE_INTEGER)
        if steps > 0 and "steps" not in granted:
            none_left = GrantBudget(of="steps", by_how_much=steps)
            return [Shorten(steps=steps) if steps_left > 0 else none_left]
        if tokens > 0 and "tokens" not in granted:
            none_left = GrantBudget(of="tokens", by_how_much=tokens)
            return [self._saving(tokens) if tokens_left > 0 else none_left]
        return []

    def _saving(self, tokens: int) -> SaveTokens:
        """Return the repair that saves the tokens by dropping the fewest steps."""
        costs = {
            index: max(fields["estimated_tokens"] or 0, tool.min_tokens)
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
