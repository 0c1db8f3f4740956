"""Put the plans of each turn together, and say which turns get another answer. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.what_if.plan_answers import (
    MatrixEntry,
    ShiftDirection,
    answer_entry,
    direction_between,
    is_as_notable,
)
from harness.what_if.rejudging import JudgedPlan


class PlanShift(NamedTuple):
    """One plan of a turn: its answers, without the reasons."""

    seq: int
    attempt: int | None
    before: MatrixEntry
    after: MatrixEntry

    @property
    def direction(self) -> ShiftDirection:
        """Return what the change does to the plan."""
        return direction_between(self.before, self.after)


@dataclass
class TurnShift:
    """A turn with all plans that its records hold.

    Attributes:
        counted: the plan by which it is counted; None while no plan gets another answer.
        plans: all of them, in the order of the records.
    """

    counted: JudgedPlan | None = None
    plans: list[PlanShift] = field(default_factory=list)
    drifted: bool = False


class TurnShifts:
    """The turns so far. It keeps the reasons of a turn only if that gets another answer."""

    def __init__(self) -> None:
        self._turns: dict[int, TurnShift] = {}

    def add(self, plan: JudgedPlan) -> None:
        """Add a plan to its turn."""
        turn = self._turns.setdefault(plan.turn_id, TurnShift())
        answers = answer_entry(plan.before), answer_entry(plan.after)
        turn.plans.append(PlanShift(plan.seq, plan.attempt, *answers))
        turn.drifted |= plan.drifted
        if plan.direction == "unchanged" and not plan.drifted:
            return
        if turn.counted is None or is_as_notable(plan.direction, turn.counted.direction):
            turn.counted = plan

    def shifted_turns(self) -> Iterator[tuple[JudgedPlan, TurnShift]]:
        """Yield the turns that get another answer, or drifted, in the order of their records."""
        for turn in self._turns.values():
            if turn.counted is not None:
                yield turn.counted, turn
