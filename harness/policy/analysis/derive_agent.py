"""Derive tools from an object of a framework: an agent, a graph, a server, a toolset, functions.

Rule 1: only functions that list tools are called, and a toolset or server is entered where listing
        needs it. No model is needed.
Rule 2: frameworks are recognized by the names of their classes, so that none must be installed.
Rule 3: what cannot be read is reported, never skipped silently.
"""

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, Final, NamedTuple

from critic.labels import read_labels
from evals.escaping import escape_name
from harness.policy.analysis.derive_mcp import draft_of_listed, hints_destroy
from harness.policy.analysis.derive_tools import (
    IDENTIFIER,
    ResultType,
    ToolDraft,
    draft_of_function,
    explain_bad_name,
    plain_schema,
    public_functions,
    public_members,
    result_of_function,
    result_of_schema,
    why_not_derived,
)
from harness.wire import InvalidInput

_WAIT_S: Final = 60
_MOST_LEVELS: Final = 12
_MOST_SEEN: Final = 60
WHAT_TO_NAME: Final = (
    "write MODULE:OBJECT, and after the colon the agent, the graph, the server or toolset, or a "
    "list of functions"
)
_HANDS_OVER: Final = "hands the conversation to another agent, whose tools are judged as well"


class AgentTools(NamedTuple):
    """The tools of an object, and a line for each omission with its reason."""

    drafts: list[ToolDraft]
    left_out: list[str]


def tools_of_object(found: Any, adapter: str, shown: str) -> AgentTools:
    """Return a draft for each tool of an object, each name once.

    Args:
        adapter: the `adapter_id` of the tools.
        shown: the name of the object for errors; safe to print.

    Raises:
        InvalidInput: it has no tools, or two different tools of one name.
        Exception: its framework raised it.
    """
    reader = _Reader(adapter)
    drafts: dict[str, ToolDraft] = {}
    for draft in reader.drafts_in(found):
        name = draft.capability_id
        if drafts.setdefault(name, draft) != draft:
            raise InvalidInput("", f"{shown} has two tools that are called {name}: rename one")
    if not drafts and reader.left_out:
        raise InvalidInput("", f"{shown} has no tool that can be read: {reader.left_out[0]}")
    if not drafts:
        said = f"{shown} has no tools, it is of type {_show_kind(found)}: {_advise(found)}"
        raise InvalidInput("", said)
    return AgentTools([*drafts.values()], reader.left_out)


def _show_kind(found: Any) -> str:
    kind = type(found)
    module = kind.__module__.partition(".")[0]
    return escape_name(kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}")


def _advise(found: Any) -> str:
    """Return what to write instead, on one line."""
    named = names_with_tools(found) if isinstance(found, ModuleType) else []
    if named:
        return f"write one of these after the colon: {', '.join(map(escape_name, named[:10]))}"
    return WHAT_TO_NAME


def names_with_tools(found: Any) -> list[str]:
    """Return the public names of what may have tools in a module or an object."""
    members = getattr(found, "__dict__", {}).items()
    return [name for name, value in members if name[:1] != "_" and may_have_tools(value)]


def may_have_tools(value: Any) -> bool:
    """Return whether an object is one whose tools can be read, or a list of such."""
    if isinstance(value, list | tuple):
        return any(inspect.isfunction(one) or _reads_of(one) for one in value)
    return not isinstance(value, type) and _reads_of(value) is not None


