"""Where the state of a session is between the processes of its hooks: one private, locked file.

Rule 1: one process at a time has a session. The system releases the lock however a process ends.
Rule 2: a file is replaced as a whole: a process that is killed leaves the state before it.
Rule 3: a state that others could have written is not believed: whoever changes it grants what it
        says was approved.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from harness.errors import HarnessError, escape_text
from harness.whole_files import lock_file, replace_file

_HOME: Final = ".critic"
"""The folder of a project that holds what is ours."""

_LARGEST: Final = 1 << 30
_OTHERS: Final = 0o077
"""The permissions of the group and of everybody."""


def state_folder(policy: Path, given: Path | None) -> Path:
    """Return where sessions are kept: beside the policy, unless another folder is named."""
    if given is not None:
        return given
    beside = policy.resolve().parent
    return (beside if beside.name == _HOME else beside / _HOME) / "sessions"


class StateUnusable(HarnessError):
    """The state of a session cannot be believed, or is held by another process."""


class StateFile:
    """The file of one session, while its lock is held."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path

    def read(self) -> bytes | None:
        """Return what was written last, or None if nothing was.

        Raises:
            StateUnusable: it is not a private file of this user, or is too large.
            OSError: it cannot be read.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            _require_private(os.fstat(descriptor), self.path, stat.S_ISREG)
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise StateUnusable(f"{_show_path(self.path)} is larger than 1 GiB")
        return data

    def write(self, data: bytes) -> None:
        """Replace the file.

        Raises:
            OSError: it cannot be written. What was there before still is.
        """
        replace_file(self.path, data, private=True, synced=False)


@contextmanager
def state_file(folder: Path, session: str, wait_s: float = 20.0) -> Iterator[StateFile]:
    """Hold the file of a session. The folder is made if it is missing.

    Args:
        session: what tells the session from all others.
        wait_s: how long to wait for other processes of the session, in seconds.

    Raises:
        StateUnusable: the folder is not private, or another process does not let go.
        OSError: the folder or the lock cannot be made.
    """
    _make_private(folder)
    name = hashlib.sha256(session.encode()).hexdigest()
    lock = folder / f"{name}.lock"
    with ExitStack() as held:
        try:
            descriptor = held.enter_context(lock_file(lock, wait_s))
        except BlockingIOError:
            raise StateUnusable(f"another process holds {_show_path(lock)}") from None
        _require_private(os.fstat(descriptor), lock, stat.S_ISREG)
        yield StateFile(folder / f"{name}.jsonl")


def _make_private(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _keep_out_of_git(folder)
    _require_private(folder.lstat(), folder, stat.S_ISDIR)


def _keep_out_of_git(folder: Path) -> None:
    """Write what tells git to leave the folder alone, where a project is committed as a whole."""
    with suppress(FileExistsError):  # another process was faster
        descriptor = os.open(folder / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(b"*\n")


def _require_private(
    found: os.stat_result, path: Path, is_right_kind: Callable[[int], bool]
) -> None:
    if not is_right_kind(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
        what = "is not this user's alone: remove it, or take the rights of others away"
        raise StateUnusable(f"{_show_path(path)} {what}")


def _show_path(path: Path) -> str:
    return escape_text(str(path))
