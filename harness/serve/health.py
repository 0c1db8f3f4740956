"""`/healthz`, `/readyz`, `/metrics`, and `/health` as OPA has it: for those who run the service."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from harness.serve.answering import json_answer
from harness.serve.refusing import RequestRefused
from harness.serve.service import ServiceContext
from harness.serve.telemetry import METRICS_TYPE


class HealthEndpoints:
    """What an orchestrator asks."""

    def __init__(self, context: ServiceContext) -> None:
        """Look at the parts of a service."""
        self._context: Final = context

    async def alive(self, _request: Request) -> Response:
        """Answer: the process answers."""
        return json_answer({"status": "ok"})

    async def opa_alive(self, _request: Request) -> Response:
        """Answer the same to clients of OPA."""
        return json_answer({})

    async def ready(self, _request: Request) -> Response:
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
