"""cost: did the run stay within its tokens and its money?"""

from evals.context import (
    DEFAULT_BUCKET_TOKENS,
    DEFAULT_SESSION_TOKENS,
    RunBudget,
    RunContext,
)
from evals.measure import Measured, against_budget, default_budget, no_budget
from evals.run import Run
from evals.verdict import EvaluatorVerdict, make_verdict


def evaluate(run: Run) -> EvaluatorVerdict:
    """Return the lower score of tokens and money, each 1 within its budget, else budget / used.

    Tokens are counted together with those that the trace had spent before this plan. The default
    budget does not demand a measure, so what was not measured against it is information;
    measured tokens over it are over, since `verify` applies it where none is declared.
    """
    measures = [_measure_tokens(run), _money(run)]
    findings = [measure.finding for measure in measures if measure.finding]
    return make_verdict("cost", run.trace_id, min(measure.score for measure in measures), findings)


def _measure_tokens(run: Run) -> Measured:
    ctx = run.proposal.ctx
    budget = (ctx.run_budget or RunBudget()).bucket_tokens
    before = (ctx.spent.tokens if ctx.spent else None) or 0
    used = _total(run.tokens, [call.tokens for call in run.calls], budget - before)
    total = None if used is None else before + used
    if not _is_default(budget, ctx):
        return against_budget("tokens", total, budget)
    if ctx.run_budget is None and (total is None or total <= budget):
        return no_budget("tokens")
    if total is None:
        return default_budget("tokens", budget)
    return against_budget("tokens", total, budget, "default budget")


def _is_default(tokens: int, ctx: RunContext) -> bool:
    """Return whether this is a default budget that was not chosen: of any plan, or a session."""
    if tokens == DEFAULT_BUCKET_TOKENS:
        return True
    return ctx.session is not None and tokens == DEFAULT_SESSION_TOKENS


def _money(run: Run) -> Measured:
    budget = run.proposal.ctx.run_budget
    if budget is None or budget.cost_micros is None:
        return no_budget("cost_micros")
    used = _total(run.cost_micros, [call.cost_micros for call in run.calls], budget.cost_micros)
    return against_budget("cost_micros", used, budget.cost_micros)


def _total(whole: int | None, parts: list[int | None], left: int) -> int | None:
    """Return the measured total, or None if it is not known and no part of it exceeds `left`.

    A `whole` below the sum of its `parts` is not believed.
    """
    counted = [part for part in parts if part is not None]
    summed = sum(counted)
    if whole is not None:
        return max(whole, summed)
    complete = bool(parts) and len(counted) == len(parts)
    return summed if complete or summed > left else None
