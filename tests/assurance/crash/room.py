"""Files that may not grow: limits on file size, by the kernel and by SQLite.

The kernel writes what still fits and refuses the rest: real short writes. Refusing is an error for
a writer that ignores the signal, and the end inside the write for one that does not.
"""

import os
import resource
import signal
import sqlite3
from pathlib import Path
from typing import Final

from harness.log.log_errors import LogWriteFailed
from harness.log.sql import SqlDecisionLog
from harness.log.sqlite.sqlite_store import SqliteStore
from tests.assurance.crash.check import (
    READY,
    Told,
    Writer,
    afterwards,
    connecting,
    patched,
    recovery_of,
    row_of,
    tell,
    told_in,
)
from tests.assurance.row import Row
from tests.harness.log.decisions import decision, filled

_LARGEST: Final = 120_000  # bytes: a log of some thirty records
_PAGE: Final = 4096


def short_writes(folder: Path, *, quick: bool) -> Row:
    """Run writers that meet the limit and go on: each must go on once there is room."""
    problems = [_short(folder / f"log{limit}", limit) for limit in _limits(quick)]
    return row_of("crash: short writes", "limits", problems, "then it goes on by itself")


def killed_at_writes(folder: Path, *, quick: bool) -> Row:
    """Run writers that are killed inside the write that meets the limit."""
    problems = [_killed(folder / f"log{limit}", limit) for limit in _limits(quick)]
    return row_of("crash: killed inside a write", "limits", problems, "by SIGXFSZ, partly written")


def full_disk(folder: Path, *, quick: bool) -> Row:
    """Append until SQLite's own limit, a number of pages above the size of the log."""
    pages = range(0, 40, 16) if quick else range(40)
    problems = [_full(folder / f"log{count}", count) for count in pages]
    return row_of("crash: full disk", "sizes", problems, "then it goes on by itself")


def _limits(quick: bool) -> range:
    return range(_PAGE // 2, _LARGEST, 25_001 if quick else 797)


def _short(path: Path, limit: int) -> str:
    writer = Writer.start(_write_until_full, path, limit, signal.SIG_IGN)
    lines = writer.said()
    acknowledged = told_in(lines)
    *_, last = lines or [""]
    if writer.process.exitcode != 0 or last not in ("went on", "no log"):
        return f"limit {limit}: ended {writer.process.exitcode}, last said {last!r}"
    return afterwards(path, acknowledged, f"limit {limit}")


def _killed(path: Path, limit: int) -> str:
    writer = Writer.start(_write_until_full, path, limit, signal.SIG_DFL)
    acknowledged = told_in(writer.said())
    if writer.process.exitcode != -signal.SIGXFSZ:
        return f"limit {limit}: ended {writer.process.exitcode}"
    return afterwards(path, acknowledged, f"limit {limit}")


def _write_until_full(path: Path, limit: int, at_limit: signal.Handlers, fd: int) -> None:
    signal.signal(signal.SIGXFSZ, at_limit)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    given = decision()
    os.write(fd, READY)
    try:
        log = SqlDecisionLog.open(path)
    except LogWriteFailed:
        os.write(fd, b"no log\n")
        return
    try:
        while True:
            tell(fd, log.append(given))
    except LogWriteFailed:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    told = Told()
    wrong = recovery_of(log, told, f"limit {limit}")
    os.write(fd, "".join(f"{seq} {own}\n" for seq, own in told.items()).encode())
    os.write(fd, f"{wrong or 'went on'}\n".encode())


def _full(path: Path, more: int) -> str:
    told = {raw.seq: raw.hash for raw in filled(path, 2).raw()}
    log = SqlDecisionLog.open(path)
    most = path.stat().st_size // _PAGE + more

    def limited(connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA max_page_count = {most}")

    with patched(SqliteStore, "_connect", connecting(limited)):
        try:
            for number in range(3, 99):
                record = log.append(decision(number))
                told[record.seq] = record.hash
            return f"{more} pages more: never full"
        except LogWriteFailed:
            pass
    wrong = recovery_of(log, told, f"{more} pages more")
    return wrong or afterwards(path, told, f"{more} pages more")
