"""Files cut, zeroed and scribbled on: always a typed answer, and SQLite's own recovery is used."""

import resource
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harness.log.log_errors import LogDamaged, LogError, LogUnavailable, NotALog
from harness.log.sql import SqlDecisionLog
from harness.log.sqlite.sqlite_store import SqliteStore
from tests.harness.log.decisions import decision, filled, put_body


def _read_all(path: Path) -> int:
    log = SqlDecisionLog.open_for_reading(path)
    return sum(1 for record in log.records() if log.input(record.inputs.plan))


def _refused(path: Path) -> bool:
    try:
        _read_all(path)
    except LogError:
        return True
    return False


@pytest.mark.parametrize("share", [0.004, 0.02, 0.1, 0.3, 0.5, 0.75, 0.9, 0.99])
def test_a_cut_log_is_damaged(tmp_path: Path, share: float) -> None:
    path = tmp_path / "log"
    filled(path, 40)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    for opener in (SqlDecisionLog.open_for_reading, SqlDecisionLog.open):
        with pytest.raises(LogDamaged, match=r"cut short.*restore the log from a copy"):
            opener(path)


@pytest.mark.parametrize("missing", [1, 17, 2000, 4095, 4096, 4097])
def test_a_log_that_lacks_its_last_bytes_is_damaged(tmp_path: Path, missing: int) -> None:
    path = tmp_path / "log"
    filled(path, 12)
    content = path.read_bytes()
    path.write_bytes(content[:-missing])
    with pytest.raises(LogDamaged, match="cut short"):
        SqlDecisionLog.open(path)


@pytest.mark.parametrize("left", [1, 15, 16, 50, 99])
def test_less_than_a_header_is_not_a_log(tmp_path: Path, left: int) -> None:
    path = tmp_path / "log"
    filled(path, 1)
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(NotALog, match=f"{left} bytes are not a decision log"):
        SqlDecisionLog.open(path)


def test_a_log_cut_while_it_is_open_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = filled(path, 40)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(LogDamaged):
        list(log.raw())
    with pytest.raises(LogDamaged):
        log.append(decision(41))


def test_no_scribble_makes_more_than_a_log_error(tmp_path: Path) -> None:
    """Each page in turn filled with zeros or ones: read as a whole, or refused, never a crash."""
    whole, path = tmp_path / "whole", tmp_path / "log"
    filled(whole, 12)
    content = whole.read_bytes()
    refused = 0
    for start in range(0, len(content), 4096):
        for filler in (b"\0", b"\xff"):
            path.write_bytes(content[:start] + filler * 4096 + content[start + 4096 :])
            refused += _refused(path)
    assert refused > len(content) // 4096


def test_a_record_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = filled(path, 3)
    put_body(path, 2, b"\xff\x00 no record")
    records = log.records()
    assert next(records).seq == 1
    with pytest.raises(LogDamaged, match=r"record 2 cannot be read .*: replay the log"):
        next(records)
    assert [raw.seq for raw in log.raw()] == [1, 2, 3]


@pytest.mark.parametrize("body", [b"", "text", 5, 2.5, "\x00\x01"])
def test_raw_rows_may_hold_anything(tmp_path: Path, body: object) -> None:
    path = tmp_path / "log"
    log = filled(path, 3)
    put_body(path, 2, body)  # type: ignore[arg-type]
    rows = list(log.raw())
    assert [raw.seq for raw in rows] == [1, 2, 3]
    assert all(isinstance(raw.body, bytes) for raw in rows)


def test_the_unfinished_write_of_a_killed_writer_is_undone(tmp_path: Path) -> None:
    path, copied = tmp_path / "log", tmp_path / "copy"
    head = filled(path, 40).head()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DROP TRIGGER records_no_update")
        connection.execute("UPDATE records SET body = zeroblob(20000)")
        # What is on the disk now is what a kill would leave behind.
        for suffix in ("", "-journal"):
            shutil.copy(f"{path}{suffix}", f"{copied}{suffix}")
        connection.execute("ROLLBACK")

    content = copied.read_bytes()
    with pytest.raises(LogUnavailable, match=r"a writer was stopped .*open the log for appending"):
        SqlDecisionLog.open_for_reading(copied)
    assert copied.read_bytes() == content
    assert SqlDecisionLog.open(copied, create=False).head() == head
    assert _read_all(copied) == 40
    assert not Path(f"{copied}-journal").exists()


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (sqlite3.InterfaceError("odd"), "cannot open: InterfaceError: reopen the log"),
        (PermissionError(13, "Permission denied"), "permission denied: check the path"),
    ],
)
def test_errors_without_a_code_are_typed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, says: str
) -> None:
    def failing(*_: object) -> None:
        raise error

    filled(tmp_path / "log", 1)
    monkeypatch.setattr(SqliteStore, "check", failing)
    with pytest.raises(LogUnavailable, match=says):
        SqlDecisionLog.open(tmp_path / "log")


def _hostile(path: Path, table: str, columns: str, rows: str) -> None:
    """Make a table of a log anew, with a column that SQLite computes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(f"DROP TABLE {table}")
        connection.execute(f"CREATE TABLE {table} ({columns})")
        connection.execute(rows)


def _address_space() -> int:
    """Return the bytes that this process has mapped: libraries of other tests take gigabytes."""
    pages = Path("/proc/self/statm")
    return (
        int(pages.read_text().split()[0]) * resource.getpagesize()
        if pages.exists()
        else 500_000_000
    )


@pytest.mark.parametrize("size", [1_000_000_000, 30_000_000])
def test_a_small_file_cannot_take_gigabytes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "log"
    filled(path, 2).close()
    columns = f"seq INTEGER PRIMARY KEY, hash TEXT, body BLOB AS (zeroblob({size}))"
    count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
    rows = f"{count} INSERT INTO records SELECT i, i FROM n"  # noqa: S608 - our own words
    _hostile(path, "records", columns, rows)
    limit = resource.RLIMIT_AS
    soft, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (_address_space() + 1_500_000_000, hard))
    try:
        with pytest.raises(LogDamaged, match=r"column records.body is computed, not stored"):
            SqlDecisionLog.open_for_reading(path)
    finally:
        resource.setrlimit(limit, (soft, hard))


def test_a_value_that_is_larger_than_any_document_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(path, 2).close()
    columns = "seq INTEGER PRIMARY KEY, hash TEXT, body BLOB"
    size = 40 * 1024 * 1024 + 1
    rows = f"INSERT INTO records VALUES (1, '', zeroblob({size - 100})), (2, '', zeroblob({size}))"  # noqa: S608 - our own words
    _hostile(path, "records", columns, rows)
    found = SqlDecisionLog.open_for_reading(path).raw()
    with pytest.raises(LogDamaged, match="a value is larger than any document"):
        list(found)
