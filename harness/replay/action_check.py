"""Check the action of a decision: against its verdict, its answer, and who may take it. Pure."""

from evals.plan import Proposal
from evals.run import refused_opening
from harness.canonical import digest
from harness.record import DecisionRecord, RecordedAnswer
from harness.record.actions import action_problem
from harness.replay.problems import Problems


def check_action(record: DecisionRecord, proposal: Proposal, problems: Problems) -> None:
    """Check what was made of a plan. `record` has the verdict that was derived again.

    The canonical loop allows what verify passes, and refuses the rest. Only a guard asks, enforces
    nothing, or refuses what verify passes, because a person said no to it before.
    """
    verdict, action, answer = record.report.verify, record.action, record.answer
    run = record.run if record.report.refused_at == "open" else None
    refused = None if run is None else refused_opening(run.openings)
    opening = None if refused is None else refused.verdict
    if problem := action_problem(action, answer, verdict, opening=opening):
        problems.contradiction(problem)
    elif answer is not None and answer.answer == "yes" and not _is_given(answer, proposal):
        problems.contradiction("its answer is yes, and its context has no such approval")
    elif answer is None and action == ("allow" if verdict.ok else "refuse"):
        return
    elif not _is_of_a_guard(proposal):
        problems.contradiction(f"its action is {action}, which is not of the canonical loop")


def _is_given(answer: RecordedAnswer, proposal: Proposal) -> bool:
    plan_digest = digest(proposal.plan)
    return any(
        one.plan_digest.removeprefix("sha256:") == plan_digest and one.approver == answer.approver
        for one in proposal.ctx.approvals or ()
    )


def _is_of_a_guard(proposal: Proposal) -> bool:
    if proposal.ctx.session is None:
        return False
    from harness.replay.session_reading import is_of_a_guard  # noqa: PLC0415 - loads all of sessions

    return is_of_a_guard(proposal)
