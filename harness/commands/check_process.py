"""Check a log as a whole in a process of its own, while other processes replay its records.

Rule 1: the answer is that of `check_log`. If the process fails or dies, the log is checked here.
Rule 2: the process ends when the one that started it has ended, however that was.
"""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from multiprocessing.connection import Connection
from typing import Final

from harness.replay.log_check import LogCheck, StoredLog, check_log
from harness.replay.replay_pool import find_context, without_interrupts

OpenStoredLog = Callable[[], AbstractContextManager[StoredLog]]
"""Opens the log for reading. It is called in the process."""


class CheckProcess:
    """A process that checks a log. It starts at once."""

    def __init__(self, open_log: OpenStoredLog) -> None:
        """Take what opens the log."""
        self._open_log: Final = open_log
        context = find_context()
        self._connection, theirs = context.Pipe()
        self.process: Final = context.Process(
            target=_work, args=(theirs, self._connection, open_log), daemon=True
        )
        with without_interrupts():
            self.process.start()
        theirs.close()  # so that the end of the process ends the connection

    def check(self) -> LogCheck:
        """Return what `check_log` does, once it is known.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read.
        """
        try:
            found: LogCheck = self._connection.recv()
        except (EOFError, OSError):
            with self._open_log() as log:
                return check_log(log)
        finally:
            self._connection.close()
            self.process.kill()  # it only reads, so nothing is lost
            self.process.join()
        return found


def _work(connection: Connection, other_end: Connection, open_log: OpenStoredLog) -> None:
    other_end.close()  # a copy of it would keep the connection open when the parent has ended
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be held back
    threading.Thread(target=_end_with_parent, args=(connection,), daemon=True).start()
    with suppress(Exception), open_log() as log:  # whoever waits finds out what it was
        connection.send(check_log(log))


def _end_with_parent(connection: Connection) -> None:
    with suppress(EOFError, OSError):
        connection.recv()
    os._exit(1)
