"""Tasks whose calls wait for one another, and plans that an agent carries out: as a guard rules."""

import json
from typing import Any

import pytest

from harness.policy import Policy, parse_policy
from harness.what_if.proposing.edit_proposals import propose_edits
from harness.what_if.proposing.edit_words import edit_text
from harness.what_if.proposing.recorded_tasks import RecordedTask, read_tasks
from harness.what_if.proposing.task_judge import TaskJudge
from harness.wire import build
from tests.harness.guard.test_late_calls import (
    PLAN,
    READS,
    TURN,
    VALUES,
    WRONG,
    calls,
    opened,
    read_both,
    ready,
    result,
)
from tests.harness.what_if.proposing.shop_tasks import NOW, POLICY
from tests.support.late_refund import ORDER, SENT, WINDOW, late_policy

Json = dict[str, Any]
SOURCES: Json = {"approval_required_from": "destructive"}
TOO_MUCH, _ = WRONG["too much"]
SEND = calls({"id": "k3", "tool": "issue_refund", "args": SENT})
CARRIED = [
    *(PLAN, calls({**READS[0], "id": "k1"}), result("k1", ORDER)),
    *(calls({**READS[1], "id": "k2"}), result("k2", WINDOW), SEND),
]


def task_of(*events: Json) -> RecordedTask:
    lines = enumerate((json.dumps(one).encode() for one in events), 1)
    (task,) = read_tasks(lines)
    return task


def judged(spec: Json | None, *events: Json) -> tuple[str, str | None, str | None]:
    """Return the outcome, what was said to the last turn, and the tool that stops."""
    found = TaskJudge(late_policy(spec), NOW).judge(task_of(opened(), *events))
    return found.outcome, found.last, None if found.stop is None else found.stop.tool


LATE: dict[str, tuple[Json | None, list[Json], tuple[str, str | None, str | None]]] = {
    "opened": (None, [TURN, *read_both(), ready("c")], ("allowed", "allow", None)),
    "refused at its opening": (
        None,
        [TURN, *read_both(TOO_MUCH), ready("c"), SEND],
        ("refused", None, "issue_refund"),
    ),
    "refused at the end": (
        None,
        [TURN, *read_both(TOO_MUCH), ready("c")],
        ("refused", "refuse", "issue_refund"),
    ),
    "asked about its sources": (
        SOURCES,
        [TURN, *read_both(), ready("c")],
        ("asked", "ask", None),
    ),
    "asked about the values": (VALUES, [TURN, *read_both(), ready("c")], ("asked", "ask", None)),
    "a plan that is carried out": (None, CARRIED, ("allowed", "allow", None)),
    "a plan that is asked about": (SOURCES, CARRIED, ("asked", "allow", None)),
    "a plan that asks with its values": (VALUES, CARRIED, ("asked", "ask", None)),
    "a plan with other arguments": (
        None,
        [
            *CARRIED[:-1],
            calls({"id": "k", "tool": "issue_refund", "args": {**SENT, "id": "pay_1"}}),
        ],
        ("refused", "refuse", "issue_refund"),
    ),
    "a plan that no policy allows": (
        None,
        [{**PLAN, "steps": [{**READS[0], "args": {"id": "x"}}]}],
        ("refused", "refuse", "lookup"),
    ),
}


@pytest.mark.parametrize("name", LATE)
def test_a_late_turn_is_as_strict_as_its_strictest_ruling(name: str) -> None:
    spec, events, expected = LATE[name]
    assert judged(spec, *events) == expected


def test_a_stop_at_an_opening_has_the_value_that_came() -> None:
    task = task_of(opened(), TURN, *read_both(TOO_MUCH), ready("c"))
    stop = TaskJudge(late_policy(), NOW).judge(task).stop
    assert stop is not None
    assert (stop.turn, stop.opened, stop.args) == (1, "c", {**SENT, "amount_inr": 50001})
    assert (stop.path, stop.value) == ("/amount_inr", 50001)


LATE_SHOP = POLICY.replace("[spec]", '[spec]\nlate = "values"', 1)
LOOK: Json = {"id": "a", "tool": "get_order", "args": {"order_id": "ORD-882"}}
MAIL: Json = {
    "id": "b",
    "tool": "mail",
    "args": {"body": "late"},
    "takes": [{"arg": "/to", "call": "a", "at": "/email"}],
}
MAILED = [
    {**opened("Tell the buyer of ORD-882 that it is late."), "scope": ["mail"]},
    calls(LOOK, MAIL),
    *(ready("a"), result("a", {"order_id": "ORD-882", "email": "ada@x.example"}), ready("b")),
]


def test_an_edit_is_found_for_a_stop_at_an_opening() -> None:
    policy: Policy = parse_policy(LATE_SHOP.encode(), syntax="toml").policy
    found = propose_edits(policy, task_of(*MAILED), now=NOW)
    assert found.judged.outcome == "asked"
    assert found.judged.stop is not None
    assert (found.judged.stop.opened, found.judged.stop.value) == ("b", "ada@x.example")
    assert found.proposal is not None
    assert [edit_text(one) for one in found.proposal.edits] == [
        "fields of get_order: email = party",
        "author of get_order: member",
    ]
    assert found.proposal.judged.outcome == "allowed"


def test_calls_that_wait_by_this_policy_alone_are_opened_as_they_return() -> None:
    wire = late_policy().wire()
    ordered = build(Policy, {**wire, "guard": {**wire["guard"], "turns": "ordered"}})
    plain = {"id": "c", "tool": "issue_refund", "args": SENT}
    for order, outcome in ((ORDER, "allowed"), (TOO_MUCH, "refused")):
        told = [opened(), calls(*READS, plain), result("a", order), result("b", WINDOW)]
        task = task_of(*told, result("c", {"ok": True}))
        assert TaskJudge(ordered, NOW).judge(task).outcome == outcome
