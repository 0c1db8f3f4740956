"""Open the calls of a batch that wait for one another. Loaded with the first of them. Pure.

Rule 1: an opening is judged by the checks that judged the batch. A person's no counts here, too.
Rule 2: one that is refused ends its batch: nothing more of it is opened. Where a person may clear
        it they are asked, with the values.
Rule 3: a shadow lets everything run that has its values, and answers with the true verdict.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from critic import Approval, Refused, Verified, digest
from critic.late.openings import OpeningError
from critic.session import Action, Batch, Call
from critic.session.session_values import doubts_about, yes_about
from critic.session.waiting_calls import (
    OpenedCall,
    before_opening,
    find_call,
    judge_call,
    let_run,
    take_opening,
)
from evals.escaping import escape_name
from evals.json_value import detach_json
from evals.plan import Proposal
from evals.timestamps import is_unexpired
from harness.canonical import digest as digest_of
from harness.guard.course import DENIED, Answered, Course
from harness.guard.course_answers import (
    AskedOpening,
    OpenQuestion,
    OutOfPlace,
    Ruled,
    open_question,
)
from harness.guard.rulings import EventError, EventFault, OpeningRuling, Ruling
from harness.guard.session_events import AnswerEvent, ReadyEvent
from harness.record import RecordedAnswer

Place = tuple[int, int]
"""A turn, and a step of its batch."""


def take_ready(course: Course, event: ReadyEvent, as_of: datetime) -> Answered:
    """Open a call that waits.

    Raises:
        OutOfPlace: it does not wait, or what it waits for has not ended.
    """
    course.require_running()
    lapsed = course.expire_question(as_of)
    course, place = lapsed.course, find_call(lapsed.course.session, event.id)
    if place is None:
        what = "it was not allowed, was opened before, or its turn has ended"
        raise OutOfPlace("/id", f"call {escape_name(event.id)} does not wait to be opened: {what}")
    asked = None if course.question is None else course.question.opening
    if asked is not None and asked.place[0] == place[0]:
        shown = escape_name(asked.call.id)
        raise OutOfPlace("/id", f"a person is asked about call {shown}: wait for the answer")
    return _open(course, AskedOpening(place, Call(event.id, "", {})), as_of).after(lapsed)


def _open(
    course: Course,
    waits: AskedOpening,
    as_of: datetime,
    approvals: tuple[Approval, ...] = (),
) -> Answered:
    """Open a call, and return what becomes of it.

    Args:
        waits: the call, and what a person is asked about, where one is.

    Raises:
        OutOfPlace: what it waits for has not ended.
    """
    place, call_id = waits.place, waits.call.id
    opened = _judge(course, place, as_of, approvals)
    call = opened.call._replace(id=call_id)
    ruled = _rule(course, opened, call, is_answer=bool(approvals))
    session = take_opening(course.session, call_id, opened, is_made=ruled.action == "allow")
    later = Answered(replace(course, session=session), judged=opened)
    if ruled.action == "allow":
        later = later._replace(opened=(call,))
    elif ruled.action == "ask":
        question = _question_about(later.course, opened, waits._replace(call=call), as_of)
        course = replace(later.course, question=question, asked=later.course.asked + 1)
        later = later._replace(course=course)
    elif not course.settings.shadow:
        later = _refuse(later, place[0])
    return later._replace(answer=_make_ruling(later.course, opened, call, ruled, place[0]))


def _judge(
    course: Course, place: Place, as_of: datetime, approvals: tuple[Approval, ...]
) -> OpenedCall:
    try:
        enforced = not course.settings.shadow
        return judge_call(course.session, place, as_of, approvals, is_enforced=enforced)
    except OpeningError as error:
        raise OutOfPlace("/id", str(error)) from None


def _rule(course: Course, opened: OpenedCall, call: Call, *, is_answer: bool) -> Ruled:
    """Return what becomes of a call that was judged."""
    verdict, has_values = opened.opening.verdict, opened.judged.settled.sent is not None
    if course.settings.shadow:
        note = None if verdict.ok else "shadow: this was not enforced"
        return Ruled("allow" if has_values else "refuse", verdict, note)
    if has_values and course.is_denied(call):
        return Ruled("refuse", verdict, DENIED)
    if isinstance(verdict, Verified):
        return Ruled("allow", verdict)
    if is_answer or not verdict.approvable:
        return Ruled("refuse", verdict)
    return course.ask_person(verdict)


def _refuse(answered: Answered, turn: int) -> Answered:
    """Return the end of a batch whose opening was refused."""
    stopped = answered.course.stop_batch(turn)
    has_halted = stopped.course.settings.on_refusal == "halt"
    course = replace(stopped.course, has_halted=has_halted)
    return answered._replace(course=course, records=(*answered.records, *stopped.records))


def _make_ruling(
    course: Course, opened: OpenedCall, call: Call, ruled: Ruled, turn: int
) -> OpeningRuling:
    settled, question = opened.judged.settled, course.question
    facts: dict[str, Any] = {"note": ruled.note, "expires_at": None}
    if ruled.action == "allow":
        facts["args"] = detach_json(dict(call.args))
    if ruled.action == "ask" and question is not None:
        facts |= {"note": course.question_note, "expires_at": question.expires_at}
    return OpeningRuling(
        session=course.session.id,
        turn=turn,
        id=call.id,
        action=ruled.action,
        verdict=ruled.verdict,
        plan_digest=settled.plan_digest or digest_of(opened.running.plan),
        **facts,
    )


def _question_about(
    course: Course, opened: OpenedCall, asked: AskedOpening, as_of: datetime
) -> OpenQuestion:
    """Return the question about a call with its values: a yes counts while they are fresh."""
    verdict, settled = opened.opening.verdict, opened.judged.settled.proposal
    assert isinstance(verdict, Refused) and settled is not None  # noqa: S101 - it asks
    batch = opened.running.batch(course.session.rules, course.session.trail)
    question = open_question(course.settings, batch, verdict, digest_of(settled.plan))
    ends = [_first_expiry(settled), _asked_until(course, as_of, question)]
    known = [one for one in ends if one is not None]
    waits = asked._replace(opened=opened)
    return question._replace(expires_at=min(known, default=None), opening=waits)


def ask_again(course: Course, asked: AskedOpening) -> Course:
    """Return a session with the question about the call that was opened last, as it was asked.

    Raises:
        ValueError: no such opening asks.
    """
    turn, step = asked.place
    running = course.session.running.get(turn)
    last = running.openings[-1] if running is not None and running.openings else None
    if running is None or last is None or last.step != step or step in running.made:
        raise ValueError("the call that was opened last is another one")
    session = before_opening(course.session, turn)
    opened = judge_call(session, asked.place, last.as_of, tuple(last.approvals or ()))
    if opened.opening != last or not isinstance(last.verdict, Refused) or last.as_of is None:
        raise ValueError("its last opening does not follow from it")
    if not last.verdict.approvable:
        raise ValueError("no approval would clear its last opening")
    waits = asked._replace(call=opened.call._replace(id=asked.call.id))
    return replace(course, question=_question_about(course, opened, waits, last.as_of))


def _asked_until(course: Course, as_of: datetime, question: OpenQuestion) -> datetime | None:
    """Return until when a question counts that is asked now, by the settings."""
    asked = _at_time(question.batch, as_of)
    return open_question(course.settings, asked, question.verdict, "").expires_at


def _at_time(batch: Batch, as_of: datetime) -> Batch:
    """Return a batch as if it had been ruled on at another time."""
    return replace(batch, ctx=batch.ctx.model_copy(update={"as_of": as_of}))


def _first_expiry(settled: Proposal) -> datetime | None:
    """Return when the first item expires that the opened call pins."""
    refs = {*(settled.plan.steps[-1].evidence_refs or ())}
    known = settled.compiled.manifests.evidence
    ends = [known[ref].expires_at for ref in refs if ref in known]
    return min((one for one in ends if one is not None), default=None)


def answer_opening(
    course: Course, event: AnswerEvent, as_of: datetime, record: int | None
) -> Answered:
    """Apply a person's answer to the question about an opened call.

    Args:
        record: the number of the last record of the session.

    Raises:
        OutOfPlace: it is to another question.
    """
    question = course.find_question(event, as_of)
    if event.yes and not is_unexpired(question.expires_at, as_of):
        return course.answer_late(event, as_of)
    asked, course = question.opening, replace(course, question=None)
    assert asked is not None  # noqa: S101 - who asks is told so
    if not event.yes:
        return _deny(course, question, asked, event.approver)
    approval = _approval_of(question, asked, event, record)
    try:
        later = _open(course, asked, as_of, (approval,))
    except OutOfPlace as error:  # since then something was seen or made beside its turn
        lapsed = replace(course, question=question).lapse_question()
        fault = EventFault(path="/event", message=f"the question has lapsed: {error}")
        return lapsed._replace(answer=EventError(session=event.session, error=fault))
    if later.opened and later.judged is not None and later.judged.judged.settled.proposal:
        later = _keep_approved(later, later.judged.judged.settled.proposal, event)
    if not asked.carries_out:
        return later
    return _go_on(later, asked.rest, asked.place[0], as_of)


def _approval_of(
    question: OpenQuestion, asked: AskedOpening, event: AnswerEvent, record: int | None
) -> Approval:
    """Return the approval of a settled plan: it has an id of its own in its log."""
    turn, step = asked.place
    name = f"turn/{turn}/step/{step}" + ("" if record is None else f"/after/{record}")
    expiry: dict[str, Any] = {} if event.expires_at is None else {"expires_at": event.expires_at}
    return Approval(
        approval_id=name, plan_digest=question.plan_digest, approver=event.approver, **expiry
    )


def _keep_approved(answered: Answered, settled: Proposal, event: AnswerEvent) -> Answered:
    """Return the session with what a person saw and approved."""
    without = settled.ctx.model_copy(update={"approvals": None})
    asked = yes_about(*doubts_about(settled.model_copy(update={"ctx": without})))
    session = answered.course.session
    ledger = session.ledger.after_approval(*asked.until(event.expires_at))
    course = replace(answered.course, session=replace(session, ledger=ledger))
    return answered._replace(course=course)


def _deny(course: Course, question: OpenQuestion, asked: AskedOpening, approver: str) -> Answered:
    """Return the session after a no: the batch ends, and the call is denied from now on."""
    turn = asked.place[0]
    denied = replace(course, denied=course.denied | {course.denial_key(asked.call)})
    denied = denied.after_answer(turn, RecordedAnswer(answer="no", approver=approver))
    stopped = _refuse(Answered(denied, judged=asked.opened), turn)
    facts: dict[str, Any] = {"verdict": question.verdict, "plan_digest": question.plan_digest}
    facts |= {"action": "refuse", "note": f"denied by {approver}", "turn": turn}
    if asked.carries_out:
        return stopped._replace(answer=Ruling(session=course.session.id, **facts))
    ruling = OpeningRuling(session=course.session.id, id=asked.call.id, **facts)
    return stopped._replace(answer=ruling)


def carry_out(before: Answered, steps: Sequence[tuple[str, Place]], as_of: datetime) -> Answered:
    """Open the calls with which an agent carries out its plan: one ruling, with the worst action.

    Args:
        before: the session, and what was recorded for the event already.
        steps: the ids of the calls, with the turn and the step of each.
    """
    (_, (turn, _)), *_ = steps
    rest = tuple((call_id, step) for call_id, (_, step) in steps)
    return _go_on(before, rest, turn, as_of)


def _go_on(
    before: Answered, rest: Sequence[tuple[str, int]], turn: int, as_of: datetime
) -> Answered:
    """Open further calls of a plan, up to one that does not pass."""
    later, ruling = before, _as_whole(before, turn)
    for at, (call_id, step) in enumerate(rest):
        if ruling is not None and not ruling:
            break
        asked = AskedOpening((turn, step), Call(call_id, "", {}), tuple(rest[at + 1 :]), True)
        later = _carry_out(later, asked, as_of)
        ruling = _as_whole(later, turn)
    return later._replace(answer=ruling)


def _carry_out(before: Answered, asked: AskedOpening, as_of: datetime) -> Answered:
    """Open one call of a plan, or let it run where it waits for nothing."""
    course, place, call_id = before.course, asked.place, asked.call.id
    running = course.session.running[place[0]]
    if running.is_late:
        now = _open(course, asked, as_of)
        return now._replace(opened=(*before.opened, *now.opened)).after(before)
    call = running.calls[place[1]]._replace(id=call_id)
    action: Action = "refuse" if course.is_denied(call) else "allow"
    facts: dict[str, Any] = {"verdict": running.verdict, "plan_digest": digest(running.plan)}
    ruling = Ruling(session=course.session.id, turn=place[0], action=action, **facts)
    if action == "refuse":
        denied = ruling.model_copy(update={"note": DENIED})
        return _refuse(before, place[0])._replace(answer=denied)
    later = replace(course, session=let_run(course.session, call_id, place))
    return before._replace(course=later, answer=ruling, opened=(*before.opened, call))


def _as_whole(answered: Answered, turn: int) -> Ruling | None:
    """Return the ruling on calls that carry out a plan, by the last of them."""
    last = answered.answer
    if isinstance(last, OpeningRuling):
        names = ("action", "verdict", "plan_digest", "questions", "expires_at", "note", "reply")
        known = {name: getattr(last, name) for name in names if getattr(last, name) is not None}
        return Ruling(session=last.session, turn=turn, **known)
    return last if isinstance(last, Ruling) else None
