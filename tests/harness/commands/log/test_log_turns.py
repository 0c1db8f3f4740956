"""`critic log` lists and counts turns, and says of each what became of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.kinds import FATES
from evals.plan import Proposal
from harness.log import SqlDecisionLog
from harness.record import Begun
from harness.wire import build
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON, decision, judged, meddle, proposal, run_of
from tests.harness.log.guard_logs import write_guard_log
from tests.support.guarding import answers_to, call, desk, guard_of, open_
from tests.support.turns import turns_in, wires

RED = "ran_although_refused"
BEGAN = "an execution began in record {}, and no record ends it: it may have run"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of guards with one more turn: a refused plan that was run all the same."""
    path = tmp_path / "log.db"
    write_guard_log(path)
    refused = proposal(9, pinned=False)
    with SqlDecisionLog.open(path) as kept:
        kept.append(judged(refused, run_of(refused, 9)))
        kept.append(decision(8, kind="partial"))
    return path


def listed(critic: Critic, log: Path, *options: str) -> list[dict[str, Any]]:
    said = critic("log", "list", log, "--format", "json", *options)
    return [json.loads(line) for line in said.lines]


def numbers_of_turns(log: Path) -> list[tuple[list[int], str]]:
    """Return the records of each turn with its fate, from the stored records alone."""
    from harness.record import fate  # noqa: PLC0415 - to keep the reader beside its use

    with SqlDecisionLog.open_for_reading(log) as kept:
        turns = turns_in(kept)
        seqs: dict[Any, list[int]] = {key: [] for key in turns}
        for wire, ctx, _ in wires(kept):
            if wire.get("kind") == "closed":  # it is of no turn
                continue
            trace = wire.get("report", wire).get("trace_id")
            turn = (ctx or {}).get("session", {}).get("turn")
            seqs[trace, turn, wire.get("inputs", {}).get("plan")].append(wire["seq"])
    return [(seqs[key], fate(facts)) for key, facts in turns.items()]


def test_a_line_is_a_turn_and_what_ran_although_refused_comes_first(
    critic: Critic, log: Path
) -> None:
    expected = numbers_of_turns(log)
    expected.sort(key=lambda one: one[1] != RED)
    assert [(row["records"], row["fate"]) for row in listed(critic, log)] == expected
    assert expected[0][1] == RED
    counted = json.loads(critic("log", "stats", log, "--format", "json").out)
    fates = [fate for _, fate in expected]
    assert counted["fates"] == {name: fates.count(name) for name in FATES if name in fates}
    assert counted["questions"] == {"asked": 4, "yes": 2, "no": 1, "lapsed": 1}
    by_record = {
        row["seq"]: row["fate"] for row in listed(critic, log, "--records") if "fate" in row
    }
    assert by_record == {seq: fate for numbers, fate in expected for seq in numbers}


def test_filters_are_of_turns(critic: Critic, log: Path) -> None:
    every = listed(critic, log)
    some = listed(critic, log, "--fate", "asked_no", "--fate", "open")
    assert some == [row for row in every if row["fate"] in ("asked_no", "open")]
    ended = listed(critic, log, "--status", "completed", "--session", "shade")
    assert [row["fate"] for row in ended] == ["ran"]
    counted = critic("log", "stats", log, "--format", "json", "--fate", "ran_after_yes")
    assert json.loads(counted.out)["fates"] == {"ran_after_yes": 2}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("command", [("log", "list"), ("log", "stats"), ("replay",), ("report",)])
def test_what_ran_although_refused_is_an_exit_status(
    command: tuple[str, ...], critic: Critic, log: Path, tmp_path: Path
) -> None:
    more = ("-o", tmp_path / "page.html") if command == ("report",) else ()
    said = critic(*command, log, *more)
    assert said.status == 1
    assert RED in said.out + said.err
    verified = critic("log", "verify", log)
    assert (verified.status, RED in verified.out + verified.err) == (1, True)


def test_what_ran_although_refused_before_the_records_that_are_replayed_is_no_answer_of_them(
    critic: Critic, log: Path
) -> None:
    (red,) = (row["records"] for row in listed(critic, log, "--fate", RED))
    with SqlDecisionLog.open_for_reading(log) as kept:
        hashes = {raw.seq: raw.hash for raw in kept.raw()}
    before, last = red[-1] - 1, red[-1]
    assert critic("replay", log, "--since", f"{before}:{hashes[before]}").status == 1
    assert critic("replay", log, "--since", f"{last}:{hashes[last]}").status == 0


