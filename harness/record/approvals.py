"""The approvals that an execution relies on. Pure."""

from critic.verify import verify, verify_proposal
from evals.plan import Proposal
from harness.canonical import digest
from harness.record.record_kinds import UsedApproval

_PREFIX = "sha256:"


def used_approvals(proposal: Proposal) -> tuple[UsedApproval, ...]:
    """Return the approvals that the plan needs: each alone clears at least one violation.

    Where two approvals cover one step, both are used. In the order of the context, each once.
    """
    given = proposal.ctx.approvals
    if not given:
        return ()
    plan_digest = digest(proposal.plan)
    of_this_plan = [one for one in given if one.plan_digest.removeprefix(_PREFIX) == plan_digest]
    if not of_this_plan:
        return ()
    refused = verify_proposal(without_approvals(proposal, None))
    if refused.ok:
        return ()
    rest = proposal.compiled, proposal.spec, proposal.plan
    used = {
        one.approval_id: None
        for one in of_this_plan
        if verify(proposal.ctx.model_copy(update={"approvals": [one]}), *rest) != refused
    }
    return tuple(UsedApproval(approval_id=name, plan_digest=plan_digest) for name in used)


def without_approvals(proposal: Proposal, ids: frozenset[str] | None) -> Proposal:
    """Return the proposal without these approvals of its plan; without any at all for None."""
    plan_digest = digest(proposal.plan)
    left = [
        one
        for one in proposal.ctx.approvals or ()
        if ids is not None
        and not (one.approval_id in ids and one.plan_digest.removeprefix(_PREFIX) == plan_digest)
    ]
    ctx = proposal.ctx.model_copy(update={"approvals": left or None})
    return Proposal(ctx=ctx, compiled=proposal.compiled, spec=proposal.spec, plan=proposal.plan)
