"""A turn is counted once, by the most notable change of its plans, whatever records it has."""

import json
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from critic import Refused, RunContext, Verified, verify_proposal
from harness.log import SqlDecisionLog
from harness.record import Head, seal_record
from harness.replay.problems import Problems
from harness.replay.recheck import RecordedInputs
from harness.what_if.matrix import LeftOutTally, Matrix
from harness.what_if.recorded_change import Alteration
from harness.what_if.rejudging import JudgedPlan, NotAsked, NotJudged, PlanFinder, turn_id
from harness.what_if.turn_shifts import TurnShifts
from harness.wire import build
from tests.harness.console import Critic
from tests.harness.log.decisions import decision, judged, proposal
from tests.harness.log.guard_logs import write_guard_log
from tests.support.guarding import desk


def _refused(part: str, **members: Any) -> Refused:
    wire = proposal().wire()
    wire[part] |= members
    verdict = verify_proposal(build(type(proposal()), wire))
    assert isinstance(verdict, Refused)
    return verdict


OK, NO, ASK = (
    verify_proposal(proposal()),
    verify_proposal(proposal(pinned=False)),
    _refused("spec", approval_required_from="destructive"),
)
OTHER = _refused("ctx", run_budget={"max_steps": 0})


def rank(verdict: Verified | Refused) -> int:
    return (NO, ASK, OK).index(verdict)


def plan(
    seq: int, before: Verified | Refused, after: Verified | Refused, of: int = 7
) -> JudgedPlan:
    return JudgedPlan(seq, "t", 1, of, "s", None, before, after)


CHANGES = [(one, other) for one in (OK, ASK, NO) for other in (OK, ASK, NO)]


@pytest.mark.parametrize("pairs", [*product(CHANGES, repeat=2)])
def test_a_loosening_is_never_hidden_by_another_record_of_its_turn(pairs: Any) -> None:
    matrix, turns = Matrix(), TurnShifts()
    for seq, (before, after) in enumerate(pairs, start=1):
        matrix.add(plan(seq, before, after))
        turns.add(plan(seq, before, after))
    is_looser = any(rank(after) > rank(before) for before, after in pairs)
    is_tighter = not is_looser and any(rank(after) < rank(before) for before, after in pairs)
    expected = "looser" if is_looser else "tighter" if is_tighter else "unchanged"
    assert matrix.judged == 1
    assert {name: count for name, count in matrix.directions.items() if count} == {expected: 1}
    assert [one.direction for one, _ in turns.shifted_turns()] == [expected] * (
        expected != "unchanged"
    )
    assert all([one.seq for one in turn.plans] == [1, 2] for _, turn in turns.shifted_turns())
    assert sum(cell["turns"] for cell in matrix.wire()["matrix"]) == 1


VERDICTS = (OK, ASK, NO, OTHER)
NOTABLE = ("unchanged", "other", "tighter", "looser")


@given(st.lists(st.tuples(st.integers(1, 2), *[st.sampled_from(VERDICTS)] * 2), max_size=6))
@example([(1, OK, ASK), (1, OK, NO), (1, OK, OTHER)])
@example([(1, NO, OK), (2, NO, NO), (1, ASK, OK), (2, OTHER, OTHER)])
@example([(1, NO, OTHER), (1, OK, OK), (1, NO, NO)])
def test_a_table_and_a_list_tell_the_last_of_the_most_notable_plans_of_each_turn(
    told: list[tuple[int, Any, Any]],
) -> None:
    matrix, turns = Matrix(), TurnShifts()
    by_turn: dict[int, list[JudgedPlan]] = {}
    for seq, (of, before, after) in enumerate(told, start=1):
        one = plan(seq, before, after, of)
        by_turn.setdefault(of, []).append(one)
        matrix.add(one)
        turns.add(one)
    counted = [
        max(plans, key=lambda one: (NOTABLE.index(one.direction), one.seq))
        for plans in by_turn.values()
    ]
    assert [one for one, _ in turns.shifted_turns()] == [
        one for one in counted if one.direction != "unchanged"
    ]
    cells = Counter((_answer(one.before), _answer(one.after)) for one in counted)
    table = matrix.wire()["matrix"]
    assert cells == {
        tuple((cell[side], f"{side}_asks" in cell) for side in ("before", "after")): cell["turns"]
        for cell in table
    }
    assert len(table) == len(cells)
    for side in (0, 1):
        assert {(one.kind, one.asks) for one in matrix.answers(side)} == {
            cell[side] for cell in cells
        }


def _answer(verdict: Verified | Refused) -> tuple[str, bool]:
    return ("ok", False) if isinstance(verdict, Verified) else (verdict.kind, verdict.approvable)


@pytest.mark.parametrize("counts", [(), (1,), (4, 2)])
def test_each_record_that_is_not_judged_is_counted(counts: tuple[int, ...]) -> None:
    matrix = Matrix()
    for count in counts:
        matrix.add(LeftOutTally(count))
        matrix.add(NotJudged(1, count, "incomplete", ("gone",)))
        matrix.add(NotJudged(1, count, "tampered", ("altered",)))
        matrix.add(NotJudged(1, count, "redacted", ("taken",)))
        matrix.add(NotAsked(7))
    total = sum(counts)
    assert (matrix.left_out, matrix.unjudged) == (total + len(counts), 3 * total)
    assert (matrix.damaged, matrix.judged) == (2 * total, 0)


