"""The openings of a run, derived again from the run alone.

Rule 1: an opening passed if it is recorded so, and passes now. Nothing else opens a step.
Rule 2: what comes after an opening that cannot be derived is not opened, nor is what comes after
        one that was refused, unless a person cleared just that.
"""

from typing import NamedTuple

from critic.late.openings import OpeningError, StepOpener
from evals.canonical_json import canonical_json
from evals.passed_openings import PassedOpening, PassedOpenings
from evals.plan_verdicts import Refused, Verified
from evals.run import Opening, Run


class OpenedRun(NamedTuple):
    """The openings of a run as they are derived now.

    Attributes:
        verdicts: those of its openings in order, up to one that cannot be derived.
        fault: why that cannot be derived; None where all are.
        passed: what they gave to the steps.
    """

    verdicts: tuple[Verified | Refused, ...]
    fault: str | None
    passed: PassedOpenings


def open_run(run: Run) -> OpenedRun:
    """Derive each opening of a run again: from the proposal, and the calls it says it followed.

    Pure. The recorded verdicts are compared by nobody here.
    """
    opener, passed = StepOpener(run.proposal), dict[int, PassedOpening]()
    verdicts: list[Verified | Refused] = []
    fault: str | None = None
    before: Opening | None = None
    for opening in run.openings or ():
        try:
            _require_open(before, opening)
            _end_calls(opener, run, opening.after)
            judged = opener.open_now(opening.step, opening.as_of, tuple(opening.approvals or ()))
        except OpeningError as error:
            fault = str(error)
            break
        before = opening
        verdicts.append(judged.verdict)
        if judged.verdict.ok and opening.verdict.ok:
            known = opener.context.count_after(opening.after)
            refs, args = opener.refs_of(opening.step), canonical_json(judged.settled.args)
            passed[opening.step] = PassedOpening(opening.after, opening.as_of, args, refs, known)
    if fault is None:
        _end_rest(opener, run)
    return OpenedRun(tuple(verdicts), fault, PassedOpenings(passed, tuple(opener.context.items)))


def _require_open(before: Opening | None, opening: Opening) -> None:
    """Require that no refusal came before, but one of the same step that a person cleared."""
    if before is None or before.verdict.ok:
        return
    if opening.step != before.step or not opening.approvals:
        raise OpeningError(f"step {opening.step} is opened after a refusal of step {before.step}")


def _end_calls(opener: StepOpener, run: Run, after: int) -> None:
    if not len(opener.calls) <= after <= len(run.calls):
        raise OpeningError(f"an opening follows {after} calls, and not those that are there")
    for call in run.calls[len(opener.calls) : after]:
        opener.end_call(call)


def _end_rest(opener: StepOpener, run: Run) -> None:
    """Add the calls after the last opening, up to one that was not opened."""
    for call in run.calls[len(opener.calls) :]:
        try:
            opener.end_call(call)
        except OpeningError:
            return
