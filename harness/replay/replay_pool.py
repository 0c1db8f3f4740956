"""Replay a log in several processes. Answers and their order are those of one process.

Rule 1: a process has one stretch at a time, and what is ready early waits: no more than a few
        stretches for each process are in memory, whatever the log holds.
Rule 2: a process that dies has answered nothing of its stretch: another one replays it.
Rule 3: a process ends when the one that started it has ended, however that was.
"""

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, NamedTuple

from harness.errors import HarnessError
from harness.failures import describe_error
from harness.record import Head
from harness.record.integrity import START
from harness.replay.engine import Replayer
from harness.replay.stretches import (
    AnsweredStretch,
    Find,
    NumberedLog,
    Stretch,
    replay_stretch,
)

_AHEAD: Final = 3  # stretches for each process that are replayed or wait for their turn
_MOST_DEATHS: Final = 3  # processes that one stretch may cost
_MOST_SECONDS: Final = 5.0  # for a process to end that has closed its connection


def find_context() -> Any:
    """Return what starts processes here."""
    # To copy a process with threads is unsafe: a lock that another thread holds stays locked.
    alone = threading.active_count() == 1
    return multiprocessing.get_context(None if alone else "spawn")


OpenLog = Callable[[], AbstractContextManager[NumberedLog]]
"""Opens the log for reading. It is called once in every process."""


class WorkFailed(HarnessError):
    """A process could not replay some records: a fault of the code, and not of the log."""


class WorkersDied(HarnessError):
    """Processes that replayed a log ended again and again, at the same records."""


class ReplayPool:
    """Processes that replay stretches of one log. They are started as they are needed."""

    def __init__(
        self,
        open_log: OpenLog,
        jobs: int,
        *,
        expected: Head | None = None,
        judge: bool = True,
        find: Find | None = None,
        on_death: Callable[[str], object] = lambda _message: None,
    ) -> None:
        """Take what opens the log, and the number of processes.

        Args:
            open_log: what each process opens the log with.
            jobs: how many processes there are.
            expected: as for `Replayer`.
            judge: as for `Replayer`.
            find: what each process looks for in its records, beside the answers.
            on_death: takes a line for each process that died.
        """
        self._given = _Given(open_log, expected, judge, find)
        self._jobs, self._on_death = jobs, on_death
        self._context: Final = find_context()
        self._failed: HarnessError | None = None
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, _Worker] = {}

    def replay_stretches(self, stretches: Iterator[Stretch]) -> Iterator[AnsweredStretch]:
        """Yield the answers for the stretches, in their order.

        Raises:
            WorkersDied: a stretch cost several processes.
            harness.log.log_errors.LogError: the numbers of its records cannot be read.
        """
        try:
            yield from self._answer_stretches(stretches)
        finally:
            self._stop()

    def _answer_stretches(self, stretches: Iterator[Stretch]) -> Iterator[AnsweredStretch]:
        ready: dict[int, AnsweredStretch] = {}
        asked = turn = 0
        while True:
            room = min(self._jobs - len(self._busy), self._jobs * _AHEAD - (asked - turn))
            for stretch in self._next_stretches(stretches, room):
                self._ask(_Task(asked, stretch))
                asked += 1
            if turn == asked:
                break
            while turn not in ready:
                ready.update(self._ready_answers())
            yield ready.pop(turn)
            turn += 1
        if self._failed is not None:
            raise self._failed

    def _next_stretches(self, stretches: Iterator[Stretch], most: int) -> Iterator[Stretch]:
        """Yield further stretches. What cannot be read is said after all answers before it."""
        try:
            yield from islice(stretches, max(most, 0))
        except HarnessError as error:
            self._failed = error

    def _ask(self, task: "_Task") -> None:
        worker = self._idle.pop() if self._idle else _Worker(self._context, self._given)
        worker.task = task
        self._busy[worker.connection] = worker
        with suppress(OSError):  # if it has died, that shows when its answer is awaited
            worker.connection.send(task.stretch)

    def _ready_answers(self) -> Iterator[tuple[int, AnsweredStretch]]:
        """Wait, and yield the answers that have come by the number of the stretch."""
        come = wait([*self._busy])
        for connection in [one for one in self._busy if one in come]:
            worker = self._busy.pop(connection)
            try:
                batch: AnsweredStretch = worker.connection.recv()
            except (EOFError, OSError):
                self._replace(worker)
                continue
            self._idle.append(worker)
            yield worker.task.number, batch

    def _replace(self, worker: "_Worker") -> None:
        """Let another process replay the stretch of one that died."""
        task, code = worker.task, worker.describe_end()
        rows = f"{task.stretch.size} records from number {task.stretch.start or 1} on"
        if task.deaths + 1 == _MOST_DEATHS:
            raise WorkersDied(
                f"{_MOST_DEATHS} processes ended at the same {rows} (the last with {code}): give "
                "them more memory, or replay with --jobs 1"
            )
        self._on_death(f"a process ended with {code}: another one replays {rows}")
        self._ask(task._replace(deaths=task.deaths + 1))

    def _stop(self) -> None:
        for worker in (*self._idle, *self._busy.values()):
            worker.stop()
        self._idle.clear()
        self._busy.clear()


class _Given(NamedTuple):
    """What a process replays by. See `ReplayPool`."""

    open_log: OpenLog
    expected: Head | None
    judge: bool
    find: Find | None


class _Task(NamedTuple):
    """A stretch, its number, and how many processes it has cost."""

    number: int
    stretch: Stretch
    deaths: int = 0


class _Worker:
    """A process that replays one stretch after the other."""

    task: _Task

    def __init__(self, context: Any, given: _Given) -> None:
        self.connection, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_work, args=(theirs, self.connection, given), daemon=True
        )
        with without_interrupts():
            self._process.start()
        theirs.close()  # so that the end of the process ends the connection

    def describe_end(self) -> str:
        """Say how the process ended, which has closed its connection."""
        self._process.join(_MOST_SECONDS)
        self.stop()
        code = self._process.exitcode or 0
        return f"signal {-code}" if code < 0 else f"status {code}"

    def stop(self) -> None:
        """End the process. It only reads, so nothing is lost."""
        self.connection.close()
        self._process.kill()
        self._process.join()


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Hold back Ctrl-C. A process that starts meanwhile never gets it: its parent ends it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _work(connection: Connection, other_end: Connection, given: _Given) -> None:
    """Replay stretches until none is left."""
    other_end.close()  # a copy of it would keep the connection open when the parent has ended
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be held back
    with suppress(EOFError, OSError):
        _serve(connection, given)


def _serve(connection: Connection, given: _Given) -> None:
    try:
        with given.open_log() as log:
            replayer = Replayer(log, given.expected, judge=given.judge)
            answer = partial(replay_stretch, log, replayer, find=given.find)
            _answer_stretches(connection, answer)
    except HarnessError as error:  # it cannot be opened here: whoever asks is told so
        failed = AnsweredStretch([], START, error)
        _answer_stretches(connection, lambda _stretch: failed)


def _answer_stretches(connection: Connection, answer: Callable[[Stretch], AnsweredStretch]) -> None:
    while True:
        stretch: Stretch = connection.recv()
        try:
            batch = answer(stretch)
        except Exception as error:
            where = f"{stretch.size} records from number {stretch.start or 1} on"
            batch = AnsweredStretch(
                [], START, WorkFailed(f"{where} cannot be replayed: {describe_error(error)}")
            )
        connection.send(batch)
