"""Judge a recorded task turn by turn as a guard would, with a yes to every question. Pure.

The calls of a turn that wait for one another are judged again, one by one, by their `ready` events:
a turn is as strict as the strictest of what is said to it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from critic import Refused, Violation
from critic.session import Action, Batch, Session
from critic.session.waiting_calls import find_call
from evals.escaping import escape_name
from evals.pointers import values_at
from harness.guard.course import Answered, Course
from harness.guard.course_answers import OutOfPlace
from harness.guard.event_dispatch import apply_event
from harness.guard.guard_rules import choose_scope
from harness.guard.reopening import carried_of, carry_over
from harness.guard.rulings import OpeningRuling, Ruling
from harness.guard.session_events import (
    AnswerEvent,
    OpenEvent,
    ReadyEvent,
    ResultEvent,
    SaidEvent,
    SessionEvent,
)
from harness.guard.session_time import WrongTime
from harness.policy.envelopes import Policy
from harness.policy.policy_rules import rules_of
from harness.what_if.proposing.recorded_tasks import (
    RecordedTask,
    TaskEvent,
    TurnEvent,
    requested_calls,
)
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
        opened: the id of the call whose opening it is; None where it is the turn as a whole.
    """

    action: Action
    turn: int
    tool: str
    args: dict[str, Any]
    path: str
    value: Any
    reason: str
    opened: str | None = None

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
        turns: how many turns, and openings of their calls, passed.
        doubts: how many questions asked for more than a tier.
        last: the strictest of what was said since the last turn began; None if an earlier one was
            refused.
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
            return _Play(self._open, task.opening, self._now).judge(task)
        except (OutOfPlace, WrongTime) as error:
            raise InvalidInput("", f"session {escape_name(task.id)}: {error}") from None

    def _open(self, event: OpenEvent) -> Course:
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


_STRICTNESS: Final[tuple[Action, ...]] = ("allow", "ask", "refuse")


