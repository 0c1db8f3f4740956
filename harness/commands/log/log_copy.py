"""`critic log copy`: the same log in another place."""

import argparse
import sys

from harness.audit.copies.copying import copy_log
from harness.errors import escape_text
from harness.log.log_places import is_url
from harness.log.sql import SqlDecisionLog


def copy_to_place(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Copy a log, and print the head of the copy."""
    head = copy_log(log, args.to)
    where = "the database" if is_url(args.to) else escape_text(args.to)
    sys.stdout.write(f"{where}: {head.seq} records, head {head.seq}:{head.hash}\n")
    return 0
