"""What was made of a plan, and what a person answered: how both go with the verdict. Pure."""

from typing import Annotated, Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from evals.envelope import OPTIONAL, Envelope, Identifier
from evals.kinds import AnswerKind, RecordedAction
from evals.plan_verdicts import Refused, Verified


class RecordedAnswer(Envelope):
    """What became of the question about a plan, and who answered it. If it lapsed, nobody did."""

    answer: AnswerKind
    approver: Annotated[Identifier | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _approver_gave_it(self) -> Self:
        if (self.approver is None) != (self.answer == "lapsed"):
            what = "a yes and a no have an approver, and a question that lapsed has none"
            raise PydanticCustomError("contradiction", "{what}", {"what": what})
        return self


def action_problem(
    action: RecordedAction,
    answer: RecordedAnswer | None,
    verdict: Verified | Refused,
    opening: Verified | Refused | None = None,
) -> str | None:
    """Return how an action contradicts the verdict or the answer, or None if it does not.

    Args:
        opening: the verdict on the opening of a step that was refused, which a shadow does not
            keep to. An answer is about that, where the plan passed.
    """
    is_refused = not verdict.ok or opening is not None
    if (action == "allow" and not verdict.ok) or (action == "shadow" and not is_refused):
        return f"its action is {action}, and verify {'passes' if verdict.ok else 'refuses'} it"
    may_ask = isinstance(verdict, Refused) and verdict.approvable
    if action == "ask" and not may_ask:
        return "its action is ask, and no approval would clear what verify says"
    if answer is None:
        return None
    asked = opening if verdict.ok and opening is not None else verdict
    if answer.answer != "yes" and not (isinstance(asked, Refused) and asked.approvable):
        return f"its answer is {answer.answer}, and no approval would clear what verify says"
    passes = verdict.ok and (answer.answer == "yes" or opening is not None)
    expected = "allow" if passes else "refuse"
    if action != expected:
        return f"its action is {action}, and after the answer {answer.answer} it is {expected}"
    return None
