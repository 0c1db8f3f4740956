"""The output of `critic what-if`: a plan that is judged otherwise, the matrix, the counts."""

from collections.abc import Iterator
from typing import Any

from critic import Refused, Verified
from evals.escaping import escape_line
from harness.what_if.matrix import Matrix
from harness.what_if.rejudging import (
    Compared,
    JudgedPlan,
    NotAsked,
    NotJudged,
    answer_kind,
    reason_of,
    stance_of,
)


def compared_text(one: Compared) -> str:
    """Return one plan, or the records that were not judged, with the reasons below."""
    if isinstance(one, JudgedPlan):
        attempt = "" if one.attempt is None else f" attempt {one.attempt}"
        drift = "\n  drift: it was recorded under other rules, which gave another verdict"
        return (
            f"record {one.seq}{attempt} ({escape_line(one.trace_id)}): {one.direction}: "
            f"{_show_verdict(one.before)} -> {_show_verdict(one.after)}"
            f"\n  before: {reason_of(one.before)}\n  after: {reason_of(one.after)}"
            f"{drift if one.drifted else ''}"
        )
    if isinstance(one, NotAsked):
        return f"record {one.seq}: left out"
    numbers = f"record {one.seq}" if one.seq == one.last else f"records {one.seq} to {one.last}"
    return "\n  ".join([f"{numbers}: not judged: {one.status}", *one.reasons])


def compared_wire(one: Compared) -> dict[str, Any]:
    """Return the same as a JSON object."""
    if isinstance(one, JudgedPlan):
        attempt = {} if one.attempt is None else {"attempt": one.attempt}
        drift = {"drift": True} if one.drifted else {}
        return {
            "seq": one.seq,
            **attempt,
            "trace_id": one.trace_id,
            "decision_key": one.decision_key,
            "change": one.direction,
            **drift,
            "before": one.before.wire(),
            "after": one.after.wire(),
        }
    if isinstance(one, NotJudged):
        reasons = list(one.reasons)
        last = {} if one.seq == one.last else {"last": one.last}
        return {"seq": one.seq, **last, "not_judged": one.status, "reasons": reasons}
    return {"seq": one.seq, "left_out": True}


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
    plans = f"{matrix.judged} plan{'' if matrix.judged == 1 else 's'} judged"
    directions = ", ".join(
        f"{matrix.directions[name]} {name}" for name in ("unchanged", "looser", "tighter", "other")
    )
    parts = [f"{plans}: {directions}"]
    if matrix.drifted:
        parts.append(f"{matrix.drifted} recorded under other rules")
    if matrix.unjudged:
        named = ", ".join(f"{count} {status}" for status, count in sorted(matrix.reasons.items()))
        noun = "record" if matrix.unjudged == 1 else "records"
        parts.append(f"{matrix.unjudged} {noun} not judged ({named})")
    if matrix.left_out:
        parts.append(f"{matrix.left_out} left out")
    return "; ".join(parts)