def test_an_open_turn_is_a_state(critic: Critic, tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    write_guard_log(log)
    for command in (("log", "verify"), ("replay",)):
        said = critic(*command, log)
        assert (said.status, "sound, 2 open" in said.out) == (0, True)
        assert critic(*command, log, "--no-open").status == 1
        ci = critic(*command, log, "--format", "junit").out
        assert 'failures="0"' in ci
        assert 'failures="2"' in critic(*command, log, "--no-open", "--format", "junit").out


@pytest.mark.parametrize("args", [["log", "verify"], ["replay"], ["replay", "--jobs", "2"]])
def test_a_log_that_is_damaged_beside_its_open_turns_is_not_called_sound(
    args: list[str], critic: Critic, tmp_path: Path
) -> None:
    log = tmp_path / "log.db"
    write_guard_log(log)
    meddle(log, ("CREATE TABLE extra (a int)", ()))
    said = critic(*args, log)
    assert said.status == 1
    assert ("table extra is unexpected" in said.out, "sound" in said.out) == (True, False)
    assert "2 open" in said.out


def test_an_execution_of_which_nothing_else_is_on_record_is_said_to_have_begun(
    critic: Critic, tmp_path: Path
) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        log.begin(Begun(proposal=proposal(), begun_at=NOON))
    said = critic("log", "list", tmp_path / "log.db").lines[0]
    assert said.endswith(f"  trace_1  open: {BEGAN.format(1)}")


@pytest.mark.parametrize("shadow", [False, True])
def test_an_open_turn_says_in_which_record_it_began(
    shadow: bool, critic: Critic, tmp_path: Path
) -> None:
    log = tmp_path / "log.db"
    with SqlDecisionLog.open(log) as kept:
        guard = guard_of(desk(shadow=shadow), log=kept)
        answers_to(guard, [open_("s"), call("list_mail" if not shadow else "transfer", "s")])
    text, of_json = (
        critic("log", "list", log, "--fate", "open", "--format", form).lines[0]
        for form in ("text", "json")
    )
    said = json.loads(of_json)["said"]
    assert text.endswith(f"  open: {said}")
    assert said.startswith(BEGAN.format(2))
    assert ("; verify failed: " in said) == shadow
    assert "no execution" not in said
    settled = ("--outcome", "ran", "--by", "raj", "--because", "the bank says so")
    assert critic("log", "settle", log, 2, *settled).status == 0


def test_a_record_shows_its_turn(critic: Critic, log: Path) -> None:
    for numbers, fate in numbers_of_turns(log):
        for seq in numbers:
            shown = json.loads(critic("log", "show", log, str(seq)).out)
            assert (shown["turn"]["fate"], shown["turn"]["records"]) == (fate, numbers)
    text = critic("log", "show", log, "25", "--format", "text").out
    assert "turn: asked_no, of records 23, 25" in text
    assert "action refuse, the answer was no by ada" in text


def test_a_record_shows_what_is_missing_of_its_turn(critic: Critic, log: Path) -> None:
    meddle(log, ("DELETE FROM records WHERE seq = 23", ()))
    said = critic("log", "show", log, "25", "--format", "text")
    assert (said.status, "critic: record 23 is missing\n" in said.err) == (1, True)
    assert critic("log", "show", log, "20").status == 0, "that is of another turn"


def test_a_record_shows_an_expired_question_and_counts_one_call(critic: Critic, log: Path) -> None:
    rows = listed(critic, log, "--records")
    texts = [critic("log", "show", log, str(row["seq"]), "--format", "text").out for row in rows]
    assert sum(", the question expired" in text for text in texts) == 1
    assert any(": 1 call\n" in text for text in texts)
    assert not any("lapsed" in text or " 1 calls" in text for text in texts)


@pytest.mark.parametrize("facts", [0, 1, 512])
def test_facts_that_were_changed_in_the_index_are_noticed(
    facts: int, critic: Critic, log: Path
) -> None:
    meddle(log, ("UPDATE record_index SET facts = ? WHERE seq = 43", (facts,)))
    assert critic("log", "verify", log).status == 1
    said = critic("log", "list", log, "--fate", RED)
    assert (said.status, "the index says facts" in said.err) == (1, True)


def test_an_export_has_the_fates(critic: Critic, log: Path) -> None:
    said = critic("log", "export", log, "--to", "opa", "-o", "-")
    fates = [json.loads(line)["custom"]["log"].get("fate") for line in said.lines]
    assert fates == [row.get("fate") for row in listed(critic, log, "--records")]


def test_one_plan_in_two_turns_of_a_session_is_two_turns(critic: Critic, tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    with SqlDecisionLog.open(log) as kept:
        for turn in (1, 2, None, 2):
            wire = proposal(1).wire()
            wire["ctx"] |= {} if turn is None else {"session": {"id": "s", "turn": turn}}
            kept.append(judged(build(Proposal, wire)))
    assert [row["records"] for row in listed(critic, log)] == [[1], [2, 4], [3]]


def test_what_made_a_ruling_stricter_is_listed_first(log: Path, critic: Critic) -> None:
    told = critic("log", "list", log, "--fate", "refused").listed
    limits = [one for one in told if "1 questions were asked already, which is the limit; " in one]
    assert limits
    assert all("which is the limit; verify failed: " in one for one in limits)
