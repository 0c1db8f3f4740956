"""Work in forked children: each task in a separate process, with a time limit.

The limit is of the clock on the wall, so what is late may be slow, or the machine busy. A child can
limit the time that it computes, too.
"""

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

PROCESSES: Final = min(2, len(os.sched_getaffinity(0)))
TIMED_OUT: Final = "no answer in time"
TOO_LONG: Final = "computes for too long"
DIED: Final = "process died"

_FORK: Final = get_context("fork")


class _Running(NamedTuple):
    task: Any
    process: Any
    until: float


def forked(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, timeout: float
) -> Iterator[tuple[Task, Result | str]]:
    """Yield each task with its result when it ends; `TIMED_OUT`, `TOO_LONG` or `DIED` if
    it has none."""
    waiting, running = iter(tasks), dict[Connection, _Running]()
    while True:
        for task in islice(waiting, PROCESSES - len(running)):
            running |= [_started(work, task, timeout)]
        if not running:
            return
        soonest = min(one.until for one in running.values())
        ready = connection.wait(list(running), max(0.0, soonest - time.monotonic()))
        late = [one for one, its in running.items() if its.until <= time.monotonic()]
        for end in {*ready, *late}:
            assert isinstance(end, Connection)
            its = running.pop(end)
            yield its.task, _result(end, its, TIMED_OUT if end not in ready else DIED)


def _started(
    work: Callable[[Task], Result], task: Task, timeout: float
) -> tuple[Connection, _Running]:
    ours, theirs = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_child, args=(work, task, theirs), daemon=False)
    process.start()
    theirs.close()
    return ours, _Running(task, process, time.monotonic() + timeout)


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
