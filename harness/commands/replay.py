"""`critic replay`: derive every recorded verdict again and compare the bytes."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from typing import get_args

from tqdm import tqdm

from harness.commands.output import ascii_json
from harness.errors import UsageError
from harness.log.sql import SqlDecisionLog
from harness.record import GENESIS
from harness.replay.engine import replay
from harness.replay.integrity import is_digest
from harness.replay.result import ReplayResult, ReplayStatus


def run(args: argparse.Namespace) -> int:
    """Exit status 0 when every record is the same, 1 when any is not."""
    with SqlDecisionLog.open_for_reading(args.log) as log:
        total = log.head().seq
        answers = replay(log, head=parse_head(args.head), judge=True)
        counts = tell(with_progress(answers, total), as_json=args.format == "json")
    if args.format == "text":
        told = ", ".join(f"{counts[status]} {status}" for status in get_args(ReplayStatus))
        sys.stdout.write(f"{sum(counts.values())} records: {told}\n")
    return 0 if counts.keys() <= {"same"} else 1


def parse_head(text: str | None) -> tuple[int, str] | None:
    """The head that `--head SEQ:HASH` names.

    Raises:
        UsageError: it is not of that form.
    """
    if text is None:
        return None
    seq, _, digest = text.partition(":")
    # Sixteen digits hold every number a record may have.
    number = int(seq) if seq.isdecimal() and len(seq) <= 16 else -1
    if number < 0 or not is_digest(digest) or (number == 0 and digest != GENESIS):
        raise UsageError("--head: write it as `critic log verify` prints it, SEQ:HASH")
    return number, digest


def with_progress(answers: Iterator[ReplayResult], total: int) -> Iterator[ReplayResult]:
    """The answers, with a progress bar on a terminal and none in a pipe."""
    shown = sys.stderr.isatty()
    yield from tqdm(answers, total=total, unit=" records", disable=not shown, leave=False)


def tell(answers: Iterator[ReplayResult], *, as_json: bool) -> Counter[str]:
    """Print what is to be told of each record; count the answers by status."""
    counts: Counter[str] = Counter()
    for answer in answers:
        counts[answer.status] += 1
        if as_json:
            tqdm.write(ascii_json(answer.wire()), file=sys.stdout)
        elif not answer or answer.notes:
            tqdm.write(answer.text(), file=sys.stdout)
    return counts
