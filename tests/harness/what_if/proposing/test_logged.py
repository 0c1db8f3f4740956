"""What a log tells of its policy and its tasks, and what a search of edits counts as progress."""

from itertools import product
from typing import Any

import pytest

from harness.policy import Policy, parse_policy
from harness.record import RunFacts
from harness.what_if.proposing.edit_proposals import EditProposer
from harness.what_if.proposing.edit_search import _is_further
from harness.what_if.proposing.logged_policy import LoggedPolicy
from harness.what_if.proposing.logged_sessions import LoggedSession
from harness.what_if.proposing.policy_edits import PolicyEdit
from harness.what_if.proposing.task_judge import JudgedTask, TaskOutcome
from harness.wire import build
from tests.harness.what_if.proposing.shop_tasks import NOW, POLICY
from tests.support.guarding import Json

TOOLS: list[Json] = [
    {"adapter_id": "shop", "capability_id": name, "approval_mode": "read_only"} for name in "abc"
]


def scope_of(*names: str) -> list[Json]:
    return [{"adapter_id": "shop", "capability_id": name} for name in names]


@pytest.mark.parametrize(
    ("scopes", "found"),
    [
        (["ab"], ("a", "b")),
        (["ab", "ab"], ("a", "b")),
        (["ab", "a"], None),
        (["a", "ab"], None),
        ([None, "ab"], None),
        (["ab", None], None),
        ([None], None),
    ],
)
def test_a_scope_is_that_of_the_policy_where_all_sessions_had_it(
    scopes: list[str | None], found: Any
) -> None:
    logged = LoggedPolicy()
    for number, names in enumerate(scopes):
        ctx: Json = {"safety_mode": "destructive"}
        ctx |= {} if names is None else {"scope": scope_of(*names)}
        manifests = {"tool_manifest": TOOLS, "evidence_manifest": []}
        spec = {"id": "s", "required_outputs": []}
        logged.add_record(f"t{number}", ctx, {"manifests": manifests}, spec)
    assert logged.to_policy().scope == found


def run_of(calls: list[Json]) -> RunFacts:
    made = [{**one, **scope_of("ab"[one["step"]])[0], "args": {}} for one in calls]
    return build(RunFacts, {"run_id": "r", "trace_id": "t", "calls": made, "outputs": {}})


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_of_the_attempts_of_a_call_the_last_one_tells_how_it_ended(attempts: int) -> None:
    session = LoggedSession("t", "s")
    manifests = {"tool_manifest": TOOLS, "evidence_manifest": []}
    steps = [{"kind": "tool", **one, "args": {}} for one in scope_of("a", "b")]
    session.add_turn({"session": {"turn": 1}}, {"manifests": manifests}, {"steps": steps})
    calls = [
        {"step": step, "status": "completed", "output": f"{step}.{attempt}"}
        for attempt in range(attempts)
        for step in (0, 1)
    ]
    session.end_turn(1, run_of(calls), "allow")
    session.end_turn(1, run_of([{"step": 0, "status": "failed"}]), "allow")
    told = [one for one in session.events or () if one["event"] == "result"]
    last = attempts - 1
    assert [(one["id"], one["output"]) for one in told] == [
        ("1.0", f"0.{last}"),
        ("1.1", f"1.{last}"),
    ]


OUTCOMES: tuple[TaskOutcome, ...] = ("allowed", "asked", "refused")


def test_a_task_gets_further_only_where_no_turn_is_refused_that_ran_before() -> None:
    tasks = [
        JudgedTask(outcome, None, turns, doubts, None)
        for outcome, turns, doubts in product(OUTCOMES, range(3), range(3))
    ]
    for before, now in product(tasks, repeat=2):
        if before.outcome == "refused":
            expected = now.outcome != "refused" or now.turns > before.turns
        else:
            expected = now.outcome != "refused" and now.doubts < before.doubts
        assert _is_further(before, now) == expected


def test_an_edit_of_a_class_touches_each_tool_that_yields_it() -> None:
    wire = parse_policy(POLICY.encode()).policy.wire()
    order = wire["tool"][0]
    wire["tool"].append({**order, "capability_id": "list_orders"})
    wire["tool"].append({**order, "capability_id": "no_order", "yields": "other"})
    wire["class"].append({"name": "other", "fields": {"id": "system"}})
    proposer = EditProposer(build(Policy, wire), NOW)
    for tool, touched in (
        ("get_order", {"get_order", "list_orders"}),
        ("list_orders", {"get_order", "list_orders"}),
        ("no_order", {"no_order"}),
        ("find_mail", {"find_mail"}),
    ):
        edit = PolicyEdit("fields", tool, "email", "party")
        assert proposer._tools_touched((edit,)) == touched
