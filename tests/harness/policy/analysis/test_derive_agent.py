"""Tools from the objects of real frameworks: all of them, with arguments and types of results."""

import sys
from types import ModuleType
from typing import Any

import pytest
from agents import Agent as OpenAIAgent
from agents import RunContextWrapper, WebSearchTool, function_tool
from fastmcp import FastMCP
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from mcp.types import ToolAnnotations
from pydantic_ai import Agent, FunctionToolset, RunContext
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import CombinedToolset

from evals.json_schemas import compile_schema
from harness.policy.analysis.derive_agent import AgentTools, tools_of_object
from harness.policy.analysis.derive_tools import ToolDraft
from harness.wire import InvalidInput

SOURCE = '''
from typing_extensions import TypedDict

class Parcel(TypedDict):
    parcel_id: str
    weight: float

def get_parcel(parcel_id: str) -> Parcel:
    """Look a parcel up."""

async def list_parcels(sender: str, limit: int = 5) -> list[Parcel]:
    """List parcels."""

def drop_parcel(parcel_id: str) -> str:
    """Throw a parcel away."""
'''


PARCEL = {"parcel_id": "p", "weight": 1.5}


def module(source: str = SOURCE, name: str = "own.parcels") -> Any:
    made = ModuleType(name)
    sys.modules[name] = made
    exec(source, vars(made))  # noqa: S102 - the text is right above
    return made


def functions() -> list[Any]:
    own = module()
    return [own.get_parcel, own.list_parcels, own.drop_parcel]


def read(found: Any) -> AgentTools:
    return tools_of_object(found, "shop", "own:thing")


def drafts(found: Any) -> dict[str, ToolDraft]:
    tools = read(found)
    assert tools.left_out == []
    return {draft.capability_id: draft for draft in tools.drafts}


def has_all(found: Any, prefix: str = "") -> dict[str, ToolDraft]:
    """Assert that the three functions were read as they are, and return their drafts by name."""
    read_drafts = drafts(found)
    named = {name.removeprefix(prefix): draft for name, draft in read_drafts.items()}
    assert {"get_parcel", "list_parcels", "drop_parcel"} <= named.keys()
    results = {name: one.result for name, one in named.items()}
    assert results["list_parcels"] is not None
    assert compile_schema(results["list_parcels"].schema).is_valid([PARCEL])
    assert not compile_schema(results["list_parcels"].schema).is_valid([{}])
    assert results["get_parcel"] is not None
    assert compile_schema(results["get_parcel"].schema).is_valid(PARCEL)
    takes = compile_schema(named["list_parcels"].args_schema).is_valid
    assert takes({"sender": "a"})
    assert takes({"sender": "a", "limit": 1})
    assert not takes({"limit": 1})
    assert not takes({"sender": "a", "other": 1})
    assert named["get_parcel"].summary == "Look a parcel up."
    assert {draft.adapter_id for draft in named.values()} == {"shop"}
    return named


def test_functions_are_read_as_they_are_in_modules_lists_and_alone() -> None:
    own = module()
    assert has_all(functions()) == has_all(own) == has_all([own]) == has_all(tuple(functions()))
    assert list(drafts(own.get_parcel)) == ["get_parcel"]


def test_langchain_tools_nodes_and_graphs_are_read() -> None:

    tools = [tool(one) for one in functions()]
    builder = StateGraph(MessagesState).add_node("tools", ToolNode(tools))
    graph = builder.add_edge("__start__", "tools").compile()
    outer = StateGraph(MessagesState).add_node("inner", graph).add_edge("__start__", "inner")
    agent = create_agent(GenericFakeChatModel(messages=iter(())), tools)
    known = has_all(tools)
    names = [one.result and one.result.name for one in known.values()]
    assert names == ["Parcel", "Parcel_list", ""]
    for found in (ToolNode(tools), builder, graph, outer, outer.compile(), agent):
        assert has_all(found) == known
    assert list(drafts(tools[0])) == ["get_parcel"]


def test_openai_agents_are_read_with_their_handoffs() -> None:

    def pay_bill(ctx: RunContextWrapper[None], bill_id: str) -> dict[str, str]:
        """Pay a bill."""
        return {}

    pay = function_tool(pay_bill, needs_approval=True)
    payer = OpenAIAgent(name="payer", tools=[pay])
    agent = OpenAIAgent(
        name="desk", tools=[function_tool(one) for one in functions()], handoffs=[payer]
    )
    payer.handoffs.append(agent)
    found = has_all(agent)
    assert found.keys() >= {"pay_bill", "transfer_to_payer", "transfer_to_desk"}
    assert list((found["pay_bill"].args_schema or {})["properties"]) == ["bill_id"]
    assert found["pay_bill"].needs_approval
    assert not found["get_parcel"].needs_approval
    assert "hands the conversation" in found["transfer_to_payer"].todo[0]
    agent.tools.append(WebSearchTool())
    (left_out,) = read(agent).left_out
    assert left_out.startswith("left out agents.WebSearchTool: ")


