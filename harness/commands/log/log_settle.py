"""`critic log settle`: record how an execution without a recorded end really ended."""

import argparse
import sys

from harness.audit.settlements import settle
from harness.clock import SystemClock
from harness.log.sql import SqlDecisionLog


def settle_execution(args: argparse.Namespace) -> int:
    """Record the end of an execution, and print its number."""
    with SqlDecisionLog.open(args.log, create=False) as log:
        said = {"outcome": args.outcome, "by": args.by, "because": args.because}
        sealed = settle(log, args.seq, **said, now=SystemClock().now())
    sys.stdout.write(f"record {sealed.seq}: record {args.seq} is settled as {args.outcome}\n")
    return 0
