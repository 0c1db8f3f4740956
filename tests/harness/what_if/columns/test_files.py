"""A file is judged as the log that it was made of, and what is not such a file is refused."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from critic.consolidate import consolidate
from critic.verify import verify_proposal
from evals.plan import Proposal
from harness.log.sql import SqlDecisionLog
from harness.record import Decision
from harness.what_if.columns.column_judging import PlanJudge
from harness.what_if.columns.column_reading import PlanFile, PlansUnusable
from harness.what_if.columns.column_writing import ROWS, writer_options
from harness.what_if.columns.plan_columns import COLUMNS, FORMAT_KEY, LAST_KEY, RULES_KEY, PlanRow
from harness.what_if.matrix import Matrix
from harness.what_if.recorded_change import Alteration
from harness.wire import build
from tests.harness.commands.what_if.test_what_if import policy
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import NOON, judged, meddle, proposal
from tests.harness.log.search.searched import varied
from tests.harness.replay.forging import forged
from tests.harness.replay.test_replay import revised
from tests.harness.what_if.columns.drawn import World
from tests.harness.what_if.columns.plan_files import recorded, write_plans
from tests.support.effort import sampled, sampled_rows
from tests.support.examples import is_safe
from tests.support.guarding import answers_to, guard_of, streams

__all__ = ["revised"]

STREAMS = [case for name in ("desk", "refunds") for case in streams(name)]


def exported(critic: Critic, log: Path, *options: str, status: int = 0) -> Path:
    path = log.with_suffix(".parquet")
    said = critic("log", "export", log, "--to", "parquet", "--plans", "-o", path, *options)
    assert said.status == status, said
    return path


def _changed(log: Path) -> Path:
    """Add decisions that other changes touch: approvals, attempts, another spec, drift."""
    with varied(log) as filled:
        wire = proposal(40).wire()
        wire["spec"] |= {"id": "another", "approval_required_from": "destructive"}
        filled.append(judged(build(type(proposal()), wire)))
        wire["ctx"]["approvals"] = [
            {"approval_id": "a", "approver": "ada", "plan_digest": "0" * 64}
        ]
        filled.append(judged(build(type(proposal()), wire)))
        wire["ctx"]["as_of"] = "2031-01-01T00:00:00Z"
        wire["spec"]["required_outputs"] = [f"output_{number}" for number in range(60)]
        filled.append(judged(build(type(proposal()), wire)))
    return log


def _same(critic: Critic, log: Path, file: Path, *options: str | Path) -> Said:
    """Return what is said of a log, which is also said of its export."""
    said = critic("what-if", log, *options)
    assert critic("what-if", file, *options) == said
    return said


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return _changed(tmp_path / "audit.db")


OPTIONS: list[tuple[str, ...]] = [
    ("--safety-mode", "network"),
    ("--safety-mode", "destructive"),
    ("--budget", "max_steps=1"),
    ("--budget", "bucket_tokens=1", "--format", "json"),
    ("--policy", "POLICY"),
    ("--policy", "POLICY", "--evidence", "policy", "--format", "json"),
    ("--policy", "POLICY", "--decision", "refund"),
    ("--safety-mode", "network", "--decision", "another"),
    ("--policy", "POLICY", "--allow-loosening", "--allow-unjudged"),
]


@pytest.mark.slow
@pytest.mark.parametrize("options", sampled(OPTIONS, one_in=4), ids=" ".join)
def test_the_same_is_said_of_a_log_and_of_its_export(
    critic: Critic, log: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    spec = {**proposal().wire()["spec"], "approval_required_from": "network"}
    given = policy(tmp_path, spec=spec)
    named = [given if one == "POLICY" else one for one in options]
    said = _same(critic, log, exported(critic, log), *named)
    assert said.status in (0, 1)
    assert "judged" in said.lines[-1]
    counted = critic("what-if", exported_before(log), *named, "--counts")
    assert counted.status == said.status
    assert counted.lines[-1] == said.lines[-1]
    assert counted == critic("what-if", log, *named, "--counts")


def exported_before(log: Path) -> Path:
    return log.with_suffix(".parquet")


def test_plans_that_were_tried_before_are_judged_with_their_record(
    critic: Critic, revised: Path
) -> None:
    file = exported(critic, revised)
    said = _same(critic, revised, file, "--safety-mode", "read_only")
    assert "attempt 1" in said.out
    table = pyarrow.parquet.read_table(file)
    rows = table.select(["seq", "attempt"]).to_pylist()
    decisions = [row["seq"] for row in rows if row["attempt"] is None]
    assert len(rows) > len(decisions)
    assert decisions == list(dict.fromkeys(row["seq"] for row in rows))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", sampled(STREAMS, one_in=12), ids=lambda case: case["name"])
def test_the_turns_of_sessions_are_judged_as_in_the_log(
    critic: Critic, tmp_path: Path, case: dict[str, Any]
) -> None:
    log = tmp_path / "audit.db"
    with SqlDecisionLog.open(log) as opened:
        answers_to(guard_of(case["policy"], log=opened), case["events"])
    wire = json.loads(json.dumps(case["policy"]))
    wire["guard"]["safety_mode"] = "local_write"
    (tmp_path / "policy.json").write_text(json.dumps(wire))
    file = exported(critic, log)
    _same(critic, log, file, "--policy", tmp_path / "policy.json")
    _same(critic, log, file, "--safety-mode", "read_only")


def _allowed(refused: Proposal) -> Decision:
    """Return a decision that lets a plan pass, which the present rules refuse."""
    report = consolidate(
        trace_id=refused.ctx.trace_id,
        decision_key=refused.spec.id,
        verify=verify_proposal(proposal(40)),
        score=None,
        decided_at=NOON,
    )
    return Decision(proposal=refused, report=report, action="refuse")


def test_a_log_of_older_rules_drifts_as_its_export_does(critic: Critic, tmp_path: Path) -> None:
    log = tmp_path / "old.db"
    with varied(log) as filled:
        seq = filled.append(_allowed(proposal(40, pinned=False))).seq
    forged(log, seq, lambda record: record.update(ruleset_version="1"))
    file = exported(critic, log)
    said = _same(critic, log, file, "--safety-mode", "destructive")
    assert "  drift: it was recorded under other rules, which gave another verdict" in said.lines
    counted = _same(critic, log, file, "--safety-mode", "destructive", "--counts")
    assert counted.lines[-1] == said.lines[-1]
    assert "recorded under other rules" in counted.lines[-1]


def test_what_cannot_be_judged_in_the_log_is_named_for_its_export(
    critic: Critic, log: Path
) -> None:
    meddle(
        log,
        ("DELETE FROM records WHERE seq IN (2, 3)", ()),
        ("UPDATE records SET body = replace(body, 'trace_5', 'trace_6') WHERE seq = 5", ()),
    )
    said = _same(critic, log, exported(critic, log, status=1), "--safety-mode", "network")
    assert said.status == 1
    assert "records 2 to 3: not judged: incomplete" in said.lines
    assert "record 5: not judged: tampered" in said.lines
    assert any(line.startswith("the log is damaged: ") for line in said.lines)


def test_an_export_of_some_records_holds_the_plans_of_these(critic: Critic, log: Path) -> None:
    file = exported(critic, log, "--status", "refused_by_critic")
    said = critic("what-if", file, "--safety-mode", "destructive")
    count = len({*pyarrow.parquet.read_table(file)["turn_id"].to_pylist()})
    assert said.lines[-1].startswith(f"{count} turns judged")
    note = "note: the export has only the records of its log that were asked for"
    assert note in said.lines
    file.unlink()
    assert note not in critic("what-if", exported(critic, log), "--safety-mode", "network").lines


def test_a_decision_that_no_record_has_does_not_pass(critic: Critic, log: Path) -> None:
    command = "--safety-mode", "network", "--decision", "refnud", "--allow-unjudged", "--counts"
    for file in (log, exported(critic, log)):
        said = critic("what-if", file, *command)
        assert (said.status, said.out) == (2, "")
        assert "--decision refnud: no plan is of this decision" in said.err


def test_an_export_without_plans_has_none_of_their_arguments(critic: Critic, log: Path) -> None:
    path = log.with_suffix(".parquet")
    assert critic("log", "export", log, "--to", "parquet", "-o", path).status == 0
    assert not {*COLUMNS} & {*pyarrow.parquet.read_schema(path).names}
    said = critic("what-if", path, "--safety-mode", "network")
    assert (said.status, said.out) == (2, "")
    assert "it holds no plans: `critic log export LOG --to parquet --plans` writes them" in said.err


def test_events_have_no_plans_beside_their_inputs(critic: Critic, log: Path) -> None:
    said = critic("log", "export", log, "--to", "opa", "--plans", "-o", "-")
    assert (said.status, said.out) == (2, "")
    assert "--plans goes with --to parquet" in said.err


def test_the_columns_are_those_of_a_row() -> None:
    assert tuple(COLUMNS) == PlanRow._fields


def test_a_fault_of_the_columns_lets_nothing_pass(
    critic: Critic, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = exported(critic, log)
    monkeypatch.setattr("harness.what_if.columns.column_facts._bit", lambda *_: 1 << 1)
    said = critic("what-if", file, "--safety-mode", "destructive")
    assert said.status == 1
    assert "its columns and the rules give different answers" in said.out


def test_without_numpy_it_is_said_what_is_needed(
    critic: Critic, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = exported(critic, log)
    for name in [name for name in sys.modules if name.startswith("harness.what_if.columns.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    said = critic("what-if", file, "--safety-mode", "network")
    assert (said.status, said.out) == (2, "")
    assert "pip install 'plan-critic[columnar]'" in said.err


# --- what is not such a file --------------------------------------------------------------------


def _rewritten(file: Path, change: Callable[[Any], Any]) -> None:
    table = change(pyarrow.parquet.read_table(file))
    pyarrow.parquet.write_table(table, file)


def _about(name: str, value: str) -> Callable[[Any], Any]:
    return lambda table: table.replace_schema_metadata(
        {**table.schema.metadata, name.encode(): value.encode()}
    )


SPOILT: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a newer version": (_about(FORMAT_KEY, "3"), "its plans are in format 3, and this version"),
    "other rules": (_about(RULES_KEY, "0" * 64), "were judged by other rules than are installed"),
    "a check that is none": (_about("plan-critic.check", "{"), "plan-critic.check in its metadata"),
    "a last record that is none": (
        _about(LAST_KEY, "9" * 5000),
        "plan-critic.last in its metadata",
    ),
    "a last record of letters": (_about(LAST_KEY, "abc"), "plan-critic.last in its metadata"),
    "a column too few": (lambda one: one.drop_columns(["spec"]), "column spec is not as this"),
    "another type": (
        lambda one: one.set_column(
            one.schema.get_field_index("as_of_us"), "as_of_us", one["as_of"]
        ),
        "column as_of_us is not as this",
    ),
    "an answer that is none": (
        lambda one: one.set_column(
            one.schema.get_field_index("answer"),
            "answer",
            pyarrow.array(["sure"] * len(one)).dictionary_encode(),
        ),
        "an answer is sure",
    ),
    "a position that is none": (
        lambda one: one.set_column(
            one.schema.get_field_index("repeated_calls"),
            "repeated_calls",
            pyarrow.array([[99]] * len(one), pyarrow.list_(pyarrow.int32())),
        ),
        "out of its range",
    ),
    "a reason that is none": (
        lambda one: one.set_column(
            one.schema.get_field_index("not_judged"),
            "not_judged",
            pyarrow.array(["fine"] * len(one)).dictionary_encode(),
        ),
        "not judged for fine",
    ),
    "a plan without a spec": (
        lambda one: one.set_column(
            one.schema.get_field_index("spec"),
            "spec",
            pyarrow.array([None] * len(one), one.schema.field("spec").type),
        ),
        "a plan has no spec",
    ),
    "a plan without an answer": (
        lambda one: one.set_column(
            one.schema.get_field_index("answer"),
            "answer",
            pyarrow.array([None] * len(one), one.schema.field("answer").type),
        ),
        "a row has a ctx and no answer",
    ),
    "missing records that end before they begin": (
        lambda one: one.set_column(
            one.schema.get_field_index("not_judged"),
            "not_judged",
            pyarrow.array(["incomplete"] * len(one)).dictionary_encode(),
        ).set_column(one.schema.get_field_index("upto"), "upto", pyarrow.array([0] * len(one))),
        "a row of missing records ends before it begins",
    ),
    "a row without a list of reasons": (
        lambda one: one.set_column(
            one.schema.get_field_index("why"),
            "why",
            pyarrow.array([None] * len(one), one.schema.field("why").type),
        ),
        "a row has nothing where a list belongs",
    ),
    "a context that is none": (
        lambda one: one.set_column(
            one.schema.get_field_index("ctx"),
            "ctx",
            pyarrow.array(["[]"] * len(one)).dictionary_encode(),
        ),
        "damaged",
    ),
}


@pytest.mark.parametrize(("change", "line"), sampled_rows(SPOILT.values(), one_in=3), ids=SPOILT)
def test_another_file_is_refused_with_the_reason(
    critic: Critic, log: Path, change: Callable[[Any], Any], line: str
) -> None:
    file = exported(critic, log)
    _rewritten(file, change)
    said = critic("what-if", file, "--safety-mode", "network")
    assert (said.status, said.out) == (2, "")
    assert line in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("place", [0, 4, -1])
def test_a_file_without_a_record_of_its_log_is_refused(
    critic: Critic, log: Path, place: int
) -> None:
    file = exported(critic, log)
    _rewritten(file, lambda one: one.filter(pyarrow.array(_all_but(one, place))))
    for options in ((), ("--counts",)):
        said = critic("what-if", file, "--safety-mode", "network", *options)
        assert said.status == 2
        assert "it lacks records of its log: export the log again" in said.err
        assert "turns judged:" not in said.out


def _all_but(table: Any, place: int) -> list[bool]:
    numbers = table["seq"].to_pylist()
    return [number != numbers[place] for number in numbers]


def test_what_a_hostile_file_says_is_printed_without_harm(critic: Critic, log: Path) -> None:
    file, evil = exported(critic, log), "\x1b[31m\nlooser"
    check = json.dumps({"damage": [evil], "notes": []})

    def hostile(table: Any) -> Any:
        at = table.schema.get_field_index("why")
        why = pyarrow.array([[evil]] * len(table), pyarrow.list_(pyarrow.string()))
        return _about("plan-critic.check", check)(table.set_column(at, "why", why))

    _rewritten(file, hostile)
    said = critic("what-if", file, "--safety-mode", "network")
    assert said.status == 1
    assert "looser" in said.out
    assert all(map(is_safe, said.lines))
    assert not any(line.startswith("looser") for line in said.lines)


def test_a_parquet_file_of_others_is_refused(critic: Critic, tmp_path: Path) -> None:
    file = tmp_path / "other.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"seq": [1]}), file)
    said = critic("what-if", file, "--safety-mode", "network")
    assert (said.status, said.out) == (2, "")
    assert "it holds no plans" in said.err


def test_a_file_that_is_cut_off_is_refused(critic: Critic, log: Path) -> None:
    file = exported(critic, log)
    whole = file.read_bytes()
    for length in (4, 8, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        said = critic("what-if", file, "--safety-mode", "network")
        assert (said.status, said.out) == (2, "")
        assert "it is damaged or cut off: export the log again" in said.err


def _few(folder: Path) -> Path:
    path = folder / "few.parquet"
    write_plans(path, recorded(World(Random(5)).proposals(12)))  # noqa: S311
    return path


def _told(path: Path) -> tuple[Any, ...]:
    matrix, shown = Matrix(), []
    for one in PlanJudge(Alteration(safety_mode="network")).compare_file(PlanFile(path)):
        matrix.add(one)
        shown.append(one)
    return matrix.wire(), shown


@pytest.mark.slow
def test_a_changed_byte_never_gives_another_answer(tmp_path: Path) -> None:
    """All over the file, and at each place that counts its rows."""
    path = _few(tmp_path)
    whole, expected, refused = path.read_bytes(), _told(path), 0
    counts = [found.start() for found in re.finditer(b"\x16[\x18\x08]", whole[-9000:])]
    places = {*range(4, len(whole), 97), *(len(whole) - 9000 + one + 1 for one in counts)}
    for place in sorted(places):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(bytes(damaged))
        try:
            assert _told(path) == expected, place
        except PlansUnusable:
            refused += 1
    assert 30 < refused < len(places)


def test_groups_are_small_enough_for_a_processor() -> None:
    assert ROWS <= 2**16
    assert writer_options()["write_page_checksum"] is True


def test_a_long_plan_is_left_to_the_rules(critic: Critic, tmp_path: Path) -> None:
    wire = proposal().wire()
    wire["plan"]["steps"] = [{"kind": "reason"}] * 600
    log = tmp_path / "audit.db"
    with SqlDecisionLog.open(log) as opened:
        opened.append(judged(build(type(proposal()), wire)))
    said = _same(critic, log, exported(critic, log), "--budget", "max_steps=1")
    assert re.match("1 turn judged", said.lines[-1])
