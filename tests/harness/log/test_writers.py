"""Many writers at once, writers that are killed, and full disks: nothing acknowledged is lost."""

import json
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import canonical_bytes
from harness.log.log_errors import LogBusy, LogFull, LogWriteFailed
from harness.log.log_places import is_url
from harness.log.sql import SqlDecisionLog
from harness.log.sqlite.sqlite_store import SqliteStore
from harness.record import GENESIS, DecisionRecord
from harness.replay.engine import replay
from tests.harness.log.decisions import LogPlace, decision, filled
from tests.harness.log.faults import disk_error, replace_commits
from tests.support.paths import ROOT

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start a writer process: (place, count, largest file in bytes)."""
    given = tmp_path / "decision.json"
    given.write_bytes(canonical_bytes(decision()))

    def started(place: LogPlace, *arguments: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.harness.log.writer"]
        values = [str(place), str(given), *map(str, arguments)]
        return subprocess.Popen(
            [*command, *values], cwd=ROOT, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    return started


def _chained(log: SqlDecisionLog) -> list[DecisionRecord]:
    """Return all records, after checking that they are one unbroken chain."""
    found = list(log.records())
    assert [record.seq for record in found] == list(range(1, len(found) + 1))
    assert [record.prev_hash for record in found] == [
        GENESIS,
        *(record.hash for record in found[:-1]),
    ][: len(found)]
    assert {answer.status for answer in replay(log)} <= {"same"}
    return found


def _told(lines: list[str]) -> list[dict[str, Any]]:
    """Return the lines of a writer, without a last line that a kill cut short."""
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}\n")]


@pytest.mark.parametrize("shared", [True, False], ids=["one_object", "own_objects"])
def test_threads_make_one_chain(place: LogPlace, shared: bool) -> None:
    log = SqlDecisionLog.open(place)

    def write(thread: int) -> list[DecisionRecord]:
        mine = log if shared else SqlDecisionLog.open(place)
        return [mine.append(decision(thread * 100 + n)) for n in range(5)]

    with ThreadPoolExecutor(8) as pool:
        told = [record for records in pool.map(write, range(8)) for record in records]
    assert sorted(told, key=lambda record: record.seq) == _chained(log)
    assert len(told) == 40


def test_threads_may_make_the_log_at_once(place: LogPlace) -> None:
    def write(_: int) -> int:
        return SqlDecisionLog.open(place).append(decision()).seq

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(write, range(8))) == list(range(1, 9))


@pytest.mark.slow
def test_processes_make_one_chain(place: LogPlace, start: Start) -> None:
    writers = [start(place, 25) for _ in range(4)]
    told = []
    for writer in writers:
        said, _ = writer.communicate(timeout=60)
        assert writer.returncode == 0
        told += _told(said.splitlines(keepends=True))
    found = _chained(SqlDecisionLog.open_for_reading(place))
    assert len(found) == 100
    assert {(one["seq"], one["hash"]) for one in told} == {(one.seq, one.hash) for one in found}


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_it_acknowledged(place: LogPlace, start: Start) -> None:
    chance = random.Random(7)  # noqa: S311 - when to kill, not a secret
    known: dict[int, str] = {}
    for _ in range(4 if is_url(place) else 10):  # many more in the assurance
        writer = start(place, 10_000)
        assert writer.stdout is not None
        lines = [writer.stdout.readline()]
        if not known:  # on a busy machine each might be killed before it acknowledges anything
            lines.append(writer.stdout.readline())
        time.sleep(chance.uniform(0, 0.12))
        writer.kill()
        lines += writer.stdout.readlines()
        writer.stdout.close()
        assert writer.wait() == -9
        known |= {one["seq"]: one["hash"] for one in _told(lines)}
        # The next writer rolls back the unfinished write, if any.
        found = {one.seq: one.hash for one in _chained(SqlDecisionLog.open(place))}
        assert known.items() <= found.items()
    assert known


def test_a_writer_killed_while_it_makes_the_log_is_not_an_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE records (seq INTEGER)")
        connection.execute("ROLLBACK")
    path.write_bytes(b"")
    (tmp_path / "log-journal").write_bytes(b"\0" * 512)
    assert SqlDecisionLog.open(path).append(decision()).seq == 1


def test_a_writer_without_space_tells_nothing_untrue(tmp_path: Path, start: Start) -> None:
    writer = start(tmp_path / "log", 1000, 200_000)
    said, _ = writer.communicate(timeout=60)
    *told, error = _told(said.splitlines(keepends=True))

    assert writer.returncode == 1
    assert error["kind"] in ("LogFull", "LogWriteFailed")
    assert "nothing was acknowledged" in error["says"]
    log = SqlDecisionLog.open(tmp_path / "log")
    found = [{"seq": one.seq, "hash": one.hash} for one in _chained(log)]
    assert len(told) > 5
    assert found[: len(told)] == told
    assert log.append(decision()).seq == len(found) + 1


def test_a_full_disk_is_named_and_the_log_goes_on_once_there_is_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    head = filled(path, 4).head()
    connect = SqliteStore._connect

    def full(store: SqliteStore, mode: Any) -> sqlite3.Connection:
        connection = connect(store, mode)
        connection.execute("PRAGMA max_page_count = 1")  # as many as there are, no more
        return connection

    log = SqlDecisionLog.open(path)
    monkeypatch.setattr(SqliteStore, "_connect", full)
    with pytest.raises(LogFull, match=r"SQLITE_FULL.*no space is left.*append again"):
        log.append_all(decision(n) for n in range(5, 40))
    assert log.head() == head
    monkeypatch.undo()
    assert log.append(decision(5)).seq == 5
    assert len(_chained(SqlDecisionLog.open(path))) == 5


def test_a_disk_that_fails_at_commit_is_not_believed(
    place: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(place, 2)
    log = SqlDecisionLog.open(place)

    def failing(_commit: Callable[[], None]) -> None:
        raise disk_error(place)

    replace_commits(monkeypatch, failing)
    with pytest.raises(LogWriteFailed, match=r"(IOERR_FSYNC|58030).*nothing was acknowledged"):
        log.append(decision(3))
    monkeypatch.undo()
    assert SqlDecisionLog.open(place).append(decision(3)).seq == 3
    assert log.append(decision(4)).seq == 4


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN"], ids=["writer", "reader"])
def test_a_log_that_others_hold_is_busy_and_then_is_not(tmp_path: Path, begin: str) -> None:
    path = tmp_path / "log"
    filled(path, 2)
    log = SqlDecisionLog.open(path, timeout=0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(begin)
        other.execute("SELECT count(*) FROM records").fetchone()
        with pytest.raises(LogBusy, match=r"SQLITE_BUSY.*nothing was recorded, try again"):
            log.append(decision(3))
        assert log.head().seq == 2
    assert log.append(decision(3)).seq == 3
    assert len(_chained(log)) == 3


@pytest.mark.slow
def test_a_slow_reader_does_not_stop_a_writer(place: LogPlace) -> None:
    log = filled(place, 200)
    rows = SqlDecisionLog.open_for_reading(place).raw()
    next(rows)
    impatient = SqlDecisionLog.open(place, timeout=0.1)
    assert impatient.append(decision(201)).seq == 201
    assert [raw.seq for raw in rows] == list(range(2, 202))
    assert log.head().seq == 201
