"""The endpoints of the service itself: verdicts, sessions, hooks, health.

`/v1/verify`, `/v1/score` and `/v1/consolidate` take an envelope and answer a verdict. A refusal is
a verdict, so its status is 200; only what is not the envelope is an error.

`/v1/sessions/{session}/events` takes the events of agents that act call by call:

Rule 1: a body is one event, as `critic guard` reads it. Its session is that of the path.
Rule 2: an answer that allows is sent once it is recorded, and once only: who does not see it asks
        again, and is judged again.
Rule 3: a session without an event for long is ended at the next event of any session.
Rule 4: a session is spoken in by the token that opened it. Where approvers have tokens of their
        own, theirs answer questions, of any session, and do nothing else in one; and what a person
        approved is taken from them alone, wherever it stands.

`/v1/sessions/{session}/status` says what a person is asked there, and which calls were allowed.

`/v1/hooks` answers hooks of command-line agents, for the user who runs the service, on a Unix
socket: a hook names files of its user, so nobody else may ask (`ServiceSettings.hooks`).
`/healthz`, `/readyz`, `/metrics`, and `/health` as OPA has it, are for those who run the service.
"""

import asyncio
import re
from contextlib import ExitStack
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from evals.escaping import escape_name
from harness.guard import (
    Answer,
    AnswerEvent,
    AsyncGuard,
    EventError,
    EventFault,
    Guard,
    OpenEvent,
    OutOfPlace,
    Ruling,
    SessionEvent,
    SessionStatus,
)
from harness.guard.open_sessions import already_open, unknown_session
from harness.guard.session_events import event_of
from harness.log import LogError
from harness.serve.answering import Json, RequestRefused, envelope_answer, json_answer
from harness.serve.bearer_tokens import Asker
from harness.serve.document_judging import own_yes_only
from harness.serve.log_faults import RETRY, LogFault, fault_told, log_fault
from harness.serve.request_limits import INLINE_BYTES, in_time
from harness.serve.service import HookAnswerer, ServiceContext
from harness.serve.service_log import Readiness, ServiceLog
from harness.serve.session_register import SessionRegister
from harness.serve.telemetry import METRICS_TYPE
from harness.wire import InvalidInput, parse_json


