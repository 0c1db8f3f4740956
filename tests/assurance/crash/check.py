"""What must hold of a log after any crash, and writers in separate processes."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, NamedTuple

from harness.log.log_errors import LogDamaged, LogError, LogUnavailable, NotALog
from harness.log.sql import SqlDecisionLog
from harness.log.sqlite.sqlite_store import SqliteStore
from harness.record import DecisionRecord, Head, Sealed
from harness.replay.document_reading import RecordedLog
from harness.replay.engine import replay
from tests.assurance.row import Row, all_held
from tests.harness.log.decisions import LogPlace, decision

Opener = Callable[[Path], SqlDecisionLog]
Told = dict[int, str]
"""What was acknowledged: hashes by number."""

_ENDLESS = 1000  # answers; the logs here that are damaged have some ten records
_WORST = ("tampered", "incomplete", "redacted", "drift", "open", "same")


def existing(path: Path) -> SqlDecisionLog:
    """Open the log for appending, which rolls back what a killed writer left unfinished."""
    return SqlDecisionLog.open(path, create=False)


def problem(path: LogPlace, told: Mapping[int, str], most: int | None = None) -> str:
    """Return what is wrong with the log after a crash, or an empty text.

    Every acknowledged record is there, the chain and every report hold, and there are at most
    `most` records that nobody acknowledged (a commit may outlive the writer that would have told).
    """
    try:
        with SqlDecisionLog.open(path) as log:
            found = {raw.seq: raw.hash for raw in log.raw()}
            answers = replay(log, head=_last(told))
            # What began may not have ended: that is what the record is for.
            wrong = [one for one in answers if not one and one.status != "open"]
    except LogError as error:
        return f"cannot be read: {error}"
    if lost := told.items() - found.items():
        return f"lost {sorted(lost)[0]}"
    if wrong:
        return f"record {wrong[0].seq} is {wrong[0].status}: {'; '.join(wrong[0].reasons)}"
    if most is not None and len(found) - len(told) > most:
        return f"{len(found) - len(told)} records that nobody told, of {len(found)}"
    return ""


def _last(told: Mapping[int, str]) -> Head | None:
    return Head(*max(told.items())) if told else None


def outcome(opener: Opener, path: Path, head: Head) -> str:
    """Return the result of opening and replaying in a word; `crash...` for an untyped error."""
    try:
        with opener(path) as log:
            return worst(log, head)
    except LogDamaged:
        return "damaged"
    except NotALog:
        return "no log"
    except LogUnavailable:
        return "unavailable"
    except Exception as error:
        return f"crash {type(error).__name__}"


def worst(log: RecordedLog, head: Head | None = None) -> str:
    """Return the worst status of a replay; `endless` if it gives more answers than possible."""
    answers = list(islice(replay(log, head=head), _ENDLESS))
    if len(answers) == _ENDLESS:
        return "endless"
    found = {one.status for one in answers}
    return next((status for status in _WORST if status in found), "same")


def connecting(prepare: Callable[[sqlite3.Connection], None]) -> Callable[..., sqlite3.Connection]:
    """Replace how the log connects, to change each connection before its use."""
    connect = SqliteStore._connect

    def prepared(store: SqliteStore, mode: Any) -> sqlite3.Connection:
        connection = connect(store, mode)
        prepare(connection)
        return connection

    return prepared


class Writer(NamedTuple):
    """A forked process, and the end of the pipe on which it acknowledges."""

    process: ForkProcess
    pipe: int

    @classmethod
    def start(cls, target: Callable[..., None], *arguments: object) -> "Writer":
        """Run `target(*arguments, fd)` in a separate process."""
        reading, writing = os.pipe()
        process = get_context("fork").Process(
            target=_alone, args=(target, arguments, reading, writing), daemon=True
        )
        process.start()
        os.close(writing)
        return cls(process, reading)

    def wait_until_ready(self) -> None:
        """Return when it has said its first line, or ended."""
        os.read(self.pipe, len(READY))

    def said(self) -> list[str]:
        """Return all whole lines of the writer after its end, without the line that it is ready."""
        with os.fdopen(self.pipe, "rb") as stream:
            text = stream.read().decode()
        self.process.join()
        whole = text[: text.rfind("\n") + 1]
        return [line for line in whole.splitlines() if line != READY.decode().strip()]


READY = b"ready\n"


def _alone(target: Callable[..., None], arguments: tuple[object, ...], *pipe: int) -> None:
    os.close(pipe[0])
    target(*arguments, pipe[1])


def tell(fd: int, *records: DecisionRecord | Sealed) -> None:
    """Acknowledge a record: what is in a pipe stays there when the writer is killed."""
    for record in records:
        os.write(fd, f"{record.seq} {record.hash}\n".encode())


def told_in(lines: list[str]) -> Told:
    """Return the acknowledgements in the output of a writer."""
    pairs = [line.split(" ") for line in lines if line[:1].isdigit()]
    return {int(seq): own for seq, own in pairs}


def row_of(layer: str, unit: str, problems: list[str], note: str) -> Row:
    wrong = [one for one in problems if one]
    first = f"; first: {wrong[0]}" if wrong else ""
    return all_held(layer, len(problems), unit, len(wrong), note + first)


def recovery_of(log: SqlDecisionLog, told: Told, where: str) -> str:
    """Return what is wrong with a log that goes on after a failed write; add what it then told."""
    try:
        record = log.append(decision())
    except LogError as error:
        return f"{where}: it does not go on: {error}"
    told[record.seq] = record.hash
    return ""


def afterwards(path: LogPlace, told: Told, where: str, most: int = 1) -> str:
    """Return whether the log is sound and accepts records when it is opened again."""
    wrong = problem(path, told, most)
    if wrong:
        return f"{where}: {wrong}"
    with SqlDecisionLog.open(path) as log:
        before = log.head()
        record = log.append(decision())
    follows = (record.seq, record.prev_hash) == (before.seq + 1, before.hash)
    return "" if follows else f"{where}: the next record does not follow"


@contextmanager
def patched(owner: Any, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
