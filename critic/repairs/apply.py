"""Repairs applied to a plan, mechanically: what a planner can do without knowing what it meant.

So the outcome is the proof that a passing plan is within reach, seldom the best of such plans.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

from critic.repairs.kinds import (
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
    PlanRepair,
    ProduceOutput,
    Repair,
    SaveTokens,
    SetTrace,
    Shorten,
    StepRepair,
    UnpinEvidence,
)
from evals.canonical import canonical_json
from evals.plan import Plan, ReasonStep, Step, ToolStep


class RepairedPlan(NamedTuple):
    """A mended plan, and the position that each step kept had before; added steps come last."""

    plan: Plan
    origins: tuple[int, ...]


def apply_repairs(plan: Plan, repairs: Iterable[Repair]) -> Plan:
    """The plan with every repair that is in the planner's power.

    A step whose args only the planner can correct becomes a reason step in its place; an output
    that nothing can produce gets a reason step at the end; of evidence, the first candidate is
    pinned; to shorten, calls made before go first, then reason steps, then others, of each the
    last. What depended on a dropped step no longer does.
    Repairs of others, and of steps that the plan does not have, change nothing.
    """
    return mend(plan, repairs).plan


def mend(plan: Plan, repairs: Iterable[Repair]) -> RepairedPlan:
    """As `apply_repairs`, telling where each step stood."""
    changes = _Changes(list(plan.declared_outputs), plan.trace_id)
    for repair in repairs:
        changes.note(repair)
    kept = [at for at in range(len(plan.steps)) if at not in changes.dropped]
    if changes.shorten_by:
        spared = {*_removal_order(plan, kept)[: changes.shorten_by]}
        kept = [at for at in kept if at not in spared]
    gone = {plan.steps[at].id for at in {*range(len(plan.steps))}.difference(kept)}
    steps = _without_dependencies(
        [changes.edited(at, plan.steps[at]) for at in kept], gone - {None}
    )
    named = {"plan_id": plan.plan_id, "trace_id": changes.trace_id}
    mended = Plan(
        steps=changes.completed(steps),
        declared_outputs=tuple(dict.fromkeys(changes.declared)),
        **{name: value for name, value in named.items() if value is not None},
    )
    return RepairedPlan(mended, tuple(kept))


@dataclass(slots=True)
class _Edit:
    """What changes within one step."""

    stands_in: bool = False
    nameless: bool = False
    pins: list[str] = field(default_factory=list)
    unpins: set[str] = field(default_factory=set)
    claims: set[str] = field(default_factory=set)
    dependencies: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Changes:
    """All repairs of one plan, sorted by what they change."""

    declared: list[str]
    trace_id: str | None
    dropped: set[int] = field(default_factory=set)
    shorten_by: int = 0
    produces: bool = False
    pins: list[str] = field(default_factory=list)
    edits: dict[int, _Edit] = field(default_factory=dict)

    def note(self, repair: Repair) -> None:
        match repair:
            case AskApproval() | ObtainEvidence() | GrantBudget():
                pass
            case DeclareOutput() | ProduceOutput() | SetTrace() | Shorten() | SaveTokens():
                self._note_plan(repair)
            case _:
                self._note_step(repair)

    def _note_plan(self, repair: PlanRepair) -> None:
        match repair:
            case DeclareOutput():
                self.declared.append(repair.output)
            case ProduceOutput():
                self.produces = True
            case SetTrace():
                self.trace_id = repair.trace_id
            case Shorten():
                self.shorten_by += repair.steps
            case SaveTokens():
                self.dropped.update(repair.steps)
            case _:
                assert_never(repair)

    def _note_step(self, repair: StepRepair) -> None:
        if repair.step is None:
            self.pins.append(repair.candidates[0])
            return
        edit = self.edits.setdefault(repair.step, _Edit())
        match repair:
            case DropStep():
                self.dropped.add(repair.step)
            case CorrectArgs():
                edit.stands_in = True
            case PinEvidence() | BackArgument():
                edit.pins.append(repair.candidates[0])
            case UnpinEvidence():
                edit.unpins.add(repair.ref)
            case DropClaim():
                edit.claims.add(repair.classification)
            case DropId():
                edit.nameless = True
            case DropDependency():
                edit.dependencies.add(repair.dependency)
            case _:
                assert_never(repair)

    def edited(self, at: int, step: Step) -> Step:
        """The step with what is to change within it."""
        if at not in self.edits:
            return step
        edit = self.edits[at]
        refs = [ref for ref in step.evidence_refs or () if ref not in edit.unpins]
        return _rebuilt(
            step,
            ReasonStep if edit.stands_in else type(step),
            id=None if edit.nameless else step.id,
            depends_on=_without(step.depends_on, edit.dependencies),
            requires_evidence=_without(step.requires_evidence, edit.claims),
            evidence_refs=tuple(dict.fromkeys((*refs, *edit.pins))) or None,
        )

    def completed(self, steps: list[Step]) -> tuple[Step, ...]:
        """The steps with what the plan as a whole still needs, in its last one."""
        if self.produces or (self.pins and not steps):
            steps = [*steps, ReasonStep()]
        if self.pins:
            last = steps[-1]
            refs = tuple(dict.fromkeys((*(last.evidence_refs or ()), *self.pins)))
            steps = [*steps[:-1], _rebuilt(last, type(last), evidence_refs=refs)]
        return tuple(steps)


def _removal_order(plan: Plan, kept: list[int]) -> list[int]:
    """The steps in the order in which they are the least missed."""
    calls, missed = set[tuple[str, str, bytes]](), dict[int, int]()
    for at in kept:
        step = plan.steps[at]
        if isinstance(step, ReasonStep):
            missed[at] = 1
            continue
        call = (step.adapter_id, step.capability_id, canonical_json(step.args))
        missed[at] = 0 if call in calls else 2
        calls.add(call)
    return sorted(kept, key=lambda at: (missed[at], -at))


def _without_dependencies(steps: list[Step], gone: set[str | None]) -> list[Step]:
    """The steps without dependencies on what is gone; another step may have the same id."""
    untied: list[Step] = []
    for step in steps:
        lost = gone.intersection(step.depends_on or ())
        kept = _without(step.depends_on, lost)
        untied.append(_rebuilt(step, type(step), depends_on=kept) if lost else step)
        gone.discard(step.id)
    return untied


def _without(
    names: tuple[str, ...] | None, unwanted: Collection[str | None]
) -> tuple[str, ...] | None:
    return tuple(name for name in names or () if name not in unwanted) or None


def _rebuilt(step: Step, model: type[ToolStep | ReasonStep], **changes: object) -> Step:
    """The step with changes, as a step of that kind; None leaves a field out."""
    said = {name: getattr(step, name) for name in model.model_fields if hasattr(step, name)}
    fields = {**said, "kind": model.model_fields["kind"].default, **changes}
    return model(**{name: value for name, value in fields.items() if value is not None})
