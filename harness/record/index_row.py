"""The index that a log is searched by: one row for each record, derived from it. Pure.

Rule 1: a row is an index and never the truth: who has a record and its inputs derives it again.
Rule 2: one function reads an entry before it is recorded (envelopes) and as it is stored (JSON).
        It is total: what is not there, or is not what it should be, is None.
Rule 3: texts are printable ASCII, so that every database keeps, compares and orders them alike.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from evals.escaping import escape_line
from evals.json_value import SAFE_INTEGER
from evals.kinds import EVALUATOR_IDS, HARD_EVALUATORS
from evals.timestamps import parse_time

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
_LONGEST: Final = 2000
"""Characters of a text that are kept: more than any line of this program has."""


class IndexRow(NamedTuple):
    """The columns of one record. Lists of names stand between blanks: ` a b `.

    `status` is that of the report, `begun` or `critic_error`. `kind` is that of the first
    violation, or the evaluator that refused the run. `tool` is the one of the offending step.
    `asked` is 1 for a refusal that an approval would clear; `approvals` are those of this plan.
    The limits are those of the budget that the context declares. Times are in microseconds since
    1970, money is in millionths.
    """

    seq: int
    status: str | None
    at_us: int | None
    trace: str | None = None
    session: str | None = None
    mode: str | None = None
    kind: str | None = None
    kinds: str | None = None
    checks: str | None = None
    tool: str | None = None
    tools: str | None = None
    plan: str | None = None
    asked: int = 0
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
    error: str | None = None
    said: str | None = None


OF_CTX: Final = frozenset(
    {
        "session",
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


def index_row(record: Any, ctx: Any, plan: Any, seq: int = 0) -> IndexRow:
    """Return the row of a record of any kind. Never raises.

    Args:
        record: a record: an envelope, parsed JSON, or a dict of its members.
        ctx: its RunContext, as an envelope or as parsed JSON; None if it is not at hand.
        plan: its Plan, in the same way.
        seq: its number.
    """
    kind = _at(record, "kind")
    plan_digest = _at(_at(record, "inputs"), "plan")
    common = {**_of_ctx(ctx), **_of_plan(plan), "plan": _name(plan_digest)}
    if kind == "begun":
        beginning = {"approvals": _length(_at(record, "approvals")) or 0}
        trace, moment = _name(_at(record, "trace_id")), _at(record, "begun_at")
        return IndexRow(seq, "begun", _micros(moment), trace, **{**common, **beginning})
    if kind == "critic_error":
        trace, moment = _name(_at(record, "trace_id")), _at(record, "failed_at")
        said = _line(_at(record, "where"))
        return IndexRow(seq, "critic_error", _micros(moment), trace, said=said)
    report = _at(record, "report")
    columns = {
        **common,
        **_of_report(report, plan),
        **measures_of_run(_at(record, "run")),
        "approvals": _approvals(ctx, plan_digest),
        "attempts": _length(_at(record, "attempts")) or 0,
        "error": _line(_at(record, "error")),
    }
    status, moment = _name(_at(report, "status")), _at(report, "decided_at")
    return IndexRow(seq, status, _micros(moment), **columns)


def _of_ctx(ctx: Any) -> dict[str, Any]:
    budget = _at(ctx, "run_budget")
    return {
        "session": _name(_at(_at(ctx, "session"), "id")),
        "mode": _name(_at(ctx, "safety_mode")),
        "max_steps": _count(_at(budget, "max_steps")),
        "max_tokens": _count(_at(budget, "bucket_tokens")),
        "max_wall_ms": _count(_at(budget, "wall_ms")),
        "max_cost_micros": _count(_at(budget, "cost_micros")),
    }


def _of_plan(plan: Any) -> dict[str, Any]:
    steps = _at(plan, "steps")
    return {"steps": _length(steps), "tools": _names(map(_tool, _elements(steps)))}


def _of_report(report: Any, plan: Any) -> dict[str, Any]:
    verdict = _at(report, "verify")
    violations = _elements(_at(verdict, "violations"))
    kind, scores = _at(verdict, "kind"), _at(_at(_at(report, "score"), "scorecard"), "scores")
    of = {one: _at(scores, one) for one in EVALUATOR_IDS}
    if _at(report, "refused_at") == "score":
        kind = next((one for one in HARD_EVALUATORS if _at(of[one], "status") == "fail"), None)
    return {
        "trace": _name(_at(report, "trace_id")),
        "kind": _name(kind),
        "kinds": _names(_text(_at(one, "kind")) for one in violations),
        "checks": _names(_text(_at(one, "check")) for one in violations),
        "tool": _step_tool(plan, _at(verdict, "offending_step")),
        "asked": int(
            bool(violations) and all(_at(one, "approvable") is True for one in violations)
        ),
        "said": _line(_at(report, "rationale")),
        **{_SCORE_OF[one]: _real(_at(score, "score")) for one, score in of.items()},
        **{_STATUS_OF[one]: _name(_at(score, "status")) for one, score in of.items()},
    }


def measures_of_run(run: Any) -> dict[str, int | None]:
    """Return what a run took, or else its calls, as far as they say it: the longest, or the sum."""
    calls = _elements(_at(run, "calls"))
    columns = {}
    for name, of_call, together in _TAKEN:
        whole = _count(_at(run, name))
        if whole is None:
            known = [one for call in calls if (one := _count(_at(call, of_call))) is not None]
            whole = _count(together(known)) if known else None
        columns[name] = whole
    return columns


def _approvals(ctx: Any, plan_digest: Any) -> int:
    digests = (_at(one, "plan_digest") for one in _elements(_at(ctx, "approvals")))
    return sum(
        isinstance(one, str) and one.removeprefix("sha256:") == plan_digest for one in digests
    )


def _step_tool(plan: Any, step: Any) -> str | None:
    steps = _elements(_at(plan, "steps"))
    tool = _tool(steps[step]) if type(step) is int and 0 <= step < len(steps) else None
    return name_column(tool) if tool else None


def _tool(step: Any) -> str | None:
    adapter, capability = _text(_at(step, "adapter_id")), _text(_at(step, "capability_id"))
    return f"{adapter}/{capability}" if adapter and capability else None


def _at(value: Any, name: str) -> Any:
    """Return a member of an envelope or of parsed JSON; None where there is none."""
    if type(value) is dict:
        return value.get(name)
    return None if value is None else getattr(value, name, None)


def _elements(value: Any) -> list[Any] | tuple[Any, ...]:
    return value if isinstance(value, list | tuple) else ()


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


def _text(value: Any) -> str | None:
    return value[:_LONGEST] if isinstance(value, str) else None


def _name(value: Any) -> str | None:
    return name_column(value[:_LONGEST]) if isinstance(value, str) else None


def _line(value: Any) -> str | None:
    return escape_line(value[:_LONGEST]) if isinstance(value, str) else None


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
