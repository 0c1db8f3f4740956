"""One line of the page: of a turn, or of a record beneath it. Pure."""

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from evals.plan import Plan, ToolStep
from evals.timestamps import format_time
from harness.audit.report.page_turns import PageTurn, TurnsOfPage, moment_of, settlement_line
from harness.audit.report.visible_text import make_visible
from harness.record import (
    BegunRecord,
    CriticErrorRecord,
    DecisionRecord,
    Gap,
    NoTurnRecord,
    SettledRecord,
    TurnRecord,
)
from harness.record.fates import may_have_run

_TOOLS: Final = 8

RecordOutcome = Literal[
    "allowed",
    "asked",
    "refused",
    "shadowed",
    "denied",
    "lapsed",
    "began",
    "settled",
    "ran",
    "critic_error",
]


class Checked(NamedTuple):
    """The outcome of checking the bytes, hashes and links of a record, if that was not `same`."""

    status: str
    reasons: tuple[str, ...]


def row_of(record: TurnRecord, checked: Checked | None) -> dict[str, Any]:
    """Return the line of a record."""
    row: dict[str, Any] = {"seq": record.seq, "is": _outcome_of_row(record)}
    row["at"] = format_time(moment_of(record))
    return row | ({"check": checked.status} if checked is not None else {})


def row_of_seam(record: NoTurnRecord, said: str | None) -> dict[str, Any]:
    """Return the line of a record that is of no turn."""
    return {"seq": record.seq, "is": record.kind, "said": make_visible(said or "")}


def row_of_gap(gap: Gap) -> dict[str, Any]:
    """Return the line that stands for records that are missing."""
    return {"seq": gap.first, "is": "missing", "said": gap.text(), "check": "incomplete"}


def row_of_unreadable(seq: int, why: str, checked: Checked | None) -> dict[str, Any]:
    """Return the line of a record whose bytes are not a record."""
    status = "tampered" if checked is None else checked.status
    return {"seq": seq, "is": "unreadable", "said": make_visible(why), "check": status}


def row_of_turn(turn: PageTurn, turns: TurnsOfPage) -> dict[str, Any]:
    """Return the line of a turn."""
    row: dict[str, Any] = {"n": turn.number, "fate": turns.fate_of(turn), "s": turn.session}
    row |= {"at": format_time(turn.at), "of": turn.records, "tools": turn.tools}
    texts = {"trace": turn.trace, "key": turn.decision, "said": turn.reason, "by": turn.approver}
    texts |= {"user": turn.user, "tenant": turn.tenant}
    row |= {name: make_visible(text) for name, text in texts.items() if text is not None}
    codes = {"why": turn.kind, "answer": turn.answer, "check": turn.worst}
    row |= {name: code for name, code in codes.items() if code is not None}
    settled = [(seq, make_visible(said), by) for seq, said, by in turns.settlements_of(turn)]
    row |= {"settled": settled} if settled else {}
    # No word of it is true that says that a call was not run.
    return row | ({"ran": 1} if turn.overruled and may_have_run(turns.facts_of(turn)) else {})


def record_line(record: TurnRecord) -> str:
    """Return what a record says in a line."""
    if isinstance(record, DecisionRecord):
        return make_visible(record.report.rationale)
    if isinstance(record, SettledRecord):
        return make_visible(settlement_line(record))
    return make_visible(record.where) if isinstance(record, CriticErrorRecord) else ""


def _outcome_of_row(record: TurnRecord) -> RecordOutcome:
    """Return what one record says of its turn."""
    if isinstance(record, BegunRecord):
        return "began"
    if isinstance(record, SettledRecord):
        return "settled"
    if isinstance(record, CriticErrorRecord):
        return "critic_error"
    if record.run is not None:
        return "ran"
    if record.answer is not None and record.answer.answer != "yes":
        return "denied" if record.answer.answer == "no" else "lapsed"
    named: dict[str, RecordOutcome] = {"allow": "allowed", "ask": "asked", "shadow": "shadowed"}
    return named.get(record.action, "refused")


def tool_names(plan: Plan | None) -> list[str]:
    """Return the names of the tools of a plan, as the page lists them."""
    steps: Sequence[Any] = () if plan is None else plan.steps
    names = dict.fromkeys(tool_name(step) for step in steps if isinstance(step, ToolStep))
    shown = [make_visible(name) for name in names][:_TOOLS]
    return shown + ([f"and {len(names) - _TOOLS} more"] if len(names) > _TOOLS else [])


def tool_name(step: Any) -> str:
    """Return the name of the tool that a step, a call or a capability is of."""
    return f"{step.adapter_id}.{step.capability_id}"
