"""The answer to a plan, as far as a change counts: `ok`, or a kind, and who is asked. Pure."""

from typing import Final, Literal, NamedTuple, get_args

from critic import Refused, Verified
from evals.kinds import RefusalKind

ShiftDirection = Literal["unchanged", "looser", "tighter", "other"]
"""What the change does to the answer on a plan: "other" is a refusal of another kind."""

Stance = Literal["no", "ask", "ok"]

_RANKS: Final = {"no": 0, "ask": 1, "ok": 2}
_NOTABLE: Final[tuple[ShiftDirection, ...]] = ("unchanged", "other", "tighter", "looser")


class MatrixEntry(NamedTuple):
    """The answer to a plan: `ok`, or the kind of a refusal, and whether a person is asked."""

    kind: str
    asks: bool

    @property
    def text(self) -> str:
        """Return the answer as a heading."""
        return f"{self.kind}, asks" if self.asks else self.kind

    @property
    def stance(self) -> Stance:
        """Return whether a plan may run, a person is to be asked, or it may not."""
        if self.kind == "ok":
            return "ok"
        return "ask" if self.asks else "no"


ANSWERS: Final = (
    MatrixEntry("ok", asks=False),
    *(MatrixEntry(kind, asks) for kind in get_args(RefusalKind) for asks in (False, True)),
)
"""Every answer there is, in the order of a table."""


def answer_entry(verdict: Verified | Refused) -> MatrixEntry:
    """Return the answer that a verdict gives."""
    if isinstance(verdict, Verified):
        return ANSWERS[0]
    return MatrixEntry(verdict.kind, verdict.approvable)


def direction_between(before: MatrixEntry, after: MatrixEntry) -> ShiftDirection:
    """Return what a change does that makes one answer of another: from no over ask to ok."""
    if before.stance != after.stance:
        return "looser" if _RANKS[after.stance] > _RANKS[before.stance] else "tighter"
    return "unchanged" if before.kind == after.kind else "other"


def is_as_notable(one: ShiftDirection, other: ShiftDirection) -> bool:
    """Return whether a turn is counted by the first of two changes of its plans, not the second.

    A loosening is never hidden by what else became of its turn.
    """
    return _NOTABLE.index(one) >= _NOTABLE.index(other)
