"""Locks of files, on Unix and on Windows: the one module that imports `fcntl` or `msvcrt`.

The system releases a lock when the process ends, however it ends: no lock is ever stale.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from harness.errors import UsageError

_PAUSE_S: Final = 0.01
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_FAR: Final = 1 << 40
"""The byte that is locked on Windows, where a lock keeps others from reading what it is on."""


def has_locks() -> bool:
    """Return whether this system has locks of files."""
    return any(map(_is_there, ("fcntl", "msvcrt")))


@contextmanager
def lock_file(path: Path, wait_s: float | None = None) -> Iterator[int]:
    """Hold the lock of a file, which is made if it is missing. Yield its open descriptor.

    Args:
        path: the file, which no link may stand for.
        wait_s: how long to wait for another holder, in seconds; None: until it lets go.

    Raises:
        BlockingIOError: another holder did not let go.
        UsageError: this system has no such locks.
        OSError: the file cannot be opened or made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
    try:
        take_lock(descriptor, wait_s)
        yield descriptor
    finally:
        os.close(descriptor)


def take_lock(descriptor: int, wait_s: float | None = None) -> None:
    """Take the lock of an open file until it is closed.

    Raises:
        BlockingIOError, UsageError: as for `lock_file`.
    """
    try_lock = _way_to_lock()
    ends = None if wait_s is None else time.monotonic() + wait_s
    while True:
        try:
            return try_lock(descriptor)
        except BlockingIOError:
            if ends is not None and time.monotonic() >= ends:
                raise
        time.sleep(_PAUSE_S)


def _way_to_lock() -> Callable[[int], None]:
    """Return what locks a file, or raises BlockingIOError at once."""
    if _is_there("fcntl"):
        return _lock_on_unix
    if _is_there("msvcrt"):
        return _lock_on_windows
    raise UsageError(
        "this needs locks of files, which this system lacks: run it on Linux, macOS or Windows"
    )


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # it was taken out of the modules
        return False


def _lock_on_unix(descriptor: int) -> None:
    import fcntl  # noqa: PLC0415 - not on Windows

    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_on_windows(descriptor: int) -> None:
    msvcrt: Any = import_module("msvcrt")  # of which a type checker on Unix knows nothing
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _FAR, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        raise BlockingIOError(error.errno, "another process holds this lock") from None
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)
