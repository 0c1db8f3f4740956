"""Run the five evaluators: each exactly once, even if another one raises."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Final, Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from evals import cost, latency, policy, safety, utility
from evals.envelope import OPTIONAL, Envelope, Identifier
from evals.json_value import Text
from evals.kinds import EvaluatorId
from evals.passed_openings import NOTHING_OPENED, PassedOpenings
from evals.run import Run
from evals.verdict import EvaluatorVerdict, Finding, make_verdict

Evaluator = Callable[[Run], EvaluatorVerdict]

EVALUATORS: Final[tuple[tuple[EvaluatorId, Evaluator], ...]] = (
    ("policy", policy.evaluate),
    ("utility", utility.evaluate),
    ("latency", latency.evaluate),
    ("safety", safety.evaluate),
    ("cost", cost.evaluate),
)
"""The five evaluators with their ids, in the order in which they run."""


class Scores(Envelope):
    """One verdict of each evaluator, under its own name."""

    policy: EvaluatorVerdict
    utility: EvaluatorVerdict
    latency: EvaluatorVerdict
    safety: EvaluatorVerdict
    cost: EvaluatorVerdict

    @model_validator(mode="after")
    def _named_rightly(self) -> Self:
        for name, verdict in self:
            if verdict.evaluator_id != name:
                raise PydanticCustomError(
                    "contradiction",
                    "under {name} stands the verdict of {other}",
                    {"name": name, "other": verdict.evaluator_id},
                )
        return self


class Scorecard(Envelope):
    """The verdicts of the evaluators about one run."""

    run_id: Identifier
    trace_id: Identifier
    pack_version: Annotated[Identifier | None, OPTIONAL] = None
    intent: Annotated[Text | None, OPTIONAL] = None
    scores: Scores

    @model_validator(mode="after")
    def _of_one_trace(self) -> Self:
        for name, verdict in self.scores:
            if verdict.trace_id != self.trace_id:
                raise PydanticCustomError(
                    "contradiction",
                    "the verdict of {name} is of trace {other}, not of the scorecard's",
                    {"name": name, "other": verdict.trace_id},
                )
        return self


def run_evaluator(evaluator_id: EvaluatorId, evaluator: Evaluator, run: Run) -> EvaluatorVerdict:
    """Return the evaluator's verdict. If it raises, the verdict is a failure with score 0."""
    try:
        return evaluator(run)
    except Exception as error:
        crash = Finding(severity="error", message=f"evaluator_error: {type(error).__name__}")
        return make_verdict(evaluator_id, run.trace_id, 0.0, [crash])


def score_run(run: Run, passed: PassedOpenings = NOTHING_OPENED) -> Scorecard:
    """Run all five evaluators over one run.

    Args:
        passed: the openings of a late plan that passed.
    """
    opened: Mapping[Evaluator, Evaluator] = {
        policy.evaluate: partial(policy.evaluate, passed=passed),
        safety.evaluate: partial(safety.evaluate, passed=passed),
    }
    scores = Scores(
        **{
            name: run_evaluator(name, opened.get(evaluator, evaluator), run)
            for name, evaluator in EVALUATORS
        }
    )
    return Scorecard(
        run_id=run.run_id,
        trace_id=run.trace_id,
        pack_version=run.pack_version,
        intent=run.intent,
        scores=scores,
    )