def test_pydantic_ai_agents_and_toolsets_are_read() -> None:

    toolset = FunctionToolset[Any](functions())
    agent = Agent(TestModel(), toolsets=[toolset])

    @agent.tool(requires_approval=True)
    def pay_bill(ctx: RunContext[None], bill_id: str) -> None:
        """Pay a bill."""

    found = has_all(agent)
    assert list((found["pay_bill"].args_schema or {})["properties"]) == ["bill_id"]
    assert found["pay_bill"].needs_approval
    has_all(toolset)
    has_all(CombinedToolset([toolset]))
    has_all(toolset.filtered(lambda _ctx, _tool: False))
    has_all(toolset.prefixed("own"), "own_")
    renamed = drafts(toolset.renamed({"new": "drop_parcel"}))
    assert renamed.keys() == {"get_parcel", "list_parcels", "new"}
    assert all(one.needs_approval for one in drafts(toolset.approval_required()).values())


def test_a_fastmcp_server_is_read_in_process_and_a_toolset_of_it_is_entered() -> None:

    own = module()
    server: Any = FastMCP("parcels")
    for one in (own.get_parcel, own.list_parcels):
        server.tool(one)
    server.tool(own.drop_parcel, annotations=ToolAnnotations(destructiveHint=True))
    found = has_all(server)
    assert found["drop_parcel"].hints_at_destruction
    assert not found["get_parcel"].hints_at_destruction
    entered = drafts(MCPToolset(server))
    assert {name: one.args_schema for name, one in entered.items()} == {
        name: one.args_schema for name, one in found.items()
    }
    assert entered["drop_parcel"].hints_at_destruction
    result = entered["list_parcels"].result
    assert result is not None
    assert result.schema["type"] == "array"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (7, "own:thing has no tools, it is of type int: write MODULE:OBJECT, and after the colon"),
        ([], "own:thing has no tools, it is of type list"),
        ([7], "own:thing has no tool that can be read: left out int: its arguments"),
        ({"a": 1}, "own:thing has no tools, it is of type dict"),
        (None, "own:thing has no tools, it is of type NoneType"),
        (module("class A: ...\nthing = A()", "own.nothing"), ": write MODULE:OBJECT"),
        (
            module("def _f(): ...\nTOOLS = [_f]\n_private = [_f]\nnumbers = [1]", "own.with_tools"),
            "has no tools, it is of type module: write one of these after the colon: TOOLS",
        ),
    ],
    ids=str,
)
def test_what_has_no_tools_is_one_line_with_what_to_write(found: Any, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(found)
    assert words in caught.value.message
    assert "\n" not in caught.value.message


TOOL_MODULES = {
    "langchain": "from langchain_core.tools import tool as mark",
    "openai": "from agents import function_tool as mark",
    "pydantic": "from pydantic_ai import Tool as mark",
}


@pytest.mark.parametrize("framework", TOOL_MODULES)
def test_a_module_has_the_tools_of_a_framework_and_its_functions(framework: str) -> None:
    text = f"""{TOOL_MODULES[framework]}
@mark
def refund(order_id: str) -> str:
    "Pays an order back."
def find(order_id: str) -> str:
    "Finds an order."
def _wipe(order_id: str) -> str:
    "Wipes an order."
_wipe_tool = mark(_wipe)
find_tool = mark(find)
TOOLS = [refund]
"""
    found = drafts(module(text, f"own.{framework}"))
    assert found.keys() == {"refund", "find"}
    assert found["refund"].description == "Pays an order back."
    assert set((found["refund"].args_schema or {})["properties"]) == {"order_id"}


def test_a_tool_of_another_name_takes_the_place_of_its_function() -> None:
    text = """from langchain_core.tools import tool
def _pay(order_id: str): "Pays."
def send(order_id: str): "Sends."
paying, sending = tool("pay")(_pay), tool("post")(send)
"""
    assert drafts(module(text, "own.renamed")).keys() == {"pay", "post"}
    text = f"{text}__all__ = ['paying', 'send']\n"
    assert drafts(module(text, "own.listed")).keys() == {"pay", "send"}


def test_one_tool_may_be_met_twice_and_two_of_one_name_may_not() -> None:
    own = module()
    assert len(read([own.get_parcel, [own.get_parcel]]).drafts) == 1
    other = module("def get_parcel(other: int): ...", "own.other")
    with pytest.raises(InvalidInput, match="two tools that are called get_parcel: rename one"):
        read([own.get_parcel, other.get_parcel])


def test_what_holds_itself_has_an_end_and_what_is_no_tool_is_said() -> None:
    found: list[Any] = [*functions(), "text"]
    found.append(found)
    tools = read(found)
    assert len(tools.drafts) == 3
    assert tools.left_out == ["left out str: its arguments are not known"]
