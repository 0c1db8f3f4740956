"""What a table says of a turn from which values were taken out: nothing that is not known."""

from pathlib import Path
from typing import Any

import pytest

from harness.audit.copies.redaction import Wanted, redact_log, value_named
from harness.audit.settlements import settle
from harness.audit.tables.table_columns import Row
from harness.audit.tables.turn_tables import TurnTables, changed_after
from harness.log import SqlDecisionLog
from tests.harness.log.decisions import NOON
from tests.support.guarding import ASKS, answers_to, desk, guard_of, result, yes

SENT = {"tool": "transfer", "args": {"iban": "iban-9", "reason": "mine"}}
PAID = [*ASKS, yes(), result({"ok": True}, sent=SENT)]
"""A person said yes to one transfer, and another was made."""


def written(path: Path, events: list[Any]) -> Path:
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(desk(), log=log), events)
    return path


def redacted(path: Path, *values: str, trace: str | None = None) -> Path:
    new = path.with_name("new.db")
    wanted = Wanted([value_named(one) for one in values], trace=trace)
    with SqlDecisionLog.open_for_reading(path) as log:
        redact_log(log, new, wanted, by="ada", because="x", now=NOON)
    return new


def rows_of(path: Path, table: Any) -> list[Row]:
    """Return the rows of the last turn in a table."""
    with SqlDecisionLog.open_for_reading(path) as log:
        tables = TurnTables(log, changed_after(0), frozenset(), log.head().seq)
        return max((one for one in tables.rows()), key=lambda one: one["turns"][0]["seq"])[table]


def calls_of(path: Path) -> list[tuple[Any, ...]]:
    found = rows_of(path, "calls")
    return [(one["step"], one["planned"], one["ran"], one["args"] is None) for one in found]


def last_of(path: Path) -> int:
    with SqlDecisionLog.open_for_reading(path) as log:
        return log.head().seq


def test_whether_a_call_ran_is_not_known_without_the_run(tmp_path: Path) -> None:
    log = written(tmp_path / "log.db", PAID)
    assert calls_of(log) == [(0, True, False, False), (None, False, True, False)]
    new = redacted(log, f"{last_of(log)}:/run")
    assert calls_of(new) == [(0, True, None, False), (None, False, True, True)]


def test_a_turn_keeps_a_call_without_its_plan(tmp_path: Path) -> None:
    log = written(tmp_path / "log.db", PAID)
    without_plan = redacted(log, f"{last_of(log)}:/inputs/plan")
    assert calls_of(without_plan) == [(None, None, True, False)]
    without_plan.unlink()
    assert calls_of(redacted(log, trace="s")) == [
        (None, True, None, True),
        (None, False, True, True),
    ]
    asked = written(tmp_path / "asked.db", ASKS)
    (tmp_path / "new.db").unlink()
    assert calls_of(redacted(asked, trace="s")) == [(None, True, False, True)]


@pytest.mark.parametrize(("answer", "used"), [(True, None), (False, False)])
def test_an_approval_that_was_taken_out_may_have_been_used(
    tmp_path: Path, *, answer: bool, used: bool | None
) -> None:
    log = written(tmp_path / "log.db", [*ASKS, {**yes(), "yes": answer}])
    assert [one["used"] for one in rows_of(log, "answers")] == [answer]
    assert [one["used"] for one in rows_of(redacted(log, trace="s"), "answers")] == [used]


def test_nothing_is_said_of_evidence_that_was_taken_out(tmp_path: Path) -> None:
    log = written(tmp_path / "log.db", PAID)
    assert [one["stale"] for one in rows_of(log, "turns")] == [False]
    new = redacted(log, f"{last_of(log)}:/inputs/compiled/manifests/evidence_manifest")
    assert [one["stale"] for one in rows_of(new, "turns")] == [None]


def test_a_settlement_counts_until_a_result_comes_in(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, PAID[:-1])
        settle(log, log.head().seq, outcome="not_run", by="raj", because="x", now=NOON)
    assert [one["settled"] for one in rows_of(path, "turns")] == ["not_run"]
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(desk(), log=log), [result({"ok": True})])
    assert [one["settled"] for one in rows_of(path, "turns")] == [None]
    assert [one["ran"] for one in rows_of(path, "calls")] == [True]
