"""The state of a guarded session, and the answer to each event. Pure.

Rule 1: calls that `verify` passes may run, unless a person said no to them. Calls that it refuses
        do not run. A person is asked where an approval would help, someone is there to ask, and
        the limit of questions is not reached.
Rule 2: an event that is out of order changes nothing.
Rule 3: a shadow lets everything run and asks nothing, but still answers with the verdict.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from critic import Refused, ScoreVerdict, Verified, Violation
from critic.session import (
    Action,
    Batch,
    Call,
    CallResult,
    EndedBatch,
    Session,
    SessionReport,
    verify_batch,
)
from critic.session.call_batch import OtherCall
from evals.envelope import is_identifier
from evals.escaping import escape_name
from evals.kinds import RecordedAction
from evals.timestamps import is_unexpired
from harness.canonical import canonical_json, digest
from harness.errors import HarnessError
from harness.guard.rulings import NOT_RUN, EventError, EventFault, Ruling, UnknownCall
from harness.guard.session_events import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    ResultEvent,
    SaidEvent,
    SentCall,
    SessionEvent,
)
from harness.guard.session_time import SessionTime
from harness.policy import GuardSettings
from harness.record import RecordedAnswer, RunFacts

_UNRULED: Final = "it ran, and nobody had asked whether it may"
_LAST_QUESTION: Final = "this is the last question: until somebody says yes, the answer is no"
_TOO_LATE: Final = "the question has expired: have the agent ask again"


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


class OpenQuestion(NamedTuple):
    """A batch that waits for a person.

    `expires_at` is when the first pinned evidence of its plan expires, or the time that the policy
    sets. After that, a yes no longer counts, and a no still does. Once the expiry is recorded, the
    question `has_lapsed`.
    """

    batch: Batch
    verdict: Refused
    plan_digest: str
    expires_at: datetime | None = None
    has_lapsed: bool = False

    @property
    def doubted(self) -> list[Call]:
        """The calls that a no applies to."""
        steps = {
            None if at is None else self.batch.call_at(at)
            for at in (violation.offending_step for violation in self.verdict.violations)
        }
        # An entry without a step speaks of the plan as a whole, or of those left out of the list.
        return [call for at, call in enumerate(self.batch.calls) if None in steps or at in steps]


class Answered(NamedTuple):
    """The session after an event, its answer, and the records to write first."""

    course: "Course"
    answer: Ruling | SessionReport | EventError | None = None
    records: tuple[ToRecord, ...] = ()


class Ruled(NamedTuple):
    """The decision about a batch, and the reason if it is stricter than the verdict.

    `answer` is the person's answer, if there was one.
    """

    action: Action
    verdict: Verified | Refused
    note: str | None = None
    answer: RecordedAnswer | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """A session with its open question, the answers so far, and the settings of its policy.

    Attributes:
        time: the time of its last event, by the events and the clock.
        asked: the number of questions since the last yes.
        denied: the calls that a person said no to, as `_denial_key` returns them.
    """

    settings: GuardSettings
    session: Session
    time: SessionTime = field(default_factory=SessionTime)
    question: OpenQuestion | None = None
    asked: int = 0
    denied: frozenset[bytes] = frozenset()
    has_halted: bool = False

    def add_words(self, event: SaidEvent) -> Answered:
        """Add a message of the user."""
        self._require_running()
        return Answered(replace(self, session=self.session.said(event.text)))

    def calls(self, event: CallsEvent, as_of: datetime) -> Answered:
        """Rule on a batch. An open question expires."""
        self._require_running()
        self._require_new_ids(event)
        calls = [
            Call(call.id, call.tool, call.args, call.estimated_tokens, call.shell)
            for call in event.calls
            if self._knows_tool(call.tool)
        ]
        unknown = self._unknown_calls(event)
        if not calls:
            session, turn = self.session.id, self.session.turn
            ruling = Ruling(session=session, turn=turn, action="refuse", unknown=unknown)
            return self._lapse_question()._replace(answer=ruling)
        batch = self.session.propose(calls, as_of)
        verdict = verify_batch(batch)
        ruled = self._rule_batch(batch, verdict)
        return self._apply_ruling(batch, ruled, verdict, unknown)

    def _knows_tool(self, name: str) -> bool:
        """Return whether calls of a tool are judged; in a shadow, any tool that a plan can name."""
        known = name in self.session.rules.tools
        return known or (self.settings.shadow and is_identifier(name))

    def _unknown_calls(self, event: CallsEvent) -> tuple[UnknownCall, ...] | None:
        found = tuple(
            UnknownCall(id=call.id, tool=call.tool, say=NOT_RUN)
            for call in event.calls
            if not self._knows_tool(call.tool)
        )
        return found or None

    def _rule_batch(self, batch: Batch, verdict: Verified | Refused) -> Ruled:
        settings = self.settings
        if settings.shadow:
            return Ruled("allow", verdict, None if verdict else "shadow: this was not enforced")
        if denied := self.denied_steps(batch):
            note = "a person said no to this call in this session"
            return Ruled("refuse", _denial(denied) if verdict.ok else verdict, note)
        if isinstance(verdict, Verified):
            return Ruled("allow", verdict)
        return self._ask_person(verdict) if verdict.approvable else Ruled("refuse", verdict)

    def denied_steps(self, batch: Batch) -> list[int]:
        """Return the steps that a person said no to."""
        if not self.denied:
            return []
        return [at for at, call in enumerate(batch.calls) if self._denial_key(call) in self.denied]

    def _denial_key(self, call: Call) -> bytes:
        """Return the key of a denial: the tool and its targets, in any spelling."""
        tool = self.session.rules.tools.get(call.tool)
        about = dict(call.args) if tool is None else tool.denied_by(call.args)
        return canonical_json([call.tool, about])

    def _ask_person(self, verdict: Refused) -> Ruled:
        """Decide about a batch that an approval would allow."""
        if self.settings.on_ask == "refuse":
            return Ruled("refuse", verdict, "nobody is there to be asked")
        if self.asked >= self.settings.max_questions:
            note = f"{self.asked} questions were asked already, which is the limit"
            return Ruled("refuse", verdict, note)
        return Ruled("ask", verdict)

    @property
    def question_note(self) -> str | None:
        """The note on the open question: it says if this is the last one before a yes."""
        is_last = self.question is not None and self.asked >= self.settings.max_questions
        return _LAST_QUESTION if is_last else None

    def _apply_ruling(
        self,
        batch: Batch,
        ruled: Ruled,
        judged: Verified | Refused,
        unknown: tuple[UnknownCall, ...] | None = None,
    ) -> Answered:
        """Return the session after a ruling. `judged` is the verdict of `verify`."""
        plan_digest = digest(batch.plan)
        session = self.session.decided(batch, ruled.action, judged, plan_digest)
        asks = ruled.action == "ask"
        question = None
        if asks and isinstance(judged, Refused):
            question = open_question(self.settings, batch, judged, plan_digest)
        course = replace(
            self,
            session=session,
            question=question,
            asked=self.asked + asks,
            has_halted=ruled.action == "refuse" and self.settings.on_refusal == "halt",
        )
        ruling = Ruling(
            session=session.id,
            turn=batch.turn,
            action=ruled.action,
            verdict=ruled.verdict,
            plan_digest=plan_digest,
            note=ruled.note or course.question_note,
            expires_at=None if question is None else question.expires_at,
            unknown=unknown,
        )
        return Answered(
            course, ruling, (*self._end_of_question(), self._to_record(batch, judged, ruled))
        )

    def _to_record(self, batch: Batch, judged: Verified | Refused, ruled: Ruled) -> ToRecord:
        """Return a ruling as it is recorded, without notes that repeat its action or its answer."""
        begins = ruled.action == "allow"
        action: RecordedAction = "shadow" if begins and not judged.ok else ruled.action
        note = None if ruled.answer or action == "shadow" else ruled.note
        return ToRecord(batch, judged, action, ruled.answer, note=note, begins=begins)

    def _end_of_question(self) -> tuple[ToRecord, ...]:
        """Return the end of an open question that nobody answered, if there is one."""
        question = self.question
        if question is None or question.has_lapsed:
            return ()
        lapsed = RecordedAnswer(answer="lapsed")
        return (ToRecord(question.batch, question.verdict, "refuse", lapsed),)

    def expire_question(self, as_of: datetime) -> Answered:
        """Mark the open question as expired, if its time is over."""
        question = self.question
        if question is None or is_unexpired(question.expires_at, as_of):
            return Answered(self)
        return self._lapse_question()

    def _lapse_question(self) -> Answered:
        """Mark the open question, if any: it accepts no yes from now on."""
        if self.question is None:
            return Answered(self)
        lapsed = replace(self, question=self.question._replace(has_lapsed=True))
        return Answered(lapsed, None, self._end_of_question())

    def answer(self, event: AnswerEvent, as_of: datetime, record: int | None = None) -> Answered:
        """Apply a person's answer to the open question, judged as of the time of the question.

        A yes that comes too late returns an error, and the question has expired.

        `record` is the number of the last record of the session. It distinguishes this approval
        from those of other sessions with the same id.
        """
        question = self._question(event, as_of)
        if event.yes and not is_unexpired(question.expires_at, as_of):
            fault = EventFault(path="/event", message=_TOO_LATE)
            expired = self.expire_question(as_of)
            return expired._replace(answer=EventError(session=event.session, error=fault))
        closed = replace(self, question=None)
        if not event.yes:
            return closed._deny_question(question, event.approver)
        name = f"turn/{question.batch.turn}" + ("" if record is None else f"/after/{record}")
        session, batch = self.session.approved(
            question.batch, event.approver, event.expires_at, approval_id=name
        )
        verdict = verify_batch(batch)
        said_yes = RecordedAnswer(answer="yes", approver=event.approver)
        ruled = Ruled("allow" if verdict.ok else "refuse", verdict, answer=said_yes)
        asked = replace(closed, session=session if verdict.ok else self.session, asked=0)
        return asked._apply_ruling(batch, ruled, verdict)

    def _question(self, event: AnswerEvent, as_of: datetime) -> OpenQuestion:
        question, asked = self.question, event.plan_digest.removeprefix("sha256:")
        if question is None:
            raise NoOpenQuestion("no question is open: it was answered, or has expired")
        if asked != question.plan_digest:
            raise OutOfPlace("/plan_digest", "this is not the plan that is asked about")
        if event.yes and question.has_lapsed:
            raise OutOfPlace("/event", _TOO_LATE)
        if event.expires_at is not None and event.expires_at <= as_of:
            raise OutOfPlace("/expires_at", "the answer has expired: ask the person again")
        return question

    def _deny_question(self, question: OpenQuestion, approver: str) -> Answered:
        said_no = RecordedAnswer(answer="no", approver=approver)
        denied = replace(
            self, denied=self.denied | {self._denial_key(call) for call in question.doubted}
        )
        ruled = Ruled("refuse", question.verdict, f"denied by {approver}", said_no)
        return denied._apply_ruling(question.batch, ruled, question.verdict)

    def result(self, event: ResultEvent, as_of: datetime) -> Answered:
        """Apply the result of an allowed call, or of a call that ran without a ruling."""
        if event.sent is not None and event.id not in self.session.open_calls:
            return self._take_unruled(event, event.sent, as_of)
        self._require_running()
        if event.id not in self.session.open_calls:
            shown = escape_name(event.id)
            what = "it was not allowed, or has a result already"
            raise OutOfPlace("/id", f"no result of call {shown} is awaited: {what}")
        result = _result_of(event)
        if event.sent is not None:  # what it returned is not a result of the call that was allowed
            result = _without_output(result)._replace(sent=self._sent_call(event.sent))
        ran = self.session.ran(event.id, result, as_of)
        records = () if ran.ended is None else (_outcome(ran.ended),)
        return Answered(replace(self, session=ran.session), None, records)

    def _take_unruled(self, event: ResultEvent, sent: SentCall, as_of: datetime) -> Answered:
        """Apply a call that ran without a ruling: a refused turn that has a run.

        What it spent counts. What it returned is not evidence.
        """
        call = Call(event.id, sent.tool if is_identifier(sent.tool) else "unnamed", sent.args)
        batch = self.session.propose([call], as_of)
        verdict, plan_digest = verify_batch(batch), digest(batch.plan)
        session = self.session.decided(batch, "allow", verdict, plan_digest)
        session = session.decided(batch, "refuse", verdict, plan_digest)
        ran = session.ran(event.id, _without_output(_result_of(event)), as_of)
        records = (
            *self._end_of_question(),
            ToRecord(batch, verdict, "refuse", note=_UNRULED),
            ToRecord(batch, verdict, "refuse", ended=ran.ended, note=_UNRULED),
        )
        return Answered(replace(self, session=ran.session, question=None), None, records)

    def _sent_call(self, sent: SentCall) -> OtherCall:
        """Return a call without a ruling, with its tool as the policy names it."""
        tool = self.session.rules.tools.get(sent.tool)
        if tool is None:
            name = sent.tool if is_identifier(sent.tool) else "unnamed"
            return OtherCall("unknown", name, sent.args)
        capability = tool.capability
        return OtherCall(capability.adapter_id, capability.capability_id, sent.args)

    def close(self, event: CloseEvent, as_of: datetime) -> Answered:
        """Return the report of the session."""
        closed = self.session.closed(event.outputs, as_of)
        return Answered(
            self, closed.report, (*self._end_of_question(), *map(_outcome, closed.ended))
        )

    def _require_new_ids(self, event: CallsEvent) -> None:
        """Check that no result could belong to two calls."""
        for at, call in enumerate(event.calls):
            if call.id in self.session.open_calls:
                shown = escape_name(call.id)
                why = f"the result of call {shown} is awaited: give this one an id of its own"
                raise OutOfPlace(f"/calls/{at}/id", why)

    def _require_running(self) -> None:
        if self.has_halted:
            raise OutOfPlace("/event", "the session halted at a refusal: only close is left")


def apply_event(
    course: Course, event: SessionEvent, as_of: datetime, record: int | None
) -> Answered:
    """Apply any event but `open` to a session.

    Raises:
        OutOfPlace: it is out of order.
    """
    match event:
        case CallsEvent():
            return course.calls(event, as_of)
        case AnswerEvent():
            return course.answer(event, as_of, record)
        case CloseEvent():
            return course.close(event, as_of)
        case SaidEvent() | ResultEvent():
            later, _, lapsed = course.expire_question(as_of)
            if isinstance(event, SaidEvent):
                answered = later.add_words(event)
            else:
                answered = later.result(event, as_of)
            return answered._replace(records=(*lapsed, *answered.records))
        case _:
            raise TypeError(f"not an event of an open session: {type(event).__name__}")


def _result_of(event: ResultEvent) -> CallResult:
    measures = event.tokens, event.duration_ms, event.cost_micros
    return CallResult(event.status, event.output, event.error, *measures, bool(event.cut))


def _without_output(result: CallResult) -> CallResult:
    """Return the result of a call without a ruling. Its output is not evidence."""
    status = "unknown" if result.status == "completed" else result.status
    return result._replace(status=status, output=None, error=None, cut=True)


def _outcome(ended: EndedBatch) -> ToRecord:
    action: RecordedAction = "allow" if ended.verdict.ok else "shadow"
    return ToRecord(ended.batch, ended.verdict, action, ended=ended)


def _denial(steps: Iterable[int]) -> Refused:
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
