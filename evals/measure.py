"""Compare a measure with its budget: what latency and cost have in common."""

from typing import NamedTuple

from evals.verdict import Finding, Severity


class Measured(NamedTuple):
    """A score from 0 to 1, and the finding that explains it, if there is anything to explain."""

    score: float
    finding: Finding | None


def against_budget(name: str, used: int | None, budget: int, limit: str = "budget") -> Measured:
    """Return 1 within the budget, else budget / used, with a warning, or an error over twice it.

    What was not measured scores 0 with a warning: the unknown never passes. `limit` is what the
    message calls the budget.
    """
    if used is None:
        message = f"{name} has a budget of {budget} but was not measured"
        return Measured(0.0, Finding(severity="warn", message=message))
    if used <= budget:
        return Measured(1.0, None)
    message = f"{name} is {used}, over the {limit} of {budget}"
    severity: Severity = "error" if used > 2 * budget else "warn"
    return Measured(budget / used, Finding(severity=severity, message=message))


def no_budget(name: str) -> Measured:
    """Return a pass whose finding says that there is no budget."""
    return Measured(1.0, Finding(severity="info", message=f"no budget declared for {name}"))


def default_budget(name: str, budget: int) -> Measured:
    """Return a pass whose finding says that the budget was not chosen, and nothing was measured."""
    message = f"{name} has the default budget of {budget} and was not measured"
    return Measured(1.0, Finding(severity="info", message=message))
