"""score: judge what really happened. A failure of policy or safety refuses the run."""

from typing import TYPE_CHECKING

from critic.reports import ScoreVerdict, hard_evaluators_passed
from evals.passed_openings import NOTHING_OPENED, PassedOpenings
from evals.plan import is_late_plan
from evals.run import Run
from evals.scorecard import score_run

if TYPE_CHECKING:
    from critic.session.batch_facts import SeenBefore


def score(run: Run) -> ScoreVerdict:
    """Run the five evaluators over a finished run.

    It judges what was done, and does not ask whether `verify` accepts the plan: `verify_proposal`
    of `run.proposal` says so. Of a late plan it does ask whether each call was opened, as the run
    says and as `open_step` says now. Pure and total: an evaluator that raises counts as failed.

    Raises:
        TypeError: `run` is not exactly a Run.
    """
    return score_after(run)


def score_after(run: Run, before: "SeenBefore | None" = None) -> ScoreVerdict:
    """Return what `score` returns, with what was seen and done before the run, if it is at hand.

    Args:
        before: that. Of the evidence in the proposal, what no step pins and no call may hold is
            not needed then.

    Raises:
        TypeError: as `score`.
    """
    if type(run) is not Run:
        raise TypeError(f"score needs a Run, not {type(run).__name__}")
    scorecard = score_run(run, _passed_openings(run, before))
    return ScoreVerdict(ok=hard_evaluators_passed(scorecard), scorecard=scorecard)


def _passed_openings(run: Run, before: "SeenBefore | None") -> PassedOpenings:
    """Return the openings of a run that passed: none where that cannot be told."""
    if not run.openings or not is_late_plan(run.proposal.plan):
        return NOTHING_OPENED
    from critic.late.opened_run import open_run  # noqa: PLC0415 - for late plans only

    try:
        return open_run(run, before).passed
    except Exception:
        return NOTHING_OPENED
