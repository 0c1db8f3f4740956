"""Apply repairs to a plan mechanically: what can be done without knowing what the plan meant.

The result proves that a passing plan is within reach. It is seldom the best of them.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, assert_never

from critic.repairs.repair_kinds import (
    AllowTool,
    AskApproval,
    BackArgument,
    Capability,
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
    TakeValue,
    UnpinEvidence,
)
from evals.canonical_json import canonical_json
from evals.escaping import pointer
from evals.plan import Plan, ReasonStep, Step, Take, ToolStep
from evals.pointers import segments


class RepairedPlan(NamedTuple):
    """A repaired plan, and the old index of each kept step. Added steps come last."""

    plan: Plan
    origins: tuple[int, ...]


def apply_repairs(plan: Plan, repairs: Iterable[Repair]) -> Plan:
    """Return the plan with every repair that the planner can make.

    A step whose args only the planner can correct is replaced by a reason step, which stands for
    it. Outputs that no step can produce get reason steps at the end, each of which stands for a
    call of a candidate; outputs share a call where they have a candidate in common. Of evidence,
    the first candidate is pinned; of the sources of a value the first is taken from. To shorten the
    plan, repeated calls are dropped first, then reason steps, then others; the last of each kind
    first. Dependencies on dropped steps are removed.

    Repairs that are not the planner's, and those of steps that the plan does not have, change
    nothing.
    """
    return apply(plan, repairs).plan


def apply(plan: Plan, repairs: Iterable[Repair]) -> RepairedPlan:
    """Do as `apply_repairs` does, and say which index each kept step had."""
    repairs = list(repairs)
    changes = _Changes(plan, len(added_tools(repairs)))
    for repair in repairs:
        changes.note(repair)
    kept = [index for index in range(len(plan.steps)) if index not in changes.dropped]
    if changes.shorten_by:
        spared = {*_removal_order(plan, kept)[: changes.shorten_by]}
        kept = [index for index in kept if index not in spared]
    gone = {plan.steps[index].id for index in {*range(len(plan.steps))}.difference(kept)}
    steps = _without_dependencies([changes.edit_step(index) for index in kept], gone - {None})
    named = {"plan_id": plan.plan_id, "trace_id": changes.trace_id}
    repaired = Plan(
        steps=changes.complete_steps(steps),
        declared_outputs=tuple(dict.fromkeys(changes.declared)),
        **{name: value for name, value in named.items() if value is not None},
    )
    return RepairedPlan(repaired, tuple(kept))


def added_tools(repairs: Iterable[Repair]) -> list[Capability | None]:
    """Return the tools of the calls that the repairs add; None for a reason step.

    A call that another output needs serves every output that lists its tool. Outputs with the
    fewest candidates choose first.
    """
    produced = [repair for repair in repairs if isinstance(repair, ProduceOutput)]
    chosen: dict[Capability | None, None] = {}
    for repair in sorted(produced, key=lambda repair: len(repair.candidates)):
        if chosen.keys().isdisjoint(repair.candidates):
            chosen[repair.candidates[0] if repair.candidates else None] = None
    return list(chosen)


@dataclass(slots=True)
class _Edit:
    """The changes within one step."""

    becomes_reason: bool = False
    without_id: bool = False
    pins: list[str] = field(default_factory=list)
    unpins: set[str] = field(default_factory=set)
    claims: set[str] = field(default_factory=set)
    dependencies: set[str] = field(default_factory=set)
    takes: list[TakeValue] = field(default_factory=list)
    is_source: bool = False


@dataclass(slots=True)
class _Changes:
    """All repairs of one plan, grouped by what they change."""

    plan: Plan
    added: int
    declared: list[str] = field(init=False)
    trace_id: str | None = field(init=False)
    dropped: set[int] = field(default_factory=set)
    shorten_by: int = 0
    pins: list[str] = field(default_factory=list)
    edits: dict[int, _Edit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.declared = list(self.plan.declared_outputs)
        self.trace_id = self.plan.trace_id

    def note(self, repair: Repair) -> None:
        """Add what a repair changes. A repair that is not the planner's changes nothing."""
        match repair:
            case AskApproval() | ObtainEvidence() | AllowTool() | GrantBudget():
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
                pass  # they are counted in `added`
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
                edit.becomes_reason = True
            case TakeValue():
                edit.takes.append(repair)
                self.edits.setdefault(repair.candidates[0].step, _Edit()).is_source = True
            case PinEvidence() | BackArgument():
                edit.pins.append(repair.candidates[0])
            case UnpinEvidence():
                edit.unpins.add(repair.ref)
            case DropClaim():
                edit.claims.add(repair.classification)
            case DropId():
                edit.without_id = True
            case DropDependency():
                edit.dependencies.add(repair.dependency)
            case _:
                assert_never(repair)

    def edit_step(self, index: int) -> Step:
        """Return the step with its changes."""
        step = self.plan.steps[index]
        if index not in self.edits:
            return step
        edit = self.edits[index]
        refs = [ref for ref in step.evidence_refs or () if ref not in edit.unpins]
        late = self._takes_of(step, edit.takes) if isinstance(step, ToolStep) else {}
        return _rebuilt(
            step,
            ReasonStep if edit.becomes_reason else type(step),
            **({} if edit.becomes_reason else late),
            id=self._id_of(index),
            depends_on=_drop_names(step.depends_on, edit.dependencies),
            requires_evidence=_drop_names(step.requires_evidence, edit.claims),
            evidence_refs=tuple(dict.fromkeys((*refs, *edit.pins))) or None,
        )

    def _id_of(self, index: int) -> str | None:
        """Return the id of a step: a new one where another step takes from it and it has none."""
        edit, known = self.edits.get(index, _Edit()), self.plan.steps[index].id
        kept = None if edit.without_id else known
        if kept is not None or not edit.is_source:
            return kept
        name, taken = f"step_{index}", {step.id for step in self.plan.steps}
        while name in taken:
            name += "_"
        return name

    def _takes_of(self, step: ToolStep, repairs: list[TakeValue]) -> dict[str, object]:
        args, takes = step.args, [*(step.takes or ())]
        for repair in repairs:
            way, source = segments(repair.path)[3:], repair.candidates[0]
            name = self._id_of(source.step)
            if name is not None:
                args = _without_member(args, way)
                takes.append(Take(arg=pointer(*way), step=name, at=source.at))
        return {"args": args, "takes": tuple(takes) or None}

    def complete_steps(self, steps: list[Step]) -> tuple[Step, ...]:
        """Return the steps, with what the whole plan still needs added to the last one."""
        steps = [*steps, *[ReasonStep()] * self.added]
        if self.pins and not steps:
            steps = [ReasonStep()]
        if self.pins:
            last = steps[-1]
            refs = tuple(dict.fromkeys((*(last.evidence_refs or ()), *self.pins)))
            steps = [*steps[:-1], _rebuilt(last, type(last), evidence_refs=refs)]
        return tuple(steps)


