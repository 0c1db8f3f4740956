"""The evaluators against the second statement of `score`: the same status and score, five times."""

from collections import Counter
from functools import partial

import pytest
from hypothesis import given, settings

from critic import Run
from evals import score_run
from evals.retries import MOST_RETRIES
from harness.testing.strategies import edge_runs, seeded_edge_run
from harness.wire import build
from tests.support.agreement import ONE_FAILURE, Statements
from tests.support.effort import examples
from tests.support.model.confinement import leaks
from tests.support.model.facts import Json
from tests.support.model.score import score_model

EVERY_STATUS = {
    "policy": ("pass", "fail"),
    "utility": ("pass", "warn", "fail"),
    "latency": ("pass", "warn", "fail"),
    "safety": ("pass", "warn", "fail"),
    "cost": ("pass", "warn", "fail"),
}


def engine(run: Run) -> Json:
    """Return the scorecard in the shape of the model's; scores are equal to the last few bits."""
    return {
        name: {"status": verdict.status, "score": pytest.approx(verdict.score, abs=1e-12)}
        for name, verdict in score_run(run).scores
    }


def declared(run: Run) -> set[str]:
    return set(run.proposal.plan.declared_outputs)


SCORE = Statements(
    law="the engine gives the statuses and scores of the second statement of score",
    read=partial(build, Run),
    engine=engine,
    model=score_model,
)


@settings(ONE_FAILURE, max_examples=examples(500))
@given(edge_runs())
def test_engine_and_model_agree(run: Run) -> None:
    SCORE.require_agreement(run)


@pytest.mark.slow
def test_engine_and_model_agree_on_every_status() -> None:
    """The seeded loop also counts: a generator that no longer meets a status fails here."""
    met: Counter[object] = Counter()
    for seed in range(3000):
        run = seeded_edge_run(seed)
        wire = run.wire()
        expected = score_model(wire)
        SCORE.require_agreement(run, expected)
        met["too many attempts"] += any(call.attempt > 1 + MOST_RETRIES for call in run.calls)
        keys = [call.idempotency_key or "" for call in run.calls]
        met["confined content in a key"] += bool(leaks(wire["proposal"], keys))
        met["undeclared output"] += not declared(run).issuperset(run.outputs)
        for name, verdict in expected.items():
            met[name, verdict["status"]] += 1
            met[name, 0 < verdict["score"] < 1] += 1
    for rare in ("too many attempts", "confined content in a key", "undeclared output"):
        assert met[rare] >= 20, rare
    for name, statuses in EVERY_STATUS.items():
        assert met[name, True] > 50, f"{name} never scores between 0 and 1"
        for status in statuses:
            assert met[name, status] >= 10, (name, status)
