"""The report of a session that ended: its turns, the five evaluators over the whole, one line."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Final

from critic.session.call_batch import Action
from evals import cost, latency, safety, utility
from evals.context import SessionId
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.escaping import escape_line
from evals.json_value import Text
from evals.kinds import RefusalKind, ReportStatus
from evals.run import Run
from evals.scorecard import Scores, run_evaluator
from evals.timestamps import Time
from evals.verdict import EvaluatorVerdict, Finding, Status, make_verdict

_LONGEST: Final = 500
"""Characters of a rationale."""
_MOST_FINDINGS: Final = 1000


class TurnReport(Envelope):
    """The outcome of one batch. `policy` and `safety` are there once its calls ended."""

    turn: Count
    action: Action
    plan_digest: Identifier
    kind: Annotated[RefusalKind | None, OPTIONAL] = None
    policy: Annotated[Status | None, OPTIONAL] = None
    safety: Annotated[Status | None, OPTIONAL] = None


class SessionReport(Envelope):
    """The scores of a whole session.

    `refused_by_critic`: a batch failed policy or safety, or an output holds confined content.
    `partial`: a required output is missing or invalid. Else `completed`.
    """

    session: SessionId
    trace_id: Identifier
    decision_key: Identifier
    turns: Annotated[tuple[TurnReport, ...], ARRAY]
    scores: Scores
    status: ReportStatus
    rationale: Text
    closed_at: Annotated[Time | None, OPTIONAL] = None


class Worst:
    """The worst that an evaluator said of any batch."""

    __slots__ = ("findings", "score")

    def __init__(self, score: float = 1.0, findings: tuple[Finding, ...] = ()) -> None:
        self.score, self.findings = score, findings

    def add_verdict(self, turn: int, verdict: EvaluatorVerdict) -> "Worst":
        """Return the worst after one more batch. Only its errors are kept."""
        errors = tuple(
            Finding(severity="error", message=f"turn {turn}: {finding.message}")
            for finding in verdict.findings
            if finding.severity == "error"
        )
        if not errors and verdict.score >= self.score:
            return self
        findings = (*self.findings, *errors)[:_MOST_FINDINGS]
        return Worst(min(self.score, verdict.score), findings)


def session_scores(whole: Run, policy: Worst, safety_: Worst) -> Scores:
    """Return the five verdicts about a session.

    Args:
        whole: a run without calls that has the outputs of the session, and its measures.
        policy, safety_: the worst of the batches.
    """
    trace_id = whole.trace_id
    of_outputs = run_evaluator("safety", safety.evaluate, whole)
    return Scores(
        policy=make_verdict("policy", trace_id, policy.score, policy.findings),
        utility=run_evaluator("utility", utility.evaluate, whole),
        latency=run_evaluator("latency", latency.evaluate, whole),
        safety=make_verdict(
            "safety",
            trace_id,
            min(safety_.score, of_outputs.score),
            (*safety_.findings, *of_outputs.findings),
        ),
        cost=run_evaluator("cost", cost.evaluate, whole),
    )


def report_of(
    turns: Sequence[TurnReport],
    scores: Scores,
    *,
    session: str,
    whole: Run,
    closed_at: datetime | None,
) -> SessionReport:
    """Return the report of a session with these scores."""
    failed = [verdict for verdict in (scores.policy, scores.safety) if verdict.status == "fail"]
    status: ReportStatus = "completed"
    if failed:
        status = "refused_by_critic"
    elif scores.utility.status == "fail":
        status = "partial"
    return SessionReport(
        session=session,
        trace_id=whole.trace_id,
        decision_key=whole.proposal.spec.id,
        turns=tuple(turns),
        scores=scores,
        status=status,
        rationale=_rationale(turns, scores, failed),
        closed_at=closed_at,
    )


def _rationale(
    turns: Sequence[TurnReport], scores: Scores, failed: Iterable[EvaluatorVerdict]
) -> str:
    worst = [*failed, *([scores.utility] if scores.utility.status == "fail" else [])]
    said = [_describe_failure(verdict) for verdict in worst]
    soft = [one for one in (scores.utility, scores.latency, scores.cost) if one not in worst]
    said += [
        f"{one.evaluator_id} {one.status} {one.score:.2f}" for one in soft if one.status != "pass"
    ]
    held = sum(turn.action != "allow" for turn in turns)
    counted = f"{len(turns)} {'turn' if len(turns) == 1 else 'turns'}"
    counted += f", {held} not allowed" if held else ""
    line = "; ".join([*(said or ["all scores passed"]), counted])
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _describe_failure(verdict: EvaluatorVerdict) -> str:
    errors = [finding.message for finding in verdict.findings if finding.severity == "error"]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{verdict.evaluator_id} fail: {escape_line(errors[0])[:200]}{more}"
