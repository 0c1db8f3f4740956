"""Guard a Pydantic AI agent: `Agent(model, tools=tools, capabilities=[GuardCapability(guard)])`.

Tested with pydantic-ai-slim 2.68. Needs an extra: `pip install 'plan-critic[pydantic-ai]'`.

Plan seam: each response of the model, before a tool of it runs. Call seam: right before each tool,
with the arguments that it is called with, inside of every hook of other capabilities.

Guarded: function tools, tools of toolsets and MCP servers, tools that need approval, external
tools, sub-agents that have the capability. Tools of the provider and functions of `output_type` run
on what the model wrote before it can be ruled on, so the run ends unless they are accepted by name.
Not guarded: what a tool does by itself, such as running an agent without this capability, or one
in a thread that it starts without its context. With `nested=True` such an agent ends there.
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.integrations.pydantic_ai.pydantic_ai_guard import GuardCapability
    from harness.integrations.seam.ruling_replies import GuardHalted, SeamRuling

__all__ = [
    "GuardCapability",
    "GuardHalted",
    "SeamRuling",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.integrations.pydantic_ai.pydantic_ai_guard": "GuardCapability",
            "harness.integrations.seam.ruling_replies": "GuardHalted SeamRuling",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
