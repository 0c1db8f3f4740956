"""The dialects of Claude Code, and of Qwen Code and Codex, which speak nearly the same."""

from collections.abc import Mapping
from typing import Any, ClassVar

from harness.integrations.hooks.dialect import (
    Dialect,
    HookAnswer,
    HookEvent,
    Kind,
    block_call,
    milliseconds,
    optional_text,
)

_BEFORE = "PreToolUse"
_UNATTENDED = ("bypassPermissions", "dontAsk", "yolo")
"""The modes in which it may let a call run that it was told to ask about, or asks nobody."""


class ClaudeCode(Dialect):
    """Claude Code. Standard output is read where the exit status is 0."""

    name = "claude-code"
    title = "Claude Code"
    asks: ClassVar[frozenset[str]] = frozenset({_BEFORE})
    in_folders: ClassVar[frozenset[str]] = frozenset({"Bash", "Monitor"})
    kinds: ClassVar[Mapping[str, Kind]] = {
        "UserPromptSubmit": "prompt",
        _BEFORE: "call",
        "PostToolUse": "result",
        "PostToolUseFailure": "result",
        "PermissionRequest": "shown",
        "PermissionDenied": "other",
        "SessionStart": "other",
        "SessionEnd": "end",
        "Stop": "end",
        "StopFailure": "end",
        "SubagentStart": "other",
        "SubagentStop": "end",
        "Notification": "other",
        "PreCompact": "other",
        "PostCompact": "other",
    }

    def _is_unattended(self, value: dict[str, Any]) -> bool:
        return value.get("permission_mode") in _UNATTENDED

    def _with_result(self, value: dict[str, Any], event: HookEvent) -> HookEvent:
        took = milliseconds(value.get("duration_ms"))
        if event.name == "PostToolUseFailure":
            status = "unknown" if value.get("is_interrupt") is True else "failed"
            error = optional_text(value, "error")
            return event._replace(status=status, error=error, duration_ms=took)
        return event._replace(output=value.get("tool_response"), duration_ms=took)

    def allow(self, event: str, *, quiet: bool = False) -> HookAnswer:
        """Allow a call, which skips the prompt of the agent but none of its own rules."""
        if event != _BEFORE or quiet:
            return HookAnswer()
        return HookAnswer({"hookSpecificOutput": _decision("allow")})

    def ask(self, reason: str) -> HookAnswer:
        """Have the agent ask its user."""
        return HookAnswer({"hookSpecificOutput": _decision("ask", reason)})

    def deny(self, event: str, reason: str, *, halt: bool = False) -> HookAnswer:
        """Refuse a call, a prompt, or the use of a result."""
        stop: dict[str, Any] = {"continue": False, "stopReason": reason} if halt else {}
        if event == _BEFORE:
            return HookAnswer({**stop, "hookSpecificOutput": _decision("deny", reason)})
        return HookAnswer({**stop, "decision": "block", "reason": reason})


class QwenCode(ClaudeCode):
    """Qwen Code. It speaks as Claude Code does, and names its tools and modes otherwise.

    It sends a prompt without text after each round of calls.
    """

    name = "qwen-code"
    title = "Qwen Code"
    in_folders: ClassVar[frozenset[str]] = frozenset({"run_shell_command"})


class Codex(ClaudeCode):
    """Codex. It takes silence for an allow, and lets a call run whose answer it cannot read.

    It refuses answers that allow, ask, or end the run: none is given.
    """

    name = "codex"
    title = "Codex"
    asks: ClassVar[frozenset[str]] = frozenset()
    in_folders: ClassVar[frozenset[str]] = frozenset({"Bash", "apply_patch"})

    def ask(self, reason: str) -> HookAnswer:
        """Block: the answer that asks would not be understood."""
        return block_call(reason)

    def allow(self, event: str, *, quiet: bool = False) -> HookAnswer:
        """Allow by silence."""
        del event, quiet
        return HookAnswer()

    def deny(self, event: str, reason: str, *, halt: bool = False) -> HookAnswer:
        """Refuse. The run goes on: an answer that ends it would not be understood."""
        del halt
        return super().deny(event, reason)


def _decision(decision: str, reason: str = "") -> dict[str, str]:
    told = {"permissionDecisionReason": reason} if reason else {}
    return {"hookEventName": _BEFORE, "permissionDecision": decision, **told}
