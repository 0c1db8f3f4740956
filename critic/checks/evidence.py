"""Check 4: is the evidence there, is it fresh, and does it back the arguments?"""

from collections.abc import Iterator

from critic.checks.violation import violation_of
from critic.prepared import PreparedPlan
from critic.surface import (
    NEEDS_EVIDENCE,
    NO_PIN,
)
from critic.verdicts import Violation
from evals.binding import ContentIndex
from evals.escaping import escape_name, pointer
from evals.evidence import resolve_pins, unbacked_arguments
from evals.timestamps import unexpired


def check_evidence(case: PreparedPlan) -> Iterator[Violation]:
    """Check 4: required evidence is pinned, exists and is fresh, and backs the bound arguments.

    A step needs the classes that its capability requires and those that it requires itself; each
    must be the class of an item that the step pins and that has not expired at `ctx.as_of`. Every
    pinned ref must be in the manifest and unexpired, needed or not. Each scalar of an argument that
    the capability binds must be in the content of an item that the step pins, of an allowed class.
    Each class in `spec.required_evidence` must be pinned by some step.

    Yields `missing_evidence`: with the step, at `/steps/N` for a missing class, at
    `/steps/N/evidence_refs/M` for a ref, at `/steps/N/args/NAME` for an argument; and without a
    step, at `/steps`, for a class that the spec requires.
    """
    pins, as_of = case.surface.pins, case.ctx.as_of
    demanded = case.spec.required_evidence or ()
    pinned: set[str | None] = set()
    indexes: dict[int, ContentIndex] = {}
    for index, tool, fields in case.steps:
        own, refs = fields["requires_evidence"], fields["evidence_refs"]
        if not refs and not own and not tool.traits & NEEDS_EVIDENCE:
            continue
        held: set[str | None] = set()
        for ref in refs or ():
            name, expiry = pins.get(ref, NO_PIN)
            held.add(name if expiry is None or unexpired(expiry, as_of) else None)
        if demanded:
            pinned |= held
        met = tool.needs <= held and (not own or held.issuperset(own)) and None not in held
        if not met or tool.bound_args:
            yield from _step_evidence(case, index, held, indexes)
    for name in dict.fromkeys(demanded):
        if name not in pinned:
            reason = f"plan pins no fresh evidence of required class {name}"
            yield violation_of("evidence", "missing_evidence", reason, None, "/steps")


def _step_evidence(
    case: PreparedPlan, index: int, held: set[str | None], indexes: dict[int, ContentIndex]
) -> Iterator[Violation]:
    """Yield all that the evidence of one step lacks."""
    _, tool, fields = case.steps[index]
    pins = resolve_pins(fields["evidence_refs"] or (), case.surface.evidence, case.ctx.as_of)
    for name in dict.fromkeys((*tool.requires, *(fields["requires_evidence"] or ()))):
        if name not in held:
            reason = f"requires evidence class {name}, none pinned"
            yield _evidence_violation(index, reason, f"/steps/{index}")
    for error in pins.faults:
        path = f"/steps/{index}/evidence_refs/{error.position}"
        yield _evidence_violation(index, f"pins evidence {error.ref}, {error.why}", path)
    if not tool.bound_args:
        return
    for argument in unbacked_arguments(tool.bound_args, fields["args"], pins.fresh, indexes):
        reason = f"argument {escape_name(argument)} is not backed by pinned evidence"
        yield _evidence_violation(index, reason, pointer("steps", index, "args", argument))


def _evidence_violation(index: int, reason: str, path: str) -> Violation:
    return violation_of("evidence", "missing_evidence", f"step {index} {reason}", index, path)
