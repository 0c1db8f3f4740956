"""Sessions of a log are told as they were: with their times, lives and people, or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.guard import Guard
from harness.log import SqlDecisionLog
from harness.policy import parse_policy
from tests.harness.console import Critic
from tests.support.guarding import Json, answers_to

BILL = "GB33BUKB20201555555555"
BANK = """
[guard]
max_questions = 9
safety_mode = "destructive"

[spec]
id = "payments"
required_outputs = []
provenance = "open"
approval_required_from = "destructive"

[[tool]]
name = "read_bill"
adapter_id = "files"
capability_id = "read_bill"
approval_mode = "read_only"
arg_roles = { path = "locator" }
result = { author = "public" }
expires_after_s = 600

[[tool]]
name = "pay"
adapter_id = "bank"
capability_id = "pay"
approval_mode = "delegated"
arg_roles = { recipient = "recipient", amount = "attribute" }
arg_kinds = { recipient = "account" }
result = { author = "system", format = "json" }
"""


def at(minutes: float) -> str:
    return f"2026-05-04T10:{int(minutes):02}:{int(minutes * 60) % 60:02}Z"


def opened(request: str, **more: Any) -> Json:
    return {"event": "open", "session": "s", "request": request, **more}


def calls(minutes: float, name: str, tool: str, **args: Any) -> Json:
    asked = [{"id": name, "tool": tool, "args": args}]
    return {"event": "calls", "session": "s", "calls": asked, "as_of": at(minutes)}


def returned(minutes: float, name: str, output: Any) -> Json:
    told = {"event": "result", "session": "s", "id": name, "status": "completed"}
    return {**told, "output": output, "as_of": at(minutes)}


CLOSE: Json = {"event": "close", "session": "s"}
WHOM: Json = {"tenant": "acme", "user": "ada"}
SLOW = [
    opened(f"Pay the bill in bill.txt, to {BILL}", **WHOM),
    calls(0, "r", "read_bill", path="bill.txt"),
    returned(15, "r", "Please pay 1200"),
    calls(15.5, "p", "pay", recipient=BILL, amount=1200),
    returned(16, "p", {"ok": True}),
]
"""A tool that takes longer than its result is fresh: what it found had not expired."""
AGAIN = [
    *SLOW,
    CLOSE,
    opened("Pay 5 to DE89370400440532013000", again=True, user="bob"),
    calls(20, "q", "pay", recipient="DE89370400440532013000", amount=5),
    returned(21, "q", {"ok": True}),
]


def written(folder: Path, events: list[Json], text: str = BANK) -> tuple[Path, Path]:
    """Write the log of a session, and the policy that it is of. Everything was allowed."""
    log, policy = folder / "log.db", folder / "bank.toml"
    policy.write_text(text)
    with SqlDecisionLog.open(log) as kept:
        answers = answers_to(Guard(parse_policy(text.encode()).policy, log=kept), [*events, CLOSE])
    assert {one["action"] for one in answers.values() if "action" in one} == {"allow"}
    return log, policy


def told(critic: Critic, log: Path, policy: Path) -> list[Json]:
    said = critic("log", "events", log, "--policy", policy)
    assert (said.status, said.err) == (0, "")
    return [json.loads(line) for line in said.lines]


@pytest.mark.parametrize("events", [SLOW, AGAIN], ids=["slow", "again"])
def test_a_session_is_judged_as_it_was_by_the_policy_of_its_log(
    events: list[Json], critic: Critic, tmp_path: Path
) -> None:
    log, policy = written(tmp_path, events)
    said = critic("shadow", log, "--policy", policy)
    assert said.lines[:-1] == ["1 session: 0 stop"]
    assert " 0 looser, 0 tighter" in critic("what-if", log, "--policy", policy).lines[-1]
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(critic("log", "events", log, "--policy", policy).out)
    assert critic("try", policy, tasks).status == 0


def test_what_was_told_of_a_session_is_in_its_events(critic: Critic, tmp_path: Path) -> None:
    events = told(critic, *written(tmp_path, AGAIN))
    first, last = events[0], events[-3]
    assert {name: first[name] for name in WHOM} == WHOM
    assert [one["event"] for one in events] == [
        *("open", "calls", "result", "calls", "result", "close"),
        *("open", "calls", "result"),
    ]
    assert (last["request"], last["again"], last["user"]) == (AGAIN[6]["request"], True, "bob")
    assert [one.get("as_of") for one in events[1:4]] == [at(0), at(15), at(15.5)]


def test_words_before_a_turn_are_told_with_its_time(critic: Critic, tmp_path: Path) -> None:
    """Else they would come now, and time does not go back."""
    said = {"event": "said", "session": "s", "text": "It is due today", "as_of": at(0)}
    log, policy = written(tmp_path, [SLOW[0], said, *SLOW[1:]])
    assert critic("shadow", log, "--policy", policy).lines[0] == "1 session: 0 stop"


def test_what_was_done_in_one_life_counts_in_the_next(critic: Critic, tmp_path: Path) -> None:
    """A destructive call that is made again in another life is a repeat."""
    text = BANK.replace('"delegated"', '"destructive"').replace(
        'approval_required_from = "destructive"\n', ""
    )
    text = text.replace("[guard]", "[guard]\nshadow = true")
    pays = {"recipient": BILL, "amount": 5}
    life = [calls(1, "p", "pay", **pays), returned(2, "p", {"ok": True})]
    words = f"Pay 5 to {BILL}"
    log, policy = written(
        tmp_path,
        [opened(words), *life, CLOSE, opened(words, again=True), calls(3, "q", "pay", **pays)],
        text,
    )
    said = critic("shadow", log, "--policy", policy)
    assert said.lines[0] == "1 session: 1 stop"
    assert "repeats the destructive call bank.pay" in said.out


@pytest.mark.parametrize("seconds", [1, 300, 1500])
def test_nothing_is_proposed_where_no_record_says_what_had_expired(
    seconds: int, critic: Critic, tmp_path: Path
) -> None:
    """By another policy than that of the log, a result came at any time before the next turn."""
    log, policy = written(tmp_path, SLOW)
    policy.write_text(BANK.replace("= 600", f"= {seconds}"))
    said = critic("shadow", log, "--policy", policy)
    if seconds > 1000:
        assert said.lines[:-1] == ["1 session: 0 stop"]  # fresh, whenever it came
        return
    assert said.lines[:2] == ["0 sessions: 0 stop", "  1 more cannot be judged:"]
    assert "turn 2: no record says if a result had expired by then" in said.lines[2]
    assert len(said.lines) == 4
    assert critic("log", "events", log, "--policy", policy).status == 2


def test_turns_that_overlap_are_told_unless_one_knew_a_part_of_another(
    critic: Critic, tmp_path: Path
) -> None:
    other, nothing = calls(1, "b", "read_bill", path="other.txt"), returned(2, "b", "nothing")
    log, policy = written(tmp_path, [*SLOW[:2], other, nothing, *SLOW[2:]])
    assert critic("shadow", log, "--policy", policy).lines[0] == "1 session: 0 stop"
    both = calls(0, "r", "read_bill", path="bill.txt")
    both["calls"].append({**both["calls"][0], "id": "c"})
    partly = [SLOW[0], both, returned(0.5, "c", "x"), other, nothing, *SLOW[2:]]
    (tmp_path / "partly").mkdir()
    log, policy = written(tmp_path / "partly", partly)
    said = critic("shadow", log, "--policy", policy)
    assert said.lines[1] == "  1 more cannot be judged:"
    assert "turn 2: no record says which results had come by then" in said.lines[2]


def test_a_session_that_began_in_another_log_is_not_told(critic: Critic, tmp_path: Path) -> None:
    log, policy, new = (tmp_path / name for name in ("log.db", "bank.toml", "new.db"))
    policy.write_text(BANK)
    for path, events in ((log, SLOW[:3]), (new, SLOW[3:])):
        with SqlDecisionLog.open(path) as kept:
            answers_to(Guard(parse_policy(BANK.encode()).policy, log=kept), events)
        if path == log:
            assert critic("log", "next", log, new).status == 0
    said = critic("shadow", new, "--policy", policy)
    assert "turn 2: the one before it is not in this log" in said.out
    assert len(said.lines) == 4


def test_without_a_policy_it_is_said_that_times_are_missing(critic: Critic, tmp_path: Path) -> None:
    log, _ = written(tmp_path, SLOW)
    for command in (("log", "events", log), ("policy", "case", log, "s")):
        said = critic(*command)
        assert said.status == 0
        assert "when it came is told with --policy FILE alone" in said.err


def test_the_case_of_a_slow_session_holds_and_of_two_lives_there_is_none(
    critic: Critic, tmp_path: Path
) -> None:
    log, policy = written(tmp_path, SLOW)
    said = critic("policy", "case", log, "s", "--policy", policy)
    assert (said.status, said.err) == (0, "")
    (tmp_path / "again").mkdir()
    log, policy = written(tmp_path / "again", AGAIN)
    said = critic("policy", "case", log, "s", "--policy", policy)
    assert (said.status, said.out) == (2, "")
    assert "it was closed and opened again" in said.err
