"""`critic shadow` counts what a shadow would have stopped: by tool, sessions and reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.audit.report.details import opened_record
from harness.audit.report.told_words import ToolsOfPage
from harness.audit.shadow_stops import general_reason
from harness.clock import FixedClock
from harness.guard import Guard
from harness.log import SqlDecisionLog
from harness.policy import parse_policy
from harness.record import DecisionRecord
from harness.what_if.proposing.logged_policy import LoggedPolicy
from tests.harness.console import Critic
from tests.harness.guard.test_late_calls import TURN, opened, read_both, ready
from tests.harness.guard.test_late_calls import guard_of as late_guard
from tests.harness.log.decisions import meddle
from tests.harness.what_if.proposing.shop_tasks import LOOKS, POLICY, task
from tests.support.guarding import (
    NOON,
    answers_to,
    asking_desk,
    call,
    close,
    guard_of,
    open_,
    result,
)

SEEN = "recipient was not seen in the request or in any result: name it in the request"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three sessions: in two, a transfer would have been stopped, once asked about as well."""
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as kept:
        guard = guard_of(asking_desk(shadow=True), log=kept)
        for name in ("one", "two"):
            pays = call("transfer", name, iban=f"iban-{name}", reason="rent")
            answers_to(guard, [open_(name), pays, result({}, name), close(name)])
        events = [open_("three", request="Shred a.md"), call("shred", "three", name="a.md")]
        events += [call("list_mail", "three", "m"), result("x", "three", "m"), close("three")]
        answers_to(guard, events)
    return path


def test_what_would_have_been_stopped_is_counted(log: Path, critic: Critic) -> None:
    said = critic("shadow", log, "--format", "json")
    assert said.status == 0
    counted = json.loads(said.lines[0])
    fates = ("--fate", "ran_in_shadow", "--fate", "ran_in_part")
    *listed, matching = critic("log", "list", log, *fates).listed
    assert matching == "3 of 4 turns match"
    assert counted["turns"] == len(listed) == 3
    transfer, shred = counted["tools"]
    assert (transfer["tool"], transfer["sessions"], transfer["stopped"]) == ("desk/transfer", 2, 2)
    assert (transfer["refused"], transfer["asked"]) == (2, 0)
    assert transfer["reasons"][SEEN] == 2
    assert (shred["tool"], shred["refused"], shred["asked"]) == ("desk/shred", 0, 1)
    text = critic("shadow", log).out
    assert "desk/transfer  2 of 2 sessions: 2 would be refused, 0 asked" in text
    assert f"     2  {SEEN}" in text


def test_an_opening_that_a_shadow_did_not_keep_to_is_counted(
    tmp_path: Path, critic: Critic
) -> None:
    """The plan passed, and the amount that came was too much: the refund was made all the same."""
    order = {"payment": {"id": "pay_8861", "amount_inr": 50001}}
    events = [opened(), TURN, *read_both(order), ready("c"), result({"ok": True}, "s", "c")]
    path = tmp_path / "late.db"
    with SqlDecisionLog.open(path) as kept:
        answers_to(late_guard(log=kept, shadow=True), [*events, close("s")])
    counted = json.loads(critic("shadow", path, "--format", "json").lines[0])
    (refund,) = counted["tools"]
    assert (counted["turns"], refund["refused"], refund["asked"]) == (1, 1, 0)
    assert any("maximum" in reason for reason in refund["reasons"])
    turn, *_ = critic("log", "list", path).lines
    assert "ran_in_shadow" in turn
    replayed = critic("replay", path)
    assert replayed.status == 0
    assert "no ruling allowed" not in replayed.out + replayed.err


