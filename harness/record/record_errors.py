"""The refusal of a log to record the same use twice."""

from collections.abc import Iterable

from evals.escaping import escape_name
from harness.errors import HarnessError


class AlreadyClaimed(HarnessError):
    """The log has a record already that made one of these claims. Nothing was recorded.

    Attributes:
        claims: those that were made before.
    """

    def __init__(self, claims: Iterable[str]) -> None:
        self.claims = tuple(claims)
        shown = ", ".join(escape_name(claim) for claim in self.claims[:3])
        super().__init__(f"used up before, nothing was recorded: {shown}")
