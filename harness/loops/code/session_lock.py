"""Let one session at a time work in a work tree."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.errors import escape_text
from harness.locking import lock_file
from harness.loops.code.code_errors import CodeLoopError


class WorkTreeInUse(CodeLoopError):
    """Another session is running in the same work tree."""


@contextmanager
def work_tree_lock(root: Path, folder: Path) -> Iterator[None]:
    """Hold the lock of the work tree at `root` in a file in `folder`, outside the work tree.

    The system releases the lock when the process ends, however it ends: no lock is ever stale.

    Raises:
        WorkTreeInUse: another session holds the lock.
        OSError: the lock file cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:32]
    with ExitStack() as held:
        try:
            held.enter_context(lock_file(folder / f"{name}.lock", wait_s=0))
        except BlockingIOError:
            raise WorkTreeInUse(
                f"another session is running in {escape_text(str(root))}: wait for its end, or "
                "work in a second work tree (git worktree add)"
            ) from None
        yield
