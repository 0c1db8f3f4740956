"""What a page says of late steps: what each takes, the conditions of its plan, and its openings."""

from typing import Any

from critic import Condition, Verified
from evals.plan import ToolStep
from evals.run import Opening
from harness.audit.report.visible_text import make_visible
from harness.record import DecisionRecord


def place_late_facts(detail: dict[str, Any], record: DecisionRecord, steps: Any) -> None:
    """Put what is late of each step beside it.

    Args:
        detail: that of the record, with its plan if that is known.
        steps: those of the plan.
    """
    shown = detail.get("plan", {}).get("steps", ())
    verdict = record.report.verify
    conditions = (verdict.conditions or ()) if isinstance(verdict, Verified) else ()
    openings = (record.run.openings if record.run is not None else None) or ()
    for at, (step, one) in enumerate(zip(steps, shown, strict=False)):
        late = {
            "takes": _list_takes(step),
            "conditions": [_word_condition(it) for it in conditions if it.step == at],
            "openings": [_opening_detail(it) for it in openings if it.step == at],
        }
        one |= {name: found for name, found in late.items() if found}


def _list_takes(step: Any) -> list[str]:
    takes = (step.takes or ()) if isinstance(step, ToolStep) else ()
    return [make_visible(f"{one.arg}: {one.at or 'the output'} of {one.step}") for one in takes]


def _word_condition(condition: Condition) -> str:
    place = f" ({condition.path})" if condition.path else ""
    return make_visible(condition.reason + place)


def _opening_detail(opening: Opening) -> dict[str, Any]:
    reasons = [make_visible(one) for one in opening.verdict.reasons]
    by = [make_visible(one.approver) for one in opening.approvals or ()]
    shown = {"ok": opening.verdict.ok, "after": opening.after, "reasons": reasons}
    return shown | ({"by": by} if by else {})
