"""The check of a whole log in a process of its own: the same answer, whatever becomes of it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.commands.check_process import CheckProcess
from harness.log import SqlDecisionLog
from harness.log.log_errors import LogError
from harness.replay.log_check import LogCheck, check_log
from tests.harness.log.decisions import filled, meddle

PARENT = """
import sys, time
from functools import partial
from harness.commands.check_process import CheckProcess
from tests.harness.commands.test_check_process import open_slowly
print(CheckProcess(partial(open_slowly, sys.argv[1])).process.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with a record too few."""
    filled(tmp_path / "log.db").close()
    meddle(tmp_path / "log.db", ("DELETE FROM records WHERE seq = ?", (3,)))
    return tmp_path / "log.db"


def checked(path: Path) -> LogCheck:
    with SqlDecisionLog.open_for_reading(path) as kept:
        return check_log(kept)


@contextmanager
def open_noting(path: Path) -> Iterator[Any]:
    """Open a log, and note in which process."""
    with path.with_suffix(".pids").open("a") as file:
        file.write(f"{os.getpid()}\n")
    with SqlDecisionLog.open_for_reading(path) as kept:
        yield kept


@contextmanager
def open_for_us(path: Path, parent: int) -> Iterator[Any]:
    """Open a log in one process; kill any other that asks for it."""
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    with SqlDecisionLog.open_for_reading(path) as kept:
        yield kept


@contextmanager
def open_slowly(path: str) -> Iterator[Any]:
    time.sleep(60)
    with SqlDecisionLog.open_for_reading(path) as kept:
        yield kept


def test_the_answer_is_that_of_a_check_here(log: Path) -> None:
    found = CheckProcess(partial(open_noting, log)).check()
    assert found == checked(log)
    assert found.damage
    (pid,) = log.with_suffix(".pids").read_text().split()
    assert int(pid) != os.getpid()


def test_a_process_that_is_killed_costs_no_answer(log: Path) -> None:
    assert CheckProcess(partial(open_for_us, log, os.getpid())).check() == checked(log)


def test_a_log_that_cannot_be_read_is_told_as_it_is_here(tmp_path: Path) -> None:
    with pytest.raises(LogError):
        CheckProcess(partial(SqlDecisionLog.open_for_reading, tmp_path / "none.db")).check()


@pytest.mark.slow
def test_the_process_ends_with_the_one_that_started_it(log: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(log)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.kill()
    end = time.monotonic() + 30
    while _runs(pid):
        assert time.monotonic() < end, "it goes on alone"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Return whether a process is there, and not only its exit status."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