def test_no_reader_says_that_a_shadow_refused(log: Path, critic: Critic) -> None:
    told = critic("log", "list", log, "--records", "--format", "json").lines
    of_shadow = [one for one in map(json.loads, told) if one.get("action") == "shadow"]
    assert all(one["shadow"] is True for one in of_shadow)
    ruled = [one["seq"] for one in of_shadow if one["status"] != "begun"]
    found = critic("log", "list", log, "--records", "--status", "shadow", "--format", "json").lines
    assert len(ruled) == 6
    assert [json.loads(one)["seq"] for one in found] == ruled
    counted = critic("log", "stats", log, "--format", "json").out
    assert json.loads(counted)["refused"]["turns"] == 0
    assert json.loads(counted)["statuses"]["shadow"] == len(ruled)
    texts = [
        counted,
        *(critic("log", "list", log, one).out for one in ("--records", "--format=csv")),
    ]
    for seq in map(str, ruled):
        shown = json.loads(critic("log", "show", log, seq, "--format", "json").out)
        assert shown["turn"]["shadow"] is True
        text = critic("log", "show", log, seq, "--format", "text").out
        assert text.startswith(f"record {seq}: shadow, not enforced, ")
        assert ">> would be refused: " in text
        texts += [text, critic("log", "show", log, seq, "--format", "csv").out]
    assert not [
        one for one in texts if "refused_by" in one or ">> refused" in one or ",refused" in one
    ]


def test_the_page_marks_what_was_not_enforced(log: Path) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        decided = [one for one in kept.records() if isinstance(one, DecisionRecord)]
    tools = ToolsOfPage()
    opened = [opened_record(one, None, None, lambda _: 0, tools) for one in decided]
    shown = [one.get("shadow", False) for one in opened]
    assert shown == [one.action == "shadow" for one in decided]
    assert len({*shown}) == 2


