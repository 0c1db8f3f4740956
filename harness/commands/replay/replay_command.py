"""`critic replay`: derive every recorded verdict again and compare the bytes."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from harness.audit.proofs.comparison import Departure
from harness.commands.known_heads import (
    KnownHead,
    head_text,
    known_head,
    parse_head,
    require_keys_used,
)
from harness.commands.progress import with_progress
from harness.commands.replay.replay_engines import engine_of, in_this_process
from harness.commands.replay.replay_since import record_since, require_later
from harness.commands.replay.replay_state import ReplayState, check_state, keep_state, kept_state
from harness.commands.replay.replay_text import (
    AnswerReporter,
    answer_reporter,
    is_sound,
    red_turns,
    report_answers,
    summary_of,
)
from harness.errors import UsageError
from harness.log.sql import SqlDecisionLog
from harness.record import Head
from harness.record.integrity import START, Link
from harness.replay.engine import Replayer, expected_head
from harness.replay.log_check import CheckedReplay, LogCheck, check_log
from harness.replay.result import ReplayResult
from harness.replay.stretches import answers_in, link_at, sessions_after

_T = TypeVar("_T")


def run(args: argparse.Namespace) -> int:
    """Return 0 if the log is sound and no refused turn ran, else 1."""
    if args.resume is not None and args.format in ("junit", "sarif"):
        raise UsageError(f"--resume with {args.format}: what was replayed before would be missing")
    require_keys_used(args, "since", "checkpoint")
    counts: Counter[str] = Counter()
    report = answer_reporter(args.format, args.log, "replay", no_open=args.no_open)
    signed = known_head(args).checkpoint
    with SqlDecisionLog.open_for_reading(args.log) as log:
        since, head = record_since(args, log), log.head()
        if isinstance(since, Departure):
            return _not_as_signed(report, since)
        departures = KnownHead(checkpoint=signed).departures(log)
        answers, checked = _answers(args, log, counts, since)
        report_answers(with_progress(answers, head.seq, counts), counts, report)
        check = checked().with_damage(departures)
        sound = is_sound(counts) and bool(check)
        red = red_turns(log, is_sound=sound, since=0 if since is None else since.seq)
    if args.resume is not None:
        Path(args.resume).unlink(missing_ok=True)  # it has come to its end
    for turn in red:
        report.red_turn(turn)
    report.check(check)
    report.head(head)
    report.close(summary_of(counts, check, None if since is None else since.seq))
    return 0 if check and not red and is_sound(counts, no_open=args.no_open) else 1


def _not_as_signed(report: AnswerReporter, departure: Departure) -> int:
    report.check(LogCheck(damage=(f"{departure.kind}: {departure.text}",)))
    report.close("nothing was replayed: `critic log check` says more of it")
    return 1


def _answers(
    args: argparse.Namespace, log: SqlDecisionLog, counts: Counter[str], since: Head | None
) -> tuple[Iterator[ReplayResult], Callable[[], LogCheck]]:
    """Return the answers, and what checks the log as a whole after them.

    `counts` holds the answers that were given; a resumed replay adds its own.
    """
    head = parse_head(args.head)
    require_later(head, since)
    engine = engine_of(args)
    if engine is in_this_process and args.resume is None and since is None:
        replayed = CheckedReplay(log, head=head)
        return replayed.answers(), replayed.check
    expected = expected_head(head)
    replayer = Replayer(log, expected, judge=True)
    before = _begin(args, log, replayer, since, counts)
    after = before.seq if before.seq > 0 else None
    named = None if since is None else head_text(since)

    def save(link: Link) -> None:
        if args.resume is not None:
            sys.stdout.flush()
            keep_state(Path(args.resume), ReplayState.of(link, counts, args.head, named))

    batches = engine(args, log, replayer, before, expected)
    sessions = sessions_after(log, replayer, after)
    return answers_in(batches, before, expected, save, sessions), _begin_check(args, log)


def _begin_check(args: argparse.Namespace, log: SqlDecisionLog) -> Callable[[], LogCheck]:
    """Return what checks the log as a whole: with --jobs, in a process that begins now."""
    if args.jobs == 1:
        return partial(check_log, log)
    from harness.commands.check_process import CheckProcess  # noqa: PLC0415 - loads what starts processes

    return CheckProcess(partial(SqlDecisionLog.open_for_reading, os.fspath(args.log))).check


def _begin(
    args: argparse.Namespace,
    log: SqlDecisionLog,
    replayer: Replayer,
    since: Head | None,
    counts: Counter[str],
) -> Link:
    """Return the link to the first record that is replayed, and add what was counted before it.

    Raises:
        UsageError: what says where cannot be read, or is not of this log.
    """
    state = None
    if args.resume is not None:
        spelled = None if since is None else head_text(since)
        state = kept_state(Path(args.resume), args.head, spelled)
    if state is None:
        return START if since is None else _link_since(log, replayer, since)
    if state.seq == START.seq:
        return START
    link = link_at(log, replayer, state.seq)
    first = START.seq if since is None else since.seq
    check_state(Path(args.resume), state, link, log.numbers(), first)
    counts.update(state.counts)
    return link


def _link_since(log: SqlDecisionLog, replayer: Replayer, since: Head) -> Link:
    """Return the link after a record that was checked before, if the log holds it as it was.

    Raises:
        UsageError: it does not.
    """
    link = START if since.seq == START.seq else link_at(log, replayer, since.seq)
    if link.seq != since.seq or link.hashes != {since.hash}:
        raise UsageError(
            f"--since: the log does not hold record {since.seq} with that hash: it was changed, or "
            "is another log: replay it without --since"
        )
    return link
