"""What is written is read back from each table before its commit: no row less, other or more."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from harness.log import LogDamaged, SqlDecisionLog
from harness.log.journal_rows import JournalStep
from harness.log.sqlite.sqlite_store import SqliteStore
from harness.log.tables import INDEX, JOURNAL, LOG_TABLES
from harness.record.drafts import session_key
from tests.harness.log.decisions import decision, meddle
from tests.harness.log.test_claims import claiming

SESSION: Final = session_key("s")
WRITTEN: Final = tuple(name for name in LOG_TABLES if name != "log_format")
KEYS: Final = {"inputs": "digest", "records": "seq", "claims": "claim", INDEX: "seq"}

GONE: Final = {
    **{table: f"DELETE FROM {table} WHERE {key} = NEW.{key}" for table, key in KEYS.items()},  # noqa: S608
    JOURNAL: f"DELETE FROM {JOURNAL} WHERE session = NEW.session",  # noqa: S608
}
OTHER: Final = {
    "inputs": "UPDATE inputs SET body = x'7b7d' WHERE digest = NEW.digest",
    "records": "UPDATE records SET hash = substr(hash, 1, 63) || 'x' WHERE seq = NEW.seq",
    "claims": "UPDATE claims SET seq = seq + 1 WHERE claim = NEW.claim",
    INDEX: f"UPDATE {INDEX} SET facts = facts + 1 WHERE seq = NEW.seq",  # noqa: S608
    JOURNAL: f"UPDATE {JOURNAL} SET body = x'00' WHERE session = NEW.session",  # noqa: S608
}
MORE: Final = {
    "records": "INSERT INTO records VALUES (NEW.seq + 7, 'x' || NEW.seq, x'7b7d')",
    INDEX: f"INSERT INTO {INDEX} (seq, facts, approvals, attempts) VALUES (NEW.seq + 1, 0, 0, 0)",  # noqa: S608
}


def _plant_trigger(path: Path, table: str, body: str) -> None:
    """Have the database do something of its own after each row of a table."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in found.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(f"CREATE TRIGGER own AFTER INSERT ON {table} BEGIN {body}; END")


def _append_step(log: SqlDecisionLog, number: int) -> None:
    step = JournalStep(SESSION, number, b"x")
    log.append_step([claiming(f"state {number}", number=number)], step)


@pytest.mark.parametrize(
    ("table", "body"),
    [(table, body) for rows in (GONE, OTHER, MORE) for table, body in rows.items()],
)
def test_a_row_that_is_not_kept_as_written_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, body: str
) -> None:
    path = tmp_path / "log"
    with SqlDecisionLog.open(path) as log:
        _append_step(log, 1)
        before = list(log.raw())
        _plant_trigger(path, table, body)
        monkeypatch.setattr(SqliteStore, "schema_problems", lambda *_: ())
        with pytest.raises(LogDamaged, match="does not hold what was appended"):
            _append_step(log, 2)
        assert list(log.raw()) == before
        assert log.claims(["state 1", "state 2"]) == {"state 1": 1}
        assert log.last_step(SESSION) == 1


def test_every_table_that_is_written_is_tried() -> None:
    assert GONE.keys() == OTHER.keys() == {*WRITTEN}


@pytest.mark.parametrize("body", [b"{}", b'{"id":"other"}', b"", b"\x00", None])
def test_what_is_stored_under_a_digest_is_compared_where_it_was_not_written_here(
    tmp_path: Path, body: bytes | None
) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as first:
        spec = first.append(decision(1)).inputs.spec
    changed = ("UPDATE inputs SET body = ? WHERE digest = ?", (body, spec))
    if body is not None:
        meddle(tmp_path / "log", changed)
    with SqlDecisionLog.open(tmp_path / "log") as log:
        if body is None:
            assert log.append(decision(2)).seq == 2
            return
        with pytest.raises(LogDamaged, match="does not hold what was appended"):
            log.append(decision(2))
        assert log.head().seq == 1