class _Reader:
    """Reads the tools of objects within objects."""

    def __init__(self, adapter: str) -> None:
        self._adapter: Final = adapter
        self.left_out: Final[list[str]] = []
        self._open: Final[list[Any]] = []

    def drafts_in(self, found: Any) -> Iterator[ToolDraft]:
        """Yield the drafts of the tools in any object. An object within itself is read once."""
        if len(self._open) > _MOST_LEVELS or any(found is one for one in self._open):
            return
        self._open.append(found)
        try:
            yield from self._read(found)
        finally:
            self._open.pop()

    def _read(self, found: Any) -> Iterator[ToolDraft]:
        if isinstance(found, ModuleType):
            yield from self._module(found)
        elif isinstance(found, list | tuple):
            yield from self.all_in(found)
        elif inspect.isfunction(found):
            yield from self._function(found.__name__, found)
        elif (read := _reads_of(found)) is not None:
            yield from read(self, found)
        elif self._open[1:]:
            self.leave_out(found)

    def _module(self, module: ModuleType) -> Iterator[ToolDraft]:
        """Yield the drafts of its tools, and of the public functions behind none of them."""
        tools = [one for _, one in public_members(module) if _reads_of(one) in _READ_ONE_TOOL]
        drafts = [*self.all_in(tools)]
        yield from drafts
        names = {draft.capability_id for draft in drafts}
        behind = [function for one in tools for function in _functions_behind(one)]
        for name, function in public_functions(module):
            if name not in names and not any(function is one for one in behind):
                yield from self._function(name, function)

    def _function(self, name: str, function: Callable[..., Any]) -> Iterator[ToolDraft]:
        if self.is_name(name):
            yield draft_of_function(self._adapter, name, function)

    def is_name(self, name: str) -> bool:
        """Return whether a policy can use a name; if not, record the omission."""
        if IDENTIFIER.fullmatch(name):
            return True
        self.left_out.append(explain_bad_name(name))
        return False

    def all_in(self, found: Iterable[Any]) -> Iterator[ToolDraft]:
        """Yield the drafts of several objects."""
        for one in found:
            yield from self.drafts_in(one)

    def leave_out(self, found: Any, why: str = "its arguments are not known") -> None:
        """Record that an object was not read."""
        self.left_out.append(f"left out {_show_kind(found)}: {why}")

    def draft(
        self, name: str, description: Any, schema: Any, result: ResultType | None, **more: Any
    ) -> Iterator[ToolDraft]:
        """Yield the draft of a described tool with exactly the described arguments."""
        if not self.is_name(name):
            return
        todo = []
        plain: dict[str, Any] | None = None
        try:
            plain = plain_schema(schema)
            plain.setdefault("additionalProperties", False)
        except Exception as error:  # of the library, on any schema
            todo.append(f"args_schema cannot be derived ({why_not_derived(error)}): write one")
        text = description if isinstance(description, str) else ""
        yield ToolDraft(self._adapter, name, text, plain, tuple(todo), result, **more)

    def drafts_of(self, tools: Iterable[Any]) -> Iterator[ToolDraft]:
        """Yield the drafts of tools as an MCP server lists them."""
        for tool in tools:
            wire = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
            if isinstance(wire.get("outputSchema"), dict):
                wire["outputSchema"] = _unwrap(wire["outputSchema"])
            if self.is_name(tool.name):
                yield draft_of_listed(self._adapter, tool.name, wire)


def _unwrap(schema: Any) -> Any:
    """Return the schema of a result without the wrapper of FastMCP."""
    if not isinstance(schema, dict) or not schema.get("x-fastmcp-wrap-result"):
        return schema
    defs = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {**schema["properties"]["result"], **defs}


