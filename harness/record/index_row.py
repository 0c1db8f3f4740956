"""The index that a log is searched by: one row for each record, derived from it. Pure.

Rule 1: a row is an index and never the truth: who has a record and its inputs derives it again.
Rule 2: one function reads an entry before it is recorded (envelopes) and as it is stored (JSON).
        It is total: what is not there, or is not what it should be, is None.
Rule 3: texts are printable ASCII, so that every database keeps, compares and orders them alike.
Rule 4: a row has names, words and numbers, and no text of a plan, a result or a report: a text is
        taken out of a log where its record has it, and nowhere else.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson

from evals.json_value import SAFE_INTEGER
from evals.kinds import EVALUATOR_IDS, HARD_EVALUATORS
from evals.timestamps import parse_time
from harness.record.fates import OF_INPUTS, TurnKey
from harness.record.members import elements_of, member_of
from harness.record.record_facts import approvals_of, facts_of_record

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
_TAKEN: Final[tuple[tuple[str, str, Callable[[list[int]], int]], ...]] = (
    ("tokens", "tokens", sum),
    ("wall_ms", "duration_ms", max),
    ("cost_micros", "cost_micros", sum),
)
"""What a run took: the column, the member of a call, and what the calls took together."""
_SCORE_OF: Final = {one: f"score_{one}" for one in EVALUATOR_IDS}
_STATUS_OF: Final = {one: f"status_{one}" for one in EVALUATOR_IDS}
SHADOW: Final = "shadow"
"""The status of a decision whose refusal was not enforced: its report says `refused_by_critic`."""
_LONGEST: Final = 2000
"""Characters of a text that are kept: more than any line of this program has."""


class IndexRow(NamedTuple):
    """The columns of one record. Lists of names stand between blanks: ` a b `.

    `status` is that of the report, or the kind of a record that has none; `shadow` where the plan
    was not allowed and that was not enforced. `kind` is that of the first violation, or the
    evaluator that refused the run. `tool` is the one of the offending step.
    `of_tenant` and `of_user` say whom it was for.
    `answered` is what became of the question about the plan, and `approver` who answered it.
    `facts` are the `RecordFacts` of the record alone, as a number. `approvals` are those of this
    plan.
    The limits are those of the budget that the context declares. Times are in microseconds since
    1970, money is in millionths.
    """

    seq: int
    status: str | None
    at_us: int | None
    trace: str | None = None
    session: str | None = None
    of_tenant: str | None = None
    of_user: str | None = None
    mode: str | None = None
    kind: str | None = None
    kinds: str | None = None
    checks: str | None = None
    tool: str | None = None
    tools: str | None = None
    plan: str | None = None
    turn: int | None = None
    action: str | None = None
    answered: str | None = None
    approver: str | None = None
    facts: int = 0
    approvals: int = 0
    attempts: int = 0
    steps: int | None = None
    tokens: int | None = None
    wall_ms: int | None = None
    cost_micros: int | None = None
    max_steps: int | None = None
    max_tokens: int | None = None
    max_wall_ms: int | None = None
    max_cost_micros: int | None = None
    score_policy: float | None = None
    score_utility: float | None = None
    score_latency: float | None = None
    score_safety: float | None = None
    score_cost: float | None = None
    status_policy: str | None = None
    status_utility: str | None = None
    status_latency: str | None = None
    status_safety: str | None = None
    status_cost: str | None = None


OF_CTX: Final = frozenset(
    {
        "session",
        "of_tenant",
        "of_user",
        "turn",
        "mode",
        "approvals",
        "max_steps",
        "max_tokens",
        "max_wall_ms",
        "max_cost_micros",
    }
)
"""The columns that need the recorded context."""

OF_PLAN: Final = frozenset({"tool", "tools", "steps"})
"""The columns that need the recorded plan."""

_MOMENT_OF: Final[Mapping[str, str]] = {
    "begun": "begun_at",
    "settled": "settled_at",
    "critic_error": "failed_at",
    "closed": "closed_at",
    "reopened": "reopened_at",
    "handed_over": "handed_at",
    "taken_over": "taken_at",
    "redacted": "redacted_at",
}
"""The member that tells when a record was made, by its kind."""

OF_NO_TURN: Final = ("closed", "reopened", "handed_over", "taken_over", "redacted")
"""The kinds of records that are of no turn."""

KNOWN_ALONE: Final = {"facts": ~OF_INPUTS}
"""Columns of bits, and those of the bits that need neither."""


def index_row(
    record: Any, ctx: Any, plan: Any, seq: int = 0, columns: Mapping[str, Any] | None = None
) -> IndexRow:
    """Return the row of a record of any kind. Never raises.

    Args:
        record: a record: an envelope, parsed JSON, or a dict of its members.
        ctx: its RunContext, as an envelope or as parsed JSON; None if it is not at hand.
        plan: its Plan, in the same way.
        seq: its number.
        columns: the `input_columns` of both, if they are at hand.
    """
    kind = member_of(record, "kind")
    plan_digest = member_of(member_of(record, "inputs"), "plan")
    common = {**(columns or input_columns(ctx, plan)), "plan": _name(plan_digest)}
    common |= {"action": _name(member_of(record, "action"))}
    common |= {"facts": int(facts_of_record(record, ctx, plan))}
    if isinstance(kind, str) and kind in _MOMENT_OF:
        trace, moment = _name(member_of(record, "trace_id")), member_of(record, _MOMENT_OF[kind])
        used = _length(member_of(record, "approvals")) if kind == "begun" else None
        return IndexRow(seq, kind, _micros(moment), trace, approvals=used or 0, **common)
    report = member_of(record, "report")
    columns = {
        **common,
        **_of_report(report, plan, member_of(record, "run")),
        **measures_of_run(member_of(record, "run")),
        "approvals": approvals_of(ctx, record),
        **_of_answer(member_of(record, "answer")),
        "attempts": _length(member_of(record, "attempts")) or 0,
    }
    status, moment = _decided_status(record, report), member_of(report, "decided_at")
    return IndexRow(seq, status, _micros(moment), **columns)


def _decided_status(record: Any, report: Any) -> str | None:
    is_shadow = member_of(record, "action") == "shadow"
    return SHADOW if is_shadow else _name(member_of(report, "status"))


def input_columns(ctx: Any, plan: Any) -> dict[str, Any]:
    """Return the columns that a context and a plan say, whatever the record of them is."""
    return {**_of_ctx(ctx), **_of_plan(plan)}


def _of_ctx(ctx: Any) -> dict[str, Any]:
    budget, session = member_of(ctx, "run_budget"), member_of(ctx, "session")
    return {
        "session": _name(member_of(session, "id")),
        "of_tenant": _name(member_of(ctx, "tenant_id")),
        "of_user": _name(member_of(ctx, "user_id")),
        "turn": _count(member_of(session, "turn")),
        "mode": _name(member_of(ctx, "safety_mode")),
        "max_steps": _count(member_of(budget, "max_steps")),
        "max_tokens": _count(member_of(budget, "bucket_tokens")),
        "max_wall_ms": _count(member_of(budget, "wall_ms")),
        "max_cost_micros": _count(member_of(budget, "cost_micros")),
    }


def _of_plan(plan: Any) -> dict[str, Any]:
    steps = member_of(plan, "steps")
    return {"steps": _length(steps), "tools": _names(map(_tool, elements_of(steps)))}


def _of_answer(answer: Any) -> dict[str, Any]:
    given, approver = member_of(answer, "answer"), member_of(answer, "approver")
    return {"answered": _name(given), "approver": _name(approver)}


def _of_report(report: Any, plan: Any, run: Any) -> dict[str, Any]:
    verdict = member_of(report, "verify")
    if member_of(report, "refused_at") == "open":
        last = [*elements_of(member_of(run, "openings"))][-1:]
        verdict = member_of(last[0], "verdict") if last else None
    violations = elements_of(member_of(verdict, "violations"))
    kind, scores = (
        member_of(verdict, "kind"),
        member_of(member_of(member_of(report, "score"), "scorecard"), "scores"),
    )
    of = {one: member_of(scores, one) for one in EVALUATOR_IDS}
    if member_of(report, "refused_at") == "score":
        kind = next(
            (one for one in HARD_EVALUATORS if member_of(of[one], "status") == "fail"), None
        )
    return {
        "trace": _name(member_of(report, "trace_id")),
        "kind": _name(kind),
        "kinds": _names(_text(member_of(one, "kind")) for one in violations),
        "checks": _names(_text(member_of(one, "check")) for one in violations),
        "tool": _step_tool(plan, member_of(verdict, "offending_step")),
        **{_SCORE_OF[one]: _real(member_of(score, "score")) for one, score in of.items()},
        **{_STATUS_OF[one]: _name(member_of(score, "status")) for one, score in of.items()},
    }


def measures_of_run(run: Any) -> dict[str, int | None]:
    """Return what a run took, or else its calls, as far as they say it: the longest, or the sum."""
    calls = elements_of(member_of(run, "calls"))
    columns = {}
    for name, of_call, together in _TAKEN:
        whole = _count(member_of(run, name))
        if whole is None:
            known = [one for call in calls if (one := _count(member_of(call, of_call))) is not None]
            whole = _count(together(known)) if known else None
        columns[name] = whole
    return columns


def _step_tool(plan: Any, step: Any) -> str | None:
    steps = elements_of(member_of(plan, "steps"))
    tool = _tool(steps[step]) if type(step) is int and 0 <= step < len(steps) else None
    return name_column(tool) if tool else None


def _tool(step: Any) -> str | None:
    adapter, capability = (
        _text(member_of(step, "adapter_id")),
        _text(member_of(step, "capability_id")),
    )
    return f"{adapter}/{capability}" if adapter and capability else None


def _length(value: Any) -> int | None:
    return len(value) if isinstance(value, list | tuple) else None


def _names(names: Iterable[str | None]) -> str | None:
    """Return different names in their order, between blanks."""
    joined = " ".join(dict.fromkeys([name for name in names if name]))
    return f" {name_column(joined)} " if joined else None


def name_column(text: str) -> str:
    """Return a name as a column keeps it: two names that differ stay different."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return "".join(map(_escape_char, text))


