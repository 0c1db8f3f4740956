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
from harness.replay.log_check import LogCheck, check_log
from harness.replay.result import ReplayResult, ReplayStatus

_ALWAYS = frozenset({"same", "drift", "tampered", "incomplete"})
"""The answers that are counted even where there are none."""


def run(args: argparse.Namespace) -> int:
    """Return 0 if the tables are sound and every record is the same, else 1."""
    as_json = args.format == "json"
    with SqlDecisionLog.open_for_reading(args.log) as log:
        total = log.head().seq
        answers = replay(log, head=parse_head(args.head), judge=True)
        counts = print_answers(with_progress(answers, total), as_json=as_json)
        check = check_log(log)
    print_check(check, as_json=as_json)
    if not as_json:
        shown = [one for one in get_args(ReplayStatus) if one in _ALWAYS or counts[one]]
        numbers = ", ".join(f"{counts[status]} {status}" for status in shown)
        sys.stdout.write(f"{count_of_records(sum(counts.values()))}: {numbers}\n")
    return 0 if check and counts.keys() <= {"same"} else 1


def parse_head(text: str | None) -> tuple[int, str] | None:
    """Parse the head that `--head SEQ:HASH` names.

    Raises:
        UsageError: `text` does not have that form.
    """
    if text is None:
        return None
    seq, _, digest = text.partition(":")
    # Sixteen digits hold every number that a record may have.
    number = int(seq) if seq.isdecimal() and len(seq) <= 16 else -1
    if number < 0 or not is_digest(digest) or (number == 0 and digest != GENESIS):
        raise UsageError("--head: write it as `critic log verify` prints it, SEQ:HASH")
    return number, digest


def with_progress(answers: Iterator[ReplayResult], total: int) -> Iterator[ReplayResult]:
    """Yield the answers, with a progress bar on a terminal and none in a pipe."""
    shown = sys.stderr.isatty()
    yield from tqdm(answers, total=total, unit=" records", disable=not shown, leave=False)


def print_answers(answers: Iterator[ReplayResult], *, as_json: bool) -> Counter[str]:
    """Print every answer as JSON, or those worth reading as text; count them by status."""
    counts: Counter[str] = Counter()
    for answer in answers:
        counts[answer.status] += 1
        if as_json:
            tqdm.write(ascii_json(answer.wire()), file=sys.stdout)
        elif not answer or answer.notes:
            tqdm.write(answer.text(), file=sys.stdout)
    return counts


def count_of_records(number: int) -> str:
    """Return the number of records in words: `1 record`, else `4 records`."""
    return f"{number} record{'' if number == 1 else 's'}"


def print_check(check: LogCheck, *, as_json: bool) -> None:
    """Print what is wrong with the log as a whole, as one line of JSON or as text."""
    if not check.damage and not check.notes:
        return
    text = ascii_json({"log": check.wire()}) if as_json else check.text()
    sys.stdout.write(text + "\n")
