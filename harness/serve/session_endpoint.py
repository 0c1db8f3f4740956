"""`/v1/sessions/{session}/events`: the events of agents that act call by call, and the rulings.

Rule 1: a body is one event, as `critic guard` reads it. Its session is that of the path.
Rule 2: an answer that allows is sent once it is recorded, and once only: who does not see it asks
        again, and is judged again.
Rule 3: a session without an event for long is ended at the next event of any session.
"""

import asyncio
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from evals.escaping import escape_name
from harness.guard import (
    Answer,
    AsyncGuard,
    EventError,
    Guard,
    OpenEvent,
    Ruling,
    SessionEvent,
)
from harness.guard.session_events import event_of
from harness.serve.answering import envelope_answer
from harness.serve.idle import IdleSessions
from harness.serve.refusing import RequestRefused
from harness.serve.request_limits import INLINE_BYTES, in_time
from harness.serve.service import ServiceContext
from harness.wire import InvalidInput, parse_json

_SESSION_EVENTS: Final = "/v1/sessions/{session}/events"

_THREADS: Final = 16
_FAILED: Final = "critic_error: "


class SessionEndpoint:
    """Sessions under the policy of a service. Use it from one event loop."""

    def __init__(self, context: ServiceContext) -> None:
        """Guard sessions, if there is a policy."""
        self._context: Final = context
        settings = context.settings
        self._sessions: Guard | None = None
        self._guard: AsyncGuard | None = None
        if settings.policy is not None:
            guard = Guard(settings.policy, log=settings.log, clock=settings.clock)
            self._sessions, self._guard = guard, AsyncGuard(guard, threads=_THREADS)
            context.metrics.sessions.set_function(lambda: guard.open_sessions)
        limits = settings.limits
        self._idle: Final = IdleSessions(limits.idle_seconds, limits.sessions, settings.monotonic)

    def close(self) -> None:
        """End the threads."""
        if self._guard is not None:
            self._guard.shutdown()

    async def take(self, request: Request) -> Response:
        """Take in one event."""
        guard, sessions = self._guard, self._sessions
        if guard is None or sessions is None:
            message = "sessions need a policy: start the service with --policy"
            raise RequestRefused(404, message)
        named = request.path_params["session"]
        limits = self._context.settings.limits
        async with self._context.room.body(request) as data:
            event = await self._context.pool.run(
                lambda: _event(parse_json(data, limits.max_bytes), named),
                inline=len(data) <= INLINE_BYTES,
            )
        for name in self._idle.overdue():
            await guard.abandon(name)
        self._check_place(event, sessions.open_sessions)
        with self._idle.in_use(named, lambda: sessions.is_open(named)):
            answer = await in_time(limits, asyncio.ensure_future(guard.handle(event)))
        if isinstance(answer, Ruling):
            self._count(answer)
        return _answered(answer)

    def _check_place(self, event: SessionEvent, open_sessions: int) -> None:
        limits = self._context.settings.limits
        if not isinstance(event, OpenEvent):
            if self._idle.has_ended(event.session):
                why = f"had no event for {limits.idle_seconds:g} seconds, and has ended"
                message = f"session {escape_name(event.session)} {why}: open another one"
                raise RequestRefused(409, message, "/session")
        elif open_sessions >= limits.sessions:
            message = f"{limits.sessions} sessions are open: close some, or raise --max-sessions"
            raise RequestRefused(429, message, headers={"retry-after": "1"})

    def _count(self, ruling: Ruling) -> None:
        if ruling.critic_error is not None:
            self._context.failed(_SESSION_EVENTS, ruling.critic_error)
        else:
            self._context.metrics.rulings.labels(ruling.action).inc()


def _event(value: Any, session: str) -> SessionEvent:
    """Build an event of the session in the path, which the body may leave out.

    Raises:
        InvalidInput: it is not one.
    """
    if "\ufffd" in session:
        raise InvalidInput("", "the path does not name a session: percent-encode it as UTF-8")
    if not isinstance(value, dict) or "session" not in value:
        return event_of({**value, "session": session} if isinstance(value, dict) else value)
    event = event_of(value)
    if event.session != session:
        raise InvalidInput("/session", "not the session in the path: leave it out here")
    return event


def _answered(answer: Answer) -> Response:
    match answer:
        case None:
            return Response(status_code=204)
        case Ruling(critic_error=str()):
            return envelope_answer(answer, 500)
        case EventError() if answer.error.message.startswith(_FAILED):
            message = answer.error.message.removeprefix(_FAILED)
            raise RequestRefused(500, message, is_ours=True)
        case EventError():
            return envelope_answer(answer, 409)
        case _:
            return envelope_answer(answer)
