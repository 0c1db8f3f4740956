"""The context of all endpoints: the policy, the log, the limits, how a body is read and judged."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from harness.clock import SystemClock
from harness.guard.recording import GuardLog
from harness.log import SqlDecisionLog
from harness.policy import Policy
from harness.runtime.ports import Clock
from harness.serve.bearer_tokens import Asker, BearerTokens, askers_of
from harness.serve.document_judging import VerdictDesk
from harness.serve.log_faults import LOG_FAULT_KINDS
from harness.serve.request_limits import INLINE_BYTES, RequestRoom, ServiceLimits, WorkPool
from harness.serve.service_log import LogOpener, Monotonic, ServiceLog
from harness.serve.telemetry import ServiceMetrics
from harness.wire import parse_json

HookAnswerer = Callable[[bytes], bytes]
"""Answers a hook that is written as bytes, and raises where it cannot."""


ASKER: Final = "plan_critic.asker"
"""Where the scope of a request says who sent it."""


@dataclass(frozen=True)
class ServiceSettings:
    """How a service is set up.

    Attributes:
        policy: the policy of the sessions, and of documents that leave it out.
        log: where each decision is recorded before it is answered, or what opens it once it can be.
        max_skew: how far the time that an event tells may be from the clock; None is any.
        tokens: who may ask; None is everybody who can connect.
        approvers: who may answer what a person is asked; None is whoever may ask.
        loopback_only: requests that name another host are refused: a page that a browser shows
            could have its name point to this machine.
        public_url: what metadata calls the service, behind a proxy.
        monotonic: tells how long a session had no event.
        hooks: answers the hooks of agents. They name files of their user: give it only where that
            user alone can connect. Where approvers have tokens, it is not asked: a hook tells what
            its user said.
    """

    policy: Policy | None = None
    log: SqlDecisionLog | LogOpener | GuardLog | None = None
    clock: Clock = field(default_factory=SystemClock)
    max_skew: timedelta | None = None
    tokens: BearerTokens | None = None
    approvers: BearerTokens | None = None
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    loopback_only: bool = True
    public_url: str | None = None
    monotonic: Monotonic = time.monotonic
    hooks: HookAnswerer | None = None


class ServiceContext:
    """The working parts of one service."""

    def __init__(self, settings: ServiceSettings) -> None:
        """Make them.

        Raises:
            UsageError: a token is of both kinds, or only those who approve have one.
        """
        self.settings: Final = settings
        self.askers: Final = askers_of(settings.tokens, settings.approvers)
        self.room: Final = RequestRoom(settings.limits)
        self.pool: Final = WorkPool(settings.limits)
        self.metrics: Final = ServiceMetrics()
        self.log: Final = self._watched_log(settings)
        self.desk: Final = VerdictDesk(settings.policy, self.log, settings.clock)

    def _watched_log(self, settings: ServiceSettings) -> ServiceLog | GuardLog | None:
        log = settings.log
        if isinstance(log, SqlDecisionLog) or callable(log):
            return ServiceLog(log, self.metrics.log, settings.monotonic)
        return log

    def close(self) -> None:
        """End the threads once what they work on is done, and close what was opened here."""
        self.pool.close()
        if isinstance(self.log, ServiceLog):
            self.log.close()

    @staticmethod
    def asker(request: Request) -> Asker:
        """Return who sent a request."""
        asker: Asker = request.scope[ASKER]
        return asker

    async def answer(self, request: Request, judge: Callable[[Any], Response]) -> Response:
        """Answer a request by what its body says. Short work is done at once.

        Raises:
            InvalidInput: the body is not strict JSON, or `judge` says so.
            RequestRefused: it is beyond a limit.
        """
        async with self.room.body(request) as data:
            limit = self.settings.limits.max_bytes
            inline = len(data) <= INLINE_BYTES and not self.desk.is_recorded
            return await self.pool.run(lambda: judge(parse_json(data, limit)), inline=inline)

    def report_failure(self, route: str, message: str, kind: str) -> None:
        """Tell those who run the service that the critic failed. `message` is safe to print.

        What becomes of the log is told by the log itself, once and not for each request.
        """
        self.metrics.errors.labels(kind).inc()
        if isinstance(self.log, ServiceLog) and kind in LOG_FAULT_KINDS:
            return
        with suppress(OSError, ValueError, AttributeError):  # standard error may be closed
            sys.stderr.write(f"critic: {route}: {message}\n")
            sys.stderr.flush()
