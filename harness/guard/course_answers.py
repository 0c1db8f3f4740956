"""What an event makes of a guarded session: its answer, its records, its question. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from critic import Refused, ScoreVerdict, Verified, Violation
from critic.session import Action, Batch, Call, CallResult, EndedBatch
from critic.session.call_batch import CallTake
from evals.kinds import RecordedAction
from evals.run import Opening, refused_opening
from harness.errors import HarnessError
from harness.guard.session_events import RequestedCall, ResultEvent
from harness.policy import GuardSettings
from harness.record import RecordedAnswer, RunFacts

if TYPE_CHECKING:
    from critic.session.waiting_calls import OpenedCall


class OutOfPlace(HarnessError):
    """An event is out of order. It changed nothing."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


class NoOpenQuestion(OutOfPlace):
    """An answer without an open question, such as in a process that does not have the session."""

    def __init__(self, why: str) -> None:
        super().__init__("/event", f"{why}: resume the session first")


class ToRecord(NamedTuple):
    """A ruling, an answer, or a finished batch, to be recorded.

    `begins`: the batch may run from now on.
    """

    batch: Batch
    verdict: Verified | Refused
    action: RecordedAction
    answer: RecordedAnswer | None = None
    ended: EndedBatch | None = None
    note: str | None = None
    begins: bool = False

    @property
    def facts(self) -> RunFacts | None:
        """The run of a finished batch, without its proposal."""
        return None if self.ended is None else RunFacts(**self.ended.running.run_facts)

    @property
    def score(self) -> ScoreVerdict | None:
        """The score of the run; None if only a shadow let it run."""
        return self.ended.score if self.ended and self.verdict.ok else None

    @property
    def refused_opening(self) -> Opening | None:
        """The opening of a scored run that was refused, if there is one."""
        ended = None if self.score is None else self.ended
        return None if ended is None else refused_opening(ended.running.openings)


class OpenQuestion(NamedTuple):
    """A batch that waits for a person.

    `expires_at` is when the first pinned evidence of its plan expires, or the time that the policy
    sets. After that, a yes no longer counts, and a no still does. Once the expiry is recorded, the
    question `has_lapsed`. `opening` is there where it is about a call that was opened.
    """

    batch: Batch
    verdict: Refused
    plan_digest: str
    expires_at: datetime | None = None
    has_lapsed: bool = False
    opening: "AskedOpening | None" = None

    @property
    def doubted(self) -> list[Call]:
        """The calls that a no applies to."""
        if self.opening is not None:
            return [self.opening.call]
        steps = {
            None if at is None else self.batch.call_at(at)
            for at in (violation.offending_step for violation in self.verdict.violations)
        }
        # An entry without a step speaks of the plan as a whole, or of those left out of the list.
        return [call for at, call in enumerate(self.batch.calls) if None in steps or at in steps]


class AskedOpening(NamedTuple):
    """An opening that waits for a person: its turn and step, and the call with its values.

    `rest` are calls of an agent that carries out a plan, which come after it: ids and steps. For
    those and itself there is one ruling, where it `carries_out`. `opened` is what was judged.
    """

    place: tuple[int, int]
    call: Call
    rest: tuple[tuple[str, int], ...] = ()
    carries_out: bool = False
    opened: "OpenedCall | None" = None


class Ruled(NamedTuple):
    """The decision about a batch, and the reason if it is stricter than the verdict.

    `answer` is the person's answer, if there was one.
    """

    action: Action
    verdict: Verified | Refused
    note: str | None = None
    answer: RecordedAnswer | None = None


def open_question(
    settings: GuardSettings, batch: Batch, verdict: Refused, plan_digest: str
) -> OpenQuestion:
    """Return the question about a batch. A yes to it counts while its evidence is fresh."""
    asked_at, seconds = batch.ctx.as_of, settings.question_expires_after_s
    refs = {ref for step in batch.plan.steps for ref in step.evidence_refs or ()}
    ends = [batch.trail.expiries[ref] for ref in refs if ref in batch.trail.expiries]
    if seconds is not None and asked_at is not None:
        ends.append(asked_at + timedelta(seconds=seconds))
    return OpenQuestion(batch, verdict, plan_digest, min(ends, default=None))


def deny_steps(steps: Iterable[int]) -> Refused:
    """Return the refusal of calls that `verify` would pass but a person denied."""
    return Refused.because(
        tuple(
            Violation(
                check="approval",
                kind="approval_mode_mismatch",
                reason=f"step {step} is a call that a person said no to in this session",
                offending_step=step,
                path=f"/steps/{step}",
            )
            for step in steps
        )
    )


def make_session_call(call: RequestedCall) -> Call:
    """Return a call as sessions have it."""
    takes = tuple(CallTake(one.arg, one.call, one.at) for one in call.takes or ())
    return Call(
        call.id, call.tool, call.args, call.estimated_tokens, call.shell, takes, call.after or ()
    )


def make_call_result(event: ResultEvent) -> CallResult:
    """Return a result as sessions have it."""
    measures = event.tokens, event.duration_ms, event.cost_micros
    return CallResult(event.status, event.output, event.error, *measures, bool(event.cut))
