"""The state of a guarded session, and the answer to each event. Pure.

Rule 1: calls that `verify` passes may run, unless a person said no to them. Calls that it refuses
        do not run. A person is asked where an approval would help, someone is there to ask, and
        the limit of questions is not reached.
Rule 2: an event that is out of order changes nothing.
Rule 3: a shadow lets everything run and asks nothing, but still answers with the verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from critic import Refused, Verified
from critic.session import (
    Batch,
    Call,
    CallResult,
    EndedBatch,
    Session,
    SessionReport,
    verify_batch,
)
from critic.session.call_batch import OtherCall
from critic.session.proposing import order_turn
from evals.envelope import is_identifier
from evals.escaping import escape_name
from evals.kinds import RecordedAction
from evals.timestamps import is_unexpired
from harness.canonical import canonical_json, digest
from harness.guard.course_answers import (
    NoOpenQuestion,
    OpenQuestion,
    OutOfPlace,
    Ruled,
    ToRecord,
    deny_steps,
    make_call_result,
    make_session_call,
    open_question,
)
from harness.guard.rulings import (
    NOT_RUN,
    EventError,
    EventFault,
    OpeningRuling,
    Ruling,
    UnknownCall,
)
from harness.guard.session_events import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    RequestedCall,
    ResultEvent,
    SaidEvent,
    SentCall,
    SessionPlanEvent,
)
from harness.guard.session_time import SessionTime
from harness.policy import GuardSettings
from harness.record import RecordedAnswer

if TYPE_CHECKING:
    from critic.session.waiting_calls import OpenedCall

DENIED: Final = "a person said no to this call in this session"
"""Why a call is refused that a person said no to before, as it is noted and recorded."""
_UNRULED: Final = "it ran, and no ruling allowed it"
_LAST_QUESTION: Final = "this is the last question: until somebody says yes, the answer is no"
_UNSHOWN: Final = "a yes to late values needs late: true, by whoever was shown where they come from"
_TOO_LATE: Final = "the question has expired: have the agent ask again"


class Answered(NamedTuple):
    """The session after an event, its answer, and the records to write first.

    `opened` are calls that may be made from now on, of a batch that began before. `judged` is what
    was judged of the last of them.
    """

    course: "Course"
    answer: Ruling | OpeningRuling | SessionReport | EventError | None = None
    records: tuple[ToRecord, ...] = ()
    opened: tuple[Call, ...] = ()
    judged: "OpenedCall | None" = None

    def after(self, before: "Answered") -> "Answered":
        """Return the same, with what came before it."""
        return self._replace(records=(*before.records, *self.records))


@dataclass(frozen=True, slots=True)
class Course:
    """A session with its open question, the answers so far, and the settings of its policy.

    Attributes:
        time: the time of its last event, by the events and the clock.
        asked: the number of questions since the last yes.
        denied: the calls that a person said no to, as `_denial_key` returns them.
        answered: by turn, what became of the question about its last opening, which was no yes.
            The record of its end says so.
    """

    settings: GuardSettings
    session: Session
    time: SessionTime = field(default_factory=SessionTime)
    question: OpenQuestion | None = None
    asked: int = 0
    denied: frozenset[bytes] = frozenset()
    has_halted: bool = False
    answered: Mapping[int, RecordedAnswer] = field(default_factory=dict)

    def hear(self, event: SaidEvent | ResultEvent, as_of: datetime) -> Answered:
        """Add what the user said, or what a call returned."""
        if isinstance(event, SaidEvent):
            return self.add_words(event)
        return self.result(event, as_of)

    def add_words(self, event: SaidEvent) -> Answered:
        """Add a message of the user. It ends a plan that the agent carries out."""
        self.require_running()
        later = self.end_plan()
        course = replace(later.course, session=later.course.session.said(event.text))
        return later._replace(course=course)

    def calls(self, event: CallsEvent, as_of: datetime) -> Answered:
        """Rule on a batch. An open question expires, and a plan that was open ends."""
        self.require_running()
        self.require_new_ids(event)
        return self._rule_anew(event.calls, as_of, is_plan=False)

    def plan(self, event: SessionPlanEvent, as_of: datetime) -> Answered:
        """Rule on a plan that the agent carries out itself. It ends the one before."""
        self.require_running()
        return self._rule_anew(event.steps, as_of, is_plan=True)

    def _rule_anew(
        self, requested: Sequence[RequestedCall], as_of: datetime, *, is_plan: bool
    ) -> Answered:
        free = self.lapse_opening()
        later = free.course.end_plan().after(free)
        return later.course._rule_on(requested, as_of, is_plan=is_plan).after(later)

    def _rule_on(
        self, requested: Sequence[RequestedCall], as_of: datetime, *, is_plan: bool
    ) -> Answered:
        calls = [make_session_call(call) for call in requested if self._knows_tool(call.tool)]
        unknown = self._unknown_calls(requested)
        if not calls:
            session, turn = self.session.id, self.session.turn
            ruling = Ruling(session=session, turn=turn, action="refuse", unknown=unknown)
            return self.lapse_question()._replace(answer=ruling)
        if self.settings.turns is not None:
            calls = order_turn(self.session.rules, calls)
        self._require_no_command(calls, is_plan=is_plan)
        batch = self.session.propose(calls, as_of, is_plan=is_plan)
        verdict = verify_batch(batch)
        ruled = self._rule_batch(batch, verdict)
        return self._apply_ruling(batch, ruled, verdict, unknown)

    def _require_no_command(self, calls: Sequence[Call], *, is_plan: bool) -> None:
        """Check that no shell command waits: what it does is judged as it is asked for.

        Raises:
            OutOfPlace: one does.
        """
        waits = is_plan or any(call.takes or call.after for call in calls)
        if waits and self.session.rules.has_commands(call.tool for call in calls):
            what = "calls of a turn with a shell command do not wait for one another"
            raise OutOfPlace("/event", f"{what}, nor make a plan: ask for them turn by turn")

    def end_plan(self) -> Answered:
        """End the plan that the agent carries out, if there is one."""
        turn = self.session.open_plan
        if turn is None:
            return Answered(self)
        asked = None if self.question is None else self.question.opening
        is_asked = asked is not None and asked.place[0] == turn
        free = replace(self, question=None) if is_asked else self
        return free.stop_batch(turn)

    def stop_batch(self, turn: int) -> Answered:
        """Open no more calls of a batch. It is recorded once those that run have ended."""
        if turn not in self.session.running:
            return Answered(self)
        from critic.session.waiting_calls import stop_batch  # noqa: PLC0415 - few turns need it

        ran = stop_batch(self.session, turn)
        records = () if ran.ended is None else (self._outcome_of(ran.ended),)
        return Answered(replace(self, session=ran.session), None, records)

    def lapse_opening(self) -> Answered:
        """Mark an open question about a call that was opened as expired: its batch ends."""
        question = self.question
        is_opening = question is not None and question.opening is not None
        return self.lapse_question() if is_opening else Answered(self)

    def _knows_tool(self, name: str) -> bool:
        """Return whether calls of a tool are judged; in a shadow, any tool that a plan can name."""
        known = name in self.session.rules.tools
        return known or (self.settings.shadow and is_identifier(name))

    def _unknown_calls(self, requested: Iterable[RequestedCall]) -> tuple[UnknownCall, ...] | None:
        found = tuple(
            UnknownCall(id=call.id, tool=call.tool, say=NOT_RUN)
            for call in requested
            if not self._knows_tool(call.tool)
        )
        return found or None

    def _rule_batch(self, batch: Batch, verdict: Verified | Refused) -> Ruled:
        settings = self.settings
        if settings.shadow:
            return Ruled("allow", verdict, None if verdict else "shadow: this was not enforced")
        if denied := self.denied_steps(batch):
            return Ruled("refuse", deny_steps(denied) if verdict.ok else verdict, DENIED)
        if isinstance(verdict, Verified):
            return Ruled("allow", verdict)
        return self.ask_person(verdict) if verdict.approvable else Ruled("refuse", verdict)

    def denied_steps(self, batch: Batch) -> list[int]:
        """Return the steps that a person said no to."""
        if not self.denied:
            return []
        return [at for at, call in enumerate(batch.calls) if self.is_denied(call)]

    def is_denied(self, call: Call) -> bool:
        """Return whether a person said no to a call."""
        return bool(self.denied) and self.denial_key(call) in self.denied

    def denial_key(self, call: Call) -> bytes:
        """Return the key of a denial: the tool and its targets, in any spelling."""
        tool = self.session.rules.tools.get(call.tool)
        about = dict(call.args) if tool is None else tool.denied_by(call.args)
        return canonical_json([call.tool, about])

    def ask_person(self, verdict: Refused) -> Ruled:
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
        if question is None or question.has_lapsed or question.opening is not None:
            return ()
        lapsed = RecordedAnswer(answer="lapsed")
        return (ToRecord(question.batch, question.verdict, "refuse", lapsed),)

    def expire_question(self, as_of: datetime) -> Answered:
        """Mark the open question as expired, if its time is over."""
        question = self.question
        if question is None or is_unexpired(question.expires_at, as_of):
            return Answered(self)
        return self.lapse_question()

    def lapse_question(self) -> Answered:
        """Mark the open question, if any: it accepts no yes from now on."""
        if self.question is None:
            return Answered(self)
        if self.question.opening is not None:
            turn = self.question.opening.place[0]
            answered = self.after_answer(turn, RecordedAnswer(answer="lapsed"))
            return replace(answered, question=None).stop_batch(turn)
        lapsed = replace(self, question=self.question._replace(has_lapsed=True))
        return Answered(lapsed, None, self._end_of_question())

    def answer(self, event: AnswerEvent, as_of: datetime, record: int | None = None) -> Answered:
        """Apply a person's answer to the open question, judged as of the time of the question.

        A yes that comes too late returns an error, and the question has expired.

        `record` is the number of the last record of the session. It distinguishes this approval
        from those of other sessions with the same id.
        """
        question = self.find_question(event, as_of)
        if event.yes and not is_unexpired(question.expires_at, as_of):
            return self.answer_late(event, as_of)
        closed = replace(self, question=None)
        if not event.yes:
            return closed._deny_question(question, event.approver)
        name = f"turn/{question.batch.turn}" + ("" if record is None else f"/after/{record}")
        session, batch = self.session.approved(
            question.batch,
            event.approver,
            event.expires_at,
            approval_id=name,
            late=event.late is True,
        )
        verdict = verify_batch(batch)
        said_yes = RecordedAnswer(answer="yes", approver=event.approver)
        takes = batch.spec.late == "sources" and any(call.takes for call in batch.calls)
        note = _UNSHOWN if takes and not verdict.ok and event.late is not True else None
        ruled = Ruled("allow" if verdict.ok else "refuse", verdict, note, said_yes)
        asked = replace(closed, session=session if verdict.ok else self.session, asked=0)
        return asked._apply_ruling(batch, ruled, verdict)

    def after_answer(self, turn: int, answer: RecordedAnswer) -> "Course":
        """Return the session after a question about an opening of a turn was not answered yes."""
        running = self.session.running
        kept = {one: said for one, said in self.answered.items() if one in running}
        return replace(self, answered={**kept, turn: answer})

    def _outcome_of(self, ended: EndedBatch) -> ToRecord:
        """Return a batch whose calls have ended, to be recorded."""
        is_kept = ended.verdict.ok and not ended.running.has_gone_on
        action: RecordedAction = "allow" if is_kept else "shadow"
        answer = self.answered.get(ended.running.turn)
        return ToRecord(ended.batch, ended.verdict, action, answer, ended)

    def answer_late(self, event: AnswerEvent, as_of: datetime) -> Answered:
        """Return the answer to a yes that comes too late: the question has expired."""
        fault = EventFault(path="/event", message=_TOO_LATE)
        expired = self.expire_question(as_of)
        return expired._replace(answer=EventError(session=event.session, error=fault))

    def find_question(self, event: AnswerEvent, as_of: datetime) -> OpenQuestion:
        """Return the open question that an answer is to.

        Raises:
            OutOfPlace: there is none, or it is another one.
        """
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
            self, denied=self.denied | {self.denial_key(call) for call in question.doubted}
        )
        ruled = Ruled("refuse", question.verdict, f"denied by {approver}", said_no)
        return denied._apply_ruling(question.batch, ruled, question.verdict)

    def result(self, event: ResultEvent, as_of: datetime) -> Answered:
        """Apply the result of an allowed call, or of a call that ran without a ruling."""
        if event.sent is not None and event.id not in self.session.open_calls:
            return self._take_unruled(event, event.sent, as_of)
        self.require_running()
        if event.id not in self.session.open_calls:
            shown = escape_name(event.id)
            what = "it was not allowed, or has a result already"
            raise OutOfPlace("/id", f"no result of call {shown} is awaited: {what}")
        turn, _ = self.session.open_calls[event.id]
        result = self._result_of_awaited(event)
        ran = self.session.ran(event.id, result, as_of)
        records = () if ran.ended is None else (self._outcome_of(ran.ended),)
        denied = self.denied if event.denied_by is None else self._denied_with(event.id)
        later = Answered(replace(self, session=ran.session, denied=denied), None, records)
        running = ran.session.running.get(turn)
        if running is None or not running.is_late or not result.cut or self.settings.shadow:
            return later
        # What was cut may mention anything, and no opening of its turn could tell.
        return later.course.stop_batch(turn).after(later)

    def _denied_with(self, call_id: str) -> frozenset[bytes]:
        """Return what a person said no to, with a call that is awaited."""
        turn, step = self.session.open_calls[call_id]
        return self.denied | {self.denial_key(self.session.running[turn].calls[step])}

    def _result_of_awaited(self, event: ResultEvent) -> CallResult:
        """Return the result of a call that was allowed, without what another call returned.

        What was sent is the allowed call if its tool and arguments are those, as replay compares
        them.
        """
        result = make_call_result(event)
        if event.sent is None:
            return result
        turn, step = self.session.open_calls[event.id]
        allowed, sent = self.session.running[turn].calls[step], self._sent_call(event.sent)
        pair = self.session.rules.pair_of(allowed.tool)
        is_allowed = (sent.adapter_id, sent.capability_id) == pair
        if is_allowed and canonical_json(sent.args) == canonical_json(allowed.args):
            return result
        return _without_output(result)._replace(sent=sent)

    def _take_unruled(self, event: ResultEvent, sent: SentCall, as_of: datetime) -> Answered:
        """Apply a call that ran without a ruling: a refused turn that has a run.

        What it spent counts. What it returned is not evidence.
        """
        tool = sent.tool if is_identifier(sent.tool) else "unnamed"
        call = Call(event.id, tool, sent.args, shell=sent.shell)
        batch = self.session.propose([call], as_of)
        verdict, plan_digest = verify_batch(batch), digest(batch.plan)
        session = self.session.decided(batch, "allow", verdict, plan_digest)
        session = session.decided(batch, "refuse", verdict, plan_digest)
        ran = session.ran(event.id, _without_output(make_call_result(event)), as_of)
        records = (
            *self._end_of_question(),
            ToRecord(batch, verdict, "refuse", note=_UNRULED),
            ToRecord(batch, verdict, "refuse", ended=ran.ended, note=_UNRULED),
        )
        return Answered(replace(self, session=ran.session, question=None), None, records)

    def _sent_call(self, sent: SentCall) -> OtherCall:
        """Return what was sent, with its tool as plans name it."""
        rules = self.session.rules
        is_named = sent.tool in rules.tools or is_identifier(sent.tool)
        pair = rules.pair_of(sent.tool if is_named else "unnamed")
        return OtherCall(*pair, sent.args)

    def close(self, event: CloseEvent, as_of: datetime) -> Answered:
        """Return the report of the session."""
        closed, course = self.session.closed(event.outputs, as_of), self
        if self.question is not None and self.question.opening is not None:
            turn = self.question.opening.place[0]
            course = self.after_answer(turn, RecordedAnswer(answer="lapsed"))
        ended = map(course._outcome_of, closed.ended)
        return Answered(self, closed.report, (*self._end_of_question(), *ended))

    def require_new_ids(self, event: CallsEvent) -> None:
        """Check that no result could belong to two calls.

        Raises:
            OutOfPlace: one could.
        """
        for at, call in enumerate(event.calls):
            if self.session.is_awaited(call.id):
                shown = escape_name(call.id)
                why = f"the result of call {shown} is awaited: give this one an id of its own"
                raise OutOfPlace(f"/calls/{at}/id", why)

    def require_running(self) -> None:
        """Require that the session has not halted.

        Raises:
            OutOfPlace: it has.
        """
        if self.has_halted:
            raise OutOfPlace("/event", "the session halted at a refusal: only close is left")


def _without_output(result: CallResult) -> CallResult:
    """Return the result of a call without a ruling. Its output is not evidence."""
    status = "unknown" if result.status == "completed" else result.status
    return result._replace(status=status, output=None, error=None, cut=True)
