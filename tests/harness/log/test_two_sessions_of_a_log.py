"""What the tools say of a log of two sessions is what they say of a log of each, together."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness.audit.report.collecting import Collected, collect
from harness.log import SqlDecisionLog
from harness.replay.findings import findings
from harness.testing.strategies import streams
from harness.what_if.matrix import Matrix
from harness.what_if.recorded_change import Alteration
from harness.what_if.rejudging import Compared, JudgedPlan, NotAsked, PlanFinder, what_if
from tests.harness.console import Critic
from tests.support.effort import examples
from tests.support.guarding import (
    ASKS,
    answers_to,
    asking_desk,
    call,
    desk,
    guard_of,
    policy_of,
    yes,
)

Json = dict[str, Any]

NAMES: Final = (("a", "A"), ("turn/1", "turn/10"), ("s", "s "))
POLICY: Final = asking_desk()
CHANGES: Final = {
    "mode": Alteration(safety_mode="read_only"),
    "budget": Alteration(budget={"max_steps": 2, "bucket_tokens": 400}),
    "policy": Alteration(policy=policy_of(desk(max_questions=9))),
}
MET: Counter[str] = Counter()
"""How many plans, rows and questions of sessions that take turns were of a kind."""


class Told(NamedTuple):
    """What the tools say of a log: of each session, and in all."""

    plans: dict[str, dict[str, list[Any]]]
    rows: dict[str, list[Json]]
    turns: dict[str, list[Any]]
    matrices: dict[str, list[Compared]]
    page: Collected


def sessions(name: str, *, says: bool) -> st.SearchStrategy[list[Json]]:
    """Draw the events of a session that begins with the answer to a question."""
    begins = (*ASKS, {**yes(), "yes": says}, call("shred", id="z", name="plan.md"))
    asked = [{**event, "session": name} for event in begins]
    return streams(policy_of(POLICY), name).map(lambda events: [*asked, *events[1:]])


def written(path: Path, events: list[Json]) -> Path:
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(POLICY, log=log), events)
    return path


def told(path: Path) -> Told:
    with SqlDecisionLog.open_for_reading(path) as log:
        page = collect(log, 10_000, 1 << 26)
        judged = {
            name: [*what_if(findings(log, PlanFinder(change)))] for name, change in CHANGES.items()
        }
    traces = {seq: str(turn.trace) for seq, turn in sorted(page.turns.place.items())}
    numbers = _numbers(traces)
    rows, turns = dict[str, list[Json]](), dict[str, list[Any]]()
    for row in page.rows:
        if row["is"] == "closed":  # it is of no turn
            continue
        rows.setdefault(traces[row["seq"]], []).append({**row, "seq": numbers[row["seq"]]})
    for one in page.turns:
        answered = None if one.answered is None else numbers[one.answered]
        said = ([numbers[seq] for seq in one.records], one.reason, one.answer, answered)
        became = page.turns.fate_of(one)
        turns.setdefault(str(one.trace), []).append((*said, one.approver, became))
    plans = {name: _by_trace(found, traces, numbers) for name, found in judged.items()}
    return Told(plans, rows, turns, judged, page)


def _numbers(traces: Mapping[int, str]) -> dict[int, int]:
    """Return the number of each record among those of its session."""
    counted = Counter[str]()
    numbers = {}
    for seq, trace in traces.items():
        counted[trace] += 1
        numbers[seq] = counted[trace]
    return numbers


def _by_trace(
    found: list[Compared], traces: Mapping[int, str], numbers: Mapping[int, int]
) -> dict[str, list[Any]]:
    plans = dict[str, list[Any]]()
    for one in found:
        assert not isinstance(one, NotAsked)
        said: tuple[Any, ...] = one[2:]
        if isinstance(one, JudgedPlan):
            said = (one.trace_id, one.direction, one.drifted, one.before.wire(), one.after.wire())
        plans.setdefault(traces[one.seq], []).append((numbers[one.seq], *said))
    return plans


def matrix_of(found: list[Compared]) -> Json:
    matrix = Matrix()
    for one in found:
        matrix.add(one)
    return matrix.wire()


def counts(pages: list[Collected]) -> list[Any]:
    """Return what pages count, together."""
    total = Counter[Any]()
    for page in pages:
        total.update({("answers", name): count for name, count in page.answers.items()})
        total.update({("fate", name): count for name, count in page.tallies.by_fate.items()})
        total.update({("kind", name): count for name, count in page.tallies.kinds.items()})
        for name, score in page.tallies.scores.items():
            total.update({("score", name, how): of for how, of in score.statuses.items()})
        for name, budget in page.tallies.budgets.items():
            total.update({("measured", name): budget.measured, ("over", name): budget.over})
        total.update(details=len(page.details.numbers()), turns=len(page.turns))
    return sorted(total.items(), key=str)


def columns_of(critic: Critic, log: Path) -> dict[str, Json]:
    """Return what the columns of a log count under each change of a setting."""
    file = log.with_suffix(".parquet")
    assert critic("log", "export", log, "--to", "parquet", "--plans", "-o", file).status == 0
    budget = "max_steps=2,bucket_tokens=400"
    changes = {"mode": ("--safety-mode", "read_only"), "budget": ("--budget", budget)}
    found = {}
    for name, options in changes.items():
        said = critic("what-if", file, *options, "--counts", "--format", "json")
        found[name] = json.loads(said.lines[-1])["what_if"]
    return found


@pytest.mark.slow
def test_a_log_of_two_sessions_says_what_the_logs_of_each_say(
    critic: Critic, tmp_path: Path
) -> None:
    MET.clear()
    made = 0

    @settings(
        max_examples=max(5, examples(20)),
        derandomize=examples(100) < 100,
        deadline=None,
        phases=[Phase.generate],  # to find a smaller log takes minutes
        suppress_health_check=[*HealthCheck],
    )
    @given(
        st.sampled_from(NAMES).flatmap(
            lambda names: st.tuples(*(sessions(one, says=at == 0) for at, one in enumerate(names)))
        ),
        st.lists(st.booleans(), min_size=8, max_size=20),
    )
    def check(both: tuple[list[Json], list[Json]], order: list[bool]) -> None:
        nonlocal made
        made += 1
        left = [[*reversed(one)] for one in both]
        mixed = [left[second].pop() for second in [*order, *[False, True] * 15] if left[second]]
        logs = [
            written(tmp_path / f"{made}-{name}.db", events)
            for name, events in (("both", mixed), ("first", both[0]), ("second", both[1]))
        ]
        whole, *parts = map(told, logs)
        _require_same(whole, parts)
        if made % 4 == 2:  # an export takes as long as all the rest
            _require_columns(critic, logs[0], whole)

    check()
    kinds = ("allowed", "tighter", "looser", "unchanged", "refused", "began", "yes", "no")
    assert min(MET[kind] for kind in kinds) >= 2, MET


def _require_same(whole: Told, parts: list[Told]) -> None:
    """Require that a log says of each session what its own log says, and counts all of it."""
    assert whole.rows == {**parts[0].rows, **parts[1].rows}
    assert whole.turns == {**parts[0].turns, **parts[1].turns}
    for name in CHANGES:
        assert whole.plans[name] == {**parts[0].plans[name], **parts[1].plans[name]}
        together = [one for part in parts for one in part.matrices[name]]
        assert matrix_of(whole.matrices[name]) == matrix_of(together)
        MET.update(one.direction for one in together if isinstance(one, JudgedPlan))
    assert counts([whole.page]) == counts([part.page for part in parts])
    MET.update(row["is"] for row in whole.page.rows)
    MET.update(turn.answer for turn in whole.page.turns if turn.answer is not None)


def _require_columns(critic: Critic, log: Path, whole: Told) -> None:
    for name, counted in columns_of(critic, log).items():
        assert counted == matrix_of(whole.matrices[name]), name
