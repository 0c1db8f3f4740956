"""Judge a batch by the indexes of its session: what `verify` says of its proposal, at less cost.

Rule 1: the verdict is that of the proposal. The indexes hold what the proposal says, and no more.
"""

from typing import NamedTuple

from critic.prepared import PreparedPlan, prepare_plan
from critic.session.call_batch import Batch
from critic.session.ledger import past_of
from critic.session.session_values import KnownValues, Seen, asked_values, doubts_of, needs_judging
from critic.verdicts import Refused, Verified
from critic.verify import verdict_on
from evals.approval import Approvals


class AskedAbout(NamedTuple):
    """The subject of a question: the values, and whether one of the tools is doubted."""

    values: list[str | int | float]
    is_of_tool: bool


def verify_batch(batch: Batch) -> Verified | Refused:
    """Return what `verify_proposal` returns for the proposal of a batch."""
    case = _prepare_batch(batch)
    if needs_judging(case):
        with batch.trail.seen_sources(batch.ctx.as_of) as seen:
            doubts_of(case, _known_values(batch, seen))  # kept with the case
    return verdict_on(case)


def asked_about(batch: Batch) -> AskedAbout:
    """Return what a person is asked about, if a batch asks."""
    case = _prepare_batch(batch)
    if not needs_judging(case):
        return AskedAbout([], is_of_tool=False)
    with batch.trail.seen_sources(batch.ctx.as_of) as seen:
        known = _known_values(batch, seen)
        doubts = doubts_of(case, known)
        values = asked_values(case, doubts, known)
    is_of_tool = any(doubt.path == f"/steps/{doubt.step}" for doubt in doubts.asks)
    return AskedAbout(values, is_of_tool)


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
    return KnownValues(*seen, approved=past.approved, own=past.own, hosts=past.hosts)
