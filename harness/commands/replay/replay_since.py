"""`critic replay --since`: the last record that was checked before, by its hash or a checkpoint.

Rule 1: a checkpoint counts with the public keys of who signed it, and never without.
Rule 2: the hashes that the log has stored have to lead to the root of the checkpoint. What they are
        of is not read again, but for the last of them.
"""

import argparse
import re
from pathlib import Path
from typing import Final

from harness.audit.proofs.checkpoint import Checkpoint
from harness.audit.proofs.comparison import Departure, compare_hashes
from harness.commands.known_heads import parse_head
from harness.commands.log.note_files import public_keys, signed_checkpoint
from harness.errors import UsageError
from harness.log.sql import SqlDecisionLog
from harness.record import GENESIS, Head
from harness.record.integrity import START
from harness.whole_files import show_path

_START: Final = Head(START.seq, GENESIS)
_IS_HEAD: Final = re.compile("[0-9]+:[0-9a-f]*")


def record_since(args: argparse.Namespace, log: SqlDecisionLog) -> Head | Departure | None:
    """Return the record that `--since` names; how the log differs from it; None without `--since`.

    Raises:
        UsageError: the options do not fit each other, or `--since` is neither form.
        harness.audit.proofs.keys.UnusableKey: a public key cannot be used.
        harness.audit.proofs.notes.InvalidCheckpoint: the checkpoint cannot be read, or the keys did
            not sign it.
        harness.log.log_errors.LogError: the log cannot be read.
    """
    if args.since is None:
        return None
    if not args.public_key and Path(args.since).is_file():
        raise UsageError(
            f"--since {show_path(args.since)}: a checkpoint counts with the key of who signed it: "
            "give --public-key"
        )
    if not args.public_key or _IS_HEAD.fullmatch(args.since):
        return parse_head(args.since, "--since")
    signed = signed_checkpoint(args.since, public_keys(args.public_key)).checkpoint
    return _last_record(log, signed)


def require_later(head: Head | None, since: Head | None) -> None:
    """Check that a head is not among the records that are believed: nothing would compare it.

    Raises:
        UsageError: it is.
    """
    if head is None or since is None or head.seq > since.seq or head == since:
        return
    raise UsageError(
        f"--head: record {head.seq} is among those that --since lets pass unseen: leave out one"
    )


def _last_record(log: SqlDecisionLog, signed: Checkpoint) -> Head | Departure:
    if signed.size == 0:
        return _START
    compared = compare_hashes(log.hashes(), signed)
    return compared if isinstance(compared, Departure) else Head(signed.size, compared)
