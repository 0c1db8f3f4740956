"""`critic log events` and `critic policy case` tell a log so that it is judged as it was.

Round trip: the events of a session go through `critic try`, and its case holds by its policy.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from harness.case_files.case_writing import expected_of
from harness.case_files.session_case import PlayedCase, complete_events, play_case
from harness.expected_rulings import ExpectedRuling
from harness.guard import Guard
from harness.integrations.hooks.install import shipped_policy
from harness.log import SqlDecisionLog
from harness.log.search.listing import Listing
from harness.policy import Policy, parse_policy, shell_settings
from harness.what_if.proposing.session_finding import sessions_in_log
from harness.wire import build
from tests.harness.audit.tables.drawn_logs import write_drawn_log
from tests.harness.console import Critic
from tests.harness.guard.test_late_calls import OTHER, PLAN, READS, TURN, VALUES, read_both, ready
from tests.harness.guard.test_late_calls import opened as late_opened
from tests.support.guarding import answers_to
from tests.support.late_refund import ORDER, SENT, WINDOW, late_policy
from tests.support.shell_worlds import World

Json = dict[str, Any]
HOOKS = shipped_policy("claude-code").decode()


def opened(request: str = "Fix the bug in a.py and run the tests", **fields: Any) -> Json:
    return {"event": "open", "session": "s", "request": request, **fields}


def calls(*given: Json, session: str = "s") -> Json:
    return {"event": "calls", "session": session, "calls": list(given)}


def bash(name: str, command: str) -> Json:
    return {"id": name, "tool": "Bash", "args": {"command": command, "cwd": "/w"}}


def result(name: str, output: Any = "done", session: str = "s") -> Json:
    told = {"event": "result", "session": session, "id": name, "status": "completed"}
    return {**told, "output": output}


def answer(*, yes: bool, session: str = "s", **fields: Any) -> Json:
    told = {"event": "answer", "session": session, "plan_digest": "$LAST", "yes": yes}
    return {**told, "approver": "emma", **fields}


def close(session: str = "s") -> Json:
    return {"event": "close", "session": session}


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def record(path: Path, policy: Policy, events: list[Json], world: World | None = None) -> list[str]:
    """Write the log of a session, and return what was said to its turns and openings."""
    with SqlDecisionLog.open(path) as log:
        answers = answers_to(Guard(policy, log=log, world=world), events)
    return [answers[at].get("action", "none") for at in sorted(answers)]


def policy_of(text: str) -> Policy:
    return parse_policy(text.encode(), syntax="toml").policy


def told_events(critic: Critic, log: Path, *more: object) -> list[Json]:
    said = critic("log", "events", log, *map(str, more))
    assert (said.status, said.err) == (0, "")
    return [json.loads(line) for line in said.lines]


def tried_outcome(critic: Critic, log: Path, policy: Path) -> str:
    """Return what `critic try` says of the only session of a log, by its events."""
    events = critic("log", "events", log, "--policy", policy).out
    tasks = write(log.with_suffix(".jsonl"), events)
    (one,) = json.loads(critic("try", policy, tasks, "--json").out)["tasks"]
    return str(one["outcome"])


def holds_as_case(critic: Critic, log: Path, policy: Path, session: str = "s") -> None:
    """Check that the case of a session holds by the policy that made its log, in both forms."""
    for form in ("toml", "json"):
        said = critic("policy", "case", log, session, "--policy", policy, "--format", form)
        assert (said.status, said.err) == (0, "")
        tested = critic("policy", "test", policy, write(log.parent / f"case.{form}", said.out))
        assert (tested.status, tested.err) == (0, "")


RUNS = [opened(), calls(bash("a", "cat a.py"), bash("b", "pytest -q")), result("a"), result("b")]
SESSIONS: dict[str, tuple[str, list[Json]]] = {
    "allowed": ("allowed", RUNS),
    "asked": (
        "asked",
        [*RUNS, calls(bash("c", "rm -rf ../x && ls")), answer(yes=True), result("c")],
    ),
    "refused": ("refused", [*RUNS, calls(bash("c", "echo x > .git/hooks/a"))]),
    "denied": ("asked", [*RUNS, calls(bash("c", "rm -rf ~")), answer(yes=False)]),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_with_commands_is_judged_as_its_log_has_it(
    name: str, critic: Critic, tmp_path: Path
) -> None:
    expected, events = SESSIONS[name]
    log, policy = tmp_path / "log.db", write(tmp_path / "hooks.toml", HOOKS)
    record(log, policy_of(HOOKS), [*events, close()], World())
    assert tried_outcome(critic, log, policy) == expected
    holds_as_case(critic, log, policy)


def test_the_events_have_the_commands_and_nothing_that_they_do(
    critic: Critic, tmp_path: Path
) -> None:
    record(tmp_path / "log.db", policy_of(HOOKS), [*RUNS, close()], World())
    first, turn, *_ = told_events(critic, tmp_path / "log.db")
    assert "scope" not in first
    assert [one["tool"] for one in turn["calls"]] == ["Bash", "Bash"]
    assert turn["calls"][0]["args"] == {"command": "cat a.py", "cwd": "/w"}
    assert all(one["shell"]["root"] == "/w" for one in turn["calls"])


@pytest.mark.parametrize("scope", [[], ["Read"], ["Bash", "Read"]])
def test_a_scope_of_a_session_with_commands_is_told(
    scope: list[str], critic: Critic, tmp_path: Path
) -> None:
    log, policy = tmp_path / "log.db", write(tmp_path / "hooks.toml", HOOKS)
    record(log, policy_of(HOOKS), [opened(scope=scope), *RUNS[1:], close()], World())
    assert told_events(critic, log)[0]["scope"] == scope
    holds_as_case(critic, log, policy)


def test_no_effect_of_a_command_is_proposed_for_the_scope(critic: Critic, tmp_path: Path) -> None:
    shadow = HOOKS.replace("# shadow = true ", "shadow = true")
    asks = [*RUNS, calls(bash("c", "rm -rf ../x && make deploy")), result("c"), close()]
    record(tmp_path / "log.db", policy_of(shadow), asks, World())
    policy = write(tmp_path / "hooks.toml", HOOKS)
    by_records = critic("shadow", tmp_path / "log.db")
    assert by_records.status == 0
    assert "scope: " not in by_records.out
    assert "give --policy FILE" not in by_records.out
    by_file = critic("shadow", tmp_path / "log.db", "--policy", policy)
    assert by_file.lines[0] == "1 session: 1 stop"
    assert "Bash  1 of 1 session: 0 would be refused, 1 asked" in by_file.lines


def test_no_edit_is_proposed_by_another_table_of_programs(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow = HOOKS.replace("# shadow = true ", "shadow = true")
    asks = [*RUNS, calls(bash("c", "rm -rf ../x")), result("c"), close()]
    record(tmp_path / "log.db", policy_of(shadow), asks, World())
    monkeypatch.setattr(shell_settings, "_shipped_digest", lambda _: "0" * 64)
    said = critic("shadow", tmp_path / "log.db")
    assert said.status == 0
    assert "commands were read by a table that is not here now: give --policy FILE" in said.out


def test_a_session_of_any_name_is_found_by_it(critic: Critic, tmp_path: Path) -> None:
    log, policy, name = tmp_path / "log.db", write(tmp_path / "hooks.toml", HOOKS), "Zoë's: 1/2"
    events = [{**one, "session": name} for one in [*RUNS, close()]]
    record(log, policy_of(HOOKS), events, World())
    assert {one["session"] for one in told_events(critic, log, name)} == {name}
    holds_as_case(critic, log, policy, name)
    assert json.loads(critic("shadow", log, "--policy", policy, "--format", "json").lines[0])[
        "sessions"
    ]


# --- calls that wait for one another -------------------------------------------------------------

NO_WINDOW = {**WINDOW, "window_open": False}
PAID = [TURN, *read_both(), ready("c")]
SOURCES: Json = {"approval_required_from": "destructive"}
CARRIED = [
    *(PLAN, calls({**READS[0], "id": "k1"}), result("k1", ORDER)),
    *(calls({**READS[1], "id": "k2"}), result("k2", WINDOW)),
    *(calls({"id": "k3", "tool": "issue_refund", "args": SENT}), result("k3", {"ok": True})),
]
LATE: dict[str, tuple[str, list[str], Json | None, list[Json]]] = {
    "opened": ("allowed", ["allow"], None, [*PAID, result("c", {"ok": True})]),
    "never opened": ("allowed", ["allow"], None, [TURN]),
    "without its result": ("allowed", ["allow"], None, PAID),
    "refused at its opening": (
        "refused",
        ["requires_evidence"],
        None,
        [TURN, *read_both(window=NO_WINDOW), ready("c")],
    ),
    "asked with the values": ("asked", ["ask"], VALUES, [*PAID, answer(yes=True), result("c", {})]),
    "denied with the values": (
        "asked",
        ["approval_required_from"],
        VALUES,
        [*PAID, answer(yes=False)],
    ),
    "asked about its sources": (
        "asked",
        ["ask"],
        SOURCES,
        [TURN, answer(yes=True, late=True), *read_both(), ready("c"), result("c", {})],
    ),
    "not shown its sources": ("asked", ["ask"], SOURCES, [TURN, answer(yes=False)]),
    "two turns": (
        "allowed",
        ["allow", "allow"],
        None,
        [*PAID, result("c", {"ok": True}), calls({**READS[0], "id": "d"}), result("d", ORDER)],
    ),
    "a plan": ("allowed", ["allow"], None, CARRIED),
    "a plan in part": ("allowed", ["allow", "allow"], None, [*CARRIED[:5], calls(OTHER)]),
    "a plan with a question": (
        "asked",
        ["ask"],
        VALUES,
        [*CARRIED[:6], answer(yes=True), result("k3", {"ok": True})],
    ),
    "a plan that waits for nothing": (
        "allowed",
        ["allow"],
        None,
        [{**PLAN, "steps": READS}, calls({**READS[1], "id": "k1"}), result("k1", WINDOW)],
    ),
}


@pytest.mark.parametrize("name", LATE)
def test_a_late_session_is_judged_as_its_log_has_it(
    name: str, critic: Critic, tmp_path: Path
) -> None:
    outcome, must, spec, events = LATE[name]
    rules, log = late_policy(spec), tmp_path / "log.db"
    policy = write(tmp_path / "late.json", json.dumps(rules.wire()))
    record(log, rules, [late_opened(), *events, close()])
    assert tried_outcome(critic, log, policy) == outcome
    holds_as_case(critic, log, policy)
    case = json.loads(critic("policy", "case", log, "s", "--format", "json").out)
    assert [one if isinstance(one, str) else one["because"] for one in case["must"]] == must


def test_the_events_of_a_late_session_are_those_that_were_told(
    critic: Critic, tmp_path: Path
) -> None:
    events = [late_opened(), *PAID, result("c", {"ok": True}), close()]
    record(tmp_path / "log.db", late_policy(), events)
    _, turn, *rest = told_events(critic, tmp_path / "log.db")
    assert [one["event"] for one in rest] == ["ready", "ready", *["result"] * 2, "ready", "result"]
    assert [one["id"] for one in rest] == ["1.0", "1.1", "1.0", "1.1", "1.2", "1.2"]
    pay = turn["calls"][2]
    assert pay["args"] == {"id": "pay_8861"}
    assert pay["takes"] == [{"arg": "/amount_inr", "call": "1.0", "at": "/payment/amount_inr"}]
    assert pay["after"] == ["1.1"]
    assert "shell" not in pay


def test_a_late_turn_that_has_not_ended_is_not_told(critic: Critic, tmp_path: Path) -> None:
    log, policy = tmp_path / "log.db", write(tmp_path / "p.json", json.dumps(late_policy().wire()))
    record(log, late_policy(), [late_opened(), TURN, ready("a")])
    why = "turn 1 has not ended: what was opened of it is recorded when it does"
    for said in (critic("log", "events", log), critic("log", "events", log, "s")):
        assert (said.status, said.out) == (2, "")
        assert said.err == f"critic: session s cannot be told: {why}\n"
    said = critic("policy", "case", log, "s", "--policy", policy)
    assert (said.status, said.out) == (2, "")
    assert why in said.err


def test_a_late_turn_that_ended_after_the_next_began_is_not_told(
    critic: Critic, tmp_path: Path
) -> None:
    """No record says whether its calls were opened before or after the other turn."""
    log = tmp_path / "log.db"
    reads = [ready("a"), result("a", ORDER)]
    record(log, late_policy(), [late_opened(), TURN, *reads, calls(OTHER), close()])
    said = critic("log", "events", log)
    assert (said.status, said.out) == (2, "")
    assert "turn 1 ended after the next began: no record says when it was opened" in said.err
    never = tmp_path / "never.db"
    record(never, late_policy(), [late_opened(), TURN, calls(OTHER), close()])
    assert [one["event"] for one in told_events(critic, never)] == ["open", "calls", "calls"]


def test_what_had_no_result_is_told_without_one(critic: Critic, tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    record(log, late_policy(), [late_opened(), calls(OTHER), *PAID[:2], close()])
    kinds = [one["event"] for one in told_events(critic, log)]
    assert kinds == ["open", "calls", "calls", "ready"]
    policy = write(tmp_path / "late.json", json.dumps(late_policy().wire()))
    holds_as_case(critic, log, policy)


def test_each_drawn_session_holds_as_a_case(tmp_path: Path) -> None:
    seed = random.randrange(2**32)  # noqa: S311
    print(f"seed {seed}")  # noqa: T201 - for who repeats it
    names = write_drawn_log(tmp_path / "log.db", seed, 6)
    policies = [build(Policy, names.policy(shadow=shadow)) for shadow in (False, True)]
    with SqlDecisionLog.open_for_reading(tmp_path / "log.db") as log:
        sessions = sessions_in_log(log, Listing(log), policies[0])
    assert sessions
    for one in sessions:
        assert one.answered_events is not None
        events = complete_events(one.answered_events)
        must = [
            build(ExpectedRuling, expected_of(*said)) for _, said in sorted(one.rulings.items())
        ]
        assert PlayedCase() in [play_case(policy, events, must) for policy in policies], one.name


def test_a_yes_that_cleared_nothing_makes_no_case(critic: Critic, tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    record(log, late_policy(SOURCES), [late_opened(), TURN, answer(yes=True), close()])
    said = critic("policy", "case", log, "s")
    assert (said.status, said.out) == (2, "")
    assert "turn 1: it was refused after a yes" in said.err


def test_a_no_to_an_opening_is_on_no_record(critic: Critic, tmp_path: Path) -> None:
    events = [late_opened(), *PAID, answer(yes=False), *PAID, close()]
    log = tmp_path / "log.db"
    assert record(log, late_policy(VALUES), events)[-2:] == ["refuse", "none"]
    assert critic("log", "events", log).status == 0  # who says yes to all needs no answer
    plain = calls({"id": "e", "tool": "issue_refund", "args": SENT})
    again = [late_opened(), *PAID, answer(yes=False), plain, close()]
    log = tmp_path / "again.db"
    assert record(log, late_policy(VALUES), again)[-2:] == ["refuse", "none"]
    said = critic("policy", "case", log, "s")
    assert (said.status, said.out) == (2, "")
    assert "turn 2: it was refused for a no that is on no record" in said.err


def test_a_call_that_ran_unasked_is_told_as_its_result(critic: Critic, tmp_path: Path) -> None:
    log, policy = tmp_path / "log.db", write(tmp_path / "p.json", json.dumps(late_policy().wire()))
    sent = {"tool": "issue_refund", "args": SENT}
    events = [late_opened(), calls(READS[0]), result("a", ORDER), {**result("z"), "sent": sent}]
    record(log, late_policy(), [*events, calls({**READS[1], "id": "e"}), close()])
    told = told_events(critic, log, "--policy", policy)
    assert [one.get("sent") for one in told if one["event"] == "result"] == [None, sent]
    holds_as_case(critic, log, policy)


def test_a_command_that_ran_unasked_is_told_with_its_facts(critic: Critic, tmp_path: Path) -> None:
    log, policy = tmp_path / "log.db", write(tmp_path / "hooks.toml", HOOKS)
    args = {"command": "rm -rf ../x", "cwd": "/w"}
    sent = {"tool": "Bash", "args": args, "shell": World().facts().wire()}
    record(log, policy_of(HOOKS), [*RUNS, {**result("z"), "sent": sent}, close()], World())
    told = told_events(critic, log)[-1]["sent"]
    assert {**told, "shell": told["shell"]["root"]} == {**sent, "shell": "/w"}
    holds_as_case(critic, log, policy)
