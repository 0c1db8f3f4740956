"""The endpoints of the service itself: verdicts, sessions, hooks, health.

`/v1/verify`, `/v1/score` and `/v1/consolidate` take an envelope and answer a verdict. A refusal is
a verdict, so its status is 200; only what is not the envelope is an error.

`/v1/sessions/{session}/events` takes the events of agents that act call by call:

Rule 1: a body is one event, as `critic guard` reads it. Its session is that of the path.
Rule 2: an answer that allows is sent once it is recorded, and once only: who does not see it asks
        again, and is judged again.
Rule 3: a session without an event for long is ended at the next event of any session.

`/v1/hooks` answers hooks of command-line agents, for the user who runs the service, on a Unix
socket: a hook names files of its user, so nobody else may ask (`ServiceSettings.hooks`).
`/healthz`, `/readyz`, `/metrics`, and `/health` as OPA has it, are for those who run the service.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from harness.serve.answering import RequestRefused, envelope_answer, json_answer
from harness.serve.request_limits import INLINE_BYTES, in_time
from harness.serve.service import HookAnswerer, Monotonic, ServiceContext
from harness.serve.telemetry import METRICS_TYPE
from harness.wire import InvalidInput, parse_json

"""Tells seconds that never go back."""


class _IdleSessions:
    """When each open session had its last event. Use it from one event loop."""

    def __init__(self, seconds: float, most: int, monotonic: Monotonic) -> None:
        """End sessions after so many seconds, and remember at most so many that have ended."""
        self._seconds, self._most, self._monotonic = seconds, most, monotonic
        self._since: Final[OrderedDict[str, float]] = OrderedDict()
        self._in_use: Final[Counter[str]] = Counter()
        self._ended: Final[OrderedDict[str, None]] = OrderedDict()

    @contextmanager
    def in_use(self, name: str, is_open: Callable[[], bool]) -> Iterator[None]:
        """Keep a session from ending during an event. If it is open then, its time begins anew."""
        self._in_use[name] += 1
        self._since.pop(name, None)
        try:
            yield
        finally:
            self._in_use[name] -= 1
            if not self._in_use[name]:
                del self._in_use[name]
            if name not in self._in_use and is_open():
                self._since[name] = self._monotonic()
                self._ended.pop(name, None)

    def overdue(self) -> list[str]:
        """Return the sessions that are to be ended now. They are given once."""
        latest = self._monotonic() - self._seconds
        found: list[str] = []
        while self._since and next(iter(self._since.values())) <= latest:
            found.append(self._since.popitem(last=False)[0])
        for name in found:
            self._ended[name] = None
        while len(self._ended) > self._most:
            self._ended.popitem(last=False)
        return found

    def has_ended(self, name: str) -> bool:
        """Return whether a session was ended, and not opened again. Old ones are forgotten."""
        return name in self._ended


class VerdictEndpoints:
    """The three functions of the critic, as endpoints."""

    def __init__(self, context: ServiceContext) -> None:
        """Answer with the parts of a service."""
        self._context: Final = context

    async def verify(self, request: Request) -> Response:
        """Judge a Proposal."""
        return await self._context.answer(request, self._verify)

    async def score(self, request: Request) -> Response:
        """Judge a Run."""
        return await self._context.answer(request, self._score)

    async def consolidate(self, request: Request) -> Response:
        """Pack verdicts into a report."""
        return await self._context.answer(
            request, lambda value: envelope_answer(self._context.desk.consolidate(value))
        )

    def _verify(self, value: Any) -> Response:
        verdict = self._context.desk.verify(value)
        self._context.metrics.count_verdict(verdict)
        return envelope_answer(verdict)

    def _score(self, value: Any) -> Response:
        verdict = self._context.desk.score(value)
        self._context.metrics.count_verdict(verdict)
        return envelope_answer(verdict)


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
            guard = Guard(
                settings.policy,
                log=settings.log,
                clock=settings.clock,
                max_skew=settings.max_skew,
            )
            self._sessions, self._guard = guard, AsyncGuard(guard, threads=_THREADS)
            context.metrics.sessions.set_function(lambda: guard.open_sessions)
        limits = settings.limits
        self._idle: Final = _IdleSessions(limits.idle_seconds, limits.sessions, settings.monotonic)

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
        return _answer_response(answer)

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
            self._context.report_failure(_SESSION_EVENTS, ruling.critic_error)
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


def _answer_response(answer: Answer) -> Response:
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


HOOKS: Final = "/v1/hooks"
HOOK_TYPE: Final = "application/vnd.plan-critic.hook"


class HookEndpoint:
    """Answers hooks as bytes. What cannot be answered is an error, and the hook works alone."""

    def __init__(self, context: ServiceContext, answer: HookAnswerer) -> None:
        """Answer with a function."""
        self._context, self._answer = context, answer

    async def take(self, request: Request) -> Response:
        """Answer one hook."""
        async with self._context.room.body(request, HOOK_TYPE) as data:
            found = await self._context.pool.run(lambda: self._answer(data))
        return Response(found, headers={"content-type": HOOK_TYPE})


class HealthEndpoints:
    """The endpoints that an orchestrator asks."""

    def __init__(self, context: ServiceContext) -> None:
        """Look at the parts of a service."""
        self._context: Final = context

    async def answer_alive(self, _request: Request) -> Response:
        """Answer: the process answers."""
        return json_answer({"status": "ok"})

    async def opa_alive(self, _request: Request) -> Response:
        """Answer the same to clients of OPA."""
        return json_answer({})

    async def answer_ready(self, _request: Request) -> Response:
        """Answer whether requests can be answered: the log, if there is one, can be read."""
        await self._require_log()
        return json_answer({"status": "ok"})

    async def opa_ready(self, _request: Request) -> Response:
        """Answer the same to clients of OPA."""
        await self._require_log()
        return json_answer({})

    async def _require_log(self) -> None:
        log: Any = self._context.settings.log
        if hasattr(log, "head"):
            try:
                await self._context.pool.run(log.head)
            except RequestRefused:
                raise
            except Exception:
                message = "the decision log cannot be read: look at its file and its disk"
                raise RequestRefused(503, message, is_ours=True) from None

    async def metrics(self, _request: Request) -> Response:
        """Answer in the format of Prometheus."""
        return Response(self._context.metrics.text(), headers={"content-type": METRICS_TYPE})
