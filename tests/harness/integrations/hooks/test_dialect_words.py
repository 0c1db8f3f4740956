"""What each agent is told after a failure, and what is read of how a call ended."""

from typing import Any

import pytest

from harness.integrations.hooks.dialect import HookEvent, HookFault, milliseconds
from harness.integrations.hooks.dialects import DIALECTS
from tests.harness.integrations.hooks.agents import CLAUDE_CODE, CURSOR, GEMINI

every_dialect = pytest.mark.parametrize("name", DIALECTS)


@every_dialect
def test_an_event_that_is_not_known_blocks_after_a_failure(name: str) -> None:
    for event in (None, "", "NoSuchEvent"):
        told = DIALECTS[name].fail_closed(event, "no")
        assert (told.said, told.reason, told.status) == (None, "no", 2)


@every_dialect
def test_no_event_that_can_be_refused_passes_after_a_failure(name: str) -> None:
    dialect = DIALECTS[name]
    for event, kind in dialect.kinds.items():
        told = dialect.fail_closed(event, "no")
        if kind in ("prompt", "call", "result"):
            assert "no" in told.out + told.err
            assert told not in (dialect.allow(event), dialect.allow(event, quiet=True))


@every_dialect
def test_an_agent_that_cannot_ask_blocks(name: str) -> None:
    dialect = DIALECTS[name]
    if not dialect.asks:
        told = dialect.ask("May it?")
        assert (told.said, told.reason, told.status) == (None, "May it?", 2)


def ended(agent: Any, event: str, **members: Any) -> str:
    """Return how a call ended by an event of its agent."""
    result = {**agent.result(agent.read, "c1", "x"), "hook_event_name": event, **members}
    return DIALECTS[agent.name].event(result).status


def test_how_a_call_ended_is_read_as_the_agent_says() -> None:
    failure = "PostToolUseFailure"
    assert ended(CLAUDE_CODE, "PostToolUse") == "completed"
    assert ended(CLAUDE_CODE, failure, error="no") == "failed"
    assert ended(CLAUDE_CODE, failure, error="no", is_interrupt=False) == "failed"
    assert ended(CLAUDE_CODE, failure, error="no", is_interrupt=True) == "unknown"
    told = {"llmContent": "x", "returnDisplay": ""}
    assert ended(GEMINI, "AfterTool", tool_response=told) == "completed"
    assert ended(GEMINI, "AfterTool", tool_response={**told, "error": None}) == "completed"
    for error in ("no", {"message": "no"}, {}):
        assert ended(GEMINI, "AfterTool", tool_response={**told, "error": error}) == "failed"
    failure = "postToolUseFailure"
    assert ended(CURSOR, failure) == "failed"
    assert ended(CURSOR, failure, is_interrupt=True) == "unknown"
    assert ended(CURSOR, failure, failure_type="timeout") == "timed_out"


def raw(name: str, event: str, **members: Any) -> dict[str, Any]:
    """Return an event with all that any event says, but for what is given."""
    return {
        "hook_event_name": event,
        DIALECTS[name].session_key: "s",
        "prompt": "go",
        "tool_name": "Edit",
        "tool_input": {"path": "a"},
        "tool_use_id": "c1",
        "agent_id": "a1",
        "cwd": "/work",
        "user_email": "emma@example.com",
        "command": "ls",
        "file_path": "a",
        "tool_response": {"llmContent": "x"},
        "error": "no",
        "error_message": "no",
        **members,
    }


@every_dialect
def test_whose_event_it_is_and_where_is_read_of_each(name: str) -> None:
    dialect = DIALECTS[name]
    for event, kind in dialect.kinds.items():
        found = dialect.event(raw(name, event))
        assert (found.name, found.kind) == (event, kind)
        if kind == "other":
            continue
        is_end, is_prompt = kind == "end", kind == "prompt"
        assert found.session == "s"
        assert found.agent == (None if is_prompt else "a1")
        assert found.call == (None if is_end or is_prompt else "c1")
        assert found.place == (None if is_end else "/work")
        assert found.user == ("emma@example.com" if name == "cursor" and not is_end else None)
        assert found.text == ("go" if is_prompt else "")
        for session in ("", "s" * 257, None, 7):
            with pytest.raises(HookFault):
                dialect.event(raw(name, event, **{dialect.session_key: session}))
        assert dialect.event(raw(name, event, **{dialect.session_key: "s" * 256}))


WORKS_SOMEWHERE = {
    "claude-code": {"Bash", "Monitor"},
    "codex": {"Bash", "apply_patch"},
    "cursor": {"Shell"},
    "gemini": {"run_shell_command"},
    "qwen-code": {"run_shell_command"},
}
TOOLS = sorted({"Edit", "bash", *(one for tools in WORKS_SOMEWHERE.values() for one in tools)})


