"""A disk that fails at any statement of an append.

Python cannot give SQLite another file layer, so errors are raised between the log and SQLite, at
each statement in turn: before it is carried out, or after. (After the commit is the case in which
a record is kept and nobody was told.)
"""

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

from harness.log.log_errors import LogBusy, LogError, LogWriteFailed
from harness.log.sql import SqlDecisionLog
from tests.assurance.crash.check import afterwards, patched, recovery_of, row_of
from tests.assurance.row import Row
from tests.harness.log.decisions import decision, filled
from tests.harness.log.faults import FailingStatement


class _Plan(NamedTuple):
    """Which statement of an append fails (the commit is the last), when, and how.

    `kept`: the append is over the connection of the one before.
    """

    statement: int
    after: bool
    code: int
    kept: bool


_CODES: Final = (
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_SHORT_READ,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_DIR_FSYNC,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
)
_STATEMENTS: Final = 20  # more than an append has


def failing_disk(folder: Path, *, quick: bool) -> Row:
    """Let each statement of an append fail in turn, with each code, before and after it runs."""
    codes = _CODES[3:4] if quick else _CODES
    plans = [
        _Plan(statement, after, code, kept)
        for statement in range(_STATEMENTS)
        for after in (False, True)
        for code in codes
        for kept in (False, True)
    ]
    met: Counter[str] = Counter()
    problems = [_failing(folder / f"log{number}", plan, met) for number, plan in enumerate(plans)]
    met.pop("not reached", None)
    note = ", ".join(f"{count} {name}" for name, count in sorted(met.items()))
    reached = [one for one in problems if one is not None]
    return row_of("crash: failing disk", "faults", reached, note)


def _failing(path: Path, plan: _Plan, met: Counter[str]) -> str | None:
    """Return what is wrong after that failure; None if the append has no such statement."""
    told = {raw.seq: raw.hash for raw in filled(path, 2).raw()}
    log, script, raised = (
        SqlDecisionLog.open(path),
        FailingStatement(plan.statement, plan.code, after=plan.after),
        None,
    )
    with patched(sqlite3, "connect", script.connect):
        if plan.kept:
            script.armed = False
            before = log.append(decision(2))
            told[before.seq] = before.hash
            script.armed = True
        try:
            record = log.append(decision(3))
            told[record.seq] = record.hash
        except LogError as error:
            raised = error
        except Exception as error:
            return f"{plan}: crash {type(error).__name__}"
    if not script.met:
        return None if raised is None else f"{plan}: {raised}"
    if raised is None:
        return f"{plan}: an append that failed was acknowledged"
    met[type(raised).__name__] += 1
    if script.met_at_commit and not isinstance(raised, LogWriteFailed | LogBusy):
        return f"{plan}: {type(raised).__name__} hides that the outcome is unknown"
    return recovery_of(log, told, str(plan)) or afterwards(path, told, str(plan))
