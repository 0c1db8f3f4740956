"""The events of a session as methods of a guard, each with the type of its answer.

Use `handle` to pass events on: it is total. Use these methods to make events: they raise if
something is wrong, so each returns one type only.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar, overload

from critic.session import SessionReport
from evals.run import CallStatus
from harness.errors import HarnessError
from harness.guard.command_world import CommandWorld
from harness.guard.rulings import Answer, EventError, OpeningRuling, Ruling
from harness.guard.session_events import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    OpenEvent,
    ReadyEvent,
    RequestedCall,
    ResultEvent,
    SaidEvent,
    SentCall,
    SessionEvent,
    SessionPlanEvent,
)
from harness.runtime.ports import ShellWorld
from harness.wire import build

_EventT = TypeVar("_EventT", bound=SessionEvent)
_AnswerT = TypeVar("_AnswerT", Ruling, OpeningRuling, SessionReport)
_Moment = datetime | str | None

_ABSENT: Final[Any] = object()
"""Stands for a member that is left out, where None would be one of its values."""


class EventMethods:
    """A guard that receives events."""

    _commands: CommandWorld

    def use_world(self, world: ShellWorld | None) -> None:
        """Read the shell commands of later calls by the facts of another world."""
        self._commands.use(world)

    def _answer(self, event: SessionEvent, note: str | None, *, raises: bool) -> Answer:
        """Handle one event. Its errors are raised if `raises`, else returned."""
        raise NotImplementedError

    @overload
    def handle(
        self, event: OpenEvent | SaidEvent | ResultEvent, *, note: str | None = None
    ) -> EventError | None: ...
    @overload
    def handle(
        self, event: CallsEvent | SessionPlanEvent, *, note: str | None = None
    ) -> Ruling | EventError: ...
    @overload
    def handle(
        self, event: AnswerEvent, *, note: str | None = None
    ) -> Ruling | OpeningRuling | EventError: ...
    @overload
    def handle(
        self, event: ReadyEvent, *, note: str | None = None
    ) -> OpeningRuling | EventError: ...
    @overload
    def handle(
        self, event: CloseEvent, *, note: str | None = None
    ) -> SessionReport | EventError: ...
    @overload
    def handle(self, event: SessionEvent, *, note: str | None = None) -> Answer: ...
    def handle(self, event: SessionEvent, *, note: str | None = None) -> Answer:
        """Handle one event. Total: it never raises an Exception, and a failure allows nothing.

        If sessions are kept, `note` is stored with the event: see `keep_note`.
        """
        return self._answer(event, note, raises=False)

    def open(
        self,
        session: str,
        request: str,
        *,
        system: str | None = None,
        scope: Sequence[str] | None = None,
        tenant: str | None = None,
        user: str | None = None,
        again: bool | None = None,
        as_of: _Moment = None,
    ) -> None:
        """Open a session with the user's request: see `OpenEvent`.

        Raises:
            InvalidInput, OutOfPlace: a field is invalid, or the id is taken.
            HarnessError: the guard failed.
        """
        known = {"system": system, "scope": scope, "tenant": tenant, "user": user, "again": again}
        self._take_told(OpenEvent, session, as_of, known, request=request)

    def said(self, session: str, text: str, *, as_of: _Moment = None) -> None:
        """Add a later message of the user.

        Raises:
            InvalidInput, OutOfPlace: a field is invalid, or the session is not open.
            HarnessError: the guard failed.
        """
        self._take_told(SaidEvent, session, as_of, {}, text=text)

    def calls(
        self, session: str, calls: Sequence[RequestedCall], *, as_of: _Moment = None
    ) -> Ruling:
        """Rule on the calls of one turn. In an `if`, the ruling is true if the calls may be made.

        Raises:
            InvalidInput, OutOfPlace: a field is invalid, or the session is not open.
        """
        answer = self._take_told(CallsEvent, session, as_of, {}, calls=calls)
        return _require_kind(Ruling, answer)

    def plan(
        self, session: str, steps: Sequence[RequestedCall], *, as_of: _Moment = None
    ) -> Ruling:
        """Rule on a plan that the agent carries out itself, in later turns: see `SessionPlanEvent`.

        Raises:
            InvalidInput, OutOfPlace: a field is invalid, or the session is not open.
        """
        answer = self._take_told(SessionPlanEvent, session, as_of, {}, steps=steps)
        return _require_kind(Ruling, answer)

    def ready(self, session: str, id: str, *, as_of: _Moment = None) -> OpeningRuling:
        """Open an allowed call that waits for others. Send the `args` of the ruling.

        Raises:
            InvalidInput, OutOfPlace: it does not wait, or what it waits for has not ended.
        """
        answer = self._take_told(ReadyEvent, session, as_of, {}, id=id)
        return _require_kind(OpeningRuling, answer)

    def result(
        self,
        session: str,
        id: str,
        status: CallStatus = "completed",
        *,
        output: Any = _ABSENT,
        error: str | None = None,
        tokens: int | None = None,
        duration_ms: int | None = None,
        cost_micros: int | None = None,
        cut: bool | None = None,
        sent: SentCall | None = None,
        denied_by: str | None = None,
        as_of: _Moment = None,
    ) -> None:
        """Report the result of an allowed call: see `ResultEvent`. `output` is a JSON value.

        Raises:
            InvalidInput, OutOfPlace: a field is invalid, or no result of the call is expected.
            HarnessError: the guard failed.
        """
        known: dict[str, Any] = {
            "error": error,
            "tokens": tokens,
            "duration_ms": duration_ms,
            "cut": cut,
        }
        known |= {"cost_micros": cost_micros, "sent": sent, "denied_by": denied_by}
        given = {} if output is _ABSENT else {"output": output}
        self._take_told(ResultEvent, session, as_of, known, id=id, status=status, **given)

    def answer(
        self,
        session: str,
        plan_digest: str | None,
        yes: bool,
        approver: str,
        *,
        expires_at: datetime | str = _ABSENT,
        late: bool = False,
        as_of: _Moment = None,
    ) -> Ruling | OpeningRuling:
        """Pass on a person's answer to the open question: see `AnswerEvent`.

        An answer to a question about an opened call has the form of the ruling that asked.

        Args:
            plan_digest: the digest in the ruling that asked.
            yes: whether they approved.
            approver: who answered. The caller authenticates them.
            late: they were shown where each value comes from that is not there yet.

        Raises:
            NoOpenQuestion: the session has no open question.
            InvalidInput, OutOfPlace: a field is invalid, or the question was another one.
        """
        given = {} if expires_at is _ABSENT else {"expires_at": expires_at}
        said = {"plan_digest": plan_digest, "yes": yes, "approver": approver, **given}
        known = {"late": True if late else None}
        answer = self._take_told(AnswerEvent, session, as_of, known, **said)
        if isinstance(answer, OpeningRuling):
            return answer
        return _require_kind(Ruling, answer)

    def close(
        self, session: str, outputs: Mapping[str, Any] | None = None, *, as_of: _Moment = None
    ) -> SessionReport:
        """Close a session with its outputs, and return its report.

        Raises:
            InvalidInput, OutOfPlace: a field is invalid, or the session is not open.
            HarnessError: the guard failed.
        """
        known = {"outputs": None if outputs is None else dict(outputs)}
        answer = self._take_told(CloseEvent, session, as_of, known)
        return _require_kind(SessionReport, answer)

    def _take_told(
        self,
        kind: type[_EventT],
        session: str,
        as_of: _Moment,
        known: Mapping[str, Any],
        **given: Any,
    ) -> Answer:
        """Handle an event of a kind. Fields in `known` that are None are left out."""
        told = {"session": session, "as_of": as_of, **known}
        told = {name: value for name, value in told.items() if value is not None}
        answer = self._answer(build(kind, {**told, **given}), None, raises=True)
        if isinstance(answer, EventError):
            raise HarnessError(answer.error.message)
        return answer


def _require_kind(kind: type[_AnswerT], answer: Answer) -> _AnswerT:
    if not isinstance(answer, kind):
        raise TypeError(f"the guard answered {type(answer).__name__}")
    return answer
