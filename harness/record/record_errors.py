"""The refusal of a log to record the same use twice."""

from collections.abc import Iterable, Mapping

from evals.escaping import escape_name
from harness.errors import HarnessError


class AlreadyClaimed(HarnessError):
    """The log has a record already that made one of these claims. Nothing was recorded.

    Attributes:
        claims: those that were made before.
        records: the numbers of the records that made them, as far as the log tells.
    """

    def __init__(self, claims: Iterable[str], records: Mapping[str, int] | None = None) -> None:
        self.claims, self.records = tuple(claims), dict(records or {})
        shown = ", ".join(escape_name(claim) for claim in self.claims[:3])
        super().__init__(f"used up before, nothing was recorded: {shown}")
