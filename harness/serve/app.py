"""The ASGI application: who may ask, which endpoint answers, and what becomes of a failure.

Rule 1: whatever fails is answered with `critic_error`, and never with an allow.
Rule 2: no text of a request is printed or counted: failures are told by the route.
"""

import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from harness.serve.answering import RequestFault, RequestRefused, fault_answer, fault_of
from harness.serve.authzen import AUTHZEN_METADATA, EVALUATION, EVALUATIONS, AuthzenEndpoints
from harness.serve.bearer_tokens import Asker
from harness.serve.endpoints import (
    HOOKS,
    HealthEndpoints,
    HookEndpoint,
    SessionEndpoint,
    VerdictEndpoints,
)
from harness.serve.opa import BATCH, DATA, OpaEndpoints
from harness.serve.openapi import OpenApiEndpoint
from harness.serve.running import IdleLimit, is_loopback, run_app
from harness.serve.service import ASKER, ServiceContext, ServiceSettings

_Endpoint = Callable[[Request], Awaitable[Response]]

_OPEN_TO_ALL: Final = frozenset(
    {
        *("/healthz", "/readyz", "/openapi.json", AUTHZEN_METADATA),
        *("/health", "/health/live", "/health/ready"),
    }
)
"""What needs no token: it says nothing of any decision."""

_REQUEST_ID: Final = b"x-request-id"
_LONGEST_ID: Final = 256
_GRACE_S: Final = 5
_ALIKE: Final = "every token may approve: give approvers their own tokens with --approvers"
_HEADERS: Final = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]


class _AnyText(StringConvertor):
    """Any part of a path, with slashes and line breaks: the id of a session may have them."""

    regex = "(?s:.+)"


register_url_convertor("any_text", _AnyText())


class CriticApp:
    """The service. Make one for each policy, and close it when its server has ended."""

    def __init__(self, settings: ServiceSettings) -> None:
        """Make the endpoints.

        Raises:
            ValueError: the policy gives evidence an id, or a class a name, that sessions give.
            UsageError: a token is of both kinds, or only those who approve have one.
        """
        self._context: Final = ServiceContext(settings)
        self._sessions: Final = SessionEndpoint(self._context)
        routes = self.routes = _routes(self._context, self._sessions)
        self._names: Final[dict[Any, str]] = {
            route.endpoint: route.path for route in reversed(routes)
        }
        self._router: Final = Router(routes, redirect_slashes=False)

    def close(self) -> None:
        """End the threads once what they work on is done."""
        self._sessions.close()
        self._context.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        scope["app"] = self  # so that the router raises what it cannot answer
        reply, room, metrics = _Reply(scope, send), self._context.room, self._context.metrics
        began, entered = time.perf_counter(), False
        try:
            self._check_asker(scope)
            room.enter()
            entered = True
            metrics.in_progress.set(room.requests)
            await self._router(scope, receive, reply.send)
        except ClientDisconnect:
            pass
        except Exception as error:
            await self._fail(error, scope, receive, reply)
        finally:
            if entered:
                room.leave()
            metrics.in_progress.set(room.requests)
            route = self._route(scope)
            metrics.requests.labels(route, str(reply.status)).inc()
            metrics.seconds.labels(route).observe(time.perf_counter() - began)

    def _check_asker(self, scope: Scope) -> None:
        """Note who sent a request.

        Raises:
            RequestRefused: they may not.
        """
        context = self._context
        if context.askers is None:
            if context.settings.loopback_only and not _names_loopback(scope):
                message = "the header Host does not name this machine: ask for 127.0.0.1"
                raise RequestRefused(421, message)
            scope[ASKER] = Asker()
        elif scope["path"] not in _OPEN_TO_ALL:
            asker = context.askers.find(scope["headers"])
            if asker is None:
                message = "send a token: Authorization: Bearer TOKEN"
                raise RequestRefused(401, message, headers={"www-authenticate": "Bearer"})
            scope[ASKER] = asker

    async def _fail(
        self, error: Exception, scope: Scope, receive: Receive, reply: "_Reply"
    ) -> None:
        if reply.status:  # half an answer was sent: the server closes the connection
            raise error
        fault = _routing_fault(error) if isinstance(error, HTTPException) else fault_of(error)
        if fault.is_ours:
            self._context.report_failure(self._route(scope), fault.message, fault.kind)
        await fault_answer(fault, scope["path"])(scope, receive, reply.send)

    def _route(self, scope: Scope) -> str:
        return self._names.get(scope.get("endpoint"), "none")


