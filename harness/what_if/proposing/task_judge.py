"""Judge a recorded task turn by turn as a guard would, with a yes to every question. Pure."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from critic import Refused, Violation
from critic.session import Action, Session
from evals.escaping import escape_name
from evals.pointers import values_at
from harness.guard.course import Course
from harness.guard.course_answers import OutOfPlace
from harness.guard.event_dispatch import apply_event
from harness.guard.guard_rules import choose_scope
from harness.guard.rulings import Ruling
from harness.guard.session_events import AnswerEvent, CallsEvent, SaidEvent
from harness.guard.session_time import WrongTime
from harness.policy.envelopes import Policy
from harness.policy.policy_rules import rules_of
from harness.what_if.proposing.recorded_tasks import RecordedTask, TaskEvent
from harness.wire import InvalidInput

TaskOutcome = Literal["allowed", "asked", "refused"]

_BY_TIER: Final = re.compile(r"step \d+ mode \w+ needs approval")
_STEP: Final = re.compile(r"^step \d+ ")
_AT_ARGS: Final = re.compile(r"^/steps/\d+/args")
_UNSEEN: Final = "was not seen in the request or in any result"
_MISFIT: Final = "args do not match the args_schema"
_APPROVER: Final = "person"
_UNKNOWN_TOOL: Final = "the policy has no such tool: add it"


class TaskStop(NamedTuple):
    """Where a task is refused, or asked about for more than the tier of a tool.

    Attributes:
        turn: counted from 1.
        path: a JSON pointer into the arguments; "" where the call as a whole is meant.
        value: what stands there.
        reason: why, as the verdict says, without the step.
    """

    action: Action
    turn: int
    tool: str
    args: dict[str, Any]
    path: str
    value: Any
    reason: str

    @property
    def is_unseen(self) -> bool:
        """Whether its value stands neither in the request nor in any result."""
        return _UNSEEN in self.reason

    @property
    def is_misfit(self) -> bool:
        """Whether its arguments, or its tool, are not those of the policy."""
        return self.reason == _UNKNOWN_TOOL or _MISFIT in self.reason


class JudgedTask(NamedTuple):
    """What became of a task.

    Attributes:
        stop: the refusal, else the first question that a tier alone does not ask.
        turns: how many turns ran.
        doubts: how many questions asked for more than a tier.
        last: what was said to the last turn; None if an earlier one was refused.
    """

    outcome: TaskOutcome
    stop: TaskStop | None
    turns: int
    doubts: int
    last: Action | None

    @property
    def is_through(self) -> bool:
        """Whether all was allowed, or asked about by tier alone."""
        return self.stop is None


class TaskJudge:
    """Judges tasks by one policy."""

    def __init__(self, policy: Policy, now: datetime) -> None:
        """Prepare the rules of a policy. A shadow is judged as what it would enforce.

        Args:
            now: what the clock says where events tell no time.

        Raises:
            ValueError: the policy gives evidence an id, or a class a name, that sessions give.
        """
        self.policy: Final = policy
        settings = {"shadow": False, "on_refusal": "answer"}
        self._settings: Final = policy.guard.model_copy(update=settings)
        self._rules: Final = rules_of(policy)
        self._now: Final = now

    def judge(self, task: RecordedTask) -> JudgedTask:
        """Return what becomes of a task until a turn of it is refused.

        Raises:
            InvalidInput: an event has no place in the session.
        """
        try:
            return _Play(self._open(task), self._now).judge(task)
        except (OutOfPlace, WrongTime) as error:
            raise InvalidInput("", f"session {escape_name(task.id)}: {error}") from None

    def _open(self, task: RecordedTask) -> Course:
        event = task.opening
        session = Session.opened(
            self._rules,
            event.session,
            event.request,
            system=event.system,
            scope=choose_scope(self._rules.tools, event.scope, self.policy.scope),
            tenant_id=event.tenant,
            user_id=event.user,
        )
        course = Course(self._settings, session)
        return course if event.as_of is None else _at_time(course, event.as_of, self._now)


class _Play:
    """A task on its way through its turns."""

    def __init__(self, course: Course, now: datetime) -> None:
        self._course, self._now = course, now
        self._turns = self._doubts = 0
        self._has_asked = False
        self._first: TaskStop | None = None

    def judge(self, task: RecordedTask) -> JudgedTask:
        """Take in the events until a turn is refused."""
        calls = task.calls
        last: Action | None = None
        for event in task.events:
            if isinstance(event, CallsEvent):
                said, stop = self._rule(event)
                last = said if event is calls[-1] else None
                if stop is not None and stop.action == "refuse":
                    return JudgedTask("refused", stop, self._turns, self._doubts, last)
                self._turns += 1
            elif isinstance(event, SaidEvent) or event.id in self._course.session.open_calls:
                self._send(event)
        outcome: TaskOutcome = "asked" if self._has_asked else "allowed"
        return JudgedTask(outcome, self._first, self._turns, self._doubts, last)

    def _rule(self, event: CallsEvent) -> tuple[Action, TaskStop | None]:
        """Return what is said to a turn, and where it stops: after a yes, if a person is asked."""
        ruling = self._send(event)
        if ruling is None:
            raise OutOfPlace("/event", "a turn was not ruled on")
        stop = _stop_of(ruling, event, self._turns + 1)
        if ruling.action != "ask":
            return ruling.action, stop
        self._has_asked = True
        self._doubts += stop is not None
        self._first = self._first or stop
        answer = self._send(_yes_to(ruling))
        if answer is None or answer.action != "allow":
            return "refuse", _stop_of(answer or ruling, event, self._turns + 1) or stop
        return "ask", stop

    def _send(self, event: TaskEvent | AnswerEvent) -> Ruling | None:
        timed = _at_time(self._course, event.as_of, self._now)
        answered = apply_event(timed, event, timed.time.at, None)
        self._course = answered.course
        return answered.answer if isinstance(answered.answer, Ruling) else None


def _yes_to(ruling: Ruling) -> AnswerEvent:
    digest = ruling.plan_digest or ""
    return AnswerEvent(session=ruling.session, plan_digest=digest, yes=True, approver=_APPROVER)


def _at_time(course: Course, as_of: datetime | None, now: datetime) -> Course:
    return replace(course, time=course.time.after(as_of, now))


def _stop_of(ruling: Ruling, event: CallsEvent, turn: int) -> TaskStop | None:
    """Return what a ruling stops for: a value first; None if for nothing but a tier."""
    if ruling.unknown:
        call = next(one for one in event.calls if one.id == ruling.unknown[0].id)
        return TaskStop("refuse", turn, call.tool, dict(call.args), "", None, _UNKNOWN_TOOL)
    if not isinstance(ruling.verdict, Refused):
        return None
    doubts = [one for one in ruling.verdict.violations if not _BY_TIER.match(one.reason)]
    if ruling.action == "ask" and not doubts:
        return None
    found = min(doubts or ruling.verdict.violations, key=_is_of_call)
    call = event.calls[min(found.offending_step or 0, len(event.calls) - 1)]
    path = "" if _is_of_call(found) else _AT_ARGS.sub("", found.path or "")
    value = next(iter(values_at(dict(call.args), path, wildcard=False)), None) if path else None
    reason = _STEP.sub("", found.reason)
    return TaskStop(ruling.action, turn, call.tool, dict(call.args), path, value, reason)


def _is_of_call(violation: Violation) -> bool:
    """Return whether a violation is about a call as a whole, and no value of it."""
    return _AT_ARGS.match(violation.path or "") is None