class VerdictEndpoints:
    """The three functions of the critic, as endpoints."""

    def __init__(self, context: ServiceContext) -> None:
        """Answer with the parts of a service."""
        self._context: Final = context

    async def verify(self, request: Request) -> Response:
        """Judge a Proposal."""
        asker = self._context.asker(request)
        return await self._context.answer(request, own_yes_only(asker, self._verify))

    async def score(self, request: Request) -> Response:
        """Judge a Run."""
        asker = self._context.asker(request)
        return await self._context.answer(request, own_yes_only(asker, self._score))

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
                log=context.log,
                clock=settings.clock,
                max_skew=settings.max_skew,
            )
            self._sessions, self._guard = guard, AsyncGuard(guard, threads=_THREADS)
            context.metrics.watch_sessions(guard.open_work)
        limits = settings.limits
        self._register: Final = SessionRegister(
            limits.idle_seconds,
            limits.sessions,
            settings.monotonic,
            are_kept=self._sessions is not None and self._sessions.keeps_sessions,
        )
        self._handled: Final[set[asyncio.Task[Answer]]] = set()

    def close(self) -> None:
        """End the threads."""
        if self._guard is not None:
            self._guard.shutdown()

    async def take(self, request: Request) -> Response:
        """Take in one event."""
        guard, sessions = self._require_guard()
        named, limits = request.path_params["session"], self._context.settings.limits
        asker = self._context.asker(request)
        async with self._context.room.body(request) as data:
            event = await self._context.pool.run(
                lambda: _event(parse_json(data, limits.max_bytes), named),
                inline=len(data) <= INLINE_BYTES,
            )
        _require_role(event, asker)
        await self._end_overdue(guard)
        await self._recall(sessions, event.session)
        is_claimed = isinstance(event, OpenEvent) and not self._register.knows(event.session)
        answer: Answer = self._refuse_place(event, asker, sessions.open_sessions)
        if answer is None:
            answer = await self._handle(guard, sessions, event, asker, is_claimed=is_claimed)
        if isinstance(answer, Ruling):
            self._count(answer)
        return _answer_response(answer)

    async def show(self, request: Request) -> Response:
        """Answer where a session stands: to who may only answer in it, with its question alone."""
        guard, sessions = self._require_guard()
        named, asker = _require_name(request.path_params["session"]), self._context.asker(request)
        await self._end_overdue(guard)
        await self._recall(sessions, named)
        if not self._register.may_speak(named, asker):
            raise RequestRefused(404, str(unknown_session(named)), "/session")
        status = await self._context.pool.run(lambda: guard.status(named))
        if status is None:
            raise RequestRefused(404, str(unknown_session(named)), "/session")
        return json_answer({"session": named, **_shown_status(status, asker)})

    def _require_guard(self) -> tuple[AsyncGuard, Guard]:
        if self._guard is None or self._sessions is None:
            message = "sessions need a policy: start the service with --policy"
            raise RequestRefused(404, message)
        return self._guard, self._sessions

    async def _end_overdue(self, guard: AsyncGuard) -> None:
        for name in self._register.overdue():
            await guard.abandon(name)
            self._register.forget(name)

    async def _recall(self, sessions: Guard, name: str) -> None:
        """Take in who opened a session that is kept, if it is not known here."""
        if not sessions.keeps_sessions or self._register.knows(name):
            return
        opened = await self._context.pool.run(lambda: _opener(sessions, name))
        if opened is not None:
            self._register.recall(name, opened.token)

    def _refuse_place(
        self, event: SessionEvent, asker: Asker, open_sessions: int
    ) -> EventError | None:
        """Return why an event is not given to the guard, if it is not.

        Raises:
            RequestRefused: its session has ended, or there are too many.
        """
        limits, name = self._context.settings.limits, event.session
        if isinstance(event, OpenEvent):
            if open_sessions >= limits.sessions:
                what = f"{limits.sessions} sessions are open: close some, or raise --max-sessions"
                raise RequestRefused(429, what, headers={"retry-after": "1"})
            return (
                None
                if self._register.claim(name, asker)
                else _report_refusal(name, already_open(name))
            )
        if self._register.has_ended(name, asker):
            why = f"had no event for {limits.idle_seconds:g} seconds, and has ended"
            message = f"session {escape_name(name)} {why}: open another one"
            raise RequestRefused(409, message, "/session")
        if self._register.may_speak(name, asker):
            return None
        return _report_refusal(name, unknown_session(name))

    async def _handle(
        self,
        guard: AsyncGuard,
        sessions: Guard,
        event: SessionEvent,
        asker: Asker,
        *,
        is_claimed: bool,
    ) -> Answer:
        """Have the guard answer an event, to its end even where nobody waits for that any more."""
        note = _opener_note(asker) if isinstance(event, OpenEvent) else None
        used = ExitStack()  # from now on, and not from when the task begins
        used.enter_context(
            self._register.in_use(event.session, lambda: sessions.is_open(event.session))
        )

        async def answer() -> Answer:
            is_opened = False
            try:
                with used:
                    given: Answer = await guard.handle(event, note=note)
                is_opened = not isinstance(given, EventError)
            finally:
                if is_claimed:
                    self._register.settle(event.session, is_opened=is_opened)
            return given

        task = asyncio.create_task(answer())
        self._handled.add(task)
        task.add_done_callback(self._handled.discard)
        return await in_time(self._context.settings.limits, asyncio.shield(task))

    def _count(self, ruling: Ruling) -> None:
        if (message := ruling.critic_error) is not None:
            self._context.report_failure(_SESSION_EVENTS, message, _failure_of(message).kind)
        else:
            self._context.metrics.count_ruling(ruling)


_OPENER: Final = re.compile("(?:[0-9a-f]{2})*")
"""A note of a session that this service opened: the digest of a token, or nothing."""


def _opener_note(asker: Asker) -> str:
    """Return who opens a session, as it is noted beside it."""
    return "" if asker.token is None else asker.token.hex()


