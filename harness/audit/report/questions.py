"""What a person was asked, and what the answer was, as far as the records show it. Pure.

Rule 1: a refusal that an approval would clear is a question, unless its record says that nobody was
        asked.
Rule 2: a later record of the same plan in the same trace answers it: with an approval of the plan,
        or as denied.
"""

from dataclasses import dataclass
from typing import Final

from critic.verdicts import Refused
from harness.audit.report.parsed_inputs import ShownInputs
from harness.audit.report.visible_text import visible
from harness.record import BegunRecord, DecisionRecord

_PREFIX: Final = "sha256:"
_DENIED: Final = "denied by "


@dataclass(slots=True)
class AskedQuestion:
    """A question, and the number of the record with its answer once there is one."""

    seq: int
    trace: str
    reason: str
    answer: str = "no answer is on record"
    answered_by: int | None = None
    yes: bool | None = None


class Questions:
    """Collects questions and answers as records come."""

    def __init__(self) -> None:
        self.asked: list[AskedQuestion] = []
        self._open: dict[tuple[str, str], AskedQuestion] = {}

    @property
    def approved(self) -> int:
        """Return how many were answered with yes."""
        return sum(one.yes is True for one in self.asked)

    @property
    def denied(self) -> int:
        """Return how many were answered with no."""
        return sum(one.yes is False for one in self.asked)

    def add(self, record: DecisionRecord | BegunRecord, inputs: ShownInputs) -> None:
        """Take in a record: a question, an answer, both, or neither."""
        decision = record if isinstance(record, DecisionRecord) else None
        trace = decision.report.trace_id if decision else getattr(record, "trace_id", "")
        key = trace, record.inputs.plan
        note = (decision.error if decision else None) or ""
        if (question := self._open.get(key)) is not None:
            self._answer(question, key, record.seq, note, _approver(inputs, record.inputs.plan))
        if decision is None or note or not isinstance(decision.report.verify, Refused):
            return
        if decision.report.verify.approvable:
            asked = AskedQuestion(
                record.seq, visible(trace), visible(decision.report.verify.reasons[0])
            )
            self.asked.append(asked)
            self._open[key] = asked

    def _answer(
        self,
        question: AskedQuestion,
        key: tuple[str, str],
        seq: int,
        note: str,
        approver: str | None,
    ) -> None:
        if note.startswith(_DENIED):
            question.answer, question.yes = visible(note), False
        elif approver is not None:
            question.answer, question.yes = f"approved by {visible(approver)}", True
        else:
            return
        question.answered_by = seq
        del self._open[key]


def _approver(inputs: ShownInputs, plan_digest: str) -> str | None:
    """Return who approved the plan, if anybody did."""
    given = () if inputs.ctx is None else inputs.ctx.approvals or ()
    names = [one.approver for one in given if one.plan_digest.removeprefix(_PREFIX) == plan_digest]
    return names[0] if names else None