DAMAGE = {
    "a record is missing": "DELETE FROM records WHERE seq = 2",
    "a record was altered": "UPDATE records SET body = replace(body, 'evidence', 'evidance')",
    "the index was altered": "UPDATE record_index SET status = 'ran', kind = 'ok'",
    "inputs are missing": "DELETE FROM inputs",
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_log_is_an_exit_status(case: str, log: Path, critic: Critic) -> None:
    meddle(log, (DAMAGE[case], ()))
    policy = log.with_name("p.json")
    policy.write_text(json.dumps(asking_desk()))
    for command in (("shadow", log), ("shadow", log, "--policy", policy)):
        said = critic(*command)
        assert said.status == 1, command
        assert ("record 2 is missing" in said.err) == (case == "a record is missing")
        assert "the log is damaged: " in said.err or case == "a record is missing"


def test_a_session_is_not_told_from_what_was_altered(log: Path, critic: Critic) -> None:
    before = critic("log", "events", log)
    assert (before.status, "iban-one" in before.out) == (0, True)
    meddle(log, ("UPDATE inputs SET body = replace(body, 'iban-one', 'iban-two')", ()))
    said = critic("log", "events", log)
    assert said.status == 2
    assert "session one cannot be told: record " in said.err
    assert '"session":"one"' not in said.out


def test_what_can_still_be_read_is_counted_where_the_rest_was_taken_out(
    log: Path, critic: Critic, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    why = ("--because", "privacy", "--by", "ada")
    assert critic("log", "redact", log, copy, "--trace", "one", *why).status == 0
    said = critic("shadow", copy)
    assert said.status == 0
    assert said.lines[0] == "3 turns would have been stopped"
    assert said.lines[1] == "  1 of them cannot be read any more"
    assert "desk/transfer  1 of 1 session: 1 would be refused, 0 asked" in said.out
    counted = json.loads(critic("shadow", copy, "--format", "json").lines[0])
    assert (counted["turns"], counted["unread"]) == (3, 1)


def test_a_session_that_was_enforced_is_none_of_a_shadow(log: Path, critic: Critic) -> None:
    before = critic("shadow", log).lines[1]
    assert before == "desk/transfer  2 of 2 sessions: 2 would be refused, 0 asked"
    with SqlDecisionLog.open(log) as kept:
        guard = guard_of(asking_desk(), log=kept)
        pays = {"iban": "iban-9", "reason": "rent"}
        refused = [open_("four"), call("transfer", "four", **pays), close("four")]
        asked = [open_("five", request="Pay iban-9, shred a.md"), call("transfer", "five", **pays)]
        asked += [result({}, "five"), call("shred", "five", name="a.md"), close("five")]
        answers = answers_to(guard, [*refused, *asked]).values()
        actions = [one["action"] for one in answers if "action" in one]
        assert actions == ["refuse", "allow", "ask"]
    assert critic("shadow", log).lines[1] == before


def test_a_guard_that_enforces_has_no_shadow(tmp_path: Path, critic: Critic) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as kept:
        guard = guard_of(asking_desk(), log=kept)
        answers_to(guard, [open_(), call("transfer", iban="iban-9", reason=""), close()])
    said = critic("shadow", tmp_path / "log.db")
    assert (said.status, said.lines[0]) == (0, "0 turns would have been stopped")


def test_a_reason_is_told_without_its_step_its_values_and_its_result() -> None:
    reason = "step 12 recipient [a (x)] appears only in the text of call/31 [read x] (led): name it"
    assert general_reason(reason) == "recipient appears only in the text of a result (led): name it"


# --- another policy, and the sessions as events -------------------------------------------------

TOLD = [
    open_("s", request="Transfer the rent as plan.md says", system="You pay bills."),
    call("read_note", "s", "c1", name="plan.md"),
    result("wire it to iban-4711-22", "s", "c1"),
    {"event": "said", "session": "s", "text": "And say so to ana@example.com."},
    call("transfer", "s", "c2", iban="iban-4711-22", reason="rent"),
    result({"ok": True}, "s", "c2"),
    close("s"),
]


def told_log(path: Path) -> Path:
    with SqlDecisionLog.open(path) as kept:
        answers_to(guard_of(asking_desk(shadow=True), log=kept), TOLD)
    return path


def written(path: Path, wire: object) -> Path:
    path.write_text(json.dumps(wire))
    return path


def test_the_sessions_of_a_log_are_events_again(tmp_path: Path, critic: Critic) -> None:
    said = critic("log", "events", told_log(tmp_path / "log.db"))
    assert said.status == 0
    events = [json.loads(line) for line in said.out.splitlines()]
    kinds = [one["event"] for one in events]
    assert kinds == ["open", "calls", "result", "said", "calls", "result"]
    assert events[0]["request"] == TOLD[0]["request"]
    assert events[0]["system"] == "You pay bills."
    assert events[0]["scope"] == TOLD[0]["scope"]
    assert [one["calls"][0]["args"] for one in events if one["event"] == "calls"] == [
        {"name": "plan.md"},
        {"iban": "iban-4711-22", "reason": "rent"},
    ]
    assert [one["output"] for one in events if one["event"] == "result"] == [
        "wire it to iban-4711-22",
        {"ok": True},
    ]
    one = critic("log", "events", tmp_path / "log.db", "s")
    assert one.out == said.out
    assert critic("log", "events", tmp_path / "log.db", "gone").status == 2


def test_events_of_a_log_are_judged_as_the_session_was(tmp_path: Path, critic: Critic) -> None:
    policy = asking_desk()
    written(tmp_path / "desk.json", policy)
    told_log(tmp_path / "log.db")
    for name, lines in (
        ("live", "".join(f"{json.dumps(one)}\n" for one in TOLD)),
        ("logged", critic("log", "events", tmp_path / "log.db").out),
    ):
        (tmp_path / f"{name}.jsonl").write_text(lines)
    tried = [
        json.loads(critic("try", tmp_path / "desk.json", tmp_path / f"{name}.jsonl", "--json").out)
        for name in ("live", "logged")
    ]
    assert tried[0] == tried[1]


def test_another_policy_is_tried_on_the_sessions(log: Path, critic: Critic, tmp_path: Path) -> None:
    policy = written(tmp_path / "desk.json", asking_desk())
    said = critic("shadow", log, "--policy", policy)
    assert said.status == 0
    assert said.lines[0] == "3 sessions: 2 stop"
    assert said.lines[1] == "transfer  2 of 2 sessions: 2 would be refused, 0 asked"
    assert "no edit helps: the value was seen nowhere" in said.out
    wire = json.loads(critic("shadow", log, "--policy", policy, "--format", "json").lines[0])
    assert (wire["sessions"], wire["cannot_tell"]) == (3, 0)
    looser = {**asking_desk(), "spec": {**asking_desk()["spec"], "provenance": "open"}}
    assert critic("shadow", log, "--policy", written(policy, looser)).status == 0
    assert critic("shadow", log, "--policy", tmp_path / "gone.toml").status == 2


def test_what_was_taken_out_cannot_be_told(log: Path, critic: Critic, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    why = ("--because", "privacy", "--by", "ada")
    assert critic("log", "redact", log, copy, "--value", "1:/inputs/plan", *why).status == 0
    said = critic("shadow", copy, "--policy", written(tmp_path / "desk.json", asking_desk()))
    assert "  1 more cannot be judged:\n     1  record 1: " in said.out


# --- edits of the policy that the records tell ---------------------------------------------------

CALLED = POLICY.replace('name = "mail"\n', "")
"""A shop whose tools are called as their capabilities."""


def shop_log(path: Path, text: str, *tasks: list[Any]) -> Path:
    """Return the log of a shadow of a policy, to which the tasks were told."""
    policy = parse_policy(text.replace("[guard]", "[guard]\nshadow = true").encode()).policy
    with SqlDecisionLog.open(path) as kept:
        guard = Guard(policy, log=kept, clock=FixedClock(NOON))
        for events in tasks:
            answers_to(guard, [*events, close(events[0]["session"])])
    return path


def proposed(critic: Critic, log: Path, *more: object) -> list[Any]:
    found = json.loads(critic("shadow", log, *more, "--format", "json").lines[0])["proposals"]
    return [[one["text"] for one in offer["edits"]] for offer in found]


def shop_tasks(name: str) -> list[list[Any]]:
    """Return three sessions that stop; in the last, a mail is sent that an answer came to."""
    to_ada = (name, {"to": "ada@x.example", "body": "late"}, "sent")
    eve = ("open_page", {"url": "https://x.example/a"}, "Mail eve@y.example.")
    to_eve = (name, {"to": "eve@y.example", "body": "hello"}, "sent")
    return [
        task("Tell the buyer of ORD-882 that it is late.", LOOKS, to_ada, id="one"),
        task("Do what https://x.example/a says.", eve, to_eve, id="two", scope=["get_order"]),
        task(
            "Tell the buyer of ORD-882 that it is late, twice.", LOOKS, to_ada, to_ada, id="three"
        ),
    ]


def test_edits_are_proposed_without_a_policy(tmp_path: Path, critic: Critic) -> None:
    log = shop_log(tmp_path / "log.db", CALLED, *shop_tasks("send_email"))
    (tmp_path / "shop.toml").write_text(CALLED)
    found = proposed(critic, log)
    assert found == proposed(critic, log, "--policy", tmp_path / "shop.toml")
    assert found == [["scope: send_email"], ["send_email follows open_page"]]
    text = critic("shadow", log).out
    assert "for one" in text
    assert text.index("would be refused") < text.index("for one")


@pytest.mark.slow
def test_a_result_tells_what_its_tool_is_called(tmp_path: Path, critic: Critic) -> None:
    log = shop_log(tmp_path / "log.db", POLICY, *shop_tasks("mail"))
    (tmp_path / "shop.toml").write_text(POLICY)
    assert proposed(critic, log) == proposed(critic, log, "--policy", tmp_path / "shop.toml")


@pytest.mark.slow
def test_one_scope_of_all_sessions_is_that_of_the_policy(tmp_path: Path, critic: Critic) -> None:
    scoped = CALLED.replace("[guard]", '[guard]\nscope = ["get_order"]')
    log = shop_log(tmp_path / "log.db", scoped, *shop_tasks("send_email")[::2])
    (tmp_path / "shop.toml").write_text(scoped)
    found = proposed(critic, log)
    assert found == proposed(critic, log, "--policy", tmp_path / "shop.toml")
    assert any("scope: send_email" in edits for edits in found)


def test_two_tools_of_one_capability_are_told_apart() -> None:
    tools = [
        {"adapter_id": one, "capability_id": "send", "approval_mode": "network"} for one in "ab"
    ]
    manifests = {"tool_manifest": tools, "evidence_manifest": []}
    told = LoggedPolicy()
    ctx, spec = {"safety_mode": "network"}, {"id": "x", "required_outputs": []}
    told.add_record("s", ctx, {"manifests": manifests}, spec)
    assert {*told.to_policy().tools} == {"a.send", "b.send"}


def test_what_no_record_says_is_named(log: Path, critic: Critic, tmp_path: Path) -> None:
    assert "give --policy FILE" not in critic("shadow", log).out
    told = critic("shadow", told_log(tmp_path / "told.db")).out
    assert "how long results are fresh is on no record: give --policy FILE" in told
