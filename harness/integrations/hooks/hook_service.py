"""Start the service that answers hooks, as the first hook finds none.

Rule 1: the service listens in a folder that its user alone can use, so nobody else can stand there.
Rule 2: it holds the lock of that folder for as long as it lives, so there is one, and hooks that
        begin at once do not start several.
Rule 3: whatever is in the way, there is no service, and hooks work alone.
"""

import os
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from harness.integrations.hooks.options_file import AUTO
from harness.locking import take_lock

_IDLE_SECONDS: Final = 1_800
"""How long the service waits for a hook before it ends."""
_LOCK, _ERRORS = "service.lock", "service.log"
_LIBRARIES: Final = ("prometheus_client", "starlette", "uvicorn")


def can_start_service() -> bool:
    """Return whether a service can run here: its libraries are an extra."""
    return os.name == "posix" and all(find_spec(name) is not None for name in _LIBRARIES)


def start_service(client: Any) -> None:
    """Start a service of this user, unless one holds the lock.

    Args:
        client: the module `plan_critic_entry.hook_client`.
    """
    if not can_start_service():
        return
    path = Path(client.find_socket(AUTO))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not client.is_own_folder(str(path.parent)):
        return
    lock = os.open(path.parent / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        with suppress(BlockingIOError):
            take_lock(lock, 0)
            _start_process(path, lock)
    finally:
        os.close(lock)


def _start_process(path: Path, lock: int) -> None:
    # -P: a module in the folder is none of ours.
    words = [sys.executable, "-P", "-m", "harness.cli", "serve", "--socket", str(path)]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    errors = os.open(path.parent / _ERRORS, flags, 0o600)
    try:
        subprocess.Popen(  # noqa: S603 - this very program
            [*words, "--end-idle", str(_IDLE_SECONDS)],
            cwd=path.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,  # it outlives the agent
            pass_fds=(lock,),
        )
    finally:
        os.close(errors)
