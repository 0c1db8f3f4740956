"""Count what a change makes of recorded turns: how many of which answer became which.

A turn is counted once, whatever number of records it has: by the most notable change of its plans,
and of those that are as notable, by the last.
"""

from collections import Counter
from typing import Any, Final, Literal, NamedTuple, get_args

from harness.replay.findings import DAMAGE
from harness.what_if.plan_answers import (
    ANSWERS,
    MatrixEntry,
    ShiftDirection,
    answer_entry,
    direction_between,
    is_as_notable,
)
from harness.what_if.rejudging import Compared, JudgedPlan, NotJudged

_DIRECTIONS: Final = get_args(ShiftDirection)


class TurnTally(NamedTuple):
    """How many turns had one answer before and the other after; `drifted` are some of them."""

    before: MatrixEntry
    after: MatrixEntry
    turns: int
    drifted: int = 0


class LeftOutTally(NamedTuple):
    """How many records are of other decisions than those that were asked for."""

    records: int


class Matrix:
    """The counts so far. It keeps a few numbers for each turn, and no text.

    Attributes:
        directions: turns by what the change does to them.
        reasons: records that were not judged, by why.
        drifted: turns on which today's rules give another verdict than the recorded one.
        left_out: records of decisions that were not asked for.
    """

    def __init__(self) -> None:
        self._cells: Counter[tuple[MatrixEntry, MatrixEntry]] = Counter()
        self._turns: dict[int, TurnTally] = {}
        self._tallies: dict[TurnTally, TurnTally] = {}
        self.directions: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.drifted = self.left_out = 0

    def add(self, one: Compared | TurnTally | LeftOutTally) -> None:
        """Count the turn of one plan, many of one kind, or some records that were not judged.

        A tally is of turns that have no other plan.
        """
        if isinstance(one, JudgedPlan):
            self._add_plan(one)
        elif isinstance(one, TurnTally):
            self._add(one)
        elif isinstance(one, NotJudged):
            self.reasons[one.status] += one.last - one.seq + 1
        else:
            self.left_out += one.records if isinstance(one, LeftOutTally) else 1

    def _add_plan(self, plan: JudgedPlan) -> None:
        before, after = answer_entry(plan.before), answer_entry(plan.after)
        tally, known = TurnTally(before, after, 1, int(plan.drifted)), self._turns.get(plan.turn_id)
        if known is not None:
            self._add(TurnTally(known.before, known.after, -1, -known.drifted))
            direction = direction_between(known.before, known.after)
            counted = tally if is_as_notable(plan.direction, direction) else known
            tally = counted._replace(drifted=known.drifted | tally.drifted)
        self._turns[plan.turn_id] = self._tallies.setdefault(tally, tally)
        self._add(tally)

    def _add(self, tally: TurnTally) -> None:
        self._cells[tally.before, tally.after] += tally.turns
        self.directions[direction_between(tally.before, tally.after)] += tally.turns
        self.drifted += tally.drifted

    @property
    def judged(self) -> int:
        """How many turns were judged."""
        return self._cells.total()

    @property
    def unjudged(self) -> int:
        """How many records were not judged, missing ones included."""
        return self.reasons.total()

    @property
    def damaged(self) -> int:
        """How many records are damaged or missing."""
        return sum(self.reasons[status] for status in DAMAGE)

    @property
    def looser(self) -> int:
        """How many turns get a looser answer."""
        return self.directions["looser"]

    def count(self, before: MatrixEntry, after: MatrixEntry) -> int:
        """Return how many turns had one answer before and the other after."""
        return self._cells[before, after]

    def answers(self, side: Literal[0, 1]) -> list[MatrixEntry]:
        """Return the answers that occur before (0) or after (1)."""
        found = {cell[side] for cell, turns in self._cells.items() if turns}
        return [answer for answer in ANSWERS if answer in found]

    def wire(self) -> dict[str, Any]:
        """Return the counts as a JSON object."""
        cells = [
            {
                **_cell("before", before),
                **_cell("after", after),
                "turns": self._cells[before, after],
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