def _routes(context: ServiceContext, sessions: SessionEndpoint) -> list[Route]:
    verdicts, authzen = VerdictEndpoints(context), AuthzenEndpoints(context)
    opa, health, page = OpaEndpoints(context), HealthEndpoints(context), OpenApiEndpoint()
    posts: dict[str, _Endpoint] = {
        "/v1/verify": verdicts.verify,
        "/v1/score": verdicts.score,
        "/v1/consolidate": verdicts.consolidate,
        "/v1/sessions/{session:any_text}/events": sessions.take,
        EVALUATION: authzen.evaluation,
        EVALUATIONS: authzen.evaluations,
        f"{BATCH}{{path:path}}": opa.batch,
    }
    settings = context.settings
    if settings.hooks is not None and settings.approvers is None:
        posts[HOOKS] = HookEndpoint(context, settings.hooks).take
    gets: dict[str, _Endpoint] = {
        "/v1/sessions/{session:any_text}/status": sessions.show,
        AUTHZEN_METADATA: authzen.metadata,
        "/openapi.json": page.show,
        "/healthz": health.answer_alive,
        "/health": health.opa_alive,
        "/health/live": health.opa_alive,
        "/health/ready": health.opa_ready,
        "/readyz": health.answer_ready,
        "/metrics": health.metrics,
    }
    return [
        Route(f"{DATA}{{path:path}}", opa.data, methods=["GET", "POST"]),
        *(Route(path, endpoint, methods=["POST"]) for path, endpoint in posts.items()),
        *(Route(path, endpoint, methods=["GET"]) for path, endpoint in gets.items()),
    ]


def _names_loopback(scope: Scope) -> bool:
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1:
        return False
    host = hosts[0].decode("latin-1")
    bare = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return is_loopback(bare)


def _routing_fault(error: HTTPException) -> RequestFault:
    message = {
        404: "no such endpoint: /openapi.json lists them",
        405: "this endpoint has another method: see the header Allow",
    }.get(error.status_code, "this request cannot be answered")
    return RequestFault(error.status_code, message, headers=dict(error.headers or {}))


class _Reply:
    """Sends the answer to one request, with the headers that every answer has."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.status = 0
        self._scope, self._send = scope, send

    async def send(self, message: Message) -> None:
        """Send one part of it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", ()), *_HEADERS, *self._request_id()]
            message = {**message, "headers": headers}
        await self._send(message)

    def _request_id(self) -> list[tuple[bytes, bytes]]:
        """Return the id of the request, to be sent back if it is short and printable."""
        given = [value for name, value in self._scope["headers"] if name == _REQUEST_ID]
        if len(given) != 1 or not 0 < len(given[0]) <= _LONGEST_ID:
            return []
        shown = given[0].decode("latin-1")
        return [(_REQUEST_ID, given[0])] if shown.isascii() and shown.isprintable() else []


def serve(settings: ServiceSettings, bound: socket.socket, limit: IdleLimit | None = None) -> int:
    """Serve until SIGTERM or SIGINT, and return the one that came, 0 for none.

    It then takes no more connections, answers what it has begun, and returns.
    """
    app = CriticApp(settings)
    # A body, its answer, and a little more: by then every request has ended by its own limits.
    grace = 2 * settings.limits.seconds + _GRACE_S
    alike = settings.tokens is not None and settings.approvers is None
    try:
        return run_app(app, bound, int(grace), note=_ALIKE if alike else "", limit=limit)
    finally:
        app.close()
