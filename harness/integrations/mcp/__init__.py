"""An executor of the canonical loop whose tools are those of MCP servers. Tested with mcp 2.3.0.

Guarded: the plan as a whole, by the permit of the loop, before its first call. Not guarded: what a
server asks a client in the middle of a call. Open the clients without callbacks for that, and such
a call fails.

    async with mcp.Client(StdioServerParameters(command="bank-server")) as bank:
        outcome = await run_canonical_loop(..., executor=McpExecutor({"bank": bank}))
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.integrations.mcp.mcp_executor import McpClient, McpExecutor

__all__ = [
    "McpClient",
    "McpExecutor",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.integrations.mcp.mcp_executor": "McpClient McpExecutor",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
