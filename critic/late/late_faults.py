"""The faults of late steps that the checks find beside those of any step."""

from collections.abc import Callable, Iterator
from functools import partial

from critic.checks.grounds import (
    LateNotAllowed,
    LateSource,
    NeverFits,
    PlaceOccupied,
)
from critic.checks.violation import Found, Wording
from critic.late.late_steps import LatePlan, LateStep, UnknownStep
from critic.late.schema_ways import never_fits
from critic.prepared import PreparedPlan
from evals.escaping import escape_name
from evals.plan import Take


def surface_faults(case: PreparedPlan, late: LatePlan, index: int) -> Iterator[Found]:
    """Yield what check 2 finds in the takes of a step, once its tool was looked up.

    Late steps are off, a place in the arguments is not free, or no value of a source can fit.
    """
    step = late.steps.get(index)
    if step is None:
        return
    if case.spec.late is None:
        yield _violation(index, partial(_not_allowed, step))
    for position in step.occupied:
        yield _violation(index, partial(_occupied_place, step, position))
    for value in step.values:
        output, take = late.output_schema(value.source), value.take
        if never_fits(output, take.at, step.tool.args_schema, take.arg):
            yield _violation(index, partial(_never_fits, index, value.position, take))


def source_faults(late: LatePlan, index: int) -> Iterator[Found]:
    """Yield the references of a step to what is no earlier tool step."""
    step = late.steps.get(index)
    for unknown in step.unknown if step is not None else ():
        yield Found("loop", "loop_guard", index, partial(_unknown_step, index, unknown))


def _violation(index: int, words: Callable[[], Wording]) -> Found:
    return Found("surface", "violates_decision_spec", index, words)


def _not_allowed(step: LateStep) -> Wording:
    field = "takes" if step.has_takes else "evidence_steps"
    reason = f"step {step.index} has {field}, and the spec does not allow late plans"
    return Wording(reason, f"/steps/{step.index}/{field}", LateNotAllowed())


def _occupied_place(step: LateStep, position: int) -> Wording:
    arg = step.fields["takes"][position].arg
    reason = f"step {step.index} takes a value for {escape_name(arg)}, where no place is free"
    path = f"/steps/{step.index}/takes/{position}/arg"
    return Wording(f"{reason} in its args", path, PlaceOccupied(arg))


def _never_fits(index: int, position: int, take: Take) -> Wording:
    place = f"{escape_name(take.at)} of" if take.at else "the output of"
    what = f"takes {escape_name(take.arg)} from {place} step {take.step}"
    reason = f"step {index} {what}, which never fits: the schemas have no type in common"
    return Wording(reason, f"/steps/{index}/takes/{position}/at", NeverFits(take.arg))


def _unknown_step(index: int, unknown: UnknownStep) -> Wording:
    verb, end = ("takes from", "/step") if unknown.field == "takes" else ("pins", "")
    reason = f"step {index} {verb} {unknown.id}, which is not the id of an earlier tool step"
    path = f"/steps/{index}/{unknown.field}/{unknown.position}{end}"
    return Wording(reason, path, LateSource(unknown.id))
