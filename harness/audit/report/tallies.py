"""The counts of the page over its turns: fates, refusals, scores, budgets. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean
from typing import Final, NamedTuple

from critic.reports import ScoreVerdict
from evals.context import RunBudget
from evals.kinds import Fate
from evals.plan import Plan
from harness.audit.report.page_turns import PageTurn, TurnsOfPage
from harness.audit.report.parsed_inputs import ShownInputs
from harness.record import DecisionRecord, RunFacts
from harness.record.index_row import measures_of_run

_BUDGETS: Final = {
    "max_steps": "Steps of the plan",
    "bucket_tokens": "Tokens",
    "cost_micros": "Cost (millionths)",
    "wall_ms": "Time (ms)",
}

_UNALLOWED: Final[frozenset[Fate]] = frozenset(
    {"ran_although_refused", "ran_in_shadow", "refused", "asked_open", "asked_no"}
)
"""The fates of turns that the critic did not allow."""


@dataclass(slots=True)
class ScoreTally:
    """The verdicts of one evaluator on the runs, counted."""

    statuses: Counter[str] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """Return the mean of the scores."""
        return fmean(self.scores)


class Use(NamedTuple):
    """The share of a limit that a turn used, and the record that says it."""

    used: int
    limit: int
    seq: int

    @property
    def share(self) -> float:
        """Return the part of the limit that was used; 0 of 0 is all of it."""
        return self.used / self.limit if self.limit else float(self.used + 1)


@dataclass(slots=True)
class BudgetTally:
    """The shares of one limit that turns used: that of the last record of each which says it."""

    label: str
    uses: dict[int, Use] = field(default_factory=dict)

    @property
    def measured(self) -> int:
        """Return how many turns were measured."""
        return len(self.uses)

    @property
    def over(self) -> int:
        """Return how many turns were over the limit."""
        return sum(use.used > use.limit for use in self.uses.values())

    @property
    def highest(self) -> Use:
        """Return the use with the highest share."""
        return max(self.uses.values(), key=lambda use: use.share)

    @property
    def mean(self) -> float:
        """Return the mean share of the limit."""
        return fmean(use.share for use in self.uses.values())


class Tallies:
    """Counts turns.

    Attributes:
        lost: how many records are missing, and how many cannot be read: they are of no turn.
    """

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self.fates: list[tuple[datetime, Fate]] = []
        self.kinds: Counter[str] = Counter()
        self.scores: dict[str, ScoreTally] = {}
        self.budgets: dict[str, BudgetTally] = {
            name: BudgetTally(label) for name, label in _BUDGETS.items()
        }

    @property
    def by_fate(self) -> Mapping[Fate, int]:
        """Return how many turns have each fate."""
        return Counter(one for _, one in self.fates)

    def add_turns(self, turns: TurnsOfPage) -> None:
        """Count turns, once all their records are read."""
        for turn in turns:
            became = turns.fate_of(turn)
            self.fates.append((turn.at, became))
            if turn.kind is not None and (turn.kind in ("open", "score") or became in _UNALLOWED):
                self.kinds[turn.kind] += 1

    def add(self, record: DecisionRecord, turn: PageTurn, inputs: ShownInputs) -> None:
        """Take in what a decision measured of its turn."""
        if record.report.score is not None:
            self._add_score(record.report.score)
        ctx = inputs.ctx
        if ctx is not None and ctx.run_budget is not None:
            self._budget(record, turn, ctx.run_budget, inputs.plan)

    def _add_score(self, score: ScoreVerdict) -> None:
        for name, verdict in score.scorecard.scores:
            tally = self.scores.setdefault(name, ScoreTally())
            tally.statuses[verdict.status] += 1
            tally.scores.append(verdict.score)

    def _budget(
        self, record: DecisionRecord, turn: PageTurn, budget: RunBudget, plan: Plan | None
    ) -> None:
        for name, used in _used_budget(record.run, plan).items():
            limit = getattr(budget, name)
            if used is not None and limit is not None:
                self.budgets[name].uses[turn.number] = Use(used, limit, record.seq)


def _used_budget(run: RunFacts | None, plan: Plan | None) -> dict[str, int | None]:
    steps = {"max_steps": None if plan is None else len(plan.steps)}
    if run is None:
        return {**steps}
    took = measures_of_run(run)
    return {**steps, "bucket_tokens": took.pop("tokens"), **took}
