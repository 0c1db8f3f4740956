"""`critic log list`, `show` and `verify`: looking at a decision log."""

import json
from pathlib import Path

import pytest

from critic.verify import verify
from harness.log.sql import SqlDecisionLog
from harness.record import Begun, PlanAttemptRecord
from tests.harness.console import Critic
from tests.harness.log.decisions import (
    NOON,
    LogPlace,
    decision,
    filled,
    meddle,
    proposal,
    put_body,
    query,
)
from tests.support.examples import is_safe


@pytest.fixture
def log(place: LogPlace) -> LogPlace:
    """Return a log of one decision of each kind: refused, partial, ended early, completed."""
    filled(place, 4).close()
    return place


FATES_OF_FILLED = ("refused", "not_run", "ran_in_part", "ran")


def test_list_is_one_line_for_each_decision(critic: Critic, log: LogPlace) -> None:
    said = critic("log", "list", log, "--records")
    assert (said.status, said.err) == (0, "")
    with SqlDecisionLog.open_for_reading(log) as kept:
        reports = [record.report for record in kept.records()]
    assert [line.split(None, 3) for line in said.listed] == [
        [
            str(seq),
            f"2025-03-01T12:0{seq}:00Z",
            f"trace_{seq}",
            f"{fate}: {one.status}: {one.rationale}",
        ]
        for seq, (one, fate) in enumerate(zip(reports, FATES_OF_FILLED, strict=True), start=1)
    ]


def test_an_empty_log_lists_nothing(critic: Critic, tmp_path: Path) -> None:
    SqlDecisionLog.open(tmp_path / "new.db").close()
    assert critic("log", "list", tmp_path / "new.db") == (0, f"head 0:{'0' * 64}\n", "")
    said = critic("log", "verify", tmp_path / "new.db")
    assert said.status == 0
    assert said.lines == ["0 records: hashes and chain hold", f"head 0:{'0' * 64}"]


def test_show_is_the_record_with_its_inputs(critic: Critic, log: LogPlace) -> None:
    said = critic("log", "show", log, "4")
    assert (said.status, said.warned) == (0, "")
    shown = json.loads(said.out)
    inputs = shown.pop("input_bodies")
    assert shown.pop("turn") == {"fate": "ran", "records": [4]}
    with SqlDecisionLog.open_for_reading(log) as kept:
        (record,) = kept.records(4)
        bodies = {name: kept.input(digest) for name, digest in record.inputs.wire().items()}
    assert shown == record.wire()
    assert inputs == {name: json.loads(body or b"") for name, body in bodies.items()}
    assert list(inputs) == ["ctx", "compiled", "spec", "plan"]


@pytest.mark.parametrize("seq", ["0", "5", "-1", "99", str(2**63 - 1), str(2**63), "9" * 40])
def test_show_of_a_record_that_is_not_there(critic: Critic, log: LogPlace, seq: str) -> None:
    said = critic("log", "show", log, seq)
    assert (said.status, said.out) == (2, "")
    assert said.err == f"critic: no such record: {seq}: the last one is 4\n"


def test_show_of_a_record_whose_input_is_gone(critic: Critic, log: LogPlace) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        (record,) = kept.records(4)
    meddle(log, ("DELETE FROM inputs WHERE digest = ?", (record.inputs.plan,)))
    said = critic("log", "show", log, "4")
    assert said.status == 1
    assert "record 4: input plan is missing: no " in said.err
    assert list(json.loads(said.out)["input_bodies"]) == ["ctx", "compiled", "spec"]


@pytest.mark.parametrize("form", ["json", "text", "csv"])
@pytest.mark.parametrize("body", [b"", b"{}", b"\xff", b"1E400", b'["\x1b[2J"]', b'{"steps":[]}'])
def test_an_input_that_was_altered_is_never_printed(
    critic: Critic, log: LogPlace, body: bytes, form: str
) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        (record,) = kept.records(4)
    meddle(log, ("UPDATE inputs SET body = ? WHERE digest = ?", (body, record.inputs.plan)))
    said = critic("log", "show", log, "4", "--format", form)
    assert (said.status, said.out) == (1, "")
    assert said.err.startswith("critic: record 4: input plan is not what was recorded: ")
    assert said.err.count("\n") == 1
    assert is_safe(said.err.removesuffix("\n"))
    assert critic("log", "show", log, "3").status == 0


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b"{}"])
def test_a_record_that_cannot_be_read_is_named(critic: Critic, log: LogPlace, body: bytes) -> None:
    put_body(log, 2, body)
    listed = critic("log", "list", log)
    assert listed.status == 1
    assert "record 2 is not what was recorded" in listed.err
    assert critic("log", "verify", log).status == 1
    said = critic("log", "show", log, "2")
    assert (said.status, said.out) == (1, "")
    assert "record 2 is not what was recorded" in said.err
    assert is_safe(said.err.removesuffix("\n"))
    assert critic("log", "show", log, "3").status == 0, "the other records are not read"


