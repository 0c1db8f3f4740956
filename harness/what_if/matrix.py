"""Count what a change makes of recorded plans: how many of which answer became which."""

from collections import Counter
from typing import Any, Final, Literal, NamedTuple, get_args

from harness.what_if.plan_answers import (
    ANSWERS,
    MatrixEntry,
    ShiftDirection,
    answer_entry,
    direction_between,
)
from harness.what_if.rejudging import Compared, JudgedPlan, NotJudged

_DIRECTIONS: Final = get_args(ShiftDirection)


class PlanTally(NamedTuple):
    """How many plans had one answer before and the other after; `drifted` are some of them."""

    before: MatrixEntry
    after: MatrixEntry
    plans: int
    drifted: int = 0


class LeftOutTally(NamedTuple):
    """How many records are of other decisions than those that were asked for."""

    records: int


class Matrix:
    """The counts so far. Its size does not depend on the log.

    Attributes:
        directions: plans by what the change does to them.
        reasons: records that were not judged, by why.
        drifted: plans on which today's rules give another verdict than the recorded one.
        left_out: records of decisions that were not asked for.
    """

    def __init__(self) -> None:
        self._cells: Counter[tuple[MatrixEntry, MatrixEntry]] = Counter()
        self.directions: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.drifted = self.left_out = 0

    def add(self, one: Compared | PlanTally | LeftOutTally) -> None:
        """Count one plan, many of one kind, or some records that were not judged."""
        if isinstance(one, JudgedPlan):
            before, after = answer_entry(one.before), answer_entry(one.after)
            self._add(PlanTally(before, after, 1, int(one.drifted)))
        elif isinstance(one, PlanTally):
            self._add(one)
        elif isinstance(one, NotJudged):
            self.reasons[one.status] += one.last - one.seq + 1
        else:
            self.left_out += one.records if isinstance(one, LeftOutTally) else 1

    def _add(self, tally: PlanTally) -> None:
        self._cells[tally.before, tally.after] += tally.plans
        self.directions[direction_between(tally.before, tally.after)] += tally.plans
        self.drifted += tally.drifted

    @property
    def judged(self) -> int:
        """How many plans were judged."""
        return self._cells.total()

    @property
    def unjudged(self) -> int:
        """How many records were not judged, missing ones included."""
        return self.reasons.total()

    @property
    def looser(self) -> int:
        """How many plans get a looser answer."""
        return self.directions["looser"]

    def count(self, before: MatrixEntry, after: MatrixEntry) -> int:
        """Return how many plans had one answer before and the other after."""
        return self._cells[before, after]

    def answers(self, side: Literal[0, 1]) -> list[MatrixEntry]:
        """Return the answers that occur before (0) or after (1)."""
        found = {cell[side] for cell in self._cells}
        return [answer for answer in ANSWERS if answer in found]

    def wire(self) -> dict[str, Any]:
        """Return the counts as a JSON object."""
        cells = [
            {
                **_cell("before", before),
                **_cell("after", after),
                "plans": self._cells[before, after],
            }
            for before in self.answers(0)
            for after in self.answers(1)
            if self.count(before, after)
        ]
        return {
            "judged": self.judged,
            **{name: self.directions[name] for name in _DIRECTIONS},
            "drifted": self.drifted,
            "not_judged": dict(sorted(self.reasons.items())),
            "left_out": self.left_out,
            "matrix": cells,
        }


def _cell(side: str, answer: MatrixEntry) -> dict[str, Any]:
    return {side: answer.kind, **({f"{side}_asks": True} if answer.asks else {})}
