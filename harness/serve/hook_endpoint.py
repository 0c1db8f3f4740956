"""`/v1/hooks`: hooks of command-line agents, for the user who runs the service, on a Unix socket.

A hook names files of its user, so nobody else may ask: see `ServiceSettings.hooks`.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from harness.serve.service import HookAnswerer, ServiceContext

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
