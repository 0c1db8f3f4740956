"""Tables, triggers and indexes that are not as the log made them: refused, and reported."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from harness.log.log_errors import LogDamaged, LogUnavailable
from harness.log.log_places import is_url
from harness.log.sql import SqlDecisionLog
from harness.log.sqlite.sqlite_store import SqliteStore
from tests.harness.log.changes import (
    CHANGES_IN_POSTGRES,
    CHANGES_IN_SQLITE,
    LOSSES_IN_POSTGRES,
    LOSSES_IN_SQLITE,
)
from tests.harness.log.decisions import LogPlace, decision, filled, meddle
from tests.harness.log.faults import replace_commits
from tests.support.postgres import pg_rows

CHANGES: Final = [
    *(("sqlite", *change) for change in CHANGES_IN_SQLITE.values()),
    *(("postgres", *change) for change in CHANGES_IN_POSTGRES.values()),
]
_EACH_CHANGE: Final = pytest.mark.parametrize(
    ("place", "statements", "problems"),
    CHANGES,
    indirect=["place"],
    ids=[f"sqlite-{name}" for name in CHANGES_IN_SQLITE]
    + [f"postgres-{name}" for name in CHANGES_IN_POSTGRES],
)


def _change(place: LogPlace, statements: tuple[str, ...]) -> None:
    if is_url(place):
        pg_rows(str(place), *statements)
        return
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@_EACH_CHANGE
def test_a_log_with_another_schema_is_read_but_not_appended_to(
    place: LogPlace, statements: tuple[str, ...], problems: tuple[str, ...]
) -> None:
    filled(place, 3)
    _change(place, statements)
    with pytest.raises(LogDamaged, match="its tables are not as the log made them") as caught:
        SqlDecisionLog.open(place)
    assert problems[0] in str(caught.value)
    with SqlDecisionLog.open_for_reading(place) as log:
        assert log.problems == problems
        assert len(list(log.records())) == 3


@_EACH_CHANGE
def test_a_schema_changed_after_opening_is_noticed_at_the_next_append(
    place: LogPlace, statements: tuple[str, ...], problems: tuple[str, ...]
) -> None:
    log = filled(place, 3)
    head = log.head()
    _change(place, statements)
    with pytest.raises(LogDamaged, match=r"cannot append: its tables .*keep it as evidence"):
        log.append(decision(4))
    assert log.head() == head


_SWAPS: Final = {
    "virtual": "body BLOB AS (zeroblob(30000000)) VIRTUAL",
    "stored": "body BLOB AS (seq) STORED",
}


@pytest.mark.parametrize("column", _SWAPS.values(), ids=[*_SWAPS])
@pytest.mark.parametrize("table", ["records", "inputs"])
def test_a_log_that_computes_what_it_should_store_is_not_opened(
    tmp_path: Path, table: str, column: str
) -> None:
    """Planted: 37 kB of file replayed for 16 seconds, in a gigabyte."""
    path = tmp_path / "log"
    filled(path, 3).close()
    with sqlite3.connect(path) as connection:
        key = "hash TEXT, " if table == "records" else "digest TEXT, "
        connection.execute(f"DROP TABLE {table}")
        connection.execute(f"CREATE TABLE {table} (seq INTEGER PRIMARY KEY, {key}{column})")
    for opened in (SqlDecisionLog.open, SqlDecisionLog.open_for_reading):
        with pytest.raises(LogDamaged, match=rf"column {table}.body is computed, .*evidence"):
            opened(path)


def test_a_virtual_table_is_no_table_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(path, 1).close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE claims")
        connection.execute("CREATE VIRTUAL TABLE claims USING fts5(claim, seq)")
    with pytest.raises(LogDamaged, match=r"column claims.claim is computed, not stored"):
        SqlDecisionLog.open_for_reading(path)


def test_a_sound_log_has_no_problems(place: LogPlace) -> None:
    with filled(place, 1) as log:
        assert log.problems == ()
    with SqlDecisionLog.open_for_reading(place) as log:
        assert log.problems == ()


FORGED: Final = "PRAGMA writable_schema = ON"
STAT4: Final = "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"


@pytest.mark.parametrize(
    "statements",
    [("ANALYZE",), ("ANALYZE", FORGED, STAT4), ("ANALYZE", "DELETE FROM sqlite_stat1")],
)
def test_a_log_whose_statistics_were_gathered_is_sound(
    tmp_path: Path, statements: tuple[str, ...]
) -> None:
    path = tmp_path / "log"
    log = filled(path, 3)
    _change(path, statements)
    assert log.append(decision(4)).seq == 4
    with SqlDecisionLog.open(path) as log:
        assert log.append(decision(5)).seq == 5
    with SqlDecisionLog.open_for_reading(path) as log:
        assert log.problems == ()
        assert [record.seq for record in log.raw()] == [1, 2, 3, 4, 5]


RESERVED: Final[dict[str, tuple[str, ...]]] = {
    "table sqlite_stat1 is unexpected": (FORGED, "CREATE TABLE sqlite_stat1(tbl,idx,stat,more)"),
    "table sqlite_stat4 is unexpected": (FORGED, "CREATE TABLE sqlite_stat4(tbl AS (1),idx)"),
    "view sqlite_stat1 is unexpected": (FORGED, "CREATE VIEW sqlite_stat1 AS SELECT 1"),
    "table sqlite_stat2 is unexpected": (FORGED, "CREATE TABLE sqlite_stat2(tbl,idx,stat)"),
    "table sqlite_other is unexpected": (FORGED, "CREATE TABLE sqlite_other(tbl,idx,stat)"),
    "table SQLITE_STAT1 is unexpected": (FORGED, "CREATE TABLE SQLITE_STAT1(tbl,idx,stat)"),
    "table sqlite_sequence is unexpected": (
        "CREATE TABLE extra (a INTEGER PRIMARY KEY AUTOINCREMENT)",
        "DROP TABLE extra",
    ),
    "trigger sqlite_stat1 is unexpected": (
        "ANALYZE",
        FORGED,
        "CREATE TRIGGER sqlite_stat1 AFTER INSERT ON records BEGIN DELETE FROM records; END",
    ),
}


@pytest.mark.parametrize("problem", RESERVED)
def test_a_reserved_name_alone_is_not_believed(tmp_path: Path, problem: str) -> None:
    path = tmp_path / "log"
    filled(path, 1)
    _change(path, RESERVED[problem])
    with pytest.raises(LogDamaged) as caught:
        SqlDecisionLog.open(path)
    assert problem in str(caught.value)


def test_only_some_of_many_problems_are_named(tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(path, 1)
    _change(path, tuple(f"CREATE TABLE extra{number} (a)" for number in range(4)))
    with pytest.raises(LogDamaged, match=r"\(table extra0 is .*; .*; .*, and 1 more\)"):
        SqlDecisionLog.open(path)
    _change(path, ("DROP TABLE extra0",))
    with pytest.raises(LogDamaged, match=r"extra1 .*extra2 .*extra3 is unexpected\)"):
        SqlDecisionLog.open(path)


def test_white_space_is_not_a_difference(tmp_path: Path) -> None:
    path = tmp_path / "log"
    head = filled(path, 2).head()
    _change(
        path,
        (
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = replace(replace(sql, ' ', char(10)), '(', ' ( ')",
        ),
    )
    with SqlDecisionLog.open(path) as log:
        assert log.head() == head
        assert log.append(decision(3)).seq == 3


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u3000", "\x85"])
def test_white_space_that_sqlite_takes_for_a_name_is_a_difference(
    tmp_path: Path, space: str
) -> None:
    path = tmp_path / "log"
    filled(path, 2)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        takes_null = f"BLOB{space}NOT NULL"
        change = "UPDATE sqlite_master SET sql = replace(sql, 'BLOB NOT NULL', ?)"
        connection.execute(change, (takes_null,))
    with pytest.raises(LogDamaged, match="table inputs was changed; table records was changed"):
        SqlDecisionLog.open(path)


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        *(("sqlite", changes) for changes in LOSSES_IN_SQLITE.values()),
        *(("postgres", changes) for changes in LOSSES_IN_POSTGRES.values()),
    ],
    indirect=["place"],
    ids=[*LOSSES_IN_SQLITE, *LOSSES_IN_POSTGRES],
)
def test_what_is_not_kept_as_appended_is_not_acknowledged(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch, changes: tuple[str, ...]
) -> None:
    """Even where the schema is believed: what was appended is read back before the commit."""
    log = filled(place, 3)
    before = list(log.raw())
    _change(place, changes)
    monkeypatch.setattr(type(log._store), "schema_problems", lambda *_: ())
    with pytest.raises(LogDamaged, match="does not hold what was appended to it, so nothing was"):
        log.append(decision(4))
    assert list(log.raw()) == before


def test_an_input_stored_earlier_is_read_back_too(place: LogPlace) -> None:
    with filled(place, 1) as first:
        (spec,) = (record.inputs.spec for record in first.records())
    meddle(place, ("UPDATE inputs SET body = ? WHERE digest = ?", (b"{}", spec)))
    log = SqlDecisionLog.open(place)
    with pytest.raises(LogDamaged, match="does not hold what was appended"):
        log.append(decision(2))
    assert log.head().seq == 1


EXTENDED = tuple(
    f"SQLITE_{kind}_" for kind in ("IOERR", "BUSY", "LOCKED", "READONLY", "CORRUPT", "CONSTRAINT")
)
CODES = sorted(
    {*range(1, 27), *(code for name, code in vars(sqlite3).items() if name.startswith(EXTENDED))}
)
NOTHING_WRITTEN = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _failing_at(method: str, fail: Callable[[], None]) -> type[sqlite3.Connection]:
    def failing(*_: object) -> None:
        fail()

    return type("Failing", (sqlite3.Connection,), {method: failing})


def _connect_with(monkeypatch: pytest.MonkeyPatch, kind: type[sqlite3.Connection]) -> None:
    original = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: original(*a, **k, factory=kind))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("code", CODES)
def test_after_any_failure_of_a_commit_the_log_is_looked_at_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def fail() -> None:
        error = sqlite3.OperationalError("injected")
        error.sqlite_errorcode = code
        error.sqlite_errorname = f"code {code}"
        raise error

    path = tmp_path / "log"
    log = filled(path, 1)
    _connect_with(monkeypatch, _failing_at("commit", fail))
    with pytest.raises(LogUnavailable) as caught:
        log.append(decision(2))
    monkeypatch.undo()
    if code & 0xFF in NOTHING_WRITTEN:
        assert type(caught.value).__name__ == "LogBusy"
        assert log.append(decision(2)).seq == 2
        return
    assert type(caught.value).__name__ in ("LogWriteFailed", "LogFull")
    assert "nothing was acknowledged" in str(caught.value)
    assert log.append(decision(2)).seq == 2
    assert SqlDecisionLog.open(path).append(decision(3)).seq == 3


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(5, "gone"), ValueError("odd")])
def test_a_log_goes_on_after_a_commit_that_is_interrupted(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(_commit: Callable[[], None]) -> None:
        raise error

    log = filled(place, 1)
    replace_commits(monkeypatch, fail)
    with pytest.raises((KeyboardInterrupt, LogUnavailable, ValueError)):
        log.append(decision(2))
    monkeypatch.undo()
    assert log.append(decision(2)).seq == 2


@pytest.mark.parametrize("code", [sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CORRUPT])
def test_a_failure_before_the_commit_has_a_known_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def fail(*_: object) -> None:
        error = sqlite3.OperationalError("injected")
        error.sqlite_errorcode = code
        raise error

    log = filled(tmp_path / "log", 1)
    monkeypatch.setattr(SqliteStore, "schema", fail)
    with pytest.raises((LogDamaged, LogUnavailable)):
        log.append(decision(2))
    monkeypatch.undo()
    assert log.append(decision(2)).seq == 2


@pytest.mark.parametrize("mode", ["rw", "rwc"])
def test_a_writing_connection_syncs_the_folder_and_trusts_no_schema(
    tmp_path: Path, mode: str
) -> None:
    path = tmp_path / "log"
    filled(path, 1)
    extra, off = 3, 0
    with SqliteStore(path, 1).transaction(mode) as connection:  # type: ignore[arg-type]
        values = [
            connection.execute(f"PRAGMA {name}").fetchall()
            for name in ("synchronous", "trusted_schema", "journal_mode")
        ]
    assert values == [[(extra,)], [(off,)], [("delete",)]]


def test_a_reading_connection_trusts_no_schema(tmp_path: Path) -> None:
    filled(tmp_path / "log", 1)
    with SqliteStore(tmp_path / "log", 1).transaction("ro") as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchall() == [(0,)]
