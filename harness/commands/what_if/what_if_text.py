"""The output of `critic what-if`: turns with another answer, the matrix, the counts."""

from collections.abc import Iterator
from typing import Any

from critic import Refused, Verified
from evals.escaping import escape_line
from harness.what_if.matrix import Matrix
from harness.what_if.rejudging import JudgedPlan, NotJudged, answer_kind, reason_of, stance_of
from harness.what_if.turn_shifts import PlanShift, TurnShift


def turn_text(counted: JudgedPlan, turn: TurnShift) -> str:
    """Return a turn with another answer: the reasons, then its records."""
    number = "" if counted.turn is None else f" turn {counted.turn}"
    lines = [
        f"{escape_line(counted.trace_id)}{number}: {counted.direction}: "
        f"{_show_verdict(counted.before)} -> {_show_verdict(counted.after)}",
        f"before: {reason_of(counted.before)}",
        f"after: {reason_of(counted.after)}",
        *(_plan_line(one) for one in turn.plans),
    ]
    if turn.drifted:
        lines.append("drift: it was recorded under other rules, which gave another verdict")
    return "\n  ".join(lines)


def _plan_line(one: PlanShift) -> str:
    attempt = "" if one.attempt is None else f" attempt {one.attempt}"
    return f"record {one.seq}{attempt}: {one.direction}: {one.before.text} -> {one.after.text}"


def not_judged_text(one: NotJudged) -> str:
    """Return the records that were not judged, with reasons."""
    numbers = f"record {one.seq}" if one.seq == one.last else f"records {one.seq} to {one.last}"
    return "\n  ".join([f"{numbers}: not judged: {one.status}", *one.reasons])


def turn_wire(counted: JudgedPlan, turn: TurnShift) -> dict[str, Any]:
    """Return a turn with another answer as a JSON object."""
    return {
        "trace_id": counted.trace_id,
        **({} if counted.turn is None else {"turn": counted.turn}),
        "decision_key": counted.decision_key,
        "change": counted.direction,
        **({"drift": True} if turn.drifted else {}),
        "before": counted.before.wire(),
        "after": counted.after.wire(),
        "records": [*map(_plan_wire, turn.plans)],
    }


def _plan_wire(one: PlanShift) -> dict[str, Any]:
    attempt = {} if one.attempt is None else {"attempt": one.attempt}
    return {"seq": one.seq, **attempt, "change": one.direction}


def not_judged_wire(one: NotJudged) -> dict[str, Any]:
    """Return records that were not judged as a JSON object."""
    reasons = list(one.reasons)
    last = {} if one.seq == one.last else {"last": one.last}
    return {"seq": one.seq, **last, "not_judged": one.status, "reasons": reasons}


def damage_line(matrix: Matrix) -> str:
    """Return that the log is damaged, which no option excuses."""
    count = "1 record is" if matrix.damaged == 1 else f"{matrix.damaged} records are"
    return f"{count} damaged or missing, which no option excuses: run `critic log verify`"


def _show_verdict(verdict: Verified | Refused) -> str:
    asked = ", needs approval" if stance_of(verdict) == "ask" else ""
    return "ok" if verdict.ok else f"refused ({answer_kind(verdict)}{asked})"


def matrix_lines(matrix: Matrix) -> Iterator[str]:
    """Yield the matrix as a table: a line for each answer before, a column for each after."""
    befores = matrix.answers(0)
    afters = matrix.answers(1)
    if not befores:
        return
    head = "before \\ after"
    first = max(len(head), *(len(one.text) for one in befores))
    widths = [max(len(one.text), 6) for one in afters]
    titles = (one.text.rjust(width) for one, width in zip(afters, widths, strict=True))
    yield "  ".join([head.ljust(first), *titles])
    for before in befores:
        counts = (str(matrix.count(before, after) or ".") for after in afters)
        cells = (text.rjust(width) for text, width in zip(counts, widths, strict=True))
        yield "  ".join([before.text.ljust(first), *cells])


def summary_line(matrix: Matrix) -> str:
    """Return the counts on one line."""
    turns = f"{matrix.judged} turn{'' if matrix.judged == 1 else 's'} judged"
    directions = ", ".join(
        f"{matrix.directions[name]} {name}" for name in ("unchanged", "looser", "tighter", "other")
    )
    parts = [f"{turns}: {directions}"]
    if matrix.drifted:
        parts.append(f"{matrix.drifted} recorded under other rules")
    if matrix.unjudged:
        named = ", ".join(f"{count} {status}" for status, count in sorted(matrix.reasons.items()))
        noun = "record" if matrix.unjudged == 1 else "records"
        parts.append(f"{matrix.unjudged} {noun} not judged ({named})")
    if matrix.left_out:
        noun = "record" if matrix.left_out == 1 else "records"
        parts.append(f"{matrix.left_out} {noun} left out")
    return "; ".join(parts)
