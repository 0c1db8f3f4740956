"""Judge a batch by the indexes of its session: what `verify` says of its proposal, at less cost.

Rule 1: the verdict is that of the proposal. The indexes hold what the proposal says, and no more.
"""

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
from evals.plan_verdicts import Refused, Verified


def verify_batch(batch: Batch) -> Verified | Refused:
    """Return what `verify_proposal` returns for the proposal of a batch."""
    case = _prepare_batch(batch)
    if needs_judging(case):
        with batch.trail.seen_sources(batch.ctx.as_of) as seen:
            doubts_of(case, _known_values(batch, seen))  # kept with the case
    return verdict_on(case)


def asked_about(batch: Batch) -> YesAbout:
    """Return what a person is asked about, if a batch asks."""
    case = _prepare_batch(batch)
    if not needs_judging(case):
        return YesAbout((), ())
    with batch.trail.seen_sources(batch.ctx.as_of) as seen:
        known = _known_values(batch, seen)
        return yes_about(case, doubts_of(case, known), known)


def _prepare_batch(batch: Batch) -> PreparedPlan:
    """Return the plan of a batch, prepared for the checks."""
    rules, trail, ctx, plan = batch.rules, batch.trail, batch.ctx, batch.plan
    tools = rules.compiled_for(call.tool for call in batch.calls)
    case = prepare_plan(ctx, tools, rules.batch_spec, plan)
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
            *(ctx, tools, rules.batch_spec, plan),
            context=lambda: trail.context_digest(ctx, tools, rules.batch_spec),
        )
    return case


def _known_values(batch: Batch, seen: tuple[Seen, Seen]) -> KnownValues:
    """Return what is known of values."""
    past = batch.past or past_of(batch.ctx)
    approved = approved_tiers(past.approved)
    return KnownValues(*seen, approved=approved, own=past.own, sent=past.sent.first_seq)
