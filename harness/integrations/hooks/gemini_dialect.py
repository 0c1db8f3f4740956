"""The dialect of Gemini CLI. Its events give no ids of calls."""

from collections.abc import Mapping
from typing import Any, ClassVar

from harness.integrations.hooks.dialect import (
    Dialect,
    HookAnswer,
    HookEvent,
    HookFault,
    Kind,
    optional_text,
)


class Gemini(Dialect):
    """Gemini CLI. It cannot be told to ask."""

    name = "gemini"
    title = "Gemini CLI"
    in_folders: ClassVar[frozenset[str]] = frozenset({"run_shell_command"})
    kinds: ClassVar[Mapping[str, Kind]] = {
        "BeforeAgent": "prompt",
        "BeforeTool": "call",
        "AfterTool": "result",
        "AfterAgent": "end",
        "BeforeModel": "other",
        "BeforeToolSelection": "other",
        "AfterModel": "other",
        "SessionStart": "other",
        "SessionEnd": "other",
        "Notification": "other",
        "PreCompress": "other",
    }

    def _with_result(self, value: dict[str, Any], event: HookEvent) -> HookEvent:
        given = value.get("tool_response")
        if type(given) is not dict:
            raise HookFault("/tool_response", "must be an object")
        error = given.get("error")
        if error is None:
            return event._replace(output=given.get("llmContent", given))
        told = optional_text(error if type(error) is dict else {"message": error}, "message")
        return event._replace(status="failed", output=given.get("llmContent"), error=told)

    def allow(self, event: str, *, quiet: bool = False) -> HookAnswer:
        """Let the agent go on as it would without a hook."""
        del event, quiet
        return HookAnswer({})

    def deny(self, event: str, reason: str, *, halt: bool = False) -> HookAnswer:
        """Refuse a call or a prompt, or hide a result."""
        del event
        stop: dict[str, Any] = {"continue": False, "stopReason": reason} if halt else {}
        return HookAnswer({"decision": "deny", "reason": reason, **stop})
