"""What it costs to read a command line: bounded for each character, whatever the line holds."""

import sys
from types import FrameType

import pytest

from critic.command.steps import CommandSteps, read_steps
from harness.policy.shell_settings import shipped_table
from tests.benchmarks.commands import HOSTILE
from tests.support.shell_worlds import World

TABLE = shipped_table("common-1")
WORLD = World()
MOST_CALLS = 200_000
"""Calls of functions: some 50 ms where a profiler does not count them."""


def count_calls(text: str) -> tuple[int, CommandSteps]:
    """Return how many functions are called to read a line, and its steps."""
    facts = WORLD.facts()
    known = WORLD.answer(read_steps(text, facts, TABLE).needs, facts)
    calls = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        read = read_steps(text, known, TABLE)
    finally:
        sys.setprofile(None)
    return calls, read


@pytest.mark.parametrize("name", HOSTILE)
def test_no_line_costs_more_than_its_length_allows(name: str) -> None:
    calls, _ = count_calls(HOSTILE[name])
    assert calls < MOST_CALLS


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("cat" + " a" * 1_001, "more than 1,000 paths"),
        ("cat" + " *a" * 101, "more than 100 patterns of names"),
        ("grep -r" + " --include=*.a" * 101 + " x .", "more than 100 patterns of names"),
        ("mkdir -p" + f" {'a/' * 40}" * 40, "more than 1,000 paths"),
        ("cat " + "a*" * 300, "a word of more than 500 parts"),
        ("cat " + "a/" * 60, "a path through more than 50 folders"),
        ("make" + " a" * 60, "more than 50 scripts, packages and hosts"),
        ("pip install" + " a" * 60, "more than 50 scripts, packages and hosts"),
        ("curl x.example; " * 30, "more than 50 scripts, packages and hosts"),
        ("true; " * 201, "more than 200 commands"),
        ("echo" + " a" * 2_001, "more than 2,000 words"),
        ("echo " + "a" * (16 << 10), "a command over 16 KiB"),
    ],
)
def test_what_there_is_too_much_of_is_named(text: str, construct: str) -> None:
    (step,) = count_calls(text)[1].steps
    assert (step.effect, step.why) == ("unknown", f"not understood: {construct}")
