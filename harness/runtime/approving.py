"""Write down the yes of a person, with an id of its own: it counts for one execution."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from critic import Approval, Proposal, context_digest
from harness.canonical import digest


def approve(
    proposal: Proposal,
    approver: str,
    *,
    approval_id: str | None = None,
    steps: Sequence[int] | None = None,
    expires_at: datetime | str | None = None,
    late: bool = False,
) -> Approval:
    """Return the approval of exactly this plan in this context.

    The log takes each id once for a plan, so that a yes is to one execution.

    Args:
        approver: who said yes. The caller authenticates them.
        approval_id: by default a fresh one.
        steps: the positions that it covers. By default, all.
        expires_at: until when it counts. By default, it has no end.
        late: the approver was shown where each value of a late plan comes from. Without, it covers
            no step that takes a value.
    """
    known: dict[str, Any] = {"steps": steps, "expires_at": expires_at}
    known["late"] = True if late else None
    return Approval(
        approval_id=approval_id or f"approval_{uuid4().hex}",
        plan_digest=digest(proposal.plan),
        context_digest=context_digest(proposal.ctx, proposal.compiled, proposal.spec),
        approver=approver,
        **{name: value for name, value in known.items() if value is not None},
    )
