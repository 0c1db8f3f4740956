"""Command lines in the loops."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.loops.actor_critic import ActorCritic
from harness.loops.agents.agent import AgentFailed, AgentResult, Event
from harness.loops.agents.command_agent import CommandAgent
from harness.loops.agents.invocation import run_agent
from harness.loops.agents.usage import Budget, Usage


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def events_of(agent: Any, **how: Any) -> list[Event]:
    async def main() -> list[Event]:
        return [event async for event in agent.stream("the task", session_id="S", **how)]

    return asyncio.run(main())


def run(agent: Any) -> AgentResult:
    return asyncio.run(run_agent(agent, "the task"))


ECHO = "import sys; print(sys.stdin.read().upper(), end='')"


def test_the_prompt_goes_in_and_the_output_comes_out(tmp_path: Path) -> None:
    events = events_of(CommandAgent(python(ECHO), tmp_path, name="echo"))
    assert [event.kind for event in events] == ["started", "model_chunk", "completed"]
    assert events[1].data == {"text": "THE TASK"}
    assert events[2].result == AgentResult(output="THE TASK", turns=1, usage=Usage())


def test_the_prompt_may_be_an_argument_and_the_folder_is_the_given_one(tmp_path: Path) -> None:
    code = "import os, sys; print(sys.argv[1], os.getcwd())"
    result = run(CommandAgent(python(code, "{prompt}"), tmp_path))
    assert result.output == f"the task {tmp_path}\n"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; print('half'); sys.exit('no key\\nset one')", "code 1: set one"),
        ("import sys; print('half'); sys.exit(3)", "code 3"),
    ],
)
def test_a_command_that_fails_is_interrupted(code: str, reason: str, tmp_path: Path) -> None:
    result = run(CommandAgent(python(code), tmp_path, name="actor"))
    assert result.interrupted
    assert result.output == "half\n"
    assert result.interruption_reason == f"actor ended with exit {reason}"


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    code = "import time; print('half', flush=True); time.sleep(60)"
    result = run(CommandAgent(python(code), tmp_path, 0.5, name="actor"))
    assert result.interruption_reason == "actor timed out after 0.5 s"
    assert result.output == "half\n"


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    agent = CommandAgent(["no-such-program"], tmp_path)
    with pytest.raises(AgentFailed, match="command not found: no-such-program"):
        run(agent)
    result = asyncio.run(ActorCritic(actor=agent, critic=agent).run("task"))
    assert result.stop_reason == "planner_error"


def test_an_agent_needs_a_program(tmp_path: Path) -> None:
    for argv in ([], [""]):
        with pytest.raises(ValueError, match="name a program"):
            CommandAgent(argv, tmp_path)


def test_a_consumer_that_leaves_ends_the_command(tmp_path: Path) -> None:
    code = "import time; print('begun', flush=True); time.sleep(60); open('late', 'w')"

    async def main() -> None:
        stream = CommandAgent(python(code), tmp_path).stream("task", session_id="S")
        async for event in stream:
            if event.kind == "model_chunk":
                break
        await stream.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert list(tmp_path.iterdir()) == []


WRITER = "import sys; print('good' if 'too short' in sys.stdin.read() else 'bad')"
CRITIC = """
import json, sys
good = "Output:\\ngood" in sys.stdin.read()
print(json.dumps({"issues": [] if good else ["too short"], "score": 1 if good else 0.2}))
"""


def test_two_commands_in_a_loop(tmp_path: Path) -> None:
    loop = ActorCritic(
        actor=CommandAgent(python(WRITER), tmp_path), critic=CommandAgent(python(CRITIC), tmp_path)
    )
    result = run(loop)
    assert (result.output, result.stop_reason, result.round) == ("good\n", "approved", 1)
    # A budget cannot limit what is not measured.
    result = asyncio.run(loop.run("task", budget=Budget(max_tokens=10**6)))
    assert (result.stop_reason, result.output) == ("budget", "bad\n")
