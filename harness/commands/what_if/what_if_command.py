"""`critic what-if`: judge recorded plans by another policy, safety mode or budget."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from harness.canonical import ascii_json
from harness.commands.documents import size_limit
from harness.commands.exit_status import EXIT_OK, EXIT_REFUSED
from harness.commands.known_heads import (
    KnownHead,
    head_text,
    known_head,
    parse_head,
    require_keys_used,
)
from harness.commands.log_findings import read_findings
from harness.commands.policy.policy_command import load_policy
from harness.commands.progress import print_above, with_progress
from harness.commands.replay.replay_text import answer_reporter
from harness.commands.what_if.what_if_text import (
    damage_line,
    matrix_lines,
    not_judged_text,
    not_judged_wire,
    summary_line,
    turn_text,
    turn_wire,
)
from harness.errors import UsageError, escape_text
from harness.log.sql import SqlDecisionLog
from harness.record import Head
from harness.replay.log_check import LogCheck
from harness.what_if.columns.column_writing import is_parquet
from harness.what_if.columns.plan_columns import HEAD_KEY
from harness.what_if.matrix import LeftOutTally, Matrix, TurnTally
from harness.what_if.recorded_change import Alteration, ChangeBySpec, KeptEvidence
from harness.what_if.rejudging import Compared, JudgedPlan, NotJudged, PlanFinder, what_if
from harness.what_if.turn_shifts import TurnShifts


def run(args: argparse.Namespace) -> int:
    """Print what changes, the matrix and the counts. Exit status as documented by `--help`."""
    require_keys_used(args, "checkpoint")
    change, known, matrix = _change(args), known_head(args), Matrix()
    if is_parquet(args.log):
        if args.jobs != 1:
            raise UsageError("--jobs is for a log: an export is judged by columns, in one process")
        if known != KnownHead():
            raise UsageError("--head and --checkpoint are compared with a log, not with an export")
        check, head = _judge_columns(args, change, matrix)
    else:
        check, head = _judge_log(args, change, known, matrix)
    answer_reporter(args.format, args.log, "what-if").check(check)
    _require_decision(args.decision, matrix)
    spelled = "" if head is None else head_text(head)
    if args.format == "json":
        named = {"head": spelled} if spelled else {}
        print_above(ascii_json({"what_if": matrix.wire(), **named}))
    else:
        heads = [f"head {spelled}"] if spelled else []
        damage = [damage_line(matrix)] if matrix.damaged else []
        for line in (*matrix_lines(matrix), *heads, *damage, summary_line(matrix)):
            print_above(line)
    is_looser = matrix.looser > 0 and not args.allow_loosening
    is_unjudged = matrix.unjudged > 0 and not args.allow_unjudged
    is_sound = bool(check) and not matrix.damaged
    return EXIT_OK if is_sound and not is_looser and not is_unjudged else EXIT_REFUSED


def _judge_log(
    args: argparse.Namespace, change: ChangeBySpec, known: KnownHead, matrix: Matrix
) -> tuple[LogCheck, Head]:
    """Judge the plans of a log. Return the problems of the log, and its head."""
    with SqlDecisionLog.open_for_reading(args.log) as log:
        head, departures = log.head(), known.departures(log)
        found, checked = read_findings(log, args.log, PlanFinder(change, args.decision), args.jobs)
        _tell(what_if(with_progress(found, head.seq)), args, matrix)
        return checked().with_damage(departures), head


def _require_decision(asked: str | None, matrix: Matrix) -> None:
    """Check that something was judged if one decision was requested: its name may be wrong.

    Raises:
        UsageError: every plan that can be judged is of another decision.
    """
    if asked is None or matrix.judged or not matrix.left_out:
        return
    raise UsageError(
        f"--decision {escape_text(asked)}: no plan is of this decision: name the id of a recorded "
        "spec"
    )


def _judge_columns(
    args: argparse.Namespace, change: ChangeBySpec, matrix: Matrix
) -> tuple[LogCheck, Head | None]:
    """Judge the plans of an export. Return the problems of its log, and its head at that time."""
    try:
        from harness.what_if.columns.column_judging import PlanJudge  # noqa: PLC0415 - large, and only for this
        from harness.what_if.columns.column_reading import PlanFile  # noqa: PLC0415
    except ImportError:
        needed = "numpy and pyarrow: pip install 'plan-critic[columnar]'"
        raise UsageError(f"to judge a Parquet file takes {needed}") from None
    file = PlanFile(Path(args.log))
    judge = PlanJudge(change, args.decision, shown=not args.counts)
    _tell(judge.compare_file(file), args, matrix)
    return file.check, parse_head(file.head, f"{HEAD_KEY} in its metadata")


def _tell(
    found: Iterable[Compared | TurnTally | LeftOutTally], args: argparse.Namespace, matrix: Matrix
) -> None:
    """Count the findings. Print what was not judged, then the turns with another answer."""
    turns, is_json = TurnShifts(), args.format == "json"
    for one in found:
        matrix.add(one)
        if args.counts:
            continue
        if isinstance(one, NotJudged):
            print_above(ascii_json(not_judged_wire(one)) if is_json else not_judged_text(one))
        elif isinstance(one, JudgedPlan):
            turns.add(one)
    for counted, turn in turns.shifted_turns():
        print_above(ascii_json(turn_wire(counted, turn)) if is_json else turn_text(counted, turn))


def _change(args: argparse.Namespace) -> ChangeBySpec:
    """Return the requested change.

    Raises:
        UsageError: there is none, a policy is invalid, or two are for one spec.
    """
    if not args.policy and args.safety_mode is None and not args.budget:
        raise UsageError("say what would be different: --policy, --safety-mode or --budget")
    if args.evidence is not None and not args.policy:
        raise UsageError("--evidence goes with --policy: without one, evidence is as recorded")
    if args.relabel and not args.policy:
        raise UsageError("--relabel goes with --policy: without one, labels are as recorded")
    evidence: KeptEvidence = args.evidence or "both"
    given = args.safety_mode, args.budget, evidence, args.relabel
    policies = [load_policy(name, size_limit(args)).policy for name in args.policy]
    changes = {one.spec.id: Alteration(one, *given) for one in policies}
    if len(changes) < len(policies):
        raise UsageError("--policy: two policies are for the spec of one id: give each its own")
    if len(changes) > 1:
        return changes
    return next(iter(changes.values()), Alteration(None, *given))
