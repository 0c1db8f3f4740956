"""The rows of guarded sessions with a log: a record costs what is new, however long the session is.

The log is in memory, so that the disk does not tell, but for the rows that say so.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from harness.log import SqlDecisionLog
from tests.benchmarks.sessions import SyntheticSession, guard_with
from tests.benchmarks.timing import Cost, Row, of_clock, of_process, shared

EARLY, LATE = 20, 400
AT_ONCE: Final = 32
_TURNS: Final = 4  # of each session in a batch
_MEMORY: Final = "/dev/shm"  # noqa: S108 - a folder of random name is made in it
_MILLISECOND: Final = "a millisecond"
_PER_SECOND: Final = 450


def recorded_rows(folder: Path) -> Iterator[Row]:
    """Measure rulings, results and turns with a log, and turns of sessions at once."""
    memory = TemporaryDirectory(dir=_MEMORY if os.path.isdir(_MEMORY) else folder)  # noqa: PTH112
    late = _Sessions(Path(memory.name), LATE, memory)
    early = _Sessions(Path(memory.name), EARLY, memory)
    rule, read = SyntheticSession.rule, SyntheticSession.take_in
    ruling = early.cost(rule, SyntheticSession.transfer)
    result = early.cost(read, SyntheticSession.read)
    name = "recorded ruling of one call, results of 10 kB"
    of_late = late.cost(rule, SyntheticSession.transfer)
    yield Row(f"{name}, turn {EARLY}", _MILLISECOND, 1.0, ruling, lambda _: 1e6)
    yield Row(f"{name}, turn {LATE}", f"the same, turn {EARLY}", 1.3, of_late, ruling)
    yield Row(
        f"result of 10 kB with a log, turn {LATE}",
        f"the same, turn {EARLY}",
        1.3,
        late.cost(read, SyntheticSession.read),
        result,
    )
    turn = _Sessions(folder, EARLY).cost(SyntheticSession.take, SyntheticSession.turn)
    yield Row("a turn with a log on disk", _MILLISECOND, 4.0, turn, lambda _: 1e6)
    yield Row(
        f"a turn with a log on disk, {AT_ONCE} sessions at once",
        f"1/{_PER_SECOND} of a second, by the clock",
        1.0,
        _turns_at_once(folder),
        lambda _: 1e9 / _PER_SECOND,
        "wall",
    )


class _Sessions:
    """Sessions with a log each. An early one begins anew for each batch; a late one goes on."""

    def __init__(self, folder: Path, turns: int, *kept: object) -> None:
        self._folder, self._turns, self._kept = folder, turns, kept
        self._numbers = count()
        self._open: SyntheticSession | None = None

    def cost(
        self,
        run: Callable[[SyntheticSession, Any], None],
        next_input: Callable[[SyntheticSession], Any],
    ) -> Cost:
        """Return the cost of an event of a session at its turn."""

        def inputs(_batch: int) -> Sequence[Any]:
            if self._open is None or self._turns < LATE:
                self._open = self._begun()
            session = self._open
            return [(session, next_input(session))]

        return of_process(lambda given: run(*given), inputs)

    def _begun(self) -> SyntheticSession:
        path = self._folder / f"{self._turns}_{next(self._numbers)}.db"
        return SyntheticSession(self._turns, guard_with(SqlDecisionLog.open(path)))


def _turns_at_once(folder: Path) -> Cost:
    """Return the cost of a turn where each session has a thread, and all share one log."""
    guard = guard_with(SqlDecisionLog.open(folder / "at_once.db"))
    sessions = [SyntheticSession(2, guard, f"s{number}") for number in range(AT_ONCE)]
    pool = ThreadPoolExecutor(AT_ONCE)

    def play(turns: Sequence[tuple[SyntheticSession, Any]]) -> None:
        for session, turn in turns:
            session.take(turn)

    def play_all(batch: Sequence[Sequence[tuple[SyntheticSession, Any]]]) -> None:
        list(pool.map(play, batch))

    def inputs(_batch: int) -> Sequence[Any]:
        return [[[(one, one.turn()) for _ in range(_TURNS)] for one in sessions]]

    return shared(of_clock(play_all, inputs), AT_ONCE * _TURNS)
