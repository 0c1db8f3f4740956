"""What a reader already knows about a log: a head, or a signed checkpoint.

Rule 1: every command that reads a log prints its head, for the next reader.
Rule 2: a checkpoint counts only with the public keys of its signers.
Rule 3: stored hashes are compared here. Commands check whether the records have them.
"""

import argparse
import sys
from typing import TYPE_CHECKING, NamedTuple

from harness.errors import UsageError
from harness.log.sql import SqlDecisionLog
from harness.record import GENESIS, Head
from harness.record.integrity import is_digest

if TYPE_CHECKING:
    from harness.audit.proofs.checkpoint import Checkpoint


class KnownHead(NamedTuple):
    """What is known about a log: its last record at some time, and a signed checkpoint.

    Attributes:
        head: the number and hash of a record that the log must hold.
        checkpoint: the signed checkpoint.
    """

    head: Head | None = None
    checkpoint: "Checkpoint | None" = None

    def departures(self, log: SqlDecisionLog) -> tuple[str, ...]:
        """Return the differences between a log and what is known about it, a line each.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read.
        """
        found = []
        if self.head is not None and (told := _head_error(log, self.head)):
            found.append(told)
        if self.checkpoint is not None and self.checkpoint.size:
            from harness.audit.proofs.comparison import (  # noqa: PLC0415 - most readers know no checkpoint
                Departure,
                compare_hashes,
            )

            compared = compare_hashes(log.hashes(), self.checkpoint)
            if isinstance(compared, Departure):
                found.append(f"{compared.kind}: {compared.text}")
        return tuple(found)


def known_head(args: argparse.Namespace, side: str = "") -> KnownHead:
    """Return what the options say about a log.

    Args:
        args: the options.
        side: the prefix of their names, such as `baseline_`.

    Raises:
        UsageError: an option cannot be read, or a checkpoint has no key.
        harness.audit.proofs.keys.UnusableKey: a public key cannot be used.
        harness.audit.proofs.notes.InvalidCheckpoint: the checkpoint cannot be read, or the keys did
            not sign it.
    """
    option, path = f"--{side.replace('_', '-')}", getattr(args, f"{side}checkpoint")
    head = parse_head(getattr(args, f"{side}head"), f"{option}head")
    if path is None:
        return KnownHead(head)
    if not args.public_key:
        raise UsageError(f"{option}checkpoint counts with the key of who signed it: --public-key")
    from harness.commands.log.note_files import (  # noqa: PLC0415 - as above
        public_keys,
        signed_checkpoint,
    )

    return KnownHead(head, signed_checkpoint(path, public_keys(args.public_key)).checkpoint)


def require_keys_used(args: argparse.Namespace, *options: str) -> None:
    """Check that public keys come with a checkpoint.

    Raises:
        UsageError: none of the options for one was given.
    """
    if args.public_key and all(getattr(args, one.replace("-", "_")) is None for one in options):
        named = " or ".join(f"--{one}" for one in options)
        raise UsageError(f"--public-key is of who signed a checkpoint: name it with {named}")


def parse_head(text: str | None, option: str = "--head") -> Head | None:
    """Parse the head in an option, SEQ:HASH.

    Raises:
        UsageError: `text` does not have that form.
    """
    if text is None:
        return None
    from harness.audit.proofs.notes import from_decimal  # noqa: PLC0415 - as above

    seq, _, digest = text.partition(":")
    number = from_decimal(seq)
    if number is None or not is_digest(digest) or (number == 0 and digest != GENESIS):
        raise UsageError(f"{option}: write it as `critic log verify` prints it, SEQ:HASH")
    return Head(number, digest)


def head_text(head: Head) -> str:
    """Return a head as SEQ:HASH."""
    return f"{head.seq}:{head.hash}"


def print_head(head: Head, form: str = "text", *notes: str) -> None:
    """Print the head of a log, and notes.

    It goes below a text, or to standard error beside data.
    """
    sys.stdout.flush()
    out, start = (sys.stdout, "") if form == "text" else (sys.stderr, "critic: ")
    out.writelines(f"{start}{line}\n" for line in (*notes, f"head {head_text(head)}") if line)


def _head_error(log: SqlDecisionLog, head: Head) -> str:
    last = log.head()
    if head.seq > last.seq:
        return f"truncated: the head is record {head.seq}, the log ends at record {last.seq}"
    if head.seq == 0:
        return ""
    stored = {raw.seq: raw.hash for raw in log.raw_at([head.seq])}.get(head.seq)
    if stored is None:
        return f"removed: record {head.seq}, the expected head, is missing"
    if stored != head.hash:
        return (
            f"history was rewritten: record {head.seq} is stored under "
            f"{stored[:12] if is_digest(stored) else 'no hash'}..., the expected head is "
            f"{head.hash[:12]}..."
        )
    return ""