def _escape_char(char: str) -> str:
    """Return a character as a JSON text holds it in printable ASCII."""
    if " " <= char <= "~" and char not in '"\\':
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(
        f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True)
    )


def keep_turn(row: IndexRow, before: tuple[Any, ...] | None) -> IndexRow:
    """Return the row of a record with the turn and the facts that it had before it was redacted.

    Without its context, plan or run, a record does not say all of them. A redaction takes out texts
    and values, and what became of a turn stays: a call that was changed did not run as planned. So
    does the name of a session that its trace has too.

    Args:
        row: the row as what is left of the record says it.
        before: the row of the record in the log that it is copied from.
    """
    if before is None:
        return row
    kept = IndexRow(*before)
    facts = row.facts | (kept.facts & OF_INPUTS if type(kept.facts) is int else 0)
    turn = _count(kept.turn) if row.turn is None else row.turn
    session = kept.session if row.session is None and kept.session == row.trace else row.session
    return row._replace(facts=facts, turn=turn, session=session)


def turn_key(row: IndexRow) -> TurnKey:
    """Return the turn that a record is of."""
    return TurnKey(row.trace, row.turn, row.plan)


def _text(value: Any) -> str | None:
    return value[:_LONGEST] if isinstance(value, str) else None


def _name(value: Any) -> str | None:
    return name_column(value[:_LONGEST]) if isinstance(value, str) else None


def name_in_column(column: str) -> str:
    """Return the name in a column, which has the escapes of JSON."""
    try:
        return str(orjson.loads(f'"{column}"'))
    except ValueError:
        return column


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= SAFE_INTEGER else None


def _real(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None


def _micros(value: Any) -> int | None:
    if isinstance(value, str):
        try:
            value = parse_time(value)
        except ValueError:
            return None
    return (value - EPOCH) // MICROSECOND if isinstance(value, datetime) else None


def time_of(micros: int) -> datetime:
    """Return the time that a column says.

    Raises:
        OverflowError: it is in no year that a record may say.
    """
    return EPOCH + micros * MICROSECOND