def _opener(sessions: Guard, name: str) -> Asker | None:
    """Return who opened a session that is open; None if it is not."""
    try:
        note = sessions.note(name)
    except OutOfPlace:
        return None
    if note is None or not _OPENER.fullmatch(note):  # as a hook keeps its memory there
        return None
    return Asker(bytes.fromhex(note) if note else None)


def _event(value: Any, session: str) -> SessionEvent:
    """Build an event of the session in the path, which the body may leave out.

    Raises:
        InvalidInput: it is not one.
    """
    _require_name(session)
    if not isinstance(value, dict) or "session" not in value:
        return event_of({**value, "session": session} if isinstance(value, dict) else value)
    event = event_of(value)
    if event.session != session:
        raise InvalidInput("/session", "not the session in the path: leave it out here")
    return event


def _require_name(session: str) -> str:
    """Return the session in a path.

    Raises:
        InvalidInput: it is not text.
    """
    if "\ufffd" in session:
        raise InvalidInput("", "the path does not name a session: percent-encode it as UTF-8")
    return session


def _require_role(event: SessionEvent, asker: Asker) -> None:
    """Check that an event is of those that who asks may send, whatever its session.

    Raises:
        RequestRefused: it is not.
    """
    if isinstance(event, AnswerEvent):
        if not asker.is_approver:
            message = "an answer is taken from a token of --approvers alone"
            raise RequestRefused(403, message, "/event")
    elif not asker.is_agent:
        message = "a token of --approvers answers questions: events of agents need one of --tokens"
        raise RequestRefused(403, message, "/event")


def _report_refusal(session: str, why: OutOfPlace) -> EventError:
    """Return an error as the guard words it."""
    return EventError(session=session, error=EventFault(path=why.path, message=str(why)))


def _shown_status(status: SessionStatus, asker: Asker) -> Json:
    question = status.question
    asked = {} if question is None else {"question": question.ruling.wire()}
    if not asker.is_agent:
        return asked
    awaited = sorted(status.awaited)
    return {"turn": status.turn, "has_halted": status.has_halted, "awaited": awaited, **asked}


def _answer_response(answer: Answer) -> Response:
    match answer:
        case None:
            return Response(status_code=204)
        case Ruling(critic_error=str() as message):
            fault = _failure_of(message)
            error = {"path": "", "message": message}
            return json_answer({**answer.wire(), "error": error}, fault.status, fault.headers)
        case EventError() if answer.error.message.startswith(_FAILED):
            fault = _failure_of(answer.error.message.removeprefix(_FAILED))
            headers, kind = fault.headers, fault.kind
            raise RequestRefused(fault.status, fault.told, headers=headers, is_ours=True, kind=kind)
        case EventError():
            return envelope_answer(answer, 409)
        case _:
            return envelope_answer(answer)


def _failure_of(message: str) -> LogFault:
    """Return the failure that the guard tells of: one of the log, or one of its own."""
    return fault_told(message) or LogFault("internal", message, 500)


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
        log = context.log
        self._readiness: Final = (
            Readiness(log, context.pool, context.settings.monotonic)
            if isinstance(log, ServiceLog)
            else None
        )

    async def answer_alive(self, _request: Request) -> Response:
        """Answer: the process answers."""
        return json_answer({"status": "ok"})

    async def opa_alive(self, _request: Request) -> Response:
        """Answer the same to clients of OPA."""
        return json_answer({})

    async def answer_ready(self, _request: Request) -> Response:
        """Answer whether requests can be answered: the log, if there is one, takes appends."""
        await self._require_log()
        return json_answer({"status": "ok"})

    async def opa_ready(self, _request: Request) -> Response:
        """Answer the same to clients of OPA."""
        await self._require_log()
        return json_answer({})

    async def _require_log(self) -> None:
        if self._readiness is None:
            return
        try:
            await self._readiness.require()
        except LogError as error:  # who runs the service is told by the log, once
            fault = log_fault(error)
            raise RequestRefused(503, fault.told, headers=RETRY) from None

    async def metrics(self, _request: Request) -> Response:
        """Answer in the format of Prometheus."""
        return Response(self._context.metrics.text(), headers={"content-type": METRICS_TYPE})