@every_dialect
def test_a_tool_that_works_in_a_folder_is_told_where_and_another_is_not(name: str) -> None:
    dialect = DIALECTS[name]
    calls = [one for one, kind in dialect.kinds.items() if kind == "call"]
    for event in (one for one in calls if one not in dialect.own_events):
        for tool in TOOLS:
            given = {"tool_name": tool, "tool_input": {"command": "ls"}}
            is_told = tool in WORKS_SOMEWHERE[name]
            for folder in ("/work", "", None):
                found = dialect.event(raw(name, event, **given, cwd=folder))
                assert found.folder == (folder or None if is_told else None)


ENDS = {
    "claude-code": {"SessionEnd", "Stop", "StopFailure", "SubagentStop"},
    "codex": {"SessionEnd", "Stop", "StopFailure", "SubagentStop"},
    "qwen-code": {"SessionEnd", "Stop", "StopFailure", "SubagentStop"},
    "gemini": {"AfterAgent"},
    "cursor": set[str](),
}


@every_dialect
def test_nothing_that_is_over_and_no_question_is_left_unheard(name: str) -> None:
    kinds = DIALECTS[name].kinds
    assert {event for event, kind in kinds.items() if kind == "end"} == ENDS[name]
    shown = {event for event, kind in kinds.items() if kind == "shown"}
    assert shown == ({"PermissionRequest"} if "PermissionRequest" in kinds else set())
    for event, kind in kinds.items():
        if event.lower().startswith(("posttool", "aftertool", "aftershell", "aftermcp")):
            assert kind == "result"


@pytest.mark.parametrize("name", ["claude-code", "qwen-code"])
@pytest.mark.parametrize(
    ("mode", "is_attended"),
    [
        *((one, True) for one in ("default", "plan", "acceptEdits", "auto-edit", None)),
        *((one, False) for one in ("bypassPermissions", "dontAsk", "yolo")),
    ],
)
def test_nobody_is_asked_in_a_mode_without_questions(
    name: str, mode: str | None, is_attended: bool
) -> None:
    found = DIALECTS[name].event(raw(name, "PreToolUse", permission_mode=mode))
    assert found.can_ask is is_attended


def test_an_answer_at_a_call_says_no_more_than_was_decided() -> None:
    claude, at = DIALECTS["claude-code"], "PreToolUse"
    allowed = {"hookEventName": at, "permissionDecision": "allow"}
    assert claude.allow(at).said == {"hookSpecificOutput": allowed}
    assert claude.allow(at, quiet=True).out == ""
    denied = {**allowed, "permissionDecision": "deny", "permissionDecisionReason": "no"}
    assert claude.deny(at, "no").said == {"hookSpecificOutput": denied}
    stops = {"continue": False, "stopReason": "no"}
    assert claude.deny(at, "no", halt=True).said == {**stops, "hookSpecificOutput": denied}
    both = {"user_message": "no", "agent_message": "no"}
    cursor = DIALECTS["cursor"]
    assert cursor.deny("preToolUse", "no").said == {"permission": "deny", **both}
    assert cursor.ask("no").said == {"permission": "ask", **both}


def result(name: str, event: str, **members: Any) -> HookEvent:
    return DIALECTS[name].event(raw(name, event, **members))


def test_what_a_call_returned_is_read_as_the_agent_says() -> None:
    failed = result("claude-code", "PostToolUseFailure", duration_ms=7)
    assert (failed.error, failed.duration_ms, failed.output) == ("no", 7, None)
    ran = result("gemini", "AfterTool", tool_response={"llmContent": "x", "returnDisplay": "y"})
    assert (ran.output, ran.error) == ("x", None)
    bad = result("gemini", "AfterTool", tool_response={"error": {"message": "no"}})
    assert (bad.status, bad.error) == ("failed", "no")
    listed = '{"n": 1}'
    shell = result("cursor", "afterShellExecution", output=listed, duration=7)
    assert (shell.output, shell.duration_ms) == (listed, 7)
    server = result("cursor", "afterMCPExecution", result_json=listed)
    assert server.output == {"n": 1}
    assert result("cursor", "postToolUse", tool_output=listed).output == {"n": 1}
    assert result("cursor", "postToolUse", tool_output="plain").output == "plain"


def test_a_command_of_cursor_is_the_same_call_at_each_of_its_events() -> None:
    told = {"tool_name": "Shell", "tool_input": {"command": "ls", "timeout": 3}}
    keys = [
        (one.tool, one.args)
        for event in ("beforeShellExecution", "preToolUse", "afterShellExecution", "postToolUse")
        for one in [result("cursor", event, **told)]
    ]
    assert keys == [("Shell", {"command": "ls"})] * 4
    roots = result("cursor", "preToolUse", cwd=None, workspace_roots=["/a", "/b"])
    assert roots.place == "/a"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        *((one, int(one)) for one in (0, 7, 7.9, 2**53 - 1)),
        *((one, None) for one in (True, False, -1, -0.5, 2**53, float("nan"), "7", None)),
    ],
)
def test_a_duration_is_a_number_that_can_be_one(given: Any, expected: int | None) -> None:
    assert milliseconds(given) == expected
