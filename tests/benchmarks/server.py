"""Appends to a log in PostgreSQL beside one in SQLite, by the clock: both wait for one disk."""

import atexit
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Final

from harness.log.sql import SqlDecisionLog
from harness.record import Decision
from tests.benchmarks.desk import decision
from tests.benchmarks.timing import Cost, Row, Unbuilt, of_clock, shared
from tests.support.postgres import NoServer, postgres_server

_TOOLS: Final = 12
_TOGETHER: Final = 200
_SINGLE: Final = "append to PostgreSQL, by the clock"
_MANY: Final = f"the same for each of {_TOGETHER} appended together"
_UNIT: Final = "append to SQLite"


def server_rows(folder: Path) -> list[Row | Unbuilt]:
    """Measure single appends and batches. The server runs until this process ends."""
    stack = ExitStack()
    try:
        server = stack.enter_context(postgres_server(syncs=True))
    except NoServer as missing:
        reason = f"not measured: {missing}"
        return [Unbuilt(_SINGLE, _UNIT, 1.0, reason), Unbuilt(_MANY, _UNIT, 0.2, reason)]
    atexit.register(stack.close)
    single, many = (SqlDecisionLog.open(server.url()) for _ in range(2))
    files = [SqlDecisionLog.open(folder / f"beside_{name}.db") for name in ("single", "many")]
    numbers = count()

    def decisions(size: int) -> Callable[[int], Sequence[Decision]]:
        return lambda _batch: [decision(next(numbers), _TOOLS) for _ in range(size)]

    def batch(_batch: int) -> Sequence[Sequence[Decision]]:
        return [decisions(_TOGETHER)(0)]

    def appended(log: SqlDecisionLog) -> Cost:
        return of_clock(log.append, decisions(4))

    together = shared(of_clock(many.append_all, batch), _TOGETHER)
    return [
        Row(_SINGLE, _UNIT, 1.0, appended(single), appended(files[0]), "wall"),
        Row(_MANY, _UNIT, 0.2, together, appended(files[1]), "wall"),
    ]