def _without_member(args: dict[str, Any], way: Sequence[str]) -> dict[str, Any]:
    """Return an object without one member, in an object in it or its own."""
    name, rest = way[0], way[1:]
    if not rest:
        return {key: value for key, value in args.items() if key != name}
    return {**args, name: _without_member(args[name], rest)}


def _removal_order(plan: Plan, kept: list[int]) -> list[int]:
    """Return the steps in the order to drop them: repeats, reason steps, others; last first."""
    calls, priority = set[tuple[str, str, bytes]](), dict[int, int]()
    for index in kept:
        step = plan.steps[index]
        if isinstance(step, ReasonStep):
            priority[index] = 1
            continue
        call = (step.adapter_id, step.capability_id, canonical_json(step.args))
        priority[index] = 0 if call in calls else 2
        calls.add(call)
    return sorted(kept, key=lambda index: (priority[index], -index))


def _without_dependencies(steps: list[Step], gone: set[str | None]) -> list[Step]:
    """Return the steps without dependencies on dropped ids, unless another step has that id."""
    remaining: list[Step] = []
    for step in steps:
        lost = gone.intersection(step.depends_on or ())
        kept = _drop_names(step.depends_on, lost)
        remaining.append(_rebuilt(step, type(step), depends_on=kept) if lost else step)
        gone.discard(step.id)
    return remaining


def _drop_names(
    names: tuple[str, ...] | None, unwanted: Collection[str | None]
) -> tuple[str, ...] | None:
    return tuple(name for name in names or () if name not in unwanted) or None


def _rebuilt(step: Step, model: type[ToolStep | ReasonStep], **changes: object) -> Step:
    """Return the step with changes, as a step of that kind. None leaves a field out."""
    present = {name: getattr(step, name) for name in model.model_fields if hasattr(step, name)}
    fields = {**present, "kind": model.model_fields["kind"].default, **changes}
    return model(**{name: value for name, value in fields.items() if value is not None})