@pytest.mark.parametrize("drifts", [*product([True, False], repeat=3)])
@pytest.mark.parametrize("pair", [(OK, OK), (NO, OK), (OK, NO)])
def test_a_turn_has_drifted_if_any_of_its_plans_has(drifts: tuple[bool, ...], pair: Any) -> None:
    matrix, turns = Matrix(), TurnShifts()
    for seq, drifted in enumerate(drifts, start=1):
        one = plan(seq, *pair)._replace(drifted=drifted)
        matrix.add(one)
        turns.add(one)
    assert (matrix.judged, matrix.drifted) == (1, int(any(drifts)))
    shown = [turn.drifted for _, turn in turns.shifted_turns()]
    assert shown == [any(drifts)] * (any(drifts) or pair[0] is not pair[1])


IDS = [
    ("t", 1, "p"),
    ("t", 2, "p"),
    ("t", None, "p"),
    ("t", 1, "q"),
    ("u", 1, "p"),
    ("t1", 1, "p"),
]


def test_turns_have_one_number_where_trace_turn_and_plan_are_the_same() -> None:
    numbers = {}
    for trace, turn, of in (*IDS, *IDS):
        session = {} if turn is None else {"session": {"id": trace, "turn": turn}}
        wire = {"trace_id": trace, "safety_mode": "read_only", **session}
        numbers[trace, turn, of] = turn_id(build(RunContext, wire), of)
    assert len({*numbers.values()}) == len(IDS)
    assert all(0 <= number < 2**63 for number in numbers.values())


@pytest.mark.parametrize("key", [None, "refund", "other"])
def test_what_cannot_be_read_is_of_no_other_decision(key: str | None) -> None:
    """It may be of the one that is asked for, so it is named, and nothing passes by it."""
    finder = PlanFinder(Alteration(), key)
    for lost in (Problems(redacted=["gone"]), Problems(tampered=["altered"])):
        (found,) = finder(RecordedInputs(3, None, None, lost))
        assert isinstance(found, NotJudged)
    given = decision()
    sealed = seal_record(given.snapshot, Head(2, "a" * 64)).record
    whole = RecordedInputs(3, sealed, given.proposal, Problems(), given.report)
    (one,) = finder(whole)
    assert isinstance(one, JudgedPlan if key != "other" else NotAsked)


@pytest.fixture(scope="module")
def guard_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("turns") / "log.db"
    write_guard_log(path)
    return path


def turns_in(path: Path) -> dict[tuple[Any, ...], list[int]]:
    """Return the records of each turn that has a plan, read by the database itself."""
    turns = defaultdict(list)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT seq, trace, turn, plan FROM record_index WHERE plan IS NOT NULL ORDER BY seq"
        )
        for seq, *key in rows:
            turns[tuple(key)].append(seq)
    return turns


OPTIONS = "--allow-unjudged", "--allow-loosening", "--format", "json"


@pytest.mark.slow
@pytest.mark.parametrize("is_strict", [True, False], ids=["a policy", "a budget"])
def test_the_turns_of_a_guard_are_counted_once(
    critic: Critic, guard_log: Path, tmp_path: Path, is_strict: bool
) -> None:
    changed = tmp_path / "policy.json"
    changed.write_text(json.dumps(desk(safety_mode="read_only")))
    change = ("--policy", changed) if is_strict else ("--budget", "max_steps=0")
    said = critic("what-if", guard_log, *change, *OPTIONS)
    assert said.status == 0, said
    *shown, last = map(json.loads, said.lines)
    turns, counts = turns_in(guard_log), last["what_if"]
    assert counts["judged"] == len(turns) < sum(map(len, turns.values()))
    assert counts["tighter"] > 3
    named = [one for one in shown if "change" in one]
    keys = [(one["trace_id"], one["turn"]) for one in named]
    assert len(keys) == len({*keys}) == counts["tighter"] + counts["looser"] + counts["other"]
    of_turn = {key[:2]: records for key, records in turns.items()}
    for one in named:
        records = [each["seq"] for each in one["records"]]
        assert {*records} <= {*of_turn[one["trace_id"], one["turn"]]}
    file = tmp_path / "log.parquet"
    critic("log", "export", guard_log, "--to", "parquet", "--plans", "-o", file)
    assert critic("what-if", file, *change, *OPTIONS) == said
    counted = critic("what-if", file, *change, *OPTIONS, "--counts")
    assert json.loads(counted.lines[-1]) == last


def test_a_question_that_is_not_asked_any_more_is_a_loosening(
    critic: Critic, tmp_path: Path
) -> None:
    """The person said yes, so its last record is ok before and after."""
    log, changed = tmp_path / "log.db", tmp_path / "policy.json"
    write_guard_log(log)
    free = desk()
    free["tool"] = [{**tool, "approval_mode": "read_only"} for tool in free["tool"]]
    del free["spec"]["provenance"]
    changed.write_text(json.dumps(free))
    said = critic("what-if", log, "--policy", changed, "--format", "json", "--allow-unjudged")
    shown = [json.loads(line) for line in said.lines[:-1]]
    ways = [[one["change"] for one in turn["records"]] for turn in shown if "records" in turn]
    assert said.status == 1
    assert any(way[0] == "looser" and way[-1] == "unchanged" for way in ways)


def test_records_of_one_plan_in_two_traces_are_two_turns(tmp_path: Path, critic: Critic) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        log.append_all([decision(1), decision(1, minutes=2), decision(2)])
        wire = proposal(1).wire()
        wire["plan"]["steps"] = wire["plan"]["steps"][:1]
        log.append(judged(build(type(proposal()), wire)))  # another plan in the first trace
    said = critic("what-if", tmp_path / "log.db", "--safety-mode", "destructive")
    assert said.lines[-1].startswith("3 turns judged: 3 unchanged")
