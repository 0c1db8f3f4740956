"""A small shop on the OpenAI Agents SDK, with a guard and tools that note what ran."""

import asyncio
from typing import Any, NamedTuple

from agents import Agent, RunConfig, Runner, RunState, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from harness.guard import Guard
from harness.integrations.openai import guarded, guarding
from harness.integrations.seam.guarded import GuardedSession
from harness.policy import Policy
from harness.record import Decision
from harness.wire import build

QUIET = RunConfig(tracing_disabled=True)
LOOKUP = function_call("lookup", {"order_id": "1"}, call_id="c1")
REFUND = function_call("issue_refund", {"order_id": "1", "cents": 5}, call_id="c2")
BYE = [assistant_message("bye")]

_ARGS = {
    "lookup": {"order_id": {"type": "string"}},
    "issue_refund": {"order_id": {"type": "string"}, "cents": {"type": "integer", "maximum": 10}},
    "transfer_to_desk": {},
    "transfer_to_clerk": {},
    "transfer_to_vault": {},
    "ask_clerk": {"input": {"type": "string"}},
    "shop.issue_refund": {"order_id": {"type": "string"}, "cents": {"type": "integer"}},
}


def policy(mode: str = "destructive", *, asks: bool = False, **guard: Any) -> Policy:
    """Return the policy of the shop. Refunds are destructive; they need a yes where it `asks`."""
    asking = {"approval_required_from": "destructive"} if asks else {}
    return build(
        Policy,
        {
            "guard": {"safety_mode": mode, "max_questions": 9, **guard},
            "spec": {"id": "refunds", "required_outputs": [], **asking},
            "tool": [_tool(name) for name in _ARGS],
        },
    )


def _tool(name: str) -> dict[str, Any]:
    is_destructive = name.endswith(("issue_refund", "vault"))
    mode = "destructive" if is_destructive else "read_only"
    schema = {"type": "object", "properties": _ARGS[name], "additionalProperties": False}
    tool = {"adapter_id": "shop", "capability_id": name, "approval_mode": mode}
    return {**tool, "args_schema": schema}


class Numbered(NamedTuple):
    seq: int


class Log:
    """A log that keeps what it is given, or is full."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.is_full = False

    def append(self, decision: Decision) -> Any:
        if self.is_full:
            raise OSError("the disk is full")
        self.decisions.append(decision)
        return Numbered(len(self.decisions))


class Shop:
    """A guard with one open session, and tools that note what ran."""

    def __init__(self, given: Policy | None = None) -> None:
        self.ran: list[str] = []
        self.log = Log()
        self.policy = policy() if given is None else given
        self.session = GuardedSession(Guard(self.policy, log=self.log), "s1")
        self.session.began("Refund order 1")

    def lookup(self, order_id: str) -> str:
        """Look an order up."""
        self.ran.append(f"lookup {order_id}")
        return "paid"

    def issue_refund(self, order_id: str, cents: int) -> str:
        """Refund an order."""
        self.ran.append(f"issue_refund {order_id} {cents}")
        return "done"

    @property
    def tools(self) -> list[Any]:
        return [function_tool(self.lookup), function_tool(self.issue_refund)]

    def agent(self, *turns: list[Any], **options: Any) -> Any:
        """Return an agent that is not guarded, and its model in `model`: turns, then bye."""
        options = {"name": "desk", "tools": self.tools, **options}
        return Agent(model=ScriptedModel([*turns, BYE]), **options)

    async def run(self, agent: Any, given: Any = "go", **options: Any) -> Any:
        with guarding(self.session, approver="ada"):
            return await Runner.run(agent, given, **{"run_config": QUIET, **options})

    def play(self, *turns: list[Any], **options: Any) -> Any:
        """Run a guarded agent whose model answers these turns, and return the result."""
        return asyncio.run(self.run(guarded(self.agent(*turns, **options))))

    @property
    def statuses(self) -> list[str]:
        """How the calls of the last turn that ended, ended."""
        run = self.log.decisions[-1].run
        return [] if run is None else [call.status for call in run.calls]


def told(result: Any) -> dict[str, str]:
    """Return what the model was told for each call of a run."""
    return {
        item["call_id"]: str(item["output"])
        for item in result.to_input_list()
        if isinstance(item, dict) and item.get("type") == "function_call_output"
    }


def answered(result: Any, **said: bool) -> RunState[Any]:
    """Return the state of an interrupted run after these answers, by call id."""
    state: RunState[Any] = result.to_state()
    for one in state.get_interruptions():
        if one.call_id in said:
            (state.approve if said[str(one.call_id)] else state.reject)(one)
    return state


def asked(result: Any) -> set[str]:
    """Return the ids of the calls that a run was interrupted for."""
    return {one.call_id for one in result.interruptions}
