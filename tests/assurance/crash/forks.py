"""Many writers at once, and rivals that try to put a record after an old head."""

import os
import sqlite3
from pathlib import Path

from harness.log.sql import SqlDecisionLog
from tests.assurance.crash.check import Writer, problem, row_of, tell, told_in
from tests.assurance.row import Row
from tests.harness.log.decisions import decision, filled


def forks(folder: Path, *, quick: bool) -> Row:
    """Share one log object among forked processes that start at once; rivals hold old heads.

    Between their appends each tries to append a record after a head it read before.
    """
    problems = [_race(folder / f"race{number}") for number in range(2 if quick else 60)]
    note = "four processes, six appends each, and a record after an old head before each"
    return row_of("crash: attempts to fork the chain", "races", problems, note)


def _race(path: Path) -> str:
    log = filled(path, 1)
    gate, opened = os.pipe()
    writers = [Writer.start(_rival, log, path, gate, opened) for _ in range(4)]
    os.close(gate)
    os.close(opened)
    said = [writer.said() for writer in writers]
    told = {seq: own for lines in said for seq, own in told_in(lines).items()}
    if forked := [line for lines in said for line in lines if line.startswith("forked")]:
        return forked[0]
    if len(told) != 24:
        return f"{len(told)} numbers for 24 appends"
    return problem(path, told, most=1)


def _rival(log: SqlDecisionLog, path: Path, gate: int, opened: int, fd: int) -> None:
    os.close(opened)
    os.read(gate, 1)  # ends when all have been started
    for number in range(6):
        old = log.head()
        tell(fd, log.append(decision(number)))
        with sqlite3.connect(path, timeout=60) as rival:
            try:
                rival.execute("INSERT INTO records VALUES (?, ?, x'7b7d')", (old.seq + 1, "f" * 64))
                os.write(fd, b"forked: a record follows an old head\n")
            except sqlite3.IntegrityError:
                rival.rollback()
        rival.close()
