"""consolidate: pack both verdicts into one report, with one line that says why."""

from datetime import datetime
from typing import Any, Final, assert_never

from critic.reports import CriticReport, ScoreVerdict, outcome
from evals.escaping import escape_line
from evals.plan_verdicts import Refused, Verified, self_contradiction
from evals.run import Opening
from evals.verdict import EvaluatorVerdict

LONGEST_RATIONALE: Final = 500
"""Characters. A rationale is read on a pager; the verdicts hold the whole list."""


def consolidate(
    *,
    trace_id: str,
    decision_key: str,
    verify: Verified | Refused,
    score: ScoreVerdict | None = None,
    opening: Opening | None = None,
    decided_at: datetime,
) -> CriticReport:
    """Pack the verdicts into a report. `decided_at` is the caller's clock, with a zone.

    Args:
        opening: the opening of a step that was refused, if one was: see `refused_opening`.

    Raises:
        pydantic_core.PydanticCustomError: a refused plan has a score, so it was executed; an
            opening was refused, and the plan was too, or has no score; the opening passed; or the
            score is of another trace and its policy did not fail, as it does for a foreign run.
        pydantic.ValidationError: an id is not an Identifier, or `decided_at` has no zone.
    """
    verify = verify.bare if isinstance(verify, Refused) else verify
    if opening is not None and opening.verdict.ok:
        raise self_contradiction("an opening that passed refuses nothing")
    status, refused_at = outcome(trace_id, verify, score, opened=opening is None)
    optional: dict[str, Any] = {"score": score, "refused_at": refused_at}
    return CriticReport(
        trace_id=trace_id,
        decision_key=decision_key,
        verify=verify,
        status=status,
        rationale=_rationale(verify, score, opening),
        decided_at=decided_at,
        **{name: value for name, value in optional.items() if value is not None},
    )


def _rationale(
    verify: Verified | Refused, score: ScoreVerdict | None, opening: Opening | None
) -> str:
    if opening is not None and isinstance(opening.verdict, Refused):
        refused = opening.verdict
        lead = f"opening of step {opening.step} failed: {refused.kind} — "
        return _join_parts(lead, list(refused.reasons), "; ")
    match verify:
        case Refused():
            return _join_parts(f"verify failed: {verify.kind} — ", list(verify.reasons), "; ")
        case Verified():
            return _explain_run(score)
        case _:
            assert_never(verify)


def _explain_run(score: ScoreVerdict | None) -> str:
    if score is None:
        return "verify passed; no score (no execution)"
    scores = score.scorecard.scores
    if not score.ok:
        failed = [hard for hard in (scores.policy, scores.safety) if hard.status == "fail"]
        share = LONGEST_RATIONALE // len(failed) - len("; ")
        return "; ".join(_describe_failure(verdict, share) for verdict in failed)
    soft = [
        f"{name} {verdict.status} {verdict.score:.2f}"
        for name, verdict in scores
        if verdict.status != "pass"
    ]
    return "verify and score passed" + (f"; {', '.join(soft)}" if soft else "")


def _describe_failure(verdict: EvaluatorVerdict, longest: int) -> str:
    messages = [finding.message for finding in verdict.findings]
    return _join_parts(f"{verdict.evaluator_id} fail: ", messages, ", ", longest)


def _join_parts(lead: str, parts: list[str], between: str, longest: int = LONGEST_RATIONALE) -> str:
    """Return `lead`, the whole parts that fit, and the number of those that do not."""
    parts = list(map(escape_line, parts))
    whole = lead + between.join(parts)
    if len(whole) <= longest:
        return whole
    room = longest - len(f"{between}and {len(parts)} more")
    shown: list[str] = []
    # Not all parts fit, so the loop ends before the parts do.
    while len(lead + between.join([*shown, parts[len(shown)]])) <= room:
        shown.append(parts[len(shown)])
    if not shown:
        shown = [parts[0][: room - len(lead)]]
    more = len(parts) - len(shown)
    return lead + between.join([*shown, *([f"and {more} more"] if more else [])])