class _Play:
    """A task on its way through its turns."""

    def __init__(
        self, open_course: Callable[[OpenEvent], Course], opening: OpenEvent, now: datetime
    ) -> None:
        self._open_course, self._now = open_course, now
        self._course = open_course(opening)
        self._turn = self._passed = self._doubts = 0
        self._has_asked = False
        self._first: TaskStop | None = None
        self._batches: dict[int, Batch] = {}
        self._last: Action | None = None

    def judge(self, task: RecordedTask) -> JudgedTask:
        """Take in the events until a turn is refused."""
        left = len(task.turns)
        for event in self._with_openings(task.events):
            if isinstance(event, OpenEvent):
                self._begin_again(event)
                continue
            if not isinstance(event, TurnEvent | ReadyEvent):
                self._hear(event)
                continue
            is_turn = isinstance(event, TurnEvent)
            left, self._turn = left - is_turn, self._turn + is_turn
            said, stop = self._rule(event)
            if left == 0:
                self._last = max(self._last or said, said, key=_STRICTNESS.index)
            if stop is not None and "refuse" in (said, stop.action):
                return self._end("refused", stop)
            self._passed += 1
        return self._end("asked" if self._has_asked else "allowed", self._first)

    def _with_openings(self, events: Iterable[TaskEvent]) -> Iterator[TaskEvent]:
        """Yield the events, with the openings of the calls that wait by this policy alone.

        What returned was made, so it is opened before. A call that waits for nothing may run.
        """
        for event in events:
            session = self._course.session
            if isinstance(event, ResultEvent) and find_call(session, event.id) is not None:
                yield ReadyEvent(session=event.session, id=event.id, as_of=event.as_of)
            if not isinstance(event, ReadyEvent) or event.id not in session.open_calls:
                yield event

    def _begin_again(self, event: OpenEvent) -> None:
        """Begin another life of the session, with what binds it."""
        before, opened = self._course, self._open_course(event)
        self._course = carry_over(opened, before.session.turn, carried_of(before))

    def _end(self, outcome: TaskOutcome, stop: TaskStop | None) -> JudgedTask:
        return JudgedTask(outcome, stop, self._passed, self._doubts, self._last)

    def _hear(self, event: SaidEvent | ResultEvent) -> None:
        if not isinstance(event, ResultEvent) or event.id in self._course.session.open_calls:
            self._send(event)

    def _rule(self, event: TurnEvent | ReadyEvent) -> tuple[Action, TaskStop | None]:
        """Return what is said to a turn or an opening, and where it stops: after any yes."""
        answered = self._send(event)
        ruling, stop = self._read(answered, event)
        if ruling.action != "ask":
            return ruling.action, stop
        self._has_asked = True
        while ruling.action == "ask":  # who carries out a plan may be asked call by call
            self._doubts += stop is not None
            self._first = self._first or stop
            is_late = self._batches[ruling.turn].is_late
            answered = self._send(_yes_to(ruling, is_late=is_late))
            if not isinstance(answered.answer, Ruling | OpeningRuling):
                return "refuse", stop
            ruling, stop = self._read(answered, event)
        if ruling.action == "allow":
            return "ask", self._first
        return "refuse", stop or self._first

    def _read(
        self, answered: Answered, event: TurnEvent | ReadyEvent
    ) -> tuple[Ruling | OpeningRuling, TaskStop | None]:
        """Return a ruling, and what it stops for."""
        ruling = answered.answer
        if not isinstance(ruling, Ruling | OpeningRuling):
            raise OutOfPlace("/event", "a turn was not ruled on")
        for one in answered.records:
            self._batches.setdefault(one.batch.turn, one.batch)
        if isinstance(ruling, Ruling) and ruling.unknown and not isinstance(event, ReadyEvent):
            asked = requested_calls(event)
            call = next(one for one in asked if one.id == ruling.unknown[0].id)
            args = dict(call.args)
            return ruling, TaskStop("refuse", self._turn, call.tool, args, "", None, _UNKNOWN_TOOL)
        return ruling, self._find_stop(answered, ruling)

    def _find_stop(self, answered: Answered, ruling: Ruling | OpeningRuling) -> TaskStop | None:
        """Return what a ruling stops for: a value first; None if for nothing but a tier."""
        if not isinstance(ruling.verdict, Refused) or ruling.action == "allow":
            return None
        doubts = [one for one in ruling.verdict.violations if not _BY_TIER.match(one.reason)]
        if ruling.action == "ask" and not doubts:
            return None
        found = min(doubts or ruling.verdict.violations, key=_is_of_call)
        batch = self._batches[ruling.turn]
        call = batch.calls[batch.call_at(found.offending_step or 0)]
        opened = None
        if answered.judged is not None:
            call, opened = answered.judged.call, call.id
        args, path = dict(call.args), _AT_ARGS.sub("", found.path or "")
        path = "" if _is_of_call(found) else path
        value = next(iter(values_at(args, path, wildcard=False)), None) if path else None
        reason = _STEP.sub("", found.reason)
        return TaskStop(ruling.action, self._turn, call.tool, args, path, value, reason, opened)

    def _send(self, event: SessionEvent) -> Answered:
        timed = _at_time(self._course, event.as_of, self._now)
        answered = apply_event(timed, event, timed.time.at, None)
        self._course = answered.course
        return answered


def _yes_to(ruling: Ruling | OpeningRuling, *, is_late: bool) -> AnswerEvent:
    """Return a yes of somebody who was shown all that is asked about."""
    late: dict[str, Any] = {"late": True} if is_late else {}
    digest = ruling.plan_digest or ""
    return AnswerEvent(
        session=ruling.session, plan_digest=digest, yes=True, approver=_APPROVER, **late
    )


def _at_time(course: Course, as_of: datetime | None, now: datetime) -> Course:
    return replace(course, time=course.time.after(as_of, now))


def _is_of_call(violation: Violation) -> bool:
    """Return whether a violation is about a call as a whole, and no value of it."""
    return _AT_ARGS.match(violation.path or "") is None
