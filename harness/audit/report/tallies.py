"""The counts of the page over its records: outcomes, refusals, scores, budgets. Pure."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean
from typing import Final, NamedTuple

from critic.reports import ScoreVerdict
from evals.context import RunBudget
from evals.plan import Plan
from harness.audit.report.parsed_inputs import ShownInputs
from harness.audit.report.record_rows import refusal_kind
from harness.record import DecisionRecord, RunFacts
from harness.record.index_row import measures_of_run

_BUDGETS: Final = {
    "max_steps": "Steps of the plan",
    "bucket_tokens": "Tokens",
    "cost_micros": "Cost (millionths)",
    "wall_ms": "Time (ms)",
}


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
    """The share of a limit that a decision used."""

    used: int
    limit: int
    seq: int

    @property
    def share(self) -> float:
        """Return the part of the limit that was used; 0 of 0 is all of it."""
        return self.used / self.limit if self.limit else float(self.used + 1)


@dataclass(slots=True)
class BudgetTally:
    """The shares of one limit that decisions used."""

    label: str
    measured: int = 0
    over: int = 0
    total: float = 0.0
    highest: Use | None = None

    def add(self, use: Use) -> None:
        """Count a use."""
        self.measured += 1
        self.over += use.used > use.limit
        self.total += use.share
        if self.highest is None or use.share > self.highest.share:
            self.highest = use

    @property
    def mean(self) -> float:
        """Return the mean share of the limit."""
        return self.total / self.measured


class Tallies:
    """Counts decisions as they come."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.refusals: list[tuple[datetime, str]] = []
        self.decided: list[datetime] = []
        self.scores: dict[str, ScoreTally] = {}
        self.budgets: dict[str, BudgetTally] = {
            name: BudgetTally(label) for name, label in _BUDGETS.items()
        }

    @property
    def kinds(self) -> Counter[str]:
        """Return how many refusals there are of each kind."""
        return Counter(kind for _, kind in self.refusals)

    def add(self, record: DecisionRecord, inputs: ShownInputs) -> None:
        """Count a decision."""
        report = record.report
        self.decided.append(report.decided_at)
        if kind := refusal_kind(report):
            self.refusals.append((report.decided_at, kind))
        if report.score is not None:
            self._add_score(report.score)
        ctx = inputs.ctx
        if ctx is not None and ctx.run_budget is not None:
            self._budget(record, ctx.run_budget, inputs.plan)

    def _add_score(self, score: ScoreVerdict) -> None:
        for name, verdict in score.scorecard.scores:
            tally = self.scores.setdefault(name, ScoreTally())
            tally.statuses[verdict.status] += 1
            tally.scores.append(verdict.score)

    def _budget(self, record: DecisionRecord, budget: RunBudget, plan: Plan | None) -> None:
        for name, used in _used_budget(record.run, plan).items():
            limit = getattr(budget, name)
            if used is not None and limit is not None:
                self.budgets[name].add(Use(used, limit, record.seq))


def _used_budget(run: RunFacts | None, plan: Plan | None) -> dict[str, int | None]:
    steps = {"max_steps": None if plan is None else len(plan.steps)}
    if run is None:
        return {**steps}
    took = measures_of_run(run)
    return {**steps, "bucket_tokens": took.pop("tokens"), **took}
