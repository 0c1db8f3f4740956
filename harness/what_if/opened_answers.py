"""The answer to a recorded plan with its openings: a late plan is answered step by step.

Rule 1: a plan that passes, and a step of which is refused once its values are there, is refused.
Rule 2: an opening that a person cleared is answered by the one with their approval.
Rule 3: what the openings would be is derived from the calls that ended then, as replay does.
"""

from critic import Proposal, Refused, Verified
from evals.run import is_cleared_by
from harness.record import RunFacts


def answer_opened(
    proposal: Proposal, run: RunFacts | None, verdict: Verified | Refused
) -> Verified | Refused | None:
    """Return the verdict on a plan, or on its first opening that is refused.

    None where the openings do not follow from the calls that were made.
    """
    openings = (run.openings if run is not None else None) or ()
    if run is None or not openings or not verdict.ok:
        return verdict
    from critic.late.opened_run import open_run  # noqa: PLC0415 - for late plans only

    opened = open_run(run.run_of(proposal))
    for at, one in enumerate(opened.verdicts):
        if not one.ok and not is_cleared_by(openings[at], openings[at + 1 : at + 2]):
            return one
    return verdict if opened.fault is None else None
