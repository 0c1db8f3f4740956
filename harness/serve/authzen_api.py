"""The endpoints of AuthZEN 1.0: `/access/v1/evaluation`, `/access/v1/evaluations`, metadata."""

import re
from collections.abc import Callable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from harness.serve.answering import json_answer
from harness.serve.authzen import AuthzenDesk
from harness.serve.refusing import Json, RequestRefused
from harness.serve.service import ServiceContext

EVALUATION: Final = "/access/v1/evaluation"
EVALUATIONS: Final = "/access/v1/evaluations"
AUTHZEN_METADATA: Final = "/.well-known/authzen-configuration"

_HOST: Final = re.compile(r"[A-Za-z0-9._\-:\[\]]{1,255}")


class AuthzenEndpoints:
    """A policy decision point, as the standard has it. Search is not offered."""

    def __init__(self, context: ServiceContext) -> None:
        """Answer by the policy of a service, if it has one."""
        self._context: Final = context
        settings = context.settings
        self._desk: Final = (
            None
            if settings.policy is None
            else AuthzenDesk(settings.policy, context.desk, settings.clock)
        )

    async def evaluation(self, request: Request) -> Response:
        """Answer one question."""
        return await self._answer(request, lambda desk, value: desk.evaluation(value))

    async def evaluations(self, request: Request) -> Response:
        """Answer many."""
        most = self._context.settings.limits.batch
        return await self._answer(request, lambda desk, value: desk.evaluations(value, most))

    async def _answer(self, request: Request, ask: Callable[[AuthzenDesk, Any], Json]) -> Response:
        desk = self._desk
        if desk is None:
            message = "nothing is permitted without a policy: start the service with --policy"
            raise RequestRefused(404, message)
        return await self._context.answer(request, lambda value: json_answer(ask(desk, value)))

    async def metadata(self, request: Request) -> Response:
        """Say where the endpoints are, seen from where this was asked."""
        base = self._context.settings.public_url or _asked_under(request)
        return json_answer(
            {
                "policy_decision_point": base,
                "access_evaluation_endpoint": f"{base}{EVALUATION}",
                "access_evaluations_endpoint": f"{base}{EVALUATIONS}",
            }
        )


def _asked_under(request: Request) -> str:
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise RequestRefused(400, "the header Host does not name a host")
    return f"{request.scope['scheme']}://{host}"
