"""The dialect of Cursor: events for all tools, and others for the shell and for MCP."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, Final

from harness.integrations.hooks.dialect import (
    Dialect,
    HookAnswer,
    HookEvent,
    HookFault,
    Kind,
    block_call,
    milliseconds,
    optional_text,
    text_at,
)


def _strict_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is not strict JSON. The message is one line, safe to print.
    """
    return import_module("harness.wire").parse_json(text.encode())


_SHELL: Final = frozenset({"beforeShellExecution", "afterShellExecution"})
_MCP: Final = frozenset({"beforeMCPExecution", "afterMCPExecution"})
_MCP_NAME: Final = "MCP:"


class Cursor(Dialect):
    """Cursor. It asks its user about commands and MCP tools, if it is told so at their own events.

    Printing nothing is a failure for it. What stands on standard output of events after a call is
    not looked at.
    """

    name = "cursor"
    title = "Cursor"
    session_key = "conversation_id"
    user_key: ClassVar[str | None] = "user_email"
    asks: ClassVar[frozenset[str]] = frozenset({"beforeShellExecution", "beforeMCPExecution"})
    in_folders: ClassVar[frozenset[str]] = frozenset({"Shell"})
    own_events: ClassVar[frozenset[str]] = _SHELL | _MCP | {"beforeReadFile"}
    kinds: ClassVar[Mapping[str, Kind]] = {
        "beforeSubmitPrompt": "prompt",
        "preToolUse": "call",
        "beforeShellExecution": "call",
        "beforeMCPExecution": "call",
        "beforeReadFile": "call",
        "postToolUse": "result",
        "postToolUseFailure": "result",
        "afterShellExecution": "result",
        "afterMCPExecution": "result",
        "afterFileEdit": "other",
        "afterAgentResponse": "other",
        "afterAgentThought": "other",
        "sessionStart": "other",
        "sessionEnd": "other",
        "subagentStart": "other",  # the call of the tool Task was judged
        "subagentStop": "other",
        "preCompact": "other",
        "stop": "other",
    }

    def _place(self, value: dict[str, Any]) -> str | None:
        """Return the folder of the event, or the first of the workspace."""
        roots = value.get("workspace_roots")
        first = roots[0] if type(roots) is list and roots else None
        return super()._place(value) or (first if type(first) is str else "")

    def _with_call(self, value: dict[str, Any], event: HookEvent) -> HookEvent:
        if event.name in _SHELL:
            return event._replace(tool="Shell", args={"command": text_at(value, "command")})
        if event.name == "beforeReadFile":
            return event._replace(tool="Read", args={"file_path": text_at(value, "file_path")})
        known = super()._with_call(value, event)
        if known.tool == "Shell" and type(known.args) is dict:
            # The other events of a command say no more than this of it.
            known = known._replace(args={"command": text_at(known.args, "command")})
        if event.name not in _MCP:
            return known
        tool = known.tool if known.tool.startswith(_MCP_NAME) else f"{_MCP_NAME}{known.tool}"
        return known._replace(tool=tool, args=_parse_object(known.args))

    def _with_result(self, value: dict[str, Any], event: HookEvent) -> HookEvent:
        known = event._replace(duration_ms=milliseconds(value.get("duration")))
        if event.name == "postToolUseFailure":
            return known._replace(
                status=_end_status(value), error=optional_text(value, "error_message")
            )
        for key in ("output", "result_json", "tool_output"):
            if key in value:
                return known._replace(output=_output(value[key], is_text=key == "output"))
        return known

    def allow(self, event: str, *, quiet: bool = False) -> HookAnswer:
        """Allow a call or a prompt."""
        del quiet
        match self.kinds[event]:
            case "call":
                return HookAnswer({"permission": "allow"})
            case "prompt":
                return HookAnswer({"continue": True})
            case _:
                return HookAnswer({})

    def ask(self, reason: str) -> HookAnswer:
        """Have the agent ask its user, at the events that can."""
        return HookAnswer(_permission("ask", reason))

    def deny(self, event: str, reason: str, *, halt: bool = False) -> HookAnswer:
        """Refuse a call or a prompt. What a result did is done: the exit status says it."""
        del halt
        match self.kinds[event]:
            case "call":
                return HookAnswer(_permission("deny", reason))
            case "prompt":
                return HookAnswer({"continue": False, "user_message": reason})
            case _:
                return block_call(reason)


def _permission(permission: str, reason: str) -> dict[str, str]:
    return {"permission": permission, "user_message": reason, "agent_message": reason}


def _parse_object(args: Any) -> Any:
    """Return arguments that some versions of the agent send as the text of an object."""
    if type(args) is not str:
        return args
    try:
        return _strict_json(args)
    except ValueError as error:
        raise HookFault("/tool_input", f"must be an object: {error}") from None


def _output(given: Any, *, is_text: bool) -> Any:
    """Return what a call returned: the value of JSON, where that is what the text is."""
    if is_text or type(given) is not str:
        return given
    try:
        return _strict_json(given)
    except ValueError:
        return given


def _end_status(value: dict[str, Any]) -> str:
    """Return how a call ended that failed."""
    if value.get("is_interrupt") is True:
        return "unknown"
    return "timed_out" if value.get("failure_type") == "timeout" else "failed"
