"""Work in forked children: each task in a separate process, with a time limit.

The limit is of the clock on the wall, so what is late may be slow, or the machine busy. A child can
limit the time that it computes, too. One that computes nothing at all waits for what never comes.
"""

import math
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

PROCESSES: Final = min(2, len(os.sched_getaffinity(0)))
TIMED_OUT: Final = "no answer in time"
TOO_LONG: Final = "computes for too long"
DIED: Final = "process died"
STUCK: Final = "waits for ever"

_FORK: Final = get_context("fork")


class _Watch:
    """How long a process computed nothing."""

    def __init__(self, number: int) -> None:
        self._path, self._computed, self._since = Path(f"/proc/{number}/stat"), "", 0.0

    def idle_seconds(self) -> float:
        """Return that, as far as it was asked for since."""
        with suppress(OSError):  # a process that ended, or another kind of system
            # The name of the program, in brackets, may hold anything.
            fields = self._path.read_text().rpartition(")")[2].split()
            computed = " ".join(fields[11:13])
            if computed == self._computed:
                return time.monotonic() - self._since
            self._computed, self._since = computed, time.monotonic()
        return 0.0


class _Running(NamedTuple):
    task: Any
    process: Any
    until: float
    watch: _Watch


def forked(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    timeout: float,
    idle: float = math.inf,
) -> Iterator[tuple[Task, Result | str]]:
    """Yield each task with its result when it ends, or with why it has none.

    That is `TIMED_OUT`, `TOO_LONG`, `DIED` or `STUCK`.

    Args:
        idle: for how many seconds a child may compute nothing.
    """
    waiting, running = iter(tasks), dict[Connection, _Running]()
    while True:
        for task in islice(waiting, PROCESSES - len(running)):
            running |= [_started(work, task, timeout)]
        if not running:
            return
        soonest = min(one.until for one in running.values())
        pause = min(soonest - time.monotonic(), idle / 4)
        ready = connection.wait(list(running), max(0.0, pause))
        late = [one for one, its in running.items() if its.until <= time.monotonic()]
        stuck = [one for one, its in running.items() if its.watch.idle_seconds() > idle]
        for end in {*ready, *late, *stuck}:
            assert isinstance(end, Connection)
            its = running.pop(end)
            otherwise = DIED if end in ready else STUCK if end in stuck else TIMED_OUT
            yield its.task, _result(end, its, otherwise)


def _started(
    work: Callable[[Task], Result], task: Task, timeout: float
) -> tuple[Connection, _Running]:
    ours, theirs = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_child, args=(work, task, theirs), daemon=False)
    process.start()
    theirs.close()
    assert process.pid is not None
    return ours, _Running(task, process, time.monotonic() + timeout, _Watch(process.pid))


def _result(end: Connection, its: _Running, otherwise: str) -> Any:
    try:
        return end.recv() if otherwise == DIED else otherwise
    except EOFError:
        its.process.join()
        return TOO_LONG if its.process.exitcode == -signal.SIGXCPU else otherwise
    finally:
        end.close()
        its.process.kill()
        its.process.join()


def _child(work: Callable[[Any], Any], task: Any, end: Connection) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    end.send(work(task))
    end.close()
    os._exit(0)
