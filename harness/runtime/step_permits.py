"""The permit of one attempt of a step of a late plan, and what is asked and said at its opening.

Rule 1: it holds the bytes of the arguments with their values. No executor settles any.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from critic import Proposal, Refused, ToolStep
from harness.canonical import canonical_json
from harness.errors import HarnessError
from harness.single_use import PermitError, SingleUse
from harness.wire import parse

_ISSUER: Final = object()


class Approver(Protocol):
    """Asks a person about a step of a late plan, once its values are there."""

    def approve(
        self, step: int, settled: Proposal, refused: Refused
    ) -> Awaitable[str | None] | str | None:
        """Return who says yes to the step, or None for a no.

        Asked once, and only where a yes would clear all of the refusal. What it raises ends the
        execution. The arguments are copies.

        Args:
            step: the position in the late plan.
            settled: the steps that were opened, this one last, with their values.
            refused: why it is not opened without a person.
        """
        ...


class StepRefused(HarnessError):
    """The opening of a step was refused: it must not be sent, and no other step is opened."""

    def __init__(self, step: int, verdict: Refused) -> None:
        super().__init__(f"the opening of step {step} was refused: {'; '.join(verdict.reasons)}")
        self.verdict = verdict


class StepPermit(SingleUse):
    """Single-use authorization for one attempt of one opened step. From `Permit.step`.

    Attributes:
        step: the position in the plan.
    """

    __slots__ = ("_body", "_note", "step")

    good_for = "one attempt of one step"

    def __init__(self, issuer: object, step: int, sent: ToolStep, note: Callable[[], None]) -> None:
        if issuer is not _ISSUER:
            raise PermitError("the permit of a step is issued when it is opened, not made by hand")
        self.step: Final = step
        self._body: Final = canonical_json(sent.wire())
        self._note: Final = note
        super().__init__()

    def redeem(self) -> ToolStep:
        """Return the call to make: its tool, and its arguments with their values. Thread-safe.

        Raises:
            PermitError: the permit was used before or was withdrawn.
        """
        self._use_up("ask for another one before another attempt")
        self._note()
        return parse(ToolStep, self._body, max_bytes=len(self._body))


def issue_step_permit(step: int, sent: ToolStep, note: Callable[[], None]) -> StepPermit:
    """Return a permit for a step that was opened, for its desk to hand out.

    Args:
        step: the position in the plan.
        sent: the call, with its values.
        note: called when the permit is redeemed.
    """
    return StepPermit(_ISSUER, step, sent, note)
