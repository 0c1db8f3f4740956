"""What each agent is told after a failure, and what is read of how a call ended."""

from typing import Any

import pytest

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
