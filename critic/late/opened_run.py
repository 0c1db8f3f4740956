"""The openings of a run, derived again from the run alone.

Rule 1: an opening passed if it is recorded so, and passes now. Nothing else opens a step.
Rule 2: after one that was refused nothing passes, unless a person cleared just that. Nor does
        anything after a call of another tool than that of its step.
Rule 3: what comes after an opening that cannot be derived is not opened.
Rule 4: where nothing is enforced, calls are made in spite of a refusal, and what they returned is
        taken from: so a step that was refused with its values counts as sent.
"""

from collections.abc import Container, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from critic.late.opened_steps import JudgedStep
from critic.late.openings import OpeningError, StepOpener
from critic.session.batch_facts import SeenBefore
from evals.canonical_json import canonical_json
from evals.passed_openings import PassedOpening, PassedOpenings
from evals.plan_verdicts import Refused, Verified
from evals.run import Opening, Run, ToolCall, is_cleared_by


class OpenedRun(NamedTuple):
    """The openings of a run as they are derived now.

    Attributes:
        verdicts: those of its openings in order, up to one that cannot be derived.
        fault: why that cannot be derived; None where all are.
        passed: what they gave to the steps.
        judged: what was judged, for each of the verdicts.
    """

    verdicts: tuple[Verified | Refused, ...]
    fault: str | None
    passed: PassedOpenings
    judged: tuple[JudgedStep, ...]


def open_run(run: Run, before: SeenBefore | None = None) -> OpenedRun:
    """Derive each opening of a run again: from the proposal, and the calls that it followed.

    Pure. The recorded verdicts are compared by nobody here.

    Args:
        before: what was seen and done before the run, where that is at hand.
    """
    opener, passed = StepOpener(run.proposal, before), dict[int, PassedOpening]()
    openings, found, fault = run.openings or (), list[JudgedStep](), None
    is_refused = False
    for at, opening in enumerate(openings):
        following = openings[at + 1 : at + 2]
        try:
            end_calls(opener, run.calls, opening.after)
            judged = _open_again(opener, opening, following)
        except OpeningError as error:
            fault = str(error)
            break
        found.append(judged)
        is_refused |= opener.has_strayed
        if judged.verdict.ok and opening.verdict.ok and not is_refused:
            passed[opening.step] = _passed_opening(opener, opening, judged)
        is_refused |= not opening.verdict.ok and not is_cleared_by(opening, following)
    if fault is None:
        with suppress(OpeningError):  # nothing hangs on calls after the last opening
            end_calls(opener, run.calls, len(run.calls))
    returned = PassedOpenings(passed, tuple(opener.context.items))
    return OpenedRun(tuple(one.verdict for one in found), fault, returned, tuple(found))


def _passed_opening(opener: StepOpener, opening: Opening, judged: JudgedStep) -> PassedOpening:
    known = opener.context.count_after(opening.after)
    refs, args = opener.refs_of(opening.step), canonical_json(judged.settled.args)
    return PassedOpening(opening.after, opening.as_of, args, refs, known)


def _open_again(opener: StepOpener, opening: Opening, following: Sequence[Opening]) -> JudgedStep:
    approvals = tuple(opening.approvals or ())
    judged = opener.open_now(opening.step, opening.as_of, approvals)
    if not judged.verdict.ok and not is_cleared_by(opening, following):
        with suppress(OpeningError):  # it has no values
            opener.note_opening(opening.step, opening.as_of)
    return judged


def end_calls(opener: StepOpener, calls: Sequence[ToolCall], count: int) -> None:
    """Note the calls that ended, up to so many of them.

    Raises:
        OpeningError: there are fewer, or one was not opened.
    """
    if not len(opener.calls) <= count <= len(calls):
        raise OpeningError(f"an opening follows {count} calls, and not those that are there")
    for call in calls[len(opener.calls) : count]:
        opener.end_call(call, may_stray=True)


class PlanProgress:
    """How far a plan got that is executed elsewhere: what was told of it is told on.

    Attributes:
        opener: opens its next steps.
    """

    def __init__(self, opener: StepOpener) -> None:
        """Begin with a plan of which nothing was opened."""
        self.opener: Final = opener
        self._openings: Sequence[Opening] = ()
        self._calls: Sequence[ToolCall] = ()

    def leads_to(self, calls: Sequence[ToolCall], openings: Sequence[Opening]) -> bool:
        """Return whether these calls and openings go on from those that are known."""
        known, opened = len(self._calls), len(self._openings)
        return calls[:known] == self._calls and openings[:opened] == self._openings

    def go_on(
        self, calls: Sequence[ToolCall], openings: Sequence[Opening], made: Container[int]
    ) -> None:
        """Note the calls and openings that are new.

        Args:
            made: the steps that may run.

        Raises:
            OpeningError: the calls and openings are not those of the plan.
        """
        for at in range(len(self._openings), len(openings)):
            opening = openings[at]
            if opening.step in made and not is_cleared_by(opening, openings[at + 1 : at + 2]):
                end_calls(self.opener, calls, opening.after)
                self.opener.note_opening(opening.step, opening.as_of)
        end_calls(self.opener, calls, len(calls))
        self._openings, self._calls = openings, calls
