"""A call has one row, whatever its command does; what that is stands in a table of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.audit.tables.table_columns import LOG_COLUMNS
from harness.audit.tables.turn_tables import TurnTables, changed_after
from harness.guard import Guard
from harness.integrations.hooks.install import shipped_policy
from harness.log import SqlDecisionLog
from harness.policy import parse_policy
from tests.harness.console import Critic
from tests.support.guarding import answers_to
from tests.support.shell_worlds import World

Json = dict[str, Any]
COMMANDS = {
    "a": "cat a.py | head -5",
    "b": "pytest -q && git status",
    "c": "cat b.py",
    "d": "sed -i s/a/b/ a.py && rm -rf build",
    "e": "rm -rf ../x",
}
EFFECTS = {
    "a": ({"read"}, "read_only"),
    "b": ({"run.test", "read"}, "delegated"),
    "c": ({"read"}, "read_only"),
    "d": ({"write", "delete_made"}, "local_write"),
    "e": ({"delete"}, "destructive"),
}


def bash(name: str, **more: Any) -> Json:
    return {"id": name, "tool": "Bash", "args": {"command": COMMANDS[name], "cwd": "/w"}, **more}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Five turns of one command each: all but the last one ran."""
    asks = {"event": "open", "session": "s", "request": "Fix the bug in a.py and run the tests"}
    events: list[Json] = [asks]
    for name in COMMANDS:
        events.append({"event": "calls", "session": "s", "calls": [bash(name)]})
        if name != "e":
            ended = {"status": "completed", "output": "done", "duration_ms": 7}
            events.append({"event": "result", "session": "s", "id": name, **ended})
    path = tmp_path / "log.db"
    policy = parse_policy(shipped_policy("claude-code"), syntax="toml").policy
    with SqlDecisionLog.open(path) as kept:
        answers_to(Guard(policy, log=kept, world=World()), events)
    return path


def rows_of(path: Path) -> dict[str, list[Json]]:
    with SqlDecisionLog.open_for_reading(path) as kept:
        tables = TurnTables(kept, changed_after(0), frozenset(), kept.head().seq)
        found = [*tables.rows()]
    return {name: [row for one in found for row in one[name]] for name in LOG_COLUMNS}


def test_a_call_has_one_row_with_the_highest_tier_of_what_it_does(log: Path) -> None:
    rows = rows_of(log)
    calls = {json.loads(one["args"])["command"]: one for one in rows["calls"]}
    assert len(rows["calls"]) == len(calls) == len(COMMANDS)
    for name, (effects, tier) in EFFECTS.items():
        call = calls[COMMANDS[name]]
        assert (call["tool"], call["tier"], call["planned"]) == ("claude-code/Bash", tier, True)
        assert call["duration_ms"] == (None if name == "e" else 7)
        parts = [one for one in rows["effects"] if one["seq"] == call["seq"]]
        assert {one["effect"] for one in parts} >= effects
        assert {one["step"] for one in parts} == {0}
        assert [one["part"] for one in parts] == [*range(1, len(parts) + 1)]
        assert {one["ran"] for one in parts} == {name != "e"}
        (turn,) = (one for one in rows["turns"] if one["seq"] == call["seq"])
        assert (turn["tier"], turn["tools"]) == (tier, ["claude-code/Bash"])


def test_rows_have_the_columns_of_their_tables(log: Path) -> None:
    for name, rows in rows_of(log).items():
        assert all({*row} == {*LOG_COLUMNS[name]} for row in rows), name  # type: ignore[index]


@pytest.mark.parametrize("tier", ["read_only", "local_write", "delegated", "destructive"])
def test_turns_are_found_by_the_tier_of_what_their_commands_do(
    tier: str, log: Path, critic: Critic
) -> None:
    listed = critic("log", "list", log, "--tier", tier, "--format", "json").lines
    told = [json.loads(line) for line in listed]
    named = [one["seq"] for one in told if "seq" in one]
    found = [one["seq"] for one in rows_of(log)["turns"] if one["tier"] == tier]
    assert found
    assert named == found


def test_a_path_that_a_command_reaches_is_found(log: Path, critic: Critic) -> None:
    (deleted,) = [one for one in rows_of(log)["effects"] if one["effect"] == "delete"]
    paths = [one for one in json.loads(deleted["args"]).values() if "/x" in str(one)]
    value = paths[0] if isinstance(paths[0], str) else paths[0][0]
    said = critic("log", "list", log, "--value", value, "--tier", "destructive")
    assert (said.status, len(said.listed)) == (0, 2), said


def test_the_effects_are_asked_for_in_sql(log: Path, critic: Critic) -> None:
    pytest.importorskip("duckdb")
    asked = "SELECT c.tool, e.effect FROM calls c JOIN effects e USING (seq, step)"
    said = critic("log", "query", log, f"{asked} WHERE effect = 'delete'", "--format", "json")
    assert [json.loads(line) for line in said.lines] == [
        {"tool": "claude-code/Bash", "effect": "delete"}
    ]
    counted = critic("log", "query", log, "SELECT count(*) AS n FROM calls", "--format", "json")
    assert json.loads(counted.lines[0]) == {"n": 5}
