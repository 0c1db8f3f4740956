"""Which of the repairs that were advised for a refused plan the next plan shows. Pure.

Rule 1: plans are compared by what they hold, and how often: the position of a step in one plan says
        nothing about another plan. Steps are told apart by their tools.
Rule 2: one change shows one repair. Two steps to drop are shown by two calls less.
Rule 3: only what the planner can do is looked for. Whether it helped is for `verify` to say.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

from critic.repairs.repair_kinds import (
    AllowTool,
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
    StepRepair,
    TakeValue,
    UnpinEvidence,
)
from evals.escaping import pointer
from evals.plan import Plan, Step, ToolStep
from evals.pointers import segments
from harness.canonical import canonical_json

_Fact = tuple[Any, ...]
_Tool = tuple[str, ...]


def repairs_taken(refused: Plan, following: Plan, repairs: Iterable[Repair]) -> list[bool]:
    """Return, for each repair that the planner can make, whether `following` shows it."""
    advised = [repair for repair in repairs if repair.by == "planner"]
    changes = _Changes(refused, following, advised)
    return [changes.show(repair) for repair in advised]


class _Changes:
    """What one plan holds that another does not, and what of it a repair has claimed."""

    def __init__(self, refused: Plan, following: Plan, repairs: Sequence[Repair]) -> None:
        self._refused = refused
        self._values = {
            (_tool_of(refused.steps[repair.step]), _parts(repair.path))
            for repair in repairs
            if isinstance(repair, CorrectArgs) and repair.step < len(refused.steps)
        }
        self._to_drop = {
            step
            for repair in repairs
            if isinstance(repair, DropStep | SaveTokens)
            for step in (repair.steps if isinstance(repair, SaveTokens) else (repair.step,))
        }
        before, after = Counter(self._facts(refused)), Counter(self._facts(following))
        self._gone, self._new = before - after, after - before
        self._claimed = set[tuple[_Fact, int | None]]()
        self._saved = _estimate(refused) - _estimate(following)

    def show(self, repair: Repair) -> bool:
        """Return whether the changes show the repair, and claim what shows it."""
        match repair:
            case AskApproval() | ObtainEvidence() | AllowTool() | GrantBudget():
                shown = False
            case DeclareOutput():
                shown = self._claim(self._new, ("output", repair.output))
            case ProduceOutput():
                tools: list[_Tool] = [(it.adapter_id, it.capability_id) for it in repair.candidates]
                shown = any(self._claim(self._new, ("step", tool)) for tool in tools or [()])
            case SetTrace():
                wrong = ("trace", self._refused.trace_id)
                shown = self._claim(self._gone, wrong)
            case Shorten():
                shown = sum(self._drop_any() for _ in range(repair.steps)) == repair.steps
            case SaveTokens():
                dropped = [self._drop(step) for step in repair.steps]
                shown = self._saved >= repair.tokens or (bool(dropped) and all(dropped))
            case PinEvidence(step=None):
                pins = [("pinned", ref) for ref in repair.candidates]
                shown = any(self._claim(self._new, pin) for pin in pins)
            case _:
                shown = self._show_in_step(repair, repair.step or 0)
        return shown

    def _show_in_step(self, repair: StepRepair, index: int) -> bool:
        if index >= len(self._refused.steps):
            return False
        step = self._refused.steps[index]
        if index in self._to_drop and self._claim(self._gone, ("step", _tool_of(step)), index):
            return True  # what else it needed went with it
        facts = _added_facts(repair, step)
        changes = self._new if facts else self._gone
        return any(self._claim(changes, fact, index) for fact in facts or _gone_facts(repair, step))

    def _drop_any(self) -> bool:
        """Return whether a step is gone that no other repair has dropped."""
        steps = [fact for fact, count in self._gone.items() if fact[0] == "step" and count > 0]
        self._gone.subtract(steps[:1])
        return bool(steps)

    def _drop(self, index: int) -> bool:
        return self._show_in_step(DropStep(step=index), index)

    def _claim(self, changes: Counter[_Fact], fact: _Fact, step: int | None = None) -> bool:
        """Return whether a change is there. Repairs of one step may share it."""
        if (fact, step) in self._claimed:
            return True
        if changes[fact] < 1:
            return False
        changes[fact] -= 1
        self._claimed.add((fact, step))
        return True

    def _facts(self, plan: Plan) -> Iterator[_Fact]:
        yield from (("output", output) for output in {*plan.declared_outputs})
        if plan.trace_id is not None:
            yield ("trace", plan.trace_id)
        for step in plan.steps:
            tool = _tool_of(step)
            yield ("step", tool)
            if step.id is not None:
                yield ("id", step.id)
            yield from (("pin", tool, ref) for ref in {*(step.evidence_refs or ())})
            yield from (("pinned", ref) for ref in {*(step.evidence_refs or ())})
            yield from (("claim", tool, it) for it in {*(step.requires_evidence or ())})
            yield from (("needs", tool, it) for it in {*(step.depends_on or ())})
            takes = (step.takes or ()) if isinstance(step, ToolStep) else ()
            yield from (("take", tool, one.arg, one.at) for one in takes)
            places = [path for named, path in self._values if named == tool]
            yield from (("value", tool, path, _value(step, path)) for path in places)


def _added_facts(repair: StepRepair, step: Step) -> list[_Fact]:
    """Return what a repair adds to a step, any of which shows it; of most repairs nothing."""
    match repair:
        case TakeValue():
            arg = pointer(*_parts(repair.path)[1:])
            return [("take", _tool_of(step), arg, one.at) for one in repair.candidates]
        case PinEvidence() | BackArgument():
            return [("pin", _tool_of(step), ref) for ref in repair.candidates]
        case _:
            return []


def _gone_facts(repair: StepRepair, step: Step) -> list[_Fact]:
    """Return what a repair takes from a step."""
    match repair:
        case DropStep():
            fact: _Fact = ("step", _tool_of(step))
        case CorrectArgs():
            place = _parts(repair.path)
            fact = ("value", _tool_of(step), place, _value(step, place))
        case UnpinEvidence():
            fact = ("pin", _tool_of(step), repair.ref)
        case DropClaim():
            fact = ("claim", _tool_of(step), repair.classification)
        case DropId():
            fact = ("id", step.id)
        case DropDependency():
            fact = ("needs", _tool_of(step), repair.dependency)
        case TakeValue() | PinEvidence() | BackArgument():
            return []
        case _:
            assert_never(repair)
    return [fact]


def _tool_of(step: Step) -> _Tool:
    """Return the ids of the tool that a step calls; an empty tuple for a reason step."""
    return (step.adapter_id, step.capability_id) if isinstance(step, ToolStep) else ()


def _parts(path: str) -> tuple[str, ...]:
    """Return the keys of a pointer into a step, without `/steps/{n}`."""
    return segments(path)[2:]


def _value(step: Step, path: tuple[str, ...]) -> bytes | None:
    """Return the value at a place of a call as canonical JSON, or None if there is none."""
    value: Any = step.wire() if isinstance(step, ToolStep) else None
    for key in path:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list | tuple) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return canonical_json(value)


def _estimate(plan: Plan) -> int:
    return sum(step.estimated_tokens or 0 for step in plan.steps)
