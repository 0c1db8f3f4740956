"""`critic log verify`: check hashes, chain, tables and index, and print the head."""

import argparse
from collections import Counter

from harness.commands.known_heads import KnownHead, known_head, parse_head
from harness.commands.log.log_filters import EXIT_NOT_SOUND
from harness.commands.progress import with_progress
from harness.commands.replay.replay_text import (
    answer_reporter,
    count_of_records,
    is_sound,
    red_turns,
    report_answers,
    sound_text,
)
from harness.log.sql import SqlDecisionLog
from harness.replay.log_check import CheckedReplay


def verify_log(args: argparse.Namespace, log: SqlDecisionLog) -> int:
    """Check everything that is kept, and print the head.

    Return 1 if the log is not sound, or a turn ran although it was refused.
    """
    head, signed = log.head(), known_head(args).checkpoint
    report = answer_reporter(args.format, args.log, "log verify", no_open=args.no_open)
    replayed = CheckedReplay(log, head=parse_head(args.head), judge=False)
    counts = report_answers(with_progress(replayed.answers(), head.seq), Counter(), report)
    check = replayed.check().with_damage(KnownHead(checkpoint=signed).departures(log))
    red = red_turns(log, is_sound=is_sound(counts) and bool(check))
    for turn in red:
        report.red_turn(turn)
    report.check(check)
    total = sum(counts.values())
    kept = {status: counts[status] for status in ("redacted", "open") if counts[status]}
    unbroken = counts["same"] + sum(kept.values()) == total
    result = "hashes and chain hold" if unbroken else "hashes or chain do not hold"
    said = "".join(f", {number} {status}" for status, number in kept.items())
    result += sound_text(counts, check) or said
    report.close(f"{count_of_records(total)}: {result}")
    report.head(head)
    return 0 if is_sound(counts, no_open=args.no_open) and check and not red else EXIT_NOT_SOUND
