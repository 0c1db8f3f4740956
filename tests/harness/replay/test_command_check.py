"""The steps of shell commands are what these do: each step of each command, in order."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest

from evals.plan import Plan, Proposal, is_command_part
from harness.log import SqlDecisionLog
from harness.record import DecisionRecord
from harness.replay.command_check import check_commands
from harness.replay.problems import Problems
from harness.wire import build, parse
from tests.harness.guard.test_commands import Agent, guarded
from tests.harness.log.decisions import proposal

COMMANDS: Final = ("cat a.py && rm old.txt", "python -m pytest -q", "ls")
Steps = list[dict[str, Any]]


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> Proposal:
    """Return a turn of three commands, as it was recorded."""
    with SqlDecisionLog.open(tmp_path_factory.mktemp("shell") / "log") as log:
        Agent(guarded(log=log)).ask(*COMMANDS)
        *_, record = log.records()
        assert isinstance(record, DecisionRecord)
        named = record.inputs
        stored = {name: log.input(digest) for name, digest in named.wire().items()}
    fields = {
        name: parse(type(getattr(proposal(), name)), body or b"") for name, body in stored.items()
    }
    return Proposal(**fields)


def parts_in(steps: Steps) -> list[int]:
    return [at for at, step in enumerate(steps) if "of" in step]


def told(proposal: Proposal, change: Callable[[Steps], object]) -> list[str]:
    wire = proposal.plan.wire()
    change(wire["steps"])
    problems = Problems()
    plan = build(Plan, wire)
    check_commands(
        Proposal(ctx=proposal.ctx, compiled=proposal.compiled, spec=proposal.spec, plan=plan),
        problems,
    )
    return problems.tampered


def test_what_commands_do_follows_from_them(ruled: Proposal) -> None:
    assert told(ruled, lambda _: None) == []
    parts = [step for step in ruled.plan.steps if is_command_part(step)]
    assert len({step.of for step in parts if step.kind == "tool"}) == len(COMMANDS) <= len(parts)


CHANGES: Final[dict[str, Any]] = {
    "another effect": lambda steps, at: steps[at].update(capability_id="read.other"),
    "other arguments": lambda steps, at: steps[at]["args"].update(more="x"),
    "no arguments": lambda steps, at: steps[at]["args"].clear(),
    "of another command": lambda steps, at: steps[at].update(of=(steps[at]["of"] + 1) % 3),
    "of nothing": lambda steps, at: steps[at].pop("of"),
    "gone": lambda steps, at: steps.pop(at),
    "twice": lambda steps, at: steps.insert(at, {**steps[at]}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_step_of_each_command_is_compared(ruled: Proposal, name: str) -> None:
    for at in parts_in(ruled.plan.wire()["steps"]):
        assert len(told(ruled, partial(CHANGES[name], at=at))) == 1, at


def test_the_steps_of_commands_have_their_order(ruled: Proposal) -> None:
    first, *_, last = parts_in(ruled.plan.wire()["steps"])

    def swap(steps: Steps) -> None:
        steps[first], steps[last] = steps[last], steps[first]

    assert told(ruled, swap) == ["its steps are not what its shell commands do"]


@pytest.mark.parametrize("command", ["rm other.txt", "cat a.py", ""])
def test_another_command_is_noticed(ruled: Proposal, command: str) -> None:
    assert len(told(ruled, lambda steps: steps[0]["args"].update(command=command))) == 1
