"""`critic run` into a log, and `critic replay` of what is in it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.log.log_errors import LogFull
from harness.log.sql import SqlDecisionLog
from harness.record import RawRecord
from harness.replay.engine import replay
from harness.runtime.executors import foreign_transcript
from harness.testing.strategies import seeded_edge_run
from tests.harness.commands.lines import GOOD, REFUSED
from tests.harness.console import Critic
from tests.harness.log.decisions import LogPlace, filled, meddle, put_body
from tests.support.examples import PLAN_A, PLAN_B, PLAN_B_RUN, good_run, is_safe

NOON = "2026-05-09T12:00:00Z"
ALL_SAME = "{0} records: {0} same, 0 drift, 0 tampered, 0 incomplete"


def replays(critic: Critic, place: LogPlace, count: int) -> bool:
    """Return whether a replay finds all records of a log as they were recorded."""
    said = critic("replay", place)
    expected = ALL_SAME.format(count).replace("1 records", "1 record")
    return (said.status, said.lines[-1], said.err) == (0, expected, "")


def rows(path: LogPlace) -> list[RawRecord]:
    with SqlDecisionLog.open_for_reading(path) as log:
        return list(log.raw())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


def test_a_run_goes_through_the_whole_pipeline(critic: Critic, place: LogPlace) -> None:
    said = critic("run", PLAN_B_RUN, "--log", place)
    assert said == (0, f"{PLAN_B_RUN}: record 1: completed: verify and score passed\n", "")
    assert replays(critic, place, 1)


def test_a_proposal_alone_is_a_dry_run(critic: Critic, place: LogPlace) -> None:
    said = critic("run", PLAN_B, PLAN_A, "--log", place)
    assert (said.status, said.err) == (1, "")
    assert said.lines[0] == f"{PLAN_B}: record 1: partial: verify passed; no score (no execution)"
    assert said.lines[1].startswith(
        f"{PLAN_A}: record 2: refused_by_critic: verify failed: missing_evidence "
    )
    assert replays(critic, place, 2)


def test_a_run_that_score_refuses(critic: Critic, place: LogPlace) -> None:
    wire = good_run()
    wire["calls"].reverse()
    said = critic("run", "-", "--log", place, stdin=json.dumps(wire).encode())
    assert said.status == 1
    assert said.out.startswith("standard input: record 1: refused_by_critic: policy fail: ")


def test_the_run_of_a_refused_plan_keeps_its_calls(critic: Critic, place: LogPlace) -> None:
    wire = good_run()
    wire["proposal"] = json.loads(REFUSED)
    said = critic("run", "-", "--log", place, stdin=json.dumps(wire).encode())
    assert said.status == 1
    (record,) = [json.loads(row.body) for row in rows(place)]
    assert [call["status"] for call in record["run"]["calls"]] == ["completed", "completed"]
    assert record["run"]["outputs"] == wire["outputs"]
    assert record["report"]["refused_at"] == "verify"
    assert "score" not in record["report"]
    said = critic("replay", place)
    assert (said.status, said.lines[1]) == (1, "  note: a plan that was not allowed has a run")
    assert "ran although refused" in said.out.replace("_", " ")


def test_lines_are_recorded_in_their_order_and_a_bad_one_is_left_out(
    critic: Critic, log: Path
) -> None:
    run = PLAN_B_RUN.read_bytes().replace(b"\n", b"")
    lines = [run, b"{", GOOD, b"", b'{"proposal":5}', REFUSED, run]
    said = critic("run", "--lines", "-", "--log", log, stdin=b"\n".join(lines))
    assert said.status == 2
    assert [line.split(": ")[:3] for line in said.lines] == [
        ["standard input line 1", "record 1", "completed"],
        ["standard input line 3", "record 2", "partial"],
        ["standard input line 6", "record 3", "refused_by_critic"],
        ["standard input line 7", "record 4", "completed"],
    ]
    told = said.err.splitlines()
    assert [line.split(": ")[:2] for line in told] == [
        [f"standard input line {number}", "invalid input"] for number in (2, 5)
    ]
    assert replays(critic, log, 4)


def test_a_log_is_appended_to(critic: Critic, log: Path) -> None:
    critic("run", PLAN_B_RUN, "--log", log)
    before = rows(log)
    said = critic("run", PLAN_B_RUN, "--log", log)
    assert ": record 2: " in said.out
    assert rows(log)[:1] == before


def test_with_a_fixed_time_two_logs_are_the_same_bytes(critic: Critic, tmp_path: Path) -> None:
    drawn = [seeded_edge_run(seed) for seed in range(60)]
    own = [run for run in drawn if foreign_transcript(run) is None][:12]
    runs = [json.dumps(run.wire()).encode() for run in own]
    document = b"\n".join([*runs, GOOD, REFUSED, PLAN_B_RUN.read_bytes().replace(b"\n", b"")])
    logs = [tmp_path / name for name in ("one.db", "other.db")]
    answers = {
        critic("run", "--lines", "-", "--log", log, "--decided-at", NOON, stdin=document)
        for log in logs
    }
    assert len(answers) == 1
    assert rows(logs[0]) == rows(logs[1])
    assert len(rows(logs[0])) == 15
    times = {
        record["report"]["decided_at"] for record in (json.loads(row.body) for row in rows(logs[0]))
    }
    assert times == {NOON}
    said = critic("replay", logs[0])
    assert said.err == ""
    assert said.status == 1  # plans that were refused ran in what was drawn
    assert said.lines[-1] == ALL_SAME.format(15)


def test_one_instant_has_one_spelling_in_the_log(critic: Critic, tmp_path: Path) -> None:
    for name, time in (("one.db", NOON), ("other.db", "2026-05-09t14:00:00.000+02:00")):
        critic("run", PLAN_B_RUN, "--log", tmp_path / name, "--decided-at", time)
    assert rows(tmp_path / "one.db") == rows(tmp_path / "other.db")


@pytest.mark.parametrize("time", ["", "now", "2026-05-09", "2026-05-09T12:00:00", "\x1b[2J"])
def test_a_time_that_is_none_records_nothing(critic: Critic, log: Path, time: str) -> None:
    said = critic("run", PLAN_B_RUN, "--log", log, "--decided-at", time)
    assert (said.status, said.out) == (2, "")
    assert said.err == (
        "critic: --decided-at: not an RFC 3339 time with a zone, such as 2026-05-09T09:30:00Z\n"
    )
    assert not log.exists()


@pytest.mark.parametrize("data", [b"", b"5", b"[]", b"{}", b'{"proposal":{}}', b"\xff"])
def test_what_is_neither_run_nor_proposal(critic: Critic, log: Path, data: bytes) -> None:
    said = critic("run", "-", "--log", log, stdin=data)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("standard input: invalid input: ")
    assert not log.exists()


def test_a_file_that_is_missing_leaves_no_empty_log(critic: Critic, log: Path) -> None:
    said = critic("run", log.with_name("missing.json"), "--log", log)
    assert (said.status, said.out) == (2, "")
    assert said.err.endswith("missing.json: invalid input: the document: no such file\n")
    assert not log.exists()


@pytest.mark.parametrize("name", ["trace_id", "run_id"])
def test_the_transcript_of_another_trace_or_run_is_invalid_input(
    critic: Critic, log: Path, name: str
) -> None:
    wire = {**good_run(), name: "other"}
    said = critic("run", "-", "--log", log, stdin=json.dumps(wire).encode())
    own = wire["proposal"]["ctx"][name]
    assert (said.status, said.out) == (2, "")
    assert said.err == (
        f"standard input: invalid input: /{name}: the transcript is of {name[:-3]} other, "
        f"not of {own}: record it with the proposal that it ran\n"
    )
    assert not log.exists()


def test_a_transcript_without_wall_time_is_recorded_without(critic: Critic, log: Path) -> None:
    wire = good_run()
    del wire["wall_ms"]
    critic("run", "-", "--log", log, stdin=json.dumps(wire).encode())
    (record,) = [json.loads(row.body) for row in rows(log)]
    assert "wall_ms" not in record["run"]
    latency = record["report"]["score"]["scorecard"]["scores"]["latency"]
    assert (latency["status"], latency["score"]) == ("warn", 0.0)


def test_a_document_over_the_limit_is_not_recorded(critic: Critic, log: Path) -> None:
    said = critic("run", PLAN_B_RUN, "--log", log, "--max-bytes", "100")
    assert (said.status, said.out) == (2, "")
    assert "over the limit of 100 bytes" in said.err


# --- logs that cannot be used -----------------------------------------------------------------


def test_a_file_that_is_not_a_log_is_left_alone(critic: Critic, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("my notes\n" * 50)
    for args in (("run", PLAN_B_RUN, "--log", other), ("replay", other), ("log", "list", other)):
        said = critic(*args)
        assert (said.status, said.out) == (2, "")
        assert said.err.startswith("critic: ")
        assert "not a decision log: choose another file" in said.err
    assert other.read_text() == "my notes\n" * 50


def test_a_folder_that_is_not_there(critic: Critic, tmp_path: Path) -> None:
    said = critic("run", PLAN_B_RUN, "--log", tmp_path / "no" / "audit.db")
    assert (said.status, said.out) == (2, "")
    assert "no such folder" in said.err


def test_a_log_that_is_not_there_is_not_made(critic: Critic, log: Path) -> None:
    for args in (("replay",), ("log", "list"), ("log", "verify"), ("log", "show")):
        said = critic(*args, log, *(["1"] if args[-1] == "show" else []))
        assert (said.status, said.out) == (2, "")
        assert "no such file: check the path" in said.err
    assert not log.exists()


def test_a_log_that_takes_no_more_is_reported_in_its_own_words(
    critic: Critic, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: Any) -> None:
        raise LogFull("audit.db: no space is left, nothing was acknowledged")

    monkeypatch.setattr(SqlDecisionLog, "append", full)
    said = critic("run", PLAN_B_RUN, "--log", log)
    assert (said.status, said.out) == (2, "")
    assert "no space is left, nothing was acknowledged" in said.err
    assert "internal error" not in said.err
    assert said.err.count("\n") == 1


# --- replay -----------------------------------------------------------------------------------


def test_replay_as_json_is_one_answer_for_each_record(critic: Critic, log: Path) -> None:
    filled(log, 6).close()
    said = critic("replay", log, "--format", "json")
    assert (said.status, said.err) == (0, "")
    *answers, last = [json.loads(line) for line in said.lines]
    assert [(answer["seq"], answer["status"]) for answer in answers] == [
        (seq, "same") for seq in range(1, 7)
    ]
    with SqlDecisionLog.open_for_reading(log) as kept:
        assert answers == [answer.wire() for answer in replay(kept)]
        head = kept.head()
    assert last == {"head": f"{head.seq}:{head.hash}"}


def test_an_empty_log_holds_nothing_that_differs(critic: Critic, log: Path) -> None:
    SqlDecisionLog.open(log).close()
    assert replays(critic, log, 0)
    empty = json.dumps({"head": f"0:{'0' * 64}"}, separators=(",", ":"))
    assert critic("replay", log, "--format", "json") == (0, f"{empty}\n", "")


def tampered(log: Path, seq: int) -> None:
    body = rows(log)[seq - 1].body
    put_body(log, seq, body.replace(b'"status":"refused_by_critic"', b'"status":"completed"'))


def test_a_record_that_was_altered_is_reported_with_what_and_where(
    critic: Critic, log: Path
) -> None:
    filled(log, 5, kinds=("refused",)).close()
    tampered(log, 3)
    said = critic("replay", log)
    assert (said.status, said.err) == (1, "")
    assert said.lines[0] == "record 3: tampered"
    assert said.lines[-1] == "5 records: 4 same, 0 drift, 1 tampered, 0 incomplete"
    *answers, check, _ = map(json.loads, critic("replay", log, "--format", "json").lines)
    statuses = [answer["status"] for answer in answers]
    assert statuses == ["same", "same", "tampered", "same", "same"]
    assert "index" in check["log"]["damage"][0]


def test_a_record_that_was_taken_out_is_missed(critic: Critic, log: Path) -> None:
    filled(log, 5).close()
    meddle(log, ("DELETE FROM records WHERE seq IN (2, 3)", ()))
    said = critic("replay", log)
    assert said.status == 1
    assert "  records 2 to 3 are missing" in said.lines
    assert "0 drift" in said.lines[-1]


def head_of(log: Path) -> str:
    last = rows(log)[-1]
    return f"{last.seq}:{last.hash}"


def test_the_head_shows_that_the_end_was_cut_off(critic: Critic, log: Path) -> None:
    filled(log, 5).close()
    head, kept = head_of(log), log.with_name("kept.db")
    shutil.copy(log, kept)
    meddle(log, ("DELETE FROM records WHERE seq > 3", ()))
    assert critic("replay", kept, "--head", head).status == 0
    assert "the index has rows without a record: 4, 5" in critic("replay", log).out
    meddle(log, ("DELETE FROM record_index WHERE seq > 3", ()))
    assert critic("replay", log).status == 0
    said = critic("replay", log, "--head", head)
    assert said.status == 1
    assert "records 4 to 5 are missing" in said.out


def test_the_head_shows_that_history_was_rewritten(critic: Critic, log: Path) -> None:
    filled(log, 3).close()
    said = critic("replay", log, "--head", f"3:{'0' * 64}")
    assert said.status == 1
    assert "history was rewritten" in said.out


@pytest.mark.parametrize(
    "head",
    [
        *("", "3", ":", "3:", f":{'a' * 64}", f"-1:{'a' * 64}", f"x:{'a' * 64}", "3:abc"),
        *(f"3:{'A' * 64}", f"3:{'a' * 63}", f"3:{'a' * 65}", f"3 :{'a' * 64}", f"3:{'g' * 64}"),
        *(f"1.0:{'a' * 64}", f"\u00b2:{'a' * 64}", f"0:{'a' * 64}", f"{'9' * 5000}:{'a' * 64}"),
    ],
    ids=lambda head: ascii(head[:8]) + str(len(head)),
)
@pytest.mark.parametrize("command", ["replay", "log verify"])
def test_a_head_that_is_none(critic: Critic, log: Path, command: str, head: str) -> None:
    filled(log, 1).close()
    said = critic(*command.split(), log, f"--head={head}")
    assert said.status == 2
    assert "--head" in said.err
    assert "internal error" not in said.err
    assert is_safe(said.err.removesuffix("\n"))
