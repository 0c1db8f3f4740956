"""Writers killed by SIGKILL: at any time by the parent, or by themselves inside a statement.

A writer that kills itself does so at a random instruction of SQLite's machine, with a cache of
one page, so that an unfinished transaction is on the disk already. (The commit itself is one
instruction: only the kills from outside fall into it.)
"""

import os
import random
import signal
import sqlite3
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from harness.log.log_errors import LogUnavailable
from harness.log.sql import SqlDecisionLog
from harness.log.sqlite.sqlite_store import SqliteStore
from harness.record import Begun, BegunRecord, Decision, DecisionRecord
from tests.assurance.crash.check import READY, Told, Writer, connecting, problem, tell, told_in
from tests.assurance.row import Row, all_held
from tests.harness.log.decisions import KINDS, NOON, decision

_ROUNDS_PER_LOG: Final = 4
_LONGEST: Final = 0.12  # seconds from ready to the kill: some appends
_DEEPEST: Final = 9000  # instructions until a writer kills itself: some appends too
_BATCH: Final = 3
_RULED: Final = "the beginning of this follows"
_JOURNAL: Final = bytes.fromhex("d9d505f920a163d7")  # the magic of a journal that is hot


@dataclass
class _Tally:
    kills: int = 0
    several: int = 0
    told: int = 0
    untold: int = 0
    hot: int = 0
    failed: int = 0
    problems: list[str] = field(default_factory=list)


def kills(folder: Path, *, quick: bool) -> Row:
    """Kill at least 500 writers (quick: 50), one to four at once, several rounds for each log."""
    chance, tally, number = random.Random(2), _Tally(), 0  # noqa: S311 - when to kill, no secret
    while tally.kills < (50 if quick else 500):
        number += 1
        _one_log(folder / f"log{number}", chance, tally)
    note = (
        f"{tally.told} records told, {tally.untold} committed untold, {tally.several} kills among "
        f"several writers, {tally.hot} left a hot journal, {number} logs"
    )
    first = f"; first: {tally.problems[0]}" if tally.problems else ""
    return all_held("crash: killed writers", tally.kills, "kills", tally.failed, note + first)


def _one_log(path: Path, chance: random.Random, tally: _Tally) -> None:
    told: Told = {}
    kills_here = 0
    for _ in range(_ROUNDS_PER_LOG):
        writers = [_started(path, chance) for _ in range(chance.choice((1, 1, 2, 3, 4)))]
        said = _killed(writers, chance)
        told |= {seq: own for lines in said for seq, own in told_in(lines).items()}
        ends = [writer.process.exitcode for writer in writers]
        killed = sum(end == -signal.SIGKILL for end in ends)
        kills_here += killed
        tally.kills += killed
        tally.several += killed if len(writers) > 1 else 0
        wrong = _reading_is_harmless(path, tally) or problem(path, told, _BATCH * kills_here)
        wrong = wrong or _torn_ruling(path)
        if not wrong and killed < len(writers):
            wrong = f"a writer ended by itself: {ends}, {said}"
        if wrong:
            tally.failed += max(killed, 1)
            tally.problems.append(wrong)
    tally.told += len(told)
    tally.untold += SqlDecisionLog.open(path).head().seq - len(told)


def _started(path: Path, chance: random.Random) -> Writer:
    given = decision(chance.randint(1, 99), kind=chance.choice(KINDS))
    depth = chance.randint(1, _DEEPEST) if chance.random() < 0.5 else 0
    return Writer.start(_write, path, given, chance.randint(1, _BATCH), depth)


def _killed(writers: list[Writer], chance: random.Random) -> list[list[str]]:
    """Kill all writers, each at a different time, and return what each of them reported."""
    for writer in writers:
        if chance.random() < 0.8:  # else it may be killed while it opens or makes the log
            writer.wait_until_ready()
    waiting = sorted((chance.uniform(0, _LONGEST), place) for place in range(len(writers)))
    began = time.monotonic()
    for due, place in waiting:
        time.sleep(max(0.0, began + due - time.monotonic()))
        writers[place].process.kill()
    return [writer.said() for writer in writers]


def _write(path: Path, given: Decision, batch: int, depth: int, fd: int) -> None:
    if depth:
        patched: Any = SqliteStore
        patched._connect = connecting(_Doomed(depth).prepare)
    log = SqlDecisionLog.open(path)
    os.write(fd, READY)
    while True:
        ended = given
        if given.report.verify.ok:
            ruling = given.model_copy(update={"error": _RULED})
            both = log.append_all([ruling, Begun(proposal=given.proposal, begun_at=NOON)])
            tell(fd, *both)
            ended = given.model_copy(update={"begun": both[1].hash})
        tell(fd, *log.append_all([ended, *[given] * (batch - 1)]))


def _torn_ruling(path: Path) -> str:
    """Return which ruling is without its beginning, or which beginning without its ruling."""
    with SqlDecisionLog.open_for_reading(path) as log:
        entries = [*log.entries()]
    for before, after in pairwise([None, *entries, None]):
        ruled = isinstance(before, DecisionRecord) and before.error == _RULED
        begun = isinstance(after, BegunRecord)
        if ruled != begun:
            return f"a ruling or a beginning is alone, at {before and before.seq}"
    return ""


class _Doomed:
    """Kills this process after so many instructions of SQLite's machine."""

    def __init__(self, left: int) -> None:
        self._left = left

    def prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA cache_size = 1")
        connection.set_progress_handler(self._step, 1)

    def _step(self) -> int:
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0


def _reading_is_harmless(path: Path, tally: _Tally) -> str:
    """Look before anyone repairs: nothing on the disk may change by that."""
    journal = path.with_name(f"{path.name}-journal")
    if not path.exists() or path.stat().st_size == 0:
        return ""
    hot = journal.exists() and journal.read_bytes()[:8] == _JOURNAL
    tally.hot += hot
    before = path.read_bytes()
    try:
        SqlDecisionLog.open_for_reading(path).head()
    except LogUnavailable:
        if not hot:
            return "not readable, though nothing is unfinished"
    except Exception as error:  # a file that was being made may be no log yet, but only then
        if not hot:
            return f"{type(error).__name__} before recovery: {error}"
    return "" if path.read_bytes() == before else "looking at the log changed it"