@pytest.mark.parametrize("name", ["status", "trace_id", "rationale"])
def test_a_record_that_was_altered_is_never_printed(
    critic: Critic, log: LogPlace, name: str
) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        body = next(iter(kept.raw(4))).body
    value = json.loads(body)["report"][name]
    put_body(log, 4, body.replace(value.encode(), b"x" * len(value.encode()), 1))
    for form in ("json", "text", "csv"):
        said = critic("log", "show", log, "4", "--format", form)
        assert (said.status, said.out) == (1, "")
        assert said.err.startswith("critic: record 4 is not what was recorded: its content has")


def test_verify_prints_the_head_that_it_takes(critic: Critic, log: LogPlace) -> None:
    said = critic("log", "verify", log)
    assert (said.status, said.err) == (0, "")
    assert said.lines[0] == "4 records: hashes and chain hold"
    head = said.lines[1].removeprefix("head ")
    with SqlDecisionLog.open_for_reading(log) as kept:
        assert head == f"4:{kept.head().hash}"
    for command in (("log", "verify"), ("replay",)):
        assert critic(*command, log, "--head", head).status == 0


def test_one_record_is_counted_as_one(critic: Critic, tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "one.db") as kept:
        kept.append(decision())
    verified = critic("log", "verify", tmp_path / "one.db")
    assert verified.lines[0] == "1 record: hashes and chain hold"
    replayed = critic("replay", tmp_path / "one.db")
    assert replayed.lines[1:] == ["1 record: 1 same, 0 drift, 0 tampered, 0 incomplete"]


def test_verify_tells_of_an_altered_record(critic: Critic, log: LogPlace) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        body = list(kept.raw())[1].body
    put_body(log, 2, body.replace(b"trace_2", b"trace_X"))
    said = critic("log", "verify", log)
    assert (said.status, said.err) == (1, "")
    assert said.lines[0] == "record 2: tampered"
    assert said.lines[-2] == "4 records: hashes or chain do not hold"


def test_verify_tells_of_a_log_that_was_cut_short(critic: Critic, log: LogPlace) -> None:
    head = critic("log", "verify", log).lines[-1].removeprefix("head ")
    meddle(log, ("DELETE FROM records WHERE seq = 4", ()))
    assert "the index has rows without a record: 4" in critic("log", "verify", log).out
    assert critic("log", "list", log).status == 1
    meddle(log, ("DELETE FROM record_index WHERE seq = 4", ()))
    assert critic("log", "verify", log).status == 0
    assert critic("log", "list", log).status == 0, "the end of a log has no gap"
    said = critic("log", "verify", log, "--head", head)
    assert said.status == 1
    assert "  record 4 is missing" in said.lines


