"""Tools that are no functions, or come later: they are guarded, or the agent is not run."""

import asyncio
from typing import Any

import pytest
from agents import (
    AgentHooks,
    ApplyPatchTool,
    CodeInterpreterTool,
    CustomTool,
    HostedMCPTool,
    LocalShellTool,
    RunConfig,
    RunHooks,
    ShellTool,
    WebSearchTool,
    function_tool,
    handoff,
    tool_namespace,
)
from agents.mcp import MCPServer
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Shell
from agents.testing import ScriptedModel, function_call, scripted_sandbox_session
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as MCPTool

from harness.guard import Guard, UnknownTool
from harness.integrations.openai import Unguardable, guarded
from tests.support.openai_shop import BYE, LOOKUP, REFUND, Shop, policy, told


class NoEditor:
    """Edits nothing, and never has to."""


async def no_tool(_context: Any, _input: str) -> str:
    raise AssertionError("it ran")


LOCAL = [
    ShellTool(executor=lambda _request: "it ran"),
    LocalShellTool(executor=lambda _request: "it ran"),
    ApplyPatchTool(editor=NoEditor()),  # type: ignore[arg-type]
    CustomTool(name="grammar", description="", on_invoke_tool=no_tool),
]
OF_THE_PROVIDER = [
    WebSearchTool(),
    CodeInterpreterTool(tool_config={"type": "code_interpreter", "container": {"type": "auto"}}),
    HostedMCPTool(
        tool_config={"type": "mcp", "server_label": "x", "server_url": "https://mcp.invalid"}
    ),
]


@pytest.mark.parametrize("tool", LOCAL, ids=lambda tool: tool.name)
def test_a_tool_that_the_sdk_runs_without_a_seam_is_never_run(tool: Any) -> None:
    shop = Shop()
    for unguarded in ([], [tool.name]):
        with pytest.raises(Unguardable, match="cannot be guarded: leave it out"):
            guarded(shop.agent(tools=[tool]), unguarded=unguarded)


@pytest.mark.parametrize("tool", OF_THE_PROVIDER, ids=lambda tool: tool.name)
def test_a_tool_of_the_provider_is_run_only_where_the_caller_says_so(tool: Any) -> None:
    shop = Shop()
    agent = shop.agent([LOOKUP], tools=[tool, *shop.tools])
    with pytest.raises(Unguardable):
        guarded(agent)
    late = guarded(shop.agent())
    late.tools.append(tool)
    with pytest.raises(Unguardable):
        asyncio.run(shop.run(late))
    assert late.model.calls == ()
    result = asyncio.run(shop.run(guarded(agent, unguarded=[tool.name])))
    assert (shop.ran, result.final_output) == (["lookup 1"], "bye")


def test_only_agents_of_the_runner_can_be_guarded() -> None:
    with pytest.raises(Unguardable, match="str is not an agents"):
        guarded("agent")


class Server(MCPServer):
    """An MCP server in this process."""

    def __init__(self, ran: list[str]) -> None:
        super().__init__()
        self.ran = ran

    @property
    def name(self) -> str:
        return "shop"

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def list_tools(self, *_given: Any) -> list[MCPTool]:
        schema = {"type": "object", "properties": {"order_id": {"type": "string"}}}
        return [
            MCPTool.model_validate({"name": name, "inputSchema": schema})
            for name in ("lookup", "issue_refund")
        ]

    async def call_tool(self, tool_name: str, *_given: Any) -> CallToolResult:
        self.ran.append(tool_name)
        return CallToolResult(content=[TextContent(type="text", text="paid")])

    async def list_prompts(self) -> Any: ...

    async def get_prompt(self, name: str, arguments: Any = None) -> Any: ...


def test_tools_of_an_mcp_server_are_guarded() -> None:
    shop = Shop(policy("local_write"))
    result = shop.play([LOOKUP, REFUND], [LOOKUP], tools=[], mcp_servers=[Server(shop.ran)])
    assert "not allowed here" in told(result)["c1"]
    assert shop.ran == []
    again = LOOKUP.model_copy(update={"call_id": "c9"})
    result = shop.play([again], tools=[], mcp_servers=[Server(shop.ran)])
    assert shop.ran == ["lookup"]
    (call,) = shop.log.decisions[-1].run.calls  # type: ignore[union-attr]
    assert (call.status, call.output) == ("completed", "paid")


