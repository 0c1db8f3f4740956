"""The log: appending to it, and deriving it again. The disk's own time is no CPU time."""

import sqlite3
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import orjson

from harness.log.sql import SqlDecisionLog
from harness.record import Decision
from harness.replay import replay
from harness.replay.log_check import CheckedReplay
from tests.benchmarks.desk import decision
from tests.benchmarks.timing import Cost, Row, of_process, shared

_PER_BATCH: Final = 2
_TOOLS: Final = 100  # of the log that is replayed
RECORDS: Final = 300
FLOOR: Final = "orjson.loads of the record and its plan"


def _decisions(size: int) -> Callable[[int], Sequence[Decision]]:
    """Return decisions that all differ, however often the batches are asked for."""
    numbers = count()
    return lambda _batch: [decision(next(numbers), size) for _ in range(_PER_BATCH)]


def _append(folder: Path, name: str, size: int) -> Cost:
    log = SqlDecisionLog.open(folder / f"{name}_{size}.db")
    return of_process(log.append, _decisions(size))


def _bare(folder: Path, size: int) -> Cost:
    """Return the cost of inserting as many bytes, over a connection that stays open."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("CREATE TABLE rows (seq INTEGER PRIMARY KEY, body BLOB)")
    body = b"".join(decision(0, size).snapshot.members.values())

    def insert(number: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows VALUES (?, ?)", (number, body))
        connection.execute("COMMIT")

    numbers = count()
    return of_process(insert, lambda _batch: [next(numbers) for _ in range(_PER_BATCH)])


def filled(path: Path, records: int) -> SqlDecisionLog:
    """Return a new log of that many decisions on different plans."""
    log = SqlDecisionLog.open(path)
    for start in range(0, records, 500):
        log.append_all(decision(n, _TOOLS) for n in range(start, min(start + 500, records)))
    return log


def _replayed(log: SqlDecisionLog) -> None:
    if any(answer.status != "same" for answer in replay(log)):
        raise AssertionError("a record is not replayed as it was recorded")


def checked(log: SqlDecisionLog) -> None:
    """Do what `critic log verify` does."""
    replayed = CheckedReplay(log, judge=False)
    sound = all(replayed.answers())
    if not (sound and replayed.check()):
        raise AssertionError("the log is not found sound")


def parsed(log: SqlDecisionLog) -> Cost:
    """Return the cost of parsing a record and its plan."""
    records = [raw.body for raw in log.raw()]
    digests = {orjson.loads(body)["inputs"]["plan"] for body in records}
    bodies = [*records, *log.inputs(digests).values()]
    return shared(
        of_process(lambda each: [orjson.loads(one) for one in each], lambda _: [bodies]),
        len(records),
    )


def log_rows(folder: Path) -> list[Row]:
    """Measure appends, and the replay of a log that is in the folder."""
    log = filled(folder / "replayed.db", RECORDS)
    append = "append to SQLite, 1,000 tools"
    bare = "a bare sqlite3 insert with the same commit"
    many, few = _append(folder, "many", 1000), _append(folder, "few", 12)
    beside = _append(folder, "beside", 1000)
    replayed = shared(of_process(_replayed, lambda _: [log]), RECORDS)
    verified = shared(of_process(checked, lambda _: [log]), RECORDS)
    return [
        Row(append, "the same with 12", 1.3, many, few),
        Row(append, bare, 5.0, beside, _bare(folder, 1000)),
        Row("replay of a record", FLOOR, 20.0, replayed, parsed(log)),
        Row("critic log verify, a record", FLOOR, 8.0, verified, parsed(log)),
    ]
