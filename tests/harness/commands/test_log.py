"""`critic log list`, `show` and `verify`: looking at a decision log."""

import json
from pathlib import Path

import pytest

from harness.log.sql import SqlDecisionLog
from tests.harness.console import Critic
from tests.harness.log.decisions import filled, meddle, put_body
from tests.support.examples import is_safe


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of four decisions, one of each kind: refused, partial, ended early, completed."""
    path = tmp_path / "audit.db"
    filled(path, 4).close()
    return path


def test_list_is_one_line_for_each_decision(critic: Critic, log: Path) -> None:
    said = critic("log", "list", log)
    assert (said.status, said.err) == (0, "")
    with SqlDecisionLog.open_for_reading(log) as kept:
        reports = [record.report for record in kept.records()]
    assert [line.split(None, 3) for line in said.lines] == [
        [str(seq), f"2025-03-01T12:0{seq}:00Z", f"trace_{seq}", f"{one.status}: {one.rationale}"]
        for seq, one in enumerate(reports, start=1)
    ]


def test_an_empty_log_lists_nothing(critic: Critic, tmp_path: Path) -> None:
    SqlDecisionLog.open(tmp_path / "new.db").close()
    assert critic("log", "list", tmp_path / "new.db") == (0, "", "")
    said = critic("log", "verify", tmp_path / "new.db")
    assert said.status == 0
    assert said.lines == ["0 records: hashes and chain hold", f"head 0:{'0' * 64}"]


def test_show_is_the_record_with_its_inputs(critic: Critic, log: Path) -> None:
    said = critic("log", "show", log, "4")
    assert (said.status, said.err) == (0, "")
    shown = json.loads(said.out)
    inputs = shown.pop("input_bodies")
    with SqlDecisionLog.open_for_reading(log) as kept:
        (record,) = kept.records(4)
        bodies = {name: kept.input(digest) for name, digest in record.inputs.wire().items()}
    assert shown == record.wire()
    assert inputs == {name: json.loads(body or b"") for name, body in bodies.items()}
    assert list(inputs) == ["ctx", "compiled", "spec", "plan"]


@pytest.mark.parametrize("seq", ["0", "5", "-1", "99", str(2**63 - 1), str(2**63), "9" * 40])
def test_show_of_a_record_that_is_not_there(critic: Critic, log: Path, seq: str) -> None:
    said = critic("log", "show", log, seq)
    assert (said.status, said.out) == (2, "")
    assert said.err == f"critic: there is no record {seq}: the last one is 4\n"


def test_show_of_a_record_whose_input_is_gone(critic: Critic, log: Path) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        (record,) = kept.records(4)
    meddle(log, ("DELETE FROM inputs WHERE digest = ?", (record.inputs.plan,)))
    said = critic("log", "show", log, "4")
    assert said.status == 0
    assert list(json.loads(said.out)["input_bodies"]) == ["ctx", "compiled", "spec"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"NaN", b'"\xed\xa0\x80"'])
def test_show_of_a_record_whose_input_was_damaged(critic: Critic, log: Path, body: bytes) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        (record,) = kept.records(4)
    meddle(log, ("UPDATE inputs SET body = ? WHERE digest = ?", (body, record.inputs.plan)))
    said = critic("log", "show", log, "4")
    assert "internal error" not in said.err
    assert said.err.count("\n") <= 1
    assert said.status in (0, 2)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b"{}"])
@pytest.mark.parametrize("action", [("list",), ("show", "2")])
def test_a_record_that_cannot_be_read_is_named(
    critic: Critic, log: Path, action: tuple[str, ...], body: bytes
) -> None:
    put_body(log, 2, body)
    said = critic("log", action[0], log, *action[1:])
    assert said.status == 2
    assert "record 2 cannot be read" in said.err
    assert "replay the log" in said.err
    assert is_safe(said.err.removesuffix("\n"))


def test_verify_prints_the_head_that_it_takes(critic: Critic, log: Path) -> None:
    said = critic("log", "verify", log)
    assert (said.status, said.err) == (0, "")
    assert said.lines[0] == "4 records: hashes and chain hold"
    head = said.lines[1].removeprefix("head ")
    with SqlDecisionLog.open_for_reading(log) as kept:
        assert head == f"4:{kept.head().hash}"
    for command in (("log", "verify"), ("replay",)):
        assert critic(*command, log, "--head", head).status == 0


def test_verify_tells_of_an_altered_record(critic: Critic, log: Path) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        body = list(kept.raw())[1].body
    put_body(log, 2, body.replace(b"trace_2", b"trace_X"))
    said = critic("log", "verify", log)
    assert (said.status, said.err) == (1, "")
    assert said.lines[0] == "record 2: tampered"
    assert said.lines[-2] == "4 records: hashes or chain do not hold"


def test_verify_tells_of_a_log_that_was_cut_short(critic: Critic, log: Path) -> None:
    head = critic("log", "verify", log).lines[-1].removeprefix("head ")
    meddle(log, ("DELETE FROM records WHERE seq = 4", ()))
    assert critic("log", "verify", log).status == 0
    said = critic("log", "verify", log, "--head", head)
    assert said.status == 1
    assert "  record 4 is missing" in said.lines


def test_verify_judges_nothing_again(
    critic: Critic, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With other rules a replay finds drift, while hashes and chain hold as before.
    monkeypatch.setattr("harness.replay.recheck.RULESET_VERSION", "999")
    assert critic("replay", log).status == 1
    assert critic("log", "verify", log).status == 0


def test_looking_changes_nothing(critic: Critic, log: Path) -> None:
    before = log.read_bytes()
    for args in (("list",), ("verify",), ("show", "1")):
        assert critic("log", args[0], log, *args[1:]).status == 0
    assert critic("replay", log).status == 0
    assert log.read_bytes() == before
    assert [path.name for path in log.parent.iterdir()] == ["audit.db"]
