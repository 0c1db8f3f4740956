"""Makers of a log cut off while they make it: `maker FOLDER`. Prints what reopening gives, by size.

A separate program, since it forks: each child may write files of so many bytes, and is killed
by the first write beyond.
"""

import os
import resource
import signal
import sys
from pathlib import Path

from harness.log.sql import SqlDecisionLog

SIZES = range(512, 24577, 1024)


def main(folder: str) -> int:
    """Print a line for each size: how the maker ended, and the head of the log afterwards."""
    for size in SIZES:
        path = Path(folder) / str(size)
        child = os.fork()
        if not child:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            SqlDecisionLog.open(path)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        ended = "killed" if os.WIFSIGNALED(status) else "made"
        sys.stdout.write(f"{size} {ended} {SqlDecisionLog.open(path).head().seq}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