def _finish(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine for a minute at most, and return its result."""

    async def work_in_time() -> Any:
        async with asyncio.timeout(_WAIT_S):
            return await work

    return asyncio.run(work_in_time())


async def _list_entered(server: Any) -> Any:
    async with server:
        return await server.list_tools()


# --- LangChain, LangGraph -----------------------------------------------------------------------


def _read_langchain_tool(reader: _Reader, tool: Any) -> Iterator[ToolDraft]:
    schema = tool.tool_call_schema
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    returns = getattr(tool, "response_format", "content") == "content"
    yield from reader.draft(
        tool.name,
        tool.description,
        schema if isinstance(schema, dict) else schema.model_json_schema(),
        result_of_function(function) if returns else None,
        labels=read_labels(tool, function),
    )


def _read_tool_node(reader: _Reader, node: Any) -> Iterator[ToolDraft]:
    return reader.all_in(node.tools_by_name.values())


def _read_graph(reader: _Reader, graph: Any) -> Iterator[ToolDraft]:
    """Yield the tools of the nodes of a graph, and of the graphs within it."""
    for node in graph.nodes.values():
        for part in (getattr(node, "bound", None), getattr(node, "runnable", None)):
            if part is not None and _names_of_classes(part) & {"ToolNode", "Pregel", "StateGraph"}:
                yield from reader.drafts_in(part)


# --- OpenAI Agents ------------------------------------------------------------------------------


def _read_openai_agent(reader: _Reader, agent: Any) -> Iterator[ToolDraft]:
    yield from reader.all_in(agent.tools)
    for server in agent.mcp_servers:
        yield from reader.drafts_of(_finish(_list_entered(server)))
    for given in agent.handoffs:
        yield from _read_handoff(reader, given)


def _read_handoff(reader: _Reader, given: Any) -> Iterator[ToolDraft]:
    from agents import handoff  # noqa: PLC0415 - of whom the agent is

    known = given if "Handoff" in _names_of_classes(given) else handoff(given)
    name, text = known.tool_name, known.tool_description
    for draft in reader.draft(name, text, known.input_json_schema, None):
        yield draft._replace(todo=(*draft.todo, _HANDS_OVER))
    agent = getattr(known, "_agent_ref", None)
    target = given if known is not given else agent() if callable(agent) else None
    if target is not None:
        yield from reader.drafts_in(target)


def _read_openai_tool(reader: _Reader, tool: Any) -> Iterator[ToolDraft]:
    function = _function_behind(tool.on_invoke_tool)
    yield from reader.draft(
        tool.name,
        tool.description,
        _without_strictness(tool.params_json_schema, function),
        result_of_function(function),
        needs_approval=bool(getattr(tool, "needs_approval", False)),
        labels=read_labels(tool, function),
    )


def _without_strictness(schema: Any, function: Callable[..., Any] | None) -> Any:
    """Return the schema of the tool itself. In strict mode, a model must give every argument."""
    if not isinstance(schema, dict) or not isinstance(schema.get("required"), list):
        return schema
    parameters = inspect.signature(function).parameters.values() if function else ()
    optional = {one.name for one in parameters if one.default is not one.empty}
    properties = schema.get("properties", {})
    optional |= {name for name, part in properties.items() if "default" in part}
    return {**schema, "required": [name for name in schema["required"] if name not in optional]}


def _function_behind(invoke: Any) -> Callable[..., Any] | None:
    """Return the function behind a tool: the decorator keeps it only in closures."""
    waiting, seen = [invoke], list[Any]()
    while waiting and len(seen) < _MOST_SEEN:
        one = waiting.pop()
        if any(one is other for other in seen):
            continue
        seen.append(one)
        if isinstance(one, FunctionType) and one.__module__.partition(".")[0] != "agents":
            return one
        cells = getattr(one, "__closure__", None) or ()
        held = [cell.cell_contents for cell in cells if _is_filled(cell)]
        held += vars(one).values() if hasattr(one, "__dict__") else ()
        waiting += [part for part in held if callable(part) or "agents" in type(part).__module__]
    return None


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


# --- Pydantic AI --------------------------------------------------------------------------------


def _read_pydantic_agent(reader: _Reader, agent: Any) -> Iterator[ToolDraft]:
    return reader.all_in(agent.toolsets)


def _read_function_toolset(reader: _Reader, toolset: Any) -> Iterator[ToolDraft]:
    for name, tool in toolset.tools.items():
        yield from reader.draft(
            name,
            tool.description,
            tool.function_schema.json_schema,
            result_of_function(tool.function),
            needs_approval=bool(getattr(tool, "requires_approval", False)),
            labels=read_labels(tool, tool.function),
        )


def _read_external_toolset(reader: _Reader, toolset: Any) -> Iterator[ToolDraft]:
    for tool in toolset.tool_defs:
        yield from reader.draft(tool.name, tool.description, tool.parameters_json_schema, None)


def _read_combined_toolset(reader: _Reader, toolset: Any) -> Iterator[ToolDraft]:
    return reader.all_in(toolset.toolsets)


def _read_wrapper_toolset(reader: _Reader, toolset: Any) -> Iterator[ToolDraft]:
    """Yield the tools below a wrapper. A filter may only omit some of them."""
    kinds = _names_of_classes(toolset)
    names: dict[str, str] = {}
    if "RenamedToolset" in kinds:
        names = {old: new for new, old in toolset.name_map.items()}
    for draft in reader.drafts_in(toolset.wrapped):
        name = draft.capability_id
        if "PrefixedToolset" in kinds:
            names[name] = f"{toolset.prefix}_{name}"
        called = names.get(name, name)
        if not reader.is_name(called):
            continue
        yield draft._replace(
            capability_id=called,
            needs_approval=draft.needs_approval or "ApprovalRequiredToolset" in kinds,
        )


def _read_mcp_toolset(reader: _Reader, toolset: Any) -> Iterator[ToolDraft]:
    return reader.drafts_of(_finish(_list_entered(toolset)))


def _read_pydantic_tool(reader: _Reader, tool: Any) -> Iterator[ToolDraft]:
    yield from reader.draft(
        tool.name,
        tool.description,
        tool.function_schema.json_schema,
        result_of_function(tool.function),
        needs_approval=bool(getattr(tool, "requires_approval", False)),
        labels=read_labels(tool, tool.function),
    )


# --- FastMCP ------------------------------------------------------------------------------------


def _read_fastmcp(reader: _Reader, server: Any) -> Iterator[ToolDraft]:
    for tool in _finish(server.list_tools()):
        if not hasattr(tool, "parameters"):  # the server of the SDK lists them as on the wire
            yield from reader.drafts_of([tool])
            continue
        hints = tool.annotations.model_dump(by_alias=True) if tool.annotations else None
        yield from reader.draft(
            tool.name,
            tool.description,
            tool.parameters,
            result_of_schema(_unwrap(tool.output_schema)),
            hints_at_destruction=hints_destroy(hints),
            labels=read_labels(tool),
        )


_Read = Callable[[_Reader, Any], Iterator[ToolDraft]]

_READS: Final[Mapping[tuple[str, str], _Read]] = {
    ("langchain_core", "BaseTool"): _read_langchain_tool,
    ("langgraph", "ToolNode"): _read_tool_node,
    ("langgraph", "Pregel"): _read_graph,
    ("langgraph", "StateGraph"): _read_graph,
    ("agents", "Agent"): _read_openai_agent,
    ("agents", "FunctionTool"): _read_openai_tool,
    ("pydantic_ai", "Agent"): _read_pydantic_agent,
    ("pydantic_ai", "Tool"): _read_pydantic_tool,
    ("pydantic_ai", "FunctionToolset"): _read_function_toolset,
    ("pydantic_ai", "ExternalToolset"): _read_external_toolset,
    ("pydantic_ai", "CombinedToolset"): _read_combined_toolset,
    ("pydantic_ai", "WrapperToolset"): _read_wrapper_toolset,
    ("pydantic_ai", "MCPToolset"): _read_mcp_toolset,
    ("fastmcp", "FastMCP"): _read_fastmcp,
    ("mcp", "FastMCP"): _read_fastmcp,
    ("mcp", "MCPServer"): _read_fastmcp,
}
"""How the objects of a package are read, by a class that they are of."""

_READ_ONE_TOOL: Final = (_read_langchain_tool, _read_openai_tool, _read_pydantic_tool)


def _functions_behind(tool: Any) -> Iterator[Any]:
    """Yield the functions that a tool calls."""
    yield from (getattr(tool, name, None) for name in ("func", "coroutine", "function"))
    yield _function_behind(getattr(tool, "on_invoke_tool", None))


def _names_of_classes(found: Any) -> set[str]:
    return {kind.__name__ for kind in type(found).__mro__}


def _reads_of(found: Any) -> _Read | None:
    for kind in type(found).__mro__:
        if read := _READS.get((kind.__module__.partition(".")[0], kind.__name__)):
            return read
    return None
