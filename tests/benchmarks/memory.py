"""How much memory a process takes at most, each measured in a process of its own."""

import subprocess
import sys
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

from harness.log import SqlDecisionLog
from tests.benchmarks.desk import decision
from tests.benchmarks.refusals import LARGE
from tests.benchmarks.sessions import SyntheticSession, guard_with
from tests.benchmarks.timing import Cost, Row, Unbuilt
from tests.benchmarks.works import empty_steps
from tests.support.paths import ROOT

FEWER: Final = 10_000
"""Records of the smaller log: enough to fill what replay keeps at hand."""

FLAT: Final = 1.1
MOST_BYTES: Final = 60.0
"""Of memory, for each byte of an invalid document."""

_STATUS: Final = Path("/proc/self/status")

# Not ru_maxrss: a process inherits that of the one that started it, which holds far more.
_PRINT: Final = """
import re
from pathlib import Path
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024)
"""
_READ: Final = """
from tests.benchmarks.refusals import LARGE, refuse
from tests.benchmarks.works import empty_steps
data = empty_steps(LARGE)
"""
_PLANS, _OF_SESSIONS = 900, 100
"""Records of plans and of guarded sessions, again and again."""
_SESSION_TURNS: Final = 10
_TOOLS: Final = 12
_DISTINCT: Final = 45_000
"""Decisions before the first comes again: more than replay keeps at hand."""
_TEXT: Final = "note " * 200

_REPLAY: Final = """
from harness.log import SqlDecisionLog
from harness.replay import replay
with SqlDecisionLog.open_for_reading({!r}) as log:
    assert all(answer.status == "same" for answer in replay(log))
"""


def memory_rows(folder: Path, records: int) -> list[Row | Unbuilt]:
    """Return the rows; that of replay only for a log of so many records, which take a while."""
    size = len(empty_steps(LARGE))
    name, unit = f"invalid: {LARGE:,} steps, empty, memory", "bytes of the document"
    if not _STATUS.exists():
        return [Unbuilt(name, unit, MOST_BYTES, f"not measured: there is no {_STATUS}")]
    refused = Row(name, unit, MOST_BYTES, _refusing, lambda _: size, "bytes")
    return [refused, _replay_row(folder, records)]


def _refusing(_batch: int) -> float:
    """Return how many bytes more it takes to refuse the document than to hold it."""
    return _highest(f"{_READ}refuse(data)\n") - _highest(_READ)


def _replay_row(folder: Path, records: int) -> Row | Unbuilt:
    unit = f"the same with {FEWER:,}"
    if records <= FEWER:
        name = "memory of replay, 1,000,000 records"
        return Unbuilt(name, unit, FLAT, "not measured: needs --records 1000000")
    many, few = _replaying(folder, records), _replaying(folder, FEWER)
    return Row(f"memory of replay, {records:,} records", unit, FLAT, many, few, "bytes")


def _replaying(folder: Path, records: int) -> Cost:
    path = folder / f"records_{records}.db"
    fill(path, records)
    program = _REPLAY.format(str(path))
    return lambda _batch: _highest(program)


def _highest(program: str) -> int:
    command = [sys.executable, "-c", program + _PRINT]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def fill(path: Path, records: int) -> None:
    """Write a log of about so many records: plans, and a tenth of guarded sessions, closed.

    Each plan has a trace of its own, but that the first ones come again.
    """
    made = cache(lambda number: decision(number, _TOOLS, f"trace_{number}"))
    with SqlDecisionLog.open(path) as log:
        guard, sessions = guard_with(log), count()
        for plans in range(0, records * 9 // 10, _PLANS):
            until = log.head().seq + _OF_SESSIONS
            while log.head().seq < until:
                session = SyntheticSession(0, guard, f"s{next(sessions)}")
                for _ in range(_SESSION_TURNS):
                    session.take(session.turn(_TEXT))
                session.close()
            log.append_all(made(number % _DISTINCT) for number in range(plans, plans + _PLANS))
