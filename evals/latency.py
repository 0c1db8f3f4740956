"""latency: did the run stay within its wall-clock budget?"""

from evals.measure import against_budget, no_budget
from evals.run import Run
from evals.verdict import EvaluatorVerdict, make_verdict


def evaluate(run: Run) -> EvaluatorVerdict:
    """Return 1 within `wall_ms`, else budget / wall_ms. Over it warns, over twice it fails."""
    budget = run.proposal.ctx.run_budget
    if budget is None or budget.wall_ms is None:
        measured = no_budget("wall_ms")
    else:
        measured = against_budget("wall_ms", run.wall_ms, budget.wall_ms)
    findings = [measured.finding] if measured.finding else []
    return make_verdict("latency", run.trace_id, measured.score, findings)
