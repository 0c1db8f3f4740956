"""One line of the table of records. Pure."""

from typing import Any, Final, Literal, NamedTuple

from critic.reports import CriticReport
from critic.verdicts import Refused
from evals.plan import Plan, ToolStep
from evals.timestamps import format_time
from harness.audit.report.parsed_inputs import ShownInputs
from harness.audit.report.visible_text import make_visible
from harness.record import BegunRecord, DecisionRecord, Gap, LogRecord

_TOOLS: Final = 8

RowOutcome = Literal["refused", "failed", "completed", "partial", "begun", "open", "critic_error"]


class Checked(NamedTuple):
    """The outcome of checking the bytes, hashes and links of a record, if that was not `same`."""

    status: str
    reasons: tuple[str, ...]


def row_of(
    record: LogRecord, inputs: ShownInputs | None, checked: Checked | None
) -> dict[str, Any]:
    """Return the line of a record."""
    row: dict[str, Any] = {"seq": record.seq, "is": outcome_of_row(record, checked)}
    if isinstance(record, DecisionRecord):
        report = record.report
        row |= {"at": format_time(report.decided_at), "said": make_visible(report.rationale)}
        row |= {"trace": make_visible(report.trace_id), "key": make_visible(report.decision_key)}
        row |= {"why": why} if (why := refusal_kind(report)) else {}
    elif isinstance(record, BegunRecord):
        row |= {"at": format_time(record.begun_at), "trace": make_visible(record.trace_id)}
    else:
        row |= {"at": format_time(record.failed_at), "said": make_visible(record.where)}
        row |= {"trace": make_visible(record.trace_id)} if record.trace_id else {}
    if inputs is not None and inputs.ctx is not None:
        row["mode"] = inputs.ctx.safety_mode
    if inputs is not None and inputs.plan is not None:
        row["tools"] = _tool_names(inputs.plan)
    return row | ({"check": checked.status} if checked is not None else {})


def row_of_gap(gap: Gap) -> dict[str, Any]:
    """Return the line that stands for records that are missing."""
    return {"seq": gap.first, "is": "missing", "said": gap.text(), "check": "incomplete"}


def row_of_unreadable(seq: int, why: str, checked: Checked | None) -> dict[str, Any]:
    """Return the line of a record whose bytes are not a record."""
    status = "tampered" if checked is None else checked.status
    return {"seq": seq, "is": "unreadable", "said": make_visible(why), "check": status}


def outcome_of_row(record: LogRecord, checked: Checked | None) -> RowOutcome:
    """Return what became of the plan of a record."""
    if isinstance(record, BegunRecord):
        return "open" if checked is not None and checked.status == "open" else "begun"
    if not isinstance(record, DecisionRecord):
        return "critic_error"
    if record.report.refused_at == "score":
        return "failed"
    status = record.report.status
    return "refused" if status == "refused_by_critic" else status


def refusal_kind(report: CriticReport) -> str | None:
    """Return the kind of a refusal, `score` for a run that failed, None for no refusal."""
    if isinstance(report.verify, Refused):
        return report.verify.kind
    return "score" if report.refused_at == "score" else None


def _tool_names(plan: Plan) -> list[str]:
    names = dict.fromkeys(tool_name(step) for step in plan.steps if isinstance(step, ToolStep))
    shown = [make_visible(name) for name in names][:_TOOLS]
    return shown + ([f"and {len(names) - _TOOLS} more"] if len(names) > _TOOLS else [])


def tool_name(step: Any) -> str:
    """Return the name of the tool that a step, a call or a capability is of."""
    return f"{step.adapter_id}.{step.capability_id}"
