"""Guard agents of the OpenAI Agents SDK. Needs the extra `openai`; tested with openai-agents 0.24.

    agent = guarded(agent)
    session = GuardedSession(Guard(policy, log=log), "s1")
    session.began(request)
    with guarding(session, approver="emma"):
        result = await Runner.run(agent, request)

Guarded: function tools, tools of local MCP servers, agents as tools, and handoffs, each by its name
in the policy. Not guarded: what a provider runs (an agent with such a tool is not run unless
`unguarded` names it), realtime agents, and what the function of a tool does by itself.

Rule 1: the call seam is what runs the tool: no hook, guardrail or approval comes after it.
Rule 2: where a person is asked, each call of the turn interrupts the run.
Rule 3: an agent that could act around the seams is not run.
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.integrations.openai.openai_guard import Unguardable, guarded
    from harness.integrations.openai.openai_run import Unanswered, guarding
    from harness.integrations.seam.guarded import GuardedSession
    from harness.integrations.seam.ruling_replies import GuardHalted

__all__ = [
    "GuardHalted",
    "GuardedSession",
    "Unanswered",
    "Unguardable",
    "guarded",
    "guarding",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.integrations.openai.openai_guard": "Unguardable guarded",
            "harness.integrations.openai.openai_run": "Unanswered guarding",
            "harness.integrations.seam.guarded": "GuardedSession",
            "harness.integrations.seam.ruling_replies": "GuardHalted",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
