"""Judge a batch by the indexes of its session: what `verify` says of its proposal, at less cost.

Rule 1: the verdict is that of the proposal. The indexes hold what the proposal says, and no more.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final

from critic.prepared import PreparedPlan, prepare_plan
from critic.session.call_batch import Batch
from critic.session.ledger import past_of
from critic.session.session_values import (
    KnownValues,
    Seen,
    YesAbout,
    approved_tiers,
    doubts_of,
    needs_judging,
    yes_about,
)
from critic.verify import verdict_on
from evals.approval import Approvals
from evals.canonical_json import digest
from evals.context import Approval
from evals.manifest import EvidenceClass, EvidenceItem
from evals.plan_verdicts import Refused, Verified
from evals.side_table import Beside

_JUDGED: Final = Beside[PreparedPlan]()


def verify_batch(batch: Batch) -> Verified | Refused:
    """Return what `verify_proposal` returns for the proposal of a batch."""
    return verdict_on(_judge_batch(batch))


def share_doubts(batch: Batch, case: PreparedPlan) -> None:
    """Give the plan of a batch, prepared once more, the doubts that were found in it."""
    case.doubts = _judge_batch(batch).doubts


@contextmanager
def known_of(batch: Batch, case: PreparedPlan) -> Iterator[KnownValues | None]:
    """Give what is known of values, by the indexes of the session; None where none is judged."""
    if not needs_judging(case):
        yield None
        return
    with batch.trail.seen_sources(batch.ctx.as_of) as seen:
        yield _known_values(batch, seen)


def asked_about(batch: Batch) -> YesAbout:
    """Return what a person is asked about, if a batch asks."""
    case = _judge_batch(batch)
    with known_of(batch, case) as known:
        if known is None:
            return YesAbout((), ())
        return yes_about(case, doubts_of(case), known)


def _judge_batch(batch: Batch) -> PreparedPlan:
    """Return the plan of a batch with its doubts, which are found once."""
    judged = _JUDGED.get(batch)
    if judged is None:
        judged = _prepare_batch(batch)
        if batch.is_late:
            doubts_of(judged, known_with=partial(_known_with, batch))  # kept with the plan
        else:
            with known_of(batch, judged) as known:
                doubts_of(judged, known)
        _JUDGED.keep(batch, judged)
    return judged


def _prepare_batch(batch: Batch) -> PreparedPlan:
    """Return the plan of a batch, prepared for the checks."""
    rules, trail, ctx, plan = batch.rules, batch.trail, batch.ctx, batch.plan
    tools = batch.tools
    case = prepare_plan(ctx, tools, batch.spec, plan)
    # A plan pins what was there, and nothing else.
    case.surface = case.surface._replace(
        evidence=trail.by_id,
        classes=trail.classes,
        expiries=trail.expiries,
    )
    case.made = (batch.past or past_of(ctx)).made
    case.confined = trail.confined_content(rules.spec.confined_evidence or ())
    if ctx.approvals:
        case.approvals = Approvals(
            *(ctx, tools, batch.spec, plan),
            context=lambda: trail.context_digest(ctx, tools, batch.spec),
        )
    return case


@contextmanager
def _known_with(
    batch: Batch, items: Sequence[EvidenceItem], classes: Sequence[EvidenceClass]
) -> Iterator[KnownValues]:
    """Give what is known of values once there are more items, which the session does not see."""
    trail = batch.trail
    if items:
        trail = trail.branch(batch.rules.described_with(classes)).plus(items)
    with trail.seen_sources(batch.ctx.as_of) as seen:
        yield _known_values(batch, seen)


def _known_values(batch: Batch, seen: tuple[Seen, Seen]) -> KnownValues:
    """Return what is known of values."""
    past = batch.past or past_of(batch.ctx)
    approved = approved_tiers(past.approved)
    return KnownValues(*seen, approved=approved, own=past.own, sent=past.sent.first_seq)


def make_approval(batch: Batch, name: str, approver: str, expires_at: datetime | None) -> Approval:
    """Return a person's approval of a batch, bound to its plan and its context."""
    expiry: dict[str, Any] = {} if expires_at is None else {"expires_at": expires_at}
    return Approval(
        approval_id=name,
        plan_digest=digest(batch.plan),
        approver=approver,
        context_digest=batch.trail.context_digest(batch.ctx, batch.tools, batch.spec),
        **expiry,
    )
