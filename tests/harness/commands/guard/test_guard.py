"""`critic guard`: lines in, lines out."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from critic.provenance.origins import Origin
from evals.manifest import Standing
from harness.commands.guard import guard_text
from tests.harness.console import Critic
from tests.harness.log.decisions import LogPlace
from tests.support.examples import is_safe
from tests.support.guarding import ASKS, call, close, desk, open_, result, yes
from tests.support.paths import ROOT


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "critic.json"
    path.write_text(json.dumps(desk()))
    return path


def lines(*events: Any) -> bytes:
    written = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return "".join(f"{line}\n" for line in written).encode()


CALLS = call("list_mail")
REFUSED = call("transfer", id="t", iban="iban-9", reason="x")


@pytest.mark.parametrize(
    ("events", "status", "shown"),
    [
        ([], 0, []),
        ([open_()], 0, []),
        ([open_(), "", "  ", CALLS, result("x"), close()], 0, ["allow", "completed"]),
        (ASKS, 0, ["allow", "ask"]),
        ([open_(), REFUSED, close()], 1, ["refuse", "completed"]),
        ([open_(), REFUSED, "{", CALLS], 2, ["refuse", "error", "allow"]),
        ([CALLS], 2, ["error"]),
    ],
)
def test_each_event_that_is_answered_has_one_line(
    critic: Critic, policy: Path, events: Any, status: int, shown: list[str]
) -> None:
    said = critic("guard", "--policy", policy, stdin=lines(*events))
    given = [json.loads(line) for line in said.lines]
    kinds = ["error" if "error" in one else one.get("action") or one["status"] for one in given]
    assert (said.status, kinds, said.err) == (status, shown, "")
    assert all(map(str.isascii, said.lines))


LATE_SHOP = """
[guard]
safety_mode = "destructive"
[spec]
id = "shop"
required_outputs = []
provenance = "closed"
late = "sources"
[[tool]]
adapter_id = "shop"
capability_id = "get_order"
approval_mode = "read_only"
arg_roles = { order_id = "locator" }
result = { author = "system", format = "json" }
[[tool]]
adapter_id = "shop"
capability_id = "refund"
approval_mode = "destructive"
arg_roles = { payment_id = "object" }
"""


def test_an_opening_that_is_refused_ends_with_status_1(critic: Critic, tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(LATE_SHOP)
    waits = {"takes": [{"arg": "/payment_id", "call": "a", "at": "/payment_id"}], "after": ["a"]}
    order = {"id": "a", "tool": "get_order", "args": {"order_id": "ORD-1881"}}
    calls = [order, {"id": "b", "tool": "refund", "args": {}, **waits}]
    events = [
        open_(request="Refund order ORD-1881", scope=["refund"]),
        {"event": "calls", "session": "s", "calls": calls},
        {"event": "ready", "session": "s", "id": "a"},
        result({"payment": "pay_1881"}, id="a"),
        {"event": "ready", "session": "s", "id": "b"},
    ]
    said = critic("guard", "--policy", tmp_path / "late.toml", stdin=lines(*events))
    actions = [json.loads(line)["action"] for line in said.lines]
    assert (actions, said.status) == (["allow", "allow", "refuse"], 1)


@pytest.mark.parametrize(("more", "status"), [([], 0), ([close()], 1)])
def test_a_shadow_fails_only_by_the_score_of_its_session(
    critic: Critic, tmp_path: Path, more: list[Any], status: int
) -> None:
    wire = desk(shadow=True)
    wire["spec"]["approval_required_from"] = "destructive"
    (tmp_path / "shadow.json").write_text(json.dumps(wire))
    events = [open_(), call("shred", name="x"), result("x"), *more]
    said = critic("guard", "--policy", tmp_path / "shadow.json", stdin=lines(*events))
    assert (said.status, json.loads(said.lines[0])["action"]) == (status, "allow")
    assert "in shadow too" in " ".join(critic("guard", "--help").out.split())


def test_each_origin_and_standing_has_words() -> None:
    """One that lacked them ended `critic guard --explain` with an internal error."""
    assert guard_text._ORIGINS.keys() == set(get_args(Origin))
    assert guard_text._STANDINGS.keys() == set(get_args(Standing))


def test_files_are_one_stream(critic: Critic, policy: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two"
    one.write_bytes(lines(open_()))
    two.write_bytes(lines(CALLS))
    said = critic("guard", "--policy", policy, one, "-", two, stdin=lines(result("x", id="never")))
    assert [("error" in json.loads(line)) for line in said.lines] == [True, False]
    assert said.status == 2


def test_standard_input_is_the_policy_or_the_events(
    critic: Critic, policy: Path, tmp_path: Path
) -> None:
    said = critic("guard", "--policy", "-", stdin=lines(open_()))
    assert (said.status, said.out) == (2, "")
    assert "name a file for one" in said.err
    stream = tmp_path / "events"
    stream.write_bytes(lines(open_(), CALLS))
    assert critic("guard", "--policy", "-", stream, stdin=policy.read_bytes()).status == 0


def test_a_file_that_is_missing_is_named_and_the_others_are_read(
    critic: Critic, policy: Path, tmp_path: Path
) -> None:
    said = critic("guard", "--policy", policy, tmp_path / "none", "-", stdin=lines(open_(), CALLS))
    assert said.status == 2
    assert "no such file" in said.err
    assert len(said.lines) == 1


def test_a_line_over_the_limit_is_an_error_line(critic: Critic, policy: Path) -> None:
    long = open_("t", request="x" * 2000)
    said = critic(
        "guard", "--policy", policy, "--max-bytes", "1000", stdin=lines(open_(), long, CALLS)
    )
    error, ruling = map(json.loads, said.lines)
    assert "limit of 1000 bytes" in error["error"]["message"]
    assert ruling["action"] == "allow"
    assert said.status == 2


def test_a_line_that_is_no_json_is_named_by_its_number(critic: Critic, policy: Path) -> None:
    stdin = lines(open_(), "", CALLS, "{x}")
    for form in ("json", "text"):
        said = critic("guard", "--policy", policy, "--format", form, stdin=stdin)
        assert "key must be a string at line 4 column 2" in said.lines[-1]


def test_a_log_is_made_for_the_first_event_and_replays(
    critic: Critic, policy: Path, tmp_path: Path, place: LogPlace
) -> None:
    critic("guard", "--policy", policy, "--log", place, tmp_path / "none")
    assert critic("log", "list", place).status == 2, "it is not there yet"
    critic("guard", "--policy", policy, "--log", place, stdin=lines(*ASKS, close()))
    said = critic("replay", place)
    assert (said.status, said.lines[1:]) == (
        0,
        ["6 records: 6 same, 0 drift, 0 tampered, 0 incomplete"],
    )


def test_the_turns_of_a_session_are_found_together(
    critic: Critic, policy: Path, place: LogPlace
) -> None:
    log = place
    events = [*ASKS[:2], open_("t"), call("list_mail", "t"), *ASKS[2:], close(), close("t")]
    critic("guard", "--policy", policy, "--log", log, stdin=lines(*events))
    every, own = critic("log", "list", log), critic("log", "list", log, "--trace", "s")
    assert own.listed[:-1] == [line for line in every.listed if "  s  " in line]
    assert [line.split()[0] for line in own.listed[:-1]] == ["1", "6"]
    assert own.listed[-1] == "2 of 3 turns match"
    assert critic("log", "list", log, "--trace", "u").listed[0] == "0 of 3 turns match"


def test_a_log_that_cannot_be_opened_answers_nothing(
    critic: Critic, policy: Path, tmp_path: Path
) -> None:
    (tmp_path / "log").write_text("not a log")
    said = critic("guard", "--policy", policy, "--log", tmp_path / "log", stdin=lines(open_()))
    assert (said.status, said.out) == (2, "")


def test_the_turns_as_a_person_reads_them(critic: Critic, policy: Path) -> None:
    hostile = call("transfer", id="\x1b[31m", iban="<b>\n", reason="x")
    said = critic(
        "guard", "--explain", "--policy", policy, stdin=lines(*ASKS, hostile, "{", close())
    )
    assert said.lines[:7] == [
        "s opened: Do the transfer of plan.md",
        "s turn 1: allow",
        '  step 0, call c: read_note {"name":"plan.md"} (read_only)',
        "s turn 2: ask",
        '  step 0, call c: transfer {"iban":"iban-4711-22","reason":"x"} (delegated)',
        "    /iban [iban-4711-22] recipient: public text, in call/1 [read_note plan.md] "
        "(which the request names)",
        "  why: step 0 recipient [iban-4711-22] appears only in the text of call/1 "
        "[read_note plan.md] (which the request names): needs approval",
    ]
    assert said.lines[-2].startswith("error in standard input line 6: ")
    assert said.lines[-1].startswith("s closed: completed: ")
    assert all(map(is_safe, said.lines))


def test_a_call_is_shown_by_its_own_id_beside_unknown_tools(critic: Critic, policy: Path) -> None:
    unknown = {"id": "u", "tool": "no\x1b[31msuch", "args": {}}
    known = {"id": "k", "tool": "list_mail", "args": {}}
    both = {"event": "calls", "session": "s", "calls": [unknown, known]}
    said = critic("guard", "--explain", "--policy", policy, stdin=lines(open_(), both))
    assert said.lines[-1] == "  step 0, call k: list_mail {} (read_only)"
    assert all(map(is_safe, said.lines))


def test_the_calls_of_a_plan_are_not_shown_by_those_of_an_earlier_turn(
    critic: Critic, tmp_path: Path
) -> None:
    (tmp_path / "late.toml").write_text(LATE_SHOP)
    order = {"id": "a", "tool": "get_order", "args": {"order_id": "ORD-1881"}}
    steps = [{"id": "p", "tool": "refund", "args": {"payment_id": "pay_1"}}]
    events = [
        open_(request="Refund pay_1 of ORD-1881", scope=["refund"]),
        {"event": "calls", "session": "s", "calls": [order]},
        result({}, id="a"),
        {"event": "plan", "session": "s", "steps": steps},
    ]
    said = critic("guard", "--explain", "--policy", tmp_path / "late.toml", stdin=lines(*events))
    assert '  step 0, call p: refund {"payment_id":"pay_1"} (destructive)' in said.lines


def test_the_turns_of_a_policy_without_provenance_have_no_origins(
    critic: Critic, tmp_path: Path
) -> None:
    wire = desk(on_ask="refuse")
    path = tmp_path / "critic.json"
    path.write_text(json.dumps({**wire, "spec": {"id": "s", "required_outputs": []}}))
    said = critic(
        "guard", "--explain", "--policy", path, stdin=lines(open_(), REFUSED, call("nothing"))
    )
    assert said.lines == [
        "s opened: Do the transfer of plan.md",
        "s turn 1: allow",
        '  step 0, call t: transfer {"iban":"iban-9","reason":"x"} (delegated)',
        "s turn 1: refuse",
        '  There is no tool "nothing".'
        " The tools are read_note, list_mail, make_note, shred and transfer.",
    ]


def test_what_people_say_is_shown_with_the_turns(critic: Critic, policy: Path) -> None:
    question = critic("guard", "--policy", policy, stdin=lines(*ASKS))
    digest = json.loads(question.lines[-1])["plan_digest"]
    long = {"event": "said", "session": "s", "text": "\x1b" + "no, the other account, " * 20}
    said = critic(
        "guard", "--explain", "--policy", policy, stdin=lines(*ASKS, yes(digest=digest), long)
    )
    assert "  why: approved by ada" in said.lines
    assert said.lines[-1].startswith("s user said: \\u001bno, the other account, ")
    assert said.lines[-1].endswith("...")
    assert len(said.lines[-1]) < 130
    assert all(map(is_safe, said.lines))


def test_explaining_and_recording_go_together(critic: Critic, policy: Path, tmp_path: Path) -> None:
    log = tmp_path / "audit.db"
    critic("guard", "--explain", "--policy", policy, "--log", log, stdin=lines(*ASKS, close()))
    assert critic("replay", log).lines[-1].startswith("6 records: 6 same")


class Piped:
    """`critic guard` in a process of its own, at the other end of two pipes."""

    def __init__(self, *args: str | Path) -> None:
        command = [sys.executable, "-m", "harness.cli", "guard", *map(str, args)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, env=environment, text=True, cwd=os.sep
        )
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def send(self, *events: Any) -> None:
        self.stdin.write(lines(*events).decode())
        self.stdin.flush()

    def answer(self) -> Any:
        return json.loads(self.stdout.readline())

    def end(self) -> int:
        self.stdin.close()
        status = self.process.wait(60)
        self.stdout.close()
        return status


def test_a_program_at_the_other_end_of_a_pipe_is_answered_at_once(policy: Path) -> None:
    guard = Piped("--policy", policy)
    guard.send(*ASKS)
    assert guard.answer()["action"] == "allow"
    question = guard.answer()
    guard.send(yes(digest=question["plan_digest"]))
    assert guard.answer()["action"] == "allow"
    assert guard.end() == 0


def test_what_was_allowed_is_on_record_when_the_process_is_killed(
    critic: Critic, policy: Path, tmp_path: Path
) -> None:
    log = tmp_path / "audit.db"
    guard = Piped("--policy", policy, "--log", log)
    guard.send(open_(), CALLS)
    assert guard.answer()["action"] == "allow"
    guard.process.kill()
    guard.end()
    (turn,) = critic("log", "list", log).listed
    assert "s  open: an execution began in record 2, and no record ends it" in turn
    assert "1 open" in critic("replay", log).lines[-1]


SHELL = """
[guard]
safety_mode = "destructive"
[spec]
id = "x"
required_outputs = []
approval_required_from = "destructive"
[shell]
table = "common-1"
[[tool]]
name = "sh"
adapter_id = "a"
capability_id = "sh"
approval_mode = "destructive"
shell = "command"
"""


def test_commands_are_read_by_the_disk_only_where_a_folder_is_named(
    critic: Critic, tmp_path: Path
) -> None:
    policy, events = tmp_path / "critic.toml", tmp_path / "events.jsonl"
    policy.write_text(SHELL)
    calls = [
        {"id": str(at), "tool": "sh", "args": {"command": command}}
        for at, command in enumerate(("cat a.txt", "cat /etc/shadow"))
    ]
    told: list[dict[str, Any]] = [{"event": "open", "session": "s", "request": "x"}]
    told += [{"event": "calls", "session": "s", "calls": [call]} for call in calls]
    events.write_text("".join(f"{json.dumps(line)}\n" for line in told))
    given = ("guard", "--policy", str(policy), str(events))

    def actions(*more: str) -> list[str]:
        return [json.loads(line)["action"] for line in critic(*given, *more).lines]

    assert actions() == ["ask", "ask"]
    assert actions("--cwd", str(tmp_path)) == ["allow", "ask"]
    assert critic(*given, "--cwd", str(tmp_path / "none")).status == 2


def test_no_command_writes_the_policy_and_the_log_of_its_guard(
    critic: Critic, tmp_path: Path
) -> None:
    policy, log, events = tmp_path / "rules.toml", tmp_path / "told.db", tmp_path / "events.jsonl"
    policy.write_text(SHELL)
    commands = ("echo x > new.toml", "echo x > rules.toml", "rm told.db", "rm -rf .")
    told: list[dict[str, Any]] = [{"event": "open", "session": "s", "request": "x"}]
    told += [
        {
            "event": "calls",
            "session": "s",
            "calls": [{"id": str(at), "tool": "sh", "args": {"command": command}}],
        }
        for at, command in enumerate(commands)
    ]
    events.write_text("".join(f"{json.dumps(line)}\n" for line in told))
    given = ("guard", "--policy", str(policy), "--log", str(log), "--cwd", str(tmp_path))
    lines = critic(*given, str(events)).lines
    assert [json.loads(line)["action"] for line in lines] == ["allow", *["refuse"] * 3]
