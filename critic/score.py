"""score: judge what really happened. A failure of policy or safety refuses the run."""

from critic.reports import ScoreVerdict, hard_evaluators_passed
from evals.run import Run
from evals.scorecard import score_run


def score(run: Run) -> ScoreVerdict:
    """Run the five evaluators over a finished run.

    It judges what was done, and does not ask whether `verify` accepts the plan: `verify_proposal`
    of `run.proposal` says so. Pure and total: an evaluator that raises counts as failed.

    Raises:
        TypeError: `run` is not exactly a Run.
    """
    if type(run) is not Run:
        raise TypeError(f"score needs a Run, not {type(run).__name__}")
    scorecard = score_run(run)
    return ScoreVerdict(ok=hard_evaluators_passed(scorecard), scorecard=scorecard)
