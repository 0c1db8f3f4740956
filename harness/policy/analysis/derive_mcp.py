"""Derive tools from the description of an MCP server.

Nobody has confirmed the description, so its hints raise a tier and never lower it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from harness.policy.analysis.derive_tools import (
    IDENTIFIER,
    ToolDraft,
    explain_bad_name,
    identifier,
    plain_schema,
    result_of_schema,
    why_not_derived,
)
from harness.wire import InvalidInput

_URI: Final = {"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]}
_PROMPT: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["name"],
}
_METHODS: Final = {
    "resources": ("resources/read", "Read a resource of the server.", _URI),
    "prompts": ("prompts/get", "Get a prompt of the server, filled in.", _PROMPT),
}


def drafts_of_mcp(
    server: str, tools: Sequence[Mapping[str, Any]], offers: Collection[str] = ()
) -> tuple[list[ToolDraft], list[str]]:
    """Return a draft for each tool of a server, and what was left out and why.

    Args:
        server: its own name.
        tools: the entries of its `tools/list`.
        offers: whether it has resources or prompts: reading them is judged as a tool.

    Raises:
        InvalidInput: it has no tool with a usable name, or two of one name.
    """
    adapter = identifier(server)
    drafts, left = [], []
    for tool in tools:
        name = str(tool.get("name"))
        if IDENTIFIER.fullmatch(name):
            drafts.append(draft_of_listed(adapter, name, tool))
        else:
            left.append(explain_bad_name(name))
    names = [draft.capability_id for draft in drafts]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput("", f"two tools are called {name}: which one a call means is open")
    drafts += [
        ToolDraft(adapter, method, summary, {**schema})
        for kind, (method, summary, schema) in _METHODS.items()
        if kind in offers and method not in names
    ]
    if not drafts:
        raise InvalidInput("", "the server has no tool that can be called by its name")
    return drafts, left


def draft_of_listed(adapter: str, name: str, tool: Mapping[str, Any]) -> ToolDraft:
    """Return the draft of an entry of `tools/list`."""
    described = tool.get("description")
    hints = tool.get("annotations")
    told = _tier(hints) if isinstance(hints, Mapping) and hints else None
    todo = [] if told is None else [f"the server hints at {told}: believe it if you trust it"]
    schema: dict[str, Any] | None = None
    try:
        schema = plain_schema(tool.get("inputSchema"))
    except Exception as error:  # of the library, on any schema
        todo.append(f"args_schema cannot be derived ({why_not_derived(error)}): write one")
    return ToolDraft(
        adapter,
        name,
        described if isinstance(described, str) else "",
        schema,
        tuple(todo),
        result_of_schema(tool.get("outputSchema")),
        hints_at_destruction=hints_destroy(hints),
    )


def hints_destroy(hints: Any) -> bool:
    """Return whether a server hints that a tool destroys. The hint only raises a tier."""
    told = hints if isinstance(hints, Mapping) else {}
    return told.get("destructiveHint") is True and told.get("readOnlyHint") is not True


def _tier(hints: Mapping[str, Any]) -> str:
    """Return the tier for some hints. An absent hint has the default of the protocol."""
    if hints.get("readOnlyHint") is True:
        return "read_only" if hints.get("openWorldHint") is False else "network"
    if hints.get("destructiveHint") is not False:
        return "destructive"
    return "local_write" if hints.get("openWorldHint") is False else "network"
