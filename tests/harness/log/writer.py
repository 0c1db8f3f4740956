"""A process that appends to a log and says so after each record: `writer PATH DECISION COUNT`.

Run as a program by the tests, which kill it, starve it of space or start it several times over.
"""

import json
import resource
import signal
import sys
from pathlib import Path

from harness.log.log_errors import LogError
from harness.log.sql import SqlDecisionLog
from harness.record import Decision
from harness.wire import parse


def main(path: str, decision: str, count: str, largest: str = "") -> int:
    """Append `count` times; a file may grow to `largest` bytes. Prints `{seq, hash}` lines."""
    if largest:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest), int(largest)))
    given = parse(Decision, Path(decision).read_bytes())
    log = SqlDecisionLog.open(path)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for _ in range(int(count)):
        try:
            record = log.append(given)
        except LogError as error:
            sys.stdout.write(json.dumps({"kind": type(error).__name__, "says": str(error)}) + "\n")
            return 1
        sys.stdout.write(json.dumps({"seq": record.seq, "hash": record.hash}) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