def test_verify_judges_nothing_again(
    critic: Critic, log: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With other rules a replay finds drift, while hashes and chain hold as before.
    monkeypatch.setattr("harness.replay.recheck.RULESET_VERSION", "999")
    assert critic("replay", log).status == 1
    assert critic("log", "verify", log).status == 0


def test_looking_changes_nothing(critic: Critic, tmp_path: Path) -> None:
    log = tmp_path / "audit.db"
    filled(log, 4).close()
    before = log.read_bytes()
    for args in (("list",), ("verify",), ("show", "1")):
        assert critic("log", args[0], log, *args[1:]).status == 0
    assert critic("replay", log).status == 0
    assert log.read_bytes() == before
    assert [path.name for path in log.parent.iterdir()] == ["audit.db"]


@pytest.mark.parametrize(
    ("deleted", "lines"),
    [
        ((2,), ["     2  record 2 is missing"]),
        ((1,), ["     1  record 1 is missing"]),
        ((2, 3), ["     2  records 2 to 3 are missing"]),
        ((1, 3), ["     1  record 1 is missing", "     3  record 3 is missing"]),
    ],
)
def test_list_and_show_say_which_records_are_missing(
    critic: Critic, log: LogPlace, deleted: tuple[int, ...], lines: list[str]
) -> None:
    before = critic("log", "list", log, "--records").listed
    meddle(log, *(("DELETE FROM records WHERE seq = ?", (seq,)) for seq in deleted))
    said = critic("log", "list", log, "--records")
    assert (said.status, said.err) == (1, "")
    left = [line for line in before if int(line.split()[0]) not in deleted]
    assert sorted(said.listed) == sorted([*left, *lines])
    assert [line for line in said.lines if line.endswith(" missing")] == lines
    assert [int(line.split()[0]) for line in said.listed] == sorted(
        int(line.split()[0]) for line in said.listed
    )
    texts = [line.split(None, 1)[1] for line in lines]
    gone = critic("log", "show", log, str(deleted[-1]))
    assert (gone.status, gone.out) == (1, "")
    assert gone.err == f"critic: record {deleted[-1]} is missing\n"
    shown = critic("log", "show", log, "4")
    assert (shown.status, json.loads(shown.out)["seq"]) == (0, 4), "the others are not read"
    for command in (("log", "verify"), ("replay",)):
        answer = critic(*command, log)
        assert answer.status == 1
        assert [f"  {text}" for text in texts] == [
            line for line in answer.lines if line.endswith(" missing")
        ]


def test_show_of_a_record_that_claims_to_be_another(critic: Critic, log: LogPlace) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        bodies = {raw.seq: raw.body for raw in kept.raw()}
    put_body(log, 3, bodies[4])
    said = critic("log", "show", log, "3")
    assert (said.status, said.out) == (1, "")
    problem = "its body says that it is record 4"
    assert said.err == f"critic: record 3 is not what was recorded: {problem}\n"


def test_changed_tables_are_reported_by_every_command(critic: Critic, log: LogPlace) -> None:
    query(log, "CREATE TABLE extra (a int)")
    damage = "the log is damaged: table extra is unexpected"
    for action in (("list",), ("show", "2")):
        said = critic("log", action[0], log, *action[1:])
        assert (said.status, said.warned) == (1, f"critic: {damage}\n")
        assert said.out
    for command in (("log", "verify"), ("replay",)):
        said = critic(*command, log)
        assert (said.status, said.err) == (1, "")
        assert damage in said.lines
    assert critic("log", "verify", log).lines[-2] == "4 records: hashes and chain hold"
    said = critic("replay", log, "--format", "json")
    assert said.status == 1
    assert json.loads(said.lines[-2]) == {
        "log": {"damage": ["table extra is unexpected"], "notes": []}
    }


@pytest.mark.parametrize(
    ("digests", "note"),
    [
        (["e"], "1 input that no record names: e"),
        (["b", "a", "\x1b"], "3 inputs that no record names: \\u001b, a, b"),
        (["d", "c", "b", "a"], "4 inputs that no record names: a, b, c and 1 more"),
    ],
)
def test_inputs_that_no_record_names_are_noted(
    critic: Critic, log: LogPlace, digests: list[str], note: str
) -> None:
    rows = [("INSERT INTO inputs VALUES (?, ?)", (digest, b"\0")) for digest in digests]
    meddle(log, *rows)
    for command in (("log", "verify"), ("replay",)):
        said = critic(*command, log)
        assert (said.status, said.err) == (0, "")
        assert said.lines[0] == f"note: {note}"
    said = critic("replay", log, "--format", "json")
    assert (said.status, len(said.lines)) == (0, 6)
    assert json.loads(said.lines[-2]) == {"log": {"damage": [], "notes": [note]}}


def test_show_holds_the_attempts_before(critic: Critic, tmp_path: Path) -> None:
    tried = proposal(pinned=False)
    verdict = verify(tried.ctx, tried.compiled, tried.spec, tried.plan)
    attempt = PlanAttemptRecord(plan=tried.plan, verdict=verdict)
    with SqlDecisionLog.open(tmp_path / "new.db") as kept:
        kept.append(decision().model_copy(update={"attempts": (attempt,)}))
    shown = json.loads(critic("log", "show", tmp_path / "new.db", "1").out)
    assert shown["attempts"] == [attempt.wire()]
    assert shown["attempts"][0]["verdict"]["kind"] == "missing_evidence"


@pytest.mark.parametrize("action", ["list", "show", "verify"])
def test_help_says_what_exit_status_1_means(critic: Critic, action: str) -> None:
    said = critic("log", action, "--help")
    assert "1 records are missing" in " ".join(said.out.split())


def test_an_execution_that_runs_breaks_no_chain(critic: Critic, tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.append(decision(1))
        log.begin(Begun(proposal=proposal(2), begun_at=NOON))
    said = critic("log", "verify", tmp_path / "log")
    assert (said.status, said.err) == (0, "")
    assert said.lines[-2] == "2 records: hashes and chain hold: sound, 1 open"
    assert critic("log", "verify", tmp_path / "log", "--no-open").status == 1
