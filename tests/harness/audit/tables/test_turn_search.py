"""Filters by content find the turns that another reader finds, in every command that has them."""

import json
import random
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from evals.kinds import MODES
from tests.harness.audit.tables.drawn_logs import Names, write_drawn_log
from tests.harness.audit.tables.own_reader import OwnTurn, approvals, holds, read_log, tier_of
from tests.harness.console import Critic

Test = Callable[[OwnTurn], bool]
SEED = random.randrange(2**32)  # noqa: S311


@cache
def _written(folder: Path) -> tuple[Path, Names, list[OwnTurn]]:
    path = folder / f"searched-{SEED}.db"
    return path, write_drawn_log(path, SEED, 10), read_log(path)


Drawn = tuple[Path, Names, list[OwnTurn]]


@pytest.fixture
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    print(f"seed {SEED}")  # noqa: T201 - for who repeats it
    return _written(tmp_path_factory.getbasetemp())


def calls_of(turn: OwnTurn) -> list[dict[str, Any]]:
    stray = [one for one in turn.made if one["args"] != turn.plan["steps"][one["step"]]["args"]]
    return [*turn.plan["steps"], *stray]


def number_of(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(str(value).replace(",", ""))
    except ValueError:
        return None


def is_value(call: dict[str, Any], value: str) -> bool:
    return any(
        str(one) == value or (number_of(one) is not None and number_of(one) == number_of(value))
        for one in call["args"].values()
    )


def is_over(call: dict[str, Any], limit: float) -> bool:
    numbers = (number_of(one) for one in call["args"].values())
    return any(one is not None and one > limit for one in numbers)


def has_approver(turn: OwnTurn, name: str) -> bool:
    return name in approvals(turn).values() or any(
        one.get("approver") == name for one in turn.answers
    )


def uses(turn: OwnTurn, name: str) -> bool:
    pinned = any(name in step.get("evidence_refs", []) for step in turn.plan["steps"])
    items = turn.compiled["manifests"]["evidence_manifest"]
    return pinned or any(one["id"] == name and holds(turn, one) for one in items)


def has_value(turn: OwnTurn, value: str) -> bool:
    return any(is_value(call, value) for call in calls_of(turn))


def has_over(turn: OwnTurn, limit: str) -> bool:
    return any(is_over(call, float(limit)) for call in calls_of(turn))


def has_tier(turn: OwnTurn, tier: str) -> bool:
    return any(tier_of(turn, call) == tier for call in calls_of(turn))


def ran_a_large_one(turn: OwnTurn, tier: str) -> bool:
    calls = (call for call in calls_of(turn) if tier_of(turn, call) == tier)
    return turn.fate == "ran" and any(is_over(call, 1000) for call in calls)


def _asked(test: Callable[[OwnTurn, str], bool], value: str, turn: OwnTurn) -> bool:
    return test(turn, value)


def searches(names: Names) -> list[tuple[list[str], Test]]:
    """Return options, the last of which is a value, with what they ask of a turn."""
    asked: list[tuple[list[str], Callable[[OwnTurn, str], bool], Sequence[str]]] = [
        (["--value"], has_value, ("rent", "999", "1000", "9000.50", "100000", "ren")),
        (["--over"], has_over, ("1000", "1000.4", "8999", "-1", "900000")),
        (["--tier"], has_tier, MODES),
        (["--approver"], has_approver, names.approvers),
        (["--evidence"], uses, ("call/1", "call/2", "ev_1")),
        (["--over", "1000", "--fate", "ran", "--tier"], ran_a_large_one, ("delegated",)),
    ]
    return [
        ([*options, value], partial(_asked, test, value))
        for options, test, values in asked
        for value in values
    ]


@pytest.mark.slow
def test_each_search_lists_the_turns_of_another_reader(critic: Critic, drawn: Drawn) -> None:
    path, names, turns = drawn
    hits = 0
    for options, wanted in searches(names):
        said = critic("log", "list", path, "--format", "json", *options)
        rows = sorted(json.loads(line)["seq"] for line in said.lines)
        expected = [turn.seq for turn in turns if wanted(turn)]
        assert rows == expected, options
        assert f"critic: {len(expected)} of {len(turns)} turns match\n" in said.err
        hits += bool(expected) and len(expected) < len(turns)
    assert hits > 8, "the searches have to tell turns apart"


@pytest.mark.slow
def test_stats_and_exports_take_the_same_searches(
    critic: Critic, drawn: Drawn, tmp_path: Path
) -> None:
    path, names, turns = drawn
    for options, wanted in searches(names)[::4]:
        own = [turn for turn in turns if wanted(turn)]
        counted = json.loads(critic("log", "stats", path, "--format", "json", *options).out)
        assert counted["turns"] == len(own), options
        said = critic("log", "export", path, "--to", "opa", "-o", "-", *options)
        numbers = sorted(json.loads(line)["req_id"] for line in said.lines)
        assert numbers == sorted(one["seq"] for turn in own for one in turn.records), options
    listed = critic("log", "list", path, "--records", "--format", "json", "--value", "rent")
    numbers = sorted(json.loads(line)["seq"] for line in listed.lines)
    rent = [turn for turn in turns if any(is_value(one, "rent") for one in calls_of(turn))]
    assert numbers == sorted(one["seq"] for turn in rent for one in turn.records)


def test_a_name_that_no_turn_has_is_told_with_one_that_was_meant(
    critic: Critic, drawn: Drawn
) -> None:
    path, names, turns = drawn
    approver = next(
        (one for one in names.approvers if any(has_approver(turn, one) for turn in turns)), None
    )
    meant = {
        "--tool": names.payers[2],
        "--session": "s7",
        "--evidence": "call/1",
        **({"--approver": approver} if approver else {}),
    }
    for option, name in meant.items():
        wrong = f"{name[:-1]}Q" if option == "--evidence" else f"{name}Q"
        said = critic("log", "list", path, option, wrong)
        assert said.status == 0
        counted, guess = said.listed
        assert counted == f"0 of {len(turns)} turns match"
        assert guess.startswith(f"{option} {wrong}: no"), option
        assert "has it: did you mean " in guess, option
    (other,) = {one.session for one in turns} & {"s1"}
    both = critic("log", "list", path, "--session", other, "--tool", "0" * 20).listed
    assert both[1:] == [f"--tool {'0' * 20}: no turn has it"], "a name that is right is not doubted"
    strange = critic("log", "list", path, "--tool", "\x1b[2J")
    assert "\x1b" not in strange.out
    assert critic("log", "list", path).listed[-1].endswith("match") is False
