"""`/v1/verify`, `/v1/score` and `/v1/consolidate`: an envelope in, a verdict out.

A refusal is a verdict, so its status is 200. Only what is not the envelope is an error.
"""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from harness.serve.answering import envelope_answer
from harness.serve.service import ServiceContext


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
        self._context.metrics.judged(verdict)
        return envelope_answer(verdict)

    def _score(self, value: Any) -> Response:
        verdict = self._context.desk.score(value)
        self._context.metrics.judged(verdict)
        return envelope_answer(verdict)