def test_tools_that_are_added_later_are_guarded() -> None:
    shop = Shop(policy("local_write"))

    class Adds(RunHooks[Any]):
        async def on_agent_start(self, _context: Any, agent: Any) -> None:
            agent.tools.append(function_tool(shop.issue_refund))

    agent = guarded(shop.agent([LOOKUP, REFUND], tools=[function_tool(shop.lookup)]))
    asyncio.run(shop.run(agent, hooks=Adds()))
    assert shop.ran == []


def test_a_copy_of_a_guarded_agent_is_guarded() -> None:
    shop = Shop(policy("local_write"))
    agent = guarded(shop.agent([LOOKUP, REFUND]))
    assert guarded(agent) is agent
    asyncio.run(shop.run(agent.clone(name="copy", tools=shop.tools)))
    assert shop.ran == []


def changed(agent: Any, change: str, shop: Shop) -> None:
    match change:
        case "other hooks":
            agent.hooks = AgentHooks()
        case "no hooks":
            agent.hooks = None
        case "a handoff":
            agent.handoffs = [handoff(shop.agent())]
        case "another agent":
            agent.handoffs.append(shop.agent())


@pytest.mark.parametrize("change", ["other hooks", "no hooks", "a handoff", "another agent"])
def test_an_agent_that_was_changed_is_not_run_until_it_is_guarded_again(change: str) -> None:
    shop = Shop(policy("local_write"))
    agent = guarded(shop.agent([LOOKUP, REFUND]))
    changed(agent, change, shop)
    with pytest.raises(Unguardable, match="guard it again"):
        asyncio.run(shop.run(agent))
    assert agent.model.calls == ()
    asyncio.run(shop.run(guarded(agent)))
    assert shop.ran == []


def test_an_agent_with_the_hooks_of_a_guarded_one_is_not_guarded_by_them() -> None:
    shop = Shop(policy("local_write"))
    agent = shop.agent([LOOKUP, REFUND], hooks=guarded(shop.agent()).hooks)
    asyncio.run(shop.run(guarded(agent)))
    assert shop.ran == []


def test_tools_in_namespaces_are_told_apart() -> None:
    shop = Shop()
    tools = tool_namespace(name="shop", description="The shop", tools=shop.tools)
    call = LOOKUP.model_copy(update={"namespace": "shop"})
    for guard in (None, shop.session.guard):  # at the beginning of a run, or when it is built
        with pytest.raises(UnknownTool, match=r"no tool shop.lookup \(did you mean lookup\?\)"):
            asyncio.run(shop.run(guarded(shop.agent([call], tools=tools), guard=guard)))
    assert shop.ran == []


def test_the_tools_of_agents_that_are_handed_to_are_checked() -> None:
    shop = Shop()
    strange = function_tool(shop.lookup, name_override="look_up")
    clerk = shop.agent(name="clerk", tools=[strange])
    with pytest.raises(UnknownTool, match="no tool look_up"):
        guarded(shop.agent(handoffs=[clerk]), guard=shop.session.guard)
    shadow = Guard(policy("destructive", shadow=True))
    assert guarded(shop.agent(handoffs=[clerk]), guard=shadow).name == "desk"


def sandboxed(shop: Shop, **options: Any) -> Any:
    call = function_call("exec_command", {"cmd": "rm -rf ~"}, call_id="c1")
    agent = guarded(SandboxAgent("desk", model=ScriptedModel([[call], BYE]), **options))
    sandbox = SandboxRunConfig(session=scripted_sandbox_session([]))
    config = RunConfig(tracing_disabled=True, sandbox=sandbox)
    return asyncio.run(shop.run(agent, run_config=config))


def test_the_shell_of_a_sandbox_is_guarded() -> None:
    result = sandboxed(Shop(), capabilities=[Shell()])
    assert 'There is no tool "exec_command"' in told(result)["c1"]


def test_a_sandbox_with_a_tool_that_has_no_seam_is_not_run() -> None:
    with pytest.raises(Unguardable, match="apply_patch"):
        sandboxed(Shop())
