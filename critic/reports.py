"""The verdict on a run, and the report of both verdicts: neither can contradict itself."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from evals.envelope import OPTIONAL, Envelope, Identifier
from evals.json_value import Text
from evals.kinds import ReportStatus
from evals.plan_verdicts import Refused, Verified, VerifyVerdict, self_contradiction
from evals.scorecard import Scorecard
from evals.timestamps import Time

Phase = Literal["verify", "score", "open"]
"""What refuses: `open` is the opening of a step of a late plan."""


class ScoreVerdict(Envelope):
    """The scorecard of the five evaluators. `ok` is true unless policy or safety failed."""

    ok: bool
    scorecard: Scorecard

    def __bool__(self) -> bool:
        return self.ok

    @model_validator(mode="after")
    def _ok_follows_scorecard(self) -> Self:
        if self.ok != hard_evaluators_passed(self.scorecard):
            raise self_contradiction("ok does not follow from the policy and safety evaluators")
        return self

    @model_validator(mode="after")
    def _a_pass_has_a_score(self) -> Self:
        for name, verdict in self.scorecard.scores:
            if verdict.status == "pass" and verdict.score == 0:
                raise self_contradiction(f"{name} has status pass and score 0")
        return self


def hard_evaluators_passed(scorecard: Scorecard) -> bool:
    """Return whether neither policy nor safety failed."""
    return "fail" not in (scorecard.scores.policy.status, scorecard.scores.safety.status)


class CriticReport(Envelope):
    """Both verdicts in one, with one line for the engineer who is on call.

    `refused_at` is `open` where the opening of a step was refused: the score beside it is that of
    what ran until then.
    """

    trace_id: Identifier
    decision_key: Identifier
    verify: VerifyVerdict
    score: Annotated[ScoreVerdict | None, OPTIONAL] = None
    status: ReportStatus
    rationale: Text
    decided_at: Time
    refused_at: Annotated[Phase | None, OPTIONAL] = None

    @model_validator(mode="after")
    def _status_follows_verdicts(self) -> Self:
        opened = self.refused_at != "open"
        found = outcome(self.trace_id, self.verify, self.score, opened=opened)
        if (self.status, self.refused_at) != found:
            raise self_contradiction("status and refused_at do not follow from verify and score")
        return self


def outcome(
    trace_id: str, verify: Verified | Refused, score: ScoreVerdict | None, *, opened: bool = True
) -> tuple[ReportStatus, Phase | None]:
    """Return the status of a report with these verdicts, and the phase that refused, if one did.

    Args:
        opened: no opening of a step was refused.

    Raises:
        pydantic_core.PydanticCustomError: a refused plan has a score or an opening, so it was
            executed; an opening was refused and there is no score of the run until then; or the
            score is of another trace and its policy did not fail, as it does for a foreign run.
    """
    if not opened and not (verify.ok and score is not None):
        raise self_contradiction("a refused opening is of a plan that passed, and was scored")
    if not verify.ok:
        if score is not None:
            raise self_contradiction("a plan that verify refused has no score")
        return "refused_by_critic", "verify"
    if score is None:
        return "partial", None
    card = score.scorecard
    if card.trace_id != trace_id and card.scores.policy.status != "fail":
        raise self_contradiction(f"the score is of trace {card.trace_id}, not of the report's")
    if not opened:
        return "refused_by_critic", "open"
    return ("completed", None) if score.ok else ("refused_by_critic", "score")
