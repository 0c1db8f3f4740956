"""Laws for a user's own evaluators: functions from a run to score, status and findings."""

from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from critic import Finding, Run
from evals.scorecard import run_evaluator
from evals.verdict import Status, status_of
from harness.canonical import canonical_bytes
from harness.errors import HarnessError
from harness.testing._laws.law_context import LawBroken
from harness.testing._laws.law_settings import quiet_settings
from harness.testing.strategies import runs


class JudgedRun(Protocol):
    """The verdict of an evaluator: `critic.EvaluatorVerdict`, or something of that shape."""

    @property
    def score(self) -> float:
        """Return the score, from 0 to 1."""
        ...

    @property
    def status(self) -> Status:
        """Return the status that follows from the findings."""
        ...

    @property
    def findings(self) -> Iterable[Finding]:
        """Return the findings of the evaluator."""
        ...


OwnEvaluator = Callable[[Run], JudgedRun]
EvaluatorRunner = Callable[[OwnEvaluator, Run], JudgedRun]
"""Runs an evaluator and turns a crash into a verdict."""


def engine_guard(evaluator: OwnEvaluator, run: Run) -> JudgedRun:
    """Run an evaluator as `score` does, which turns a crash into a verdict."""
    # Any id will do: it is not part of what the laws compare.
    return run_evaluator("policy", evaluator, run)  # type: ignore[arg-type]


class _Crashed(HarnessError):
    """The evaluator raised. One law is about that; the others skip such a run."""


def _answer(evaluator: OwnEvaluator, run: Run) -> JudgedRun:
    try:
        return evaluator(run)
    except Exception as error:
        raise _Crashed from error


def _spell_verdict(verdict: JudgedRun) -> str:
    return repr((verdict.score, verdict.status, tuple(verdict.findings)))


def is_deterministic(evaluator: OwnEvaluator, run: Run, _guard: EvaluatorRunner) -> None:
    """The same run gets the same verdict, and so does a copy of it."""
    first = _spell_verdict(_answer(evaluator, run))
    for again in (run, run.model_copy(deep=True)):
        other = _spell_verdict(_answer(evaluator, again))
        _require(other == first, f"first {first}, then {other}", run)


def status_follows_findings(evaluator: OwnEvaluator, run: Run, _guard: EvaluatorRunner) -> None:
    """The status is fail with any error, else warn with any warning, else pass."""
    verdict = _answer(evaluator, run)
    derived = status_of(verdict.findings)
    _require(verdict.status == derived, f"status {verdict.status}, findings say {derived}", run)


def score_is_a_share(evaluator: OwnEvaluator, run: Run, _guard: EvaluatorRunner) -> None:
    """The score is a number from 0 to 1."""
    score: Any = _answer(evaluator, run).score
    share = type(score) in (int, float) and 0 <= score <= 1
    _require(share, f"score {score!r}", run)


def run_stays_as_it_is(evaluator: OwnEvaluator, run: Run, _guard: EvaluatorRunner) -> None:
    """The evaluator does not change the run that it judges."""
    before = canonical_bytes(run)
    judged = run.model_copy(deep=True)
    _answer(evaluator, judged)
    _require(canonical_bytes(judged) == before, "the run was changed", run)


def a_crash_is_a_fail(evaluator: OwnEvaluator, run: Run, guard: EvaluatorRunner) -> None:
    """Where the evaluator raises, the run has failed, with score 0."""
    try:
        evaluator(run)
    except Exception as error:
        verdict = guard(evaluator, run)
        failed = verdict.status == "fail" and verdict.score == 0
        crash = f"it raised {type(error).__name__}"
        _require(failed, f"{crash} and has status {verdict.status}, score {verdict.score}", run)


EVALUATOR_LAWS: Final = (
    is_deterministic,
    status_follows_findings,
    score_is_a_share,
    run_stays_as_it_is,
    a_crash_is_a_fail,
)


def _require(holds: bool, what: str, run: Run) -> None:
    if not holds:
        raise LawBroken(f"{what}\nrun: {canonical_bytes(run).decode()}")


def check_evaluator(
    evaluator: OwnEvaluator,
    *,
    runs: st.SearchStrategy[Run] = runs(),  # noqa: B008 - strategies are values
    guard: EvaluatorRunner = engine_guard,
    settings: hypothesis_settings | None = None,
) -> None:
    """Check every law of evaluators, on drawn runs.

    Args:
        runs: the runs to judge, for example `strategies.runs(compiled, spec, ctx)`.
        guard: what runs the evaluator in production, if not `critic.score`.
        settings: Hypothesis settings; the current profile without a deadline, unless given.

    Raises:
        LawBroken: a law does not hold.
    """
    chosen = quiet_settings(settings)
    for law in EVALUATOR_LAWS:
        _check(law, evaluator, runs, guard, chosen)


def _check(
    law: Callable[[OwnEvaluator, Run, EvaluatorRunner], None],
    evaluator: OwnEvaluator,
    source: st.SearchStrategy[Run],
    guard: EvaluatorRunner,
    settings: hypothesis_settings,
) -> None:
    def try_law(run: Run) -> None:
        try:
            law(evaluator, run, guard)
        except _Crashed:
            return
        except LawBroken as broken:
            message = f"law {law.__name__} is broken: {law.__doc__}\n{broken}"
            raise LawBroken(message) from None

    # Hypothesis keeps failures by the name of the test, and each law has its own.
    try_law.__name__ = try_law.__qualname__ = law.__name__
    settings(given(source)(try_law))()
