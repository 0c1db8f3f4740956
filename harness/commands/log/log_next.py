"""`critic log next`: end a log, and continue in a new one."""

import argparse
import sys

from harness.audit.copies.succession import go_on_in
from harness.clock import SystemClock
from harness.errors import escape_text
from harness.log.log_places import is_url
from harness.log.sql import SqlDecisionLog


def go_on_in_next(args: argparse.Namespace) -> int:
    """Continue in another log, and print both heads."""
    with SqlDecisionLog.open(args.log, create=False) as log:
        done = go_on_in(log, args.to, SystemClock().now())
    where = "the database" if is_url(args.to) else escape_text(args.to)
    carried = {
        "claim": done.claims,
        "open execution": done.executions,
        "open session": done.sessions,
    }
    came = ", ".join(
        f"{count} {what}{'' if count == 1 else 's'}" for what, count in carried.items()
    )
    sys.stdout.write(
        f"{where}: continues from head {done.old.seq}:{done.old.hash}, with {came}\n"
        f"head {done.new.seq}:{done.new.hash}\n"
    )
    return 0
