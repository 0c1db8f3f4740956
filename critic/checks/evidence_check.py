"""Check 4: is the evidence there, is it fresh, and does it back the arguments?"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, assert_never

from critic.checks.doubt_check import with_doubts
from critic.checks.grounds import ClassNotPinned, StepEvidence
from critic.checks.violation import Found, Wording
from critic.prepared import PreparedPlan
from critic.surface import DEMANDS_CONTENT, NEEDS_EVIDENCE
from evals.escaping import escape_name, pointer
from evals.evidence import (
    EvidenceFault,
    EvidenceReview,
    MissingArgument,
    MissingClass,
    PinFault,
    UnbackedArgument,
    UnbackedGroup,
    UnmetDemand,
    list_names,
    said_of,
)

if TYPE_CHECKING:
    from critic.late.late_steps import LatePlan, LateStep

_NO_ARGS: Final[Mapping[str, Any]] = {}


@with_doubts("evidence")
def check_evidence(case: PreparedPlan) -> Iterator[Found]:
    """Check 4: required evidence is pinned, exists and is fresh, and backs the bound arguments.

    A step needs the classes that its capability requires and those that it requires itself; each
    must be the class of an item that the step pins and that has not expired at `ctx.as_of`. Every
    pinned ref must be in the manifest and unexpired, needed or not. Each scalar of an argument that
    the capability binds must be in the content of an item that the step pins, of an allowed class.
    Each class in `spec.required_evidence` must be pinned by some step.

    Where the capability demands more of a class, one item says all of it: its content satisfies
    the schema, and holds the arguments that it must be about. Where a binding says so, the argument
    must be there, and must be in the content at a pointer. Arguments that are bound together are in
    the content of one item. What results of earlier steps can still bring is left to the opening of
    a late step (`critic.late`).

    Yields `missing_evidence`: with the step, at `/steps/N` for a class, at
    `/steps/N/evidence_refs/M` for a ref, at `/steps/N/args/NAME` for an argument, at
    `/steps/N/args` for one that is absent or several; and without a step, at `/steps`, for a class
    that the spec requires.
    """
    demanded = case.spec.required_evidence or ()
    pinned: set[str | None] = set()
    yield from _judge_steps(case, pinned)
    if not pinned.issuperset(demanded):
        promised = _promised_classes(case.late, demanded, pinned) if case.late is not None else ()
        yield from _required_violations(demanded, pinned.union(promised))


def _judge_steps(case: PreparedPlan, pinned: set[str | None]) -> Iterator[Found]:
    """Yield what each step lacks. Where the spec requires classes, those pinned go in `pinned`."""
    class_of = case.surface.class_at(case.ctx.as_of)
    review: EvidenceReview | None = None
    for index, tool, fields in case.steps:
        own, refs = fields["requires_evidence"], fields["evidence_refs"]
        late = case.late.steps.get(index) if case.late is not None else None
        if late is None and not refs and not own and not tool.traits & NEEDS_EVIDENCE:
            continue
        held: set[str | None] = set()
        for ref in refs or ():
            held.add(class_of(ref))
        if case.spec.required_evidence:
            pinned |= held
        if late is not None and case.late is not None:
            review = review or EvidenceReview(case.surface.evidence, case.ctx.as_of)
            yield from _late_violations(case.late, late, review)
            continue
        met = tool.needs <= held and (not own or held.issuperset(own)) and None not in held
        if not met or tool.bound_args or tool.traits & DEMANDS_CONTENT:
            review = review or EvidenceReview(case.surface.evidence, case.ctx.as_of)
            for fault in review.faults(tool.capability, own, refs, fields.get("args", _NO_ARGS)):
                yield Found("evidence", "missing_evidence", index, partial(_words, index, fault))


def _late_violations(late: "LatePlan", step: "LateStep", review: EvidenceReview) -> Iterator[Found]:
    """Yield what the evidence of a late step lacks, whatever its sources return."""
    from critic.late.promised_evidence import judge_evidence  # noqa: PLC0415 - for late plans only

    found = late.evidence[step.index] = judge_evidence(step, late.promised_classes(step), review)
    for fault in found.faults:
        yield Found("evidence", "missing_evidence", step.index, partial(_words, step.index, fault))


def _promised_classes(
    late: "LatePlan", demanded: Iterable[str], pinned: set[str | None]
) -> set[str]:
    """Return the classes that are not pinned and that a step waits for: the first one is noted."""
    missing = {name for name in demanded if name not in pinned}
    found: set[str] = set()
    for index, step in late.steps.items():
        new = sorted((missing & late.promised_classes(step)) - found)
        if new:
            late.first_promised[index] = new
        found.update(new)
    return found


def _required_violations(demanded: Iterable[str], pinned: set[str | None]) -> Iterator[Found]:
    for name in dict.fromkeys(demanded):
        if name not in pinned:
            yield Found("evidence", "missing_evidence", None, partial(_class_not_pinned, name))


def _class_not_pinned(name: str) -> Wording:
    reason = f"plan pins no fresh evidence of required class {name}"
    return Wording(reason, "/steps", ClassNotPinned(name))


def _words(index: int, fault: EvidenceFault) -> Wording:
    path = f"/steps/{index}{pointer(*_fault_path(fault))}"
    return Wording(f"step {index} {_reason(fault)}", path, StepEvidence(fault))


def _fault_path(fault: EvidenceFault) -> tuple[str | int, ...]:
    """Return where within the step a fault is."""
    match fault:
        case MissingClass() | UnmetDemand():
            return ()
        case PinFault():
            return ("evidence_refs", fault.position)
        case UnbackedArgument() | MissingArgument(is_present=True):
            return ("args", fault.name)
        case MissingArgument() | UnbackedGroup():
            return ("args",)
        case _:
            assert_never(fault)


def _reason(fault: EvidenceFault) -> str:
    match fault:
        case MissingClass():
            reason = f"requires evidence class {fault.classification}, none pinned"
        case UnmetDemand():
            reason = _word_demand(fault.need.classification, fault)
        case PinFault():
            reason = f"pins evidence {fault.ref}, {fault.why}"
        case MissingArgument():
            name = escape_name(fault.name)
            reason = f"has no value for argument {name}, which evidence must back"
        case UnbackedArgument():
            name = escape_name(fault.name)
            reason = f"argument {name} is not backed by pinned evidence{_places(fault.at)}"
        case UnbackedGroup():
            names, one = list_names(fault.names), len(fault.names) == 1
            named = f"argument {names} is" if one else f"arguments {names} are"
            reason = f"{named} not backed by one and the same pinned item"
        case _:
            assert_never(fault)
    return reason


def _word_demand(name: str, fault: UnmetDemand) -> str:
    if fault.without:
        without = list_names(fault.without)
        return f"requires evidence class {name} about argument {without}, which has no value"
    return f"has no pinned evidence of class {name} whose content {said_of(fault.need)}"


def _places(at: tuple[str, ...] | None) -> str:
    if at is None:
        return ""
    return f" at {list_names([place or 'its root' for place in at], 'or') or 'any place'}"
