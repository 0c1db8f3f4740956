"""What a guard is made of is checked when it is made: a wrong name is told with the nearest."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.clock import FixedClock, SystemClock
from harness.guard import Guard, OutOfPlace, PolicyError, SessionFolder, UnknownTool
from harness.log import LogError, SqlDecisionLog
from harness.policy import InvalidPolicy
from harness.record.drafts import session_key
from tests.support.guarding import ASKS, NOON, answers_to, desk, guard_of, policy_of
from tests.support.paths import FIXTURES

POLICY = policy_of(desk())
EXAMPLE = FIXTURES / "examples" / "agent" / "critic.toml"


@pytest.mark.parametrize("kind", [str, Path])
def test_a_policy_and_a_log_are_opened_where_they_are(kind: Any, tmp_path: Path) -> None:
    place = tmp_path / "audit.db"
    with Guard(kind(EXAMPLE), log=kind(place)) as guard:
        guard.open("r", "Refund order ord_1 please.")
        assert guard.knows_tool("find_order")
        assert guard.keeps_sessions
    (tmp_path / "desk.json").write_text(json.dumps(desk()))
    with Guard(str(tmp_path / "desk.json"), clock=FixedClock(NOON), log=str(place)) as guard:
        rulings = answers_to(guard, ASKS)
        assert rulings == answers_to(guard_of(desk()), ASKS)
    with SqlDecisionLog.open_for_reading(place) as log:
        assert len([*log.records()]) == 3


def test_a_log_that_was_given_stays_open(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        with Guard(POLICY, log=log) as guard:
            guard.open("s", "Look.")
        assert Guard(POLICY, log=log).is_open("s")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"log": SqlDecisionLog}, r"did you mean SqlDecisionLog.open\(\.\.\.\)"),
        ({"log": 7}, "log is a log, or its path or URL, and int was given"),
        ({"log": {}}, "and dict was given"),
        ({"clock": SystemClock}, r"did you mean SystemClock\(\.\.\.\)"),
        ({"clock": NOON}, r"did you mean FixedClock\(\.\.\.\)"),
        ({"sessions": "sessions"}, "did you mean SessionFolder"),
        ({"sessions": SessionFolder}, "sessions is a log or a SessionFolder"),
    ],
)
def test_a_part_that_is_none_is_refused_at_once(options: Any, says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        Guard(POLICY, **options)


def test_a_policy_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    given: Any = desk()
    with pytest.raises(PolicyError, match="policy is a Policy or the path of its file, and dict"):
        Guard(given)
    broken = tmp_path / "critic.toml"
    broken.write_text("[guard]\nsafty_mode = 'network'\n")
    with pytest.raises(InvalidPolicy, match="safety_mode"):
        Guard(broken)
    with pytest.raises(FileNotFoundError):
        Guard(tmp_path / "none.toml")
    with pytest.raises(LogError):
        Guard(POLICY, log=broken)


def test_a_scope_names_what_the_policy_has() -> None:
    guard = guard_of(desk())
    guard.check_scope(None)
    guard.check_scope(["read_note", "transfer"])
    with pytest.raises(PolicyError, match=r"scope names read_not \(did you mean read_note\?\)"):
        guard.check_scope(["transfer", "read_not"])
    with pytest.raises(PolicyError, match="scope is a list of names of tools, and the text"):
        guard.check_scope("read_note")
    with pytest.raises(PolicyError, match="something else"):
        guard.check_scope(7)
    with pytest.raises(OutOfPlace, match="did you mean read_note"):
        guard.open("s", "Read it.", scope=["read_not"])
    assert not guard.is_open("s")
    guard.open("s", "Read it.", scope=["read_note"])


def test_the_tools_of_an_agent_are_those_of_the_policy() -> None:
    with pytest.raises(UnknownTool, match="did you mean read_note"):
        guard_of(desk()).check_tools(["read_not"])
    for near in ("Read_note", "READ_NOTE", "read_note ", "read_notes", ""):
        with pytest.raises(UnknownTool):
            guard_of(desk()).check_tools(["read_note", near])
    assert issubclass(UnknownTool, PolicyError)


def test_a_log_keeps_sessions_where_it_is_named(tmp_path: Path) -> None:
    """`sessions=log` is one mechanism with `log=log`: a new guard goes on where one stopped."""
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        every: list[dict[str, Any]] = [{"sessions": log}, {"log": log, "sessions": log}]
        for options in every:
            first = guard_of(desk(), **options)
            name = f"s{len(options)}"
            asks = [{**event, "session": name} for event in ASKS]
            answered = answers_to(first, asks)
            asked = answered[max(answered)]
            assert asked["action"] == "ask"
            second = guard_of(desk(), **options)
            assert second.answer(name, asked["plan_digest"], True, "emma")
            assert first.status(name) == second.status(name)
            second.close(name)
        assert [log.journal(session_key(name)) for name in ("s1", "s2")] == [[], []]
        assert len([*log.records()]) == 5  # of the session that has a log, and none of the other
        folder = SessionFolder(tmp_path / "folder")
        with pytest.raises(PolicyError, match="leave `sessions` out"):
            guard_of(desk(), log=log, sessions=folder)
