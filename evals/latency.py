"""latency: did the run stay within its wall-clock budget?"""

from evals.measure import against_budget, no_budget
from evals.run import Run
from evals.verdict import EvaluatorVerdict, Finding, make_verdict


def evaluate(run: Run) -> EvaluatorVerdict:
    """Return 1 within `wall_ms`, else budget / wall_ms. Over it warns, over twice it fails.

    No run is shorter than its longest call: the longer of the two counts, and the contradiction
    is a finding.
    """
    budget = run.proposal.ctx.run_budget
    limit = None if budget is None else budget.wall_ms
    at, longest = _longest_call(run)
    contradicted = run.wall_ms is not None and run.wall_ms < longest
    if limit is None:
        measured = no_budget("wall_ms")
    elif contradicted:
        measured = against_budget("the longest call", longest, limit)
    else:
        measured = against_budget("wall_ms", run.wall_ms, limit)
    findings = [measured.finding] if measured.finding else []
    if contradicted:
        message = f"wall_ms is {run.wall_ms}, shorter than call {at}, which took {longest}"
        findings.append(Finding(severity="info" if limit is None else "warn", message=message))
    return make_verdict("latency", run.trace_id, measured.score, findings)


def _longest_call(run: Run) -> tuple[int, int]:
    """Return the position of the longest call that was measured, and its milliseconds, or zeros."""
    times = [(call.duration_ms or 0, -at) for at, call in enumerate(run.calls)]
    longest, before = max(times, default=(0, 0))
    return -before, longest
