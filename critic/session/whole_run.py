"""The run of a whole session, without calls: what its outputs and its measures are judged by."""

from collections.abc import Mapping
from typing import Any

from critic.session.ledger import Ledger
from critic.session.session_rules import SessionRules
from evals.context import RunContext
from evals.manifest import EvidenceItem
from evals.plan import Plan, Proposal
from evals.run import Run


def make_whole_run(
    known: tuple[SessionRules, Ledger, str],
    items: tuple[EvidenceItem, ...],
    outputs: Mapping[str, Any],
    *,
    is_measured: bool,
) -> Run:
    """Return a run without calls that has the outputs of a session and its measures.

    Args:
        known: its rules, its acts and its trace.
        items: what was seen.
        is_measured: its calls have ended, so that what they took is known.
    """
    rules, ledger, trace_id = known
    spec = rules.spec
    measured = ledger.measures if is_measured and ledger.steps else None
    limits = rules.budget
    if limits is None and measured and measured.tokens is not None:
        limits = rules.default_budget  # it limits, and does not demand a measure
    budget: dict[str, Any] = {} if limits is None else {"run_budget": limits}
    names = dict.fromkeys((*spec.required_outputs, *outputs))
    proposal = Proposal(
        ctx=RunContext(trace_id=trace_id, safety_mode=rules.safety_mode, **budget),
        compiled=rules.compiled_for((), items),
        spec=spec,
        plan=Plan(steps=(), declared_outputs=tuple(names)),
    )
    return Run(
        run_id="session",
        trace_id=trace_id,
        proposal=proposal,
        calls=(),
        outputs=dict(outputs),
        wall_ms=measured and measured.duration_ms,
        tokens=measured and measured.tokens,
        cost_micros=measured and measured.cost_micros,
    )
