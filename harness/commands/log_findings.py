"""Search every record of a log, in one process or several, for what-if and gate."""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from harness.log.sql import SqlDecisionLog
from harness.replay.findings import RecordFinding, findings_of_batches
from harness.replay.log_check import CheckedReplay, LogCheck
from harness.replay.recheck import RecordedInputs
from harness.replay.stretches import stretches

_T = TypeVar("_T")


def read_findings(
    log: SqlDecisionLog, name: str, find: Callable[[RecordedInputs], _T], jobs: int
) -> tuple[Iterator[RecordFinding[_T]], Callable[[], LogCheck]]:
    """Return the findings of each record, and a check of the whole log afterwards.

    Args:
        name: the path or the URL of the log, by which each process opens it.
        find: as `harness.replay.stretches.Find`.
        jobs: the number of processes.
    """
    if jobs == 1:
        replayed = CheckedReplay(log)
        return replayed.findings(find), replayed.check
    from harness.commands.check_process import CheckProcess  # noqa: PLC0415 - loads what starts processes
    from harness.replay.replay_pool import ReplayPool  # noqa: PLC0415 - as above

    open_log = partial(SqlDecisionLog.open_for_reading, os.fspath(name))
    whole = CheckProcess(open_log)
    pool = ReplayPool(
        open_log,
        jobs,
        find=find,
        on_death=lambda message: sys.stderr.write(f"critic: {message}\n"),
    )
    return findings_of_batches(pool.replay_stretches(stretches(log))), whole.check
