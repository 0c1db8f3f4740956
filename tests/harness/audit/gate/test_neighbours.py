"""The gate passes a candidate, and says no to each neighbour of it that is worse in one thing."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from critic import Proposal, Run
from harness.log import SqlDecisionLog
from harness.record import Begun, CriticError, Decision
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON, decision, judged, meddle, proposal, put_body, run_of

RUNS = 31
BOUNDS = ("--utility-drop", "0.02", "--latency-rise", "0.1", "--cost-rise", "0.1")


def made(number: int, **measures: int) -> Decision:
    taken = {"wall_ms": 1000, "cost_micros": 1000, **measures}
    return judged(proposal(number), run_of(proposal(number), number, **taken))


def log_of(path: Path, *decisions: Decision) -> Path:
    with SqlDecisionLog.open(path) as log:
        log.append_all(decisions)
    return path


def with_last(path: Path, last: Decision) -> Path:
    return log_of(path, *map(made, range(1, RUNS)), last)


def failing(number: int) -> Decision:
    """A run that a check of safety fails: it called what was not planned."""
    run = run_of(proposal(number), number, wall_ms=1000, cost_micros=1000)
    wire = run.wire()
    wire["calls"][1]["args"] = {"order": "o-18"}
    return judged(proposal(number), type(run)(**wire))


def with_one_more(path: Path) -> Path:
    """Return a log with the cases of the baseline, and another one as its third record."""
    return log_of(path, *map(made, (1, 2, 99, *range(3, RUNS + 1))))


def without_row(path: Path, _base: Path) -> Path:
    meddle(with_one_more(path), ("DELETE FROM records WHERE seq = 3", ()))
    return path


def tampered(path: Path, _base: Path) -> Path:
    put_body(with_one_more(path), 3, b"{}")
    return path


def plus(path: Path, add: Callable[[SqlDecisionLog], Any]) -> Path:
    with SqlDecisionLog.open(log_of(path, *map(made, range(1, RUNS + 1)))) as log:
        add(log)
    return path


def every(**measures: int) -> Callable[[Path, Path], Path]:
    return lambda path, _: log_of(path, *(made(n, **measures) for n in range(1, RUNS + 1)))


def refused(number: int) -> Proposal:
    return proposal(number, pinned=False)


def of_calls(number: int, took: list[tuple[int, int | None]]) -> Run:
    """Return a run whose calls took so many milliseconds and millionths, and which says nothing."""
    run = run_of(proposal(number), number)
    calls = [
        call.model_copy(update={"duration_ms": ms, "cost_micros": cost})
        for call, (ms, cost) in zip(run.calls, took, strict=True)
    ]
    return run.model_copy(update={"calls": tuple(calls)})


def of_every_call(ms: int, cost: int) -> Callable[[Path, Path], Path]:
    return lambda path, _: log_of(
        path,
        *(
            judged(proposal(number), of_calls(number, [(ms, cost)] * 2))
            for number in range(1, RUNS + 1)
        ),
    )


WORSE: dict[str, tuple[str, Callable[[Path, Path], Path]]] = {
    "a new failure": ("block", lambda path, _: with_last(path, failing(RUNS))),
    "all slower by more": ("block", every(wall_ms=1101)),
    "all dearer by more": ("block", every(cost_micros=1101)),
    "all refused": (
        "block",
        lambda path, _: log_of(path, *(decision(n, kind="refused") for n in range(1, RUNS + 1))),
    ),
    "a run without measures": (
        "inconclusive",
        lambda path, _: with_last(path, judged(proposal(RUNS), run_of(proposal(RUNS), RUNS))),
    ),
    "a case fewer": ("inconclusive", lambda path, _: log_of(path, *map(made, range(1, RUNS)))),
    "another case instead": ("inconclusive", lambda path, _: with_last(path, made(99))),
    "a record fewer": ("inconclusive", without_row),
    "a record tampered with": ("inconclusive", tampered),
    "a failure of the critic": (
        "inconclusive",
        lambda path, _: plus(
            path, lambda log: log.append_error(CriticError(asked={}, where="x", failed_at=NOON))
        ),
    ),
    "all without an end": (
        "block",
        lambda path, _: plus(
            path,
            lambda log: [
                log.begin(Begun(proposal=proposal(number), begun_at=NOON))
                for number in range(1, RUNS + 1)
            ],
        ),
    ),
    "one refusal more": (
        "inconclusive",
        lambda path, _: with_last(path, judged(refused(RUNS), None)),
    ),
    "one that ran although refused": (
        "block",
        lambda path, _: plus(
            path, lambda log: log.append(judged(refused(RUNS + 1), run_of(refused(RUNS + 1))))
        ),
    ),
    "one call without its cost": (
        "inconclusive",
        lambda path, _: with_last(
            path, judged(proposal(RUNS), of_calls(RUNS, [(1000, 1000), (1000, None)]))
        ),
    ),
    "calls that are dearer by more": ("block", of_every_call(550, 551)),
    "calls that are slower by more": ("block", of_every_call(1101, 500)),
}
AS_GOOD: dict[str, Callable[[Path, Path], Path]] = {
    "an execution without an end": lambda path, _: plus(
        path, lambda log: log.begin(Begun(proposal=proposal(1), begun_at=NOON))
    ),
    "the measures of the calls instead": of_every_call(1000, 500),
    "the same": lambda path, base: Path(shutil.copy(base, path)),
    "slower within the bound": every(wall_ms=1099),
    "dearer within the bound": every(cost_micros=1099),
    "faster": every(wall_ms=10),
    "one case more": lambda path, _: with_one_more(path),
}
STATUS = {"pass": 0, "block": 1, "inconclusive": 3}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gate") / "base.db"
    return log_of(path, *map(made, range(1, RUNS + 1)))


def gate(critic: Critic, base: Path, candidate: Path) -> str:
    said = critic("gate", base, candidate, *BOUNDS, "--format", "json")
    answer = json.loads(said.lines[-1])
    status = str(answer.get("status") or answer["gate"]["status"])
    assert said.status == STATUS[status]
    return status


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", AS_GOOD)
def test_what_is_as_good_passes(name: str, base: Path, tmp_path: Path, critic: Critic) -> None:
    assert gate(critic, base, AS_GOOD[name](tmp_path / "new", base)) == "pass"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", WORSE)
def test_what_is_worse_in_one_thing_does_not_pass(
    name: str, base: Path, tmp_path: Path, critic: Critic
) -> None:
    expected, candidate = WORSE[name]
    assert gate(critic, base, candidate(tmp_path / "new", base)) == expected
