"""AuthZEN 1.0: its certification scenario as cases, and what a policy makes of its questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from critic.session import Batch, verify_batch
from evals.plan import ToolStep
from harness.log import SqlDecisionLog
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import Filters
from harness.replay import replay
from tests.harness.guard.test_recording import Kept
from tests.harness.serve.asking import BASE, app_of, ask
from tests.support.guarding import desk
from tests.support.turns import fates_in

HERE = Path(__file__).parent
POLICY = json.loads((HERE / "authzen_policy.json").read_bytes())
CASES = json.loads((HERE / "authzen_scenario.json").read_bytes())["cases"]
SERVICE = app_of(POLICY)
ONE, MANY = "/access/v1/evaluation", "/access/v1/evaluations"
QUESTION = CASES[0]["body"]


def decisions(answer: Any) -> Any:
    many = answer.get("evaluations")
    return answer["decision"] if many is None else [one["decision"] for one in many]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_scenario_is_decided_as_it_says(case: Any) -> None:
    answer = ask(SERVICE, case["path"], case["body"], headers={"x-request-id": "r-17"})
    assert answer.status_code == case["status"]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"] == "r-17"
    if case["status"] != 200:
        assert answer.json()["decision"] is False
        return
    given, expected = decisions(answer.json()), case["decisions"]
    if isinstance(expected, list):
        assert [type(one) for one in given] == [bool] * len(expected)
        pairs = zip(given, expected, strict=True)
        assert all(wanted is None or wanted is one for one, wanted in pairs)
    else:
        assert given is expected


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (QUESTION, {"content-type": "text/plain"}),
        (QUESTION, {"content-type": ""}),
        *((body, {}) for body in (b"{", b"", b"[]", b"null", b'{"subject":1,"subject":2}')),
        ({**QUESTION, "context": []}, {}),
        ({**QUESTION, "resource": {**QUESTION["resource"], "properties": 1}}, {}),
    ],
)
def test_what_is_no_question_is_answered_by_no(body: Any, headers: Any) -> None:
    answer = ask(SERVICE, ONE, body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["decision"] is False
    assert answer.json()["context"]["error"]["message"]


@pytest.mark.parametrize(
    "action",
    [
        *({"name": "a name of words"}, {"name": ""}, {"name": "read", "properties": {"n": 2**60}}),
        {"name": "archive"},
    ],
)
def test_what_no_tool_can_be_asked_is_a_no(action: Any) -> None:
    for path in (ONE, MANY):
        answer = ask(SERVICE, path, {**QUESTION, "action": action})
        assert (answer.status_code, answer.json()["decision"]) == (200, False)
        why = answer.json()["context"]
        assert "critic" in why or "cannot be a call" in why["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        *([], {"evaluations": 1}, {"evaluations": [], "options": 1}),
        {**QUESTION, "evaluations": [{}], "options": {"evaluations_semantic": "any"}},
        {**QUESTION, "evaluations": [{}] * 1001},
    ],
)
def test_what_are_no_questions_is_answered_by_no(body: Any) -> None:
    answer = ask(SERVICE, MANY, body)
    assert (answer.status_code, answer.json()["decision"]) == (400, False)


def test_the_same_question_has_the_same_answer() -> None:
    assert {decisions(ask(SERVICE, ONE, QUESTION).json()) for _ in range(5)} == {True}


def test_without_a_request_id_there_is_none_and_a_strange_one_is_not_sent_back() -> None:
    assert "x-request-id" not in ask(SERVICE, ONE, QUESTION).headers
    for strange in ("x" * 257, "é\x85"):
        sent = {"x-request-id": strange.encode("latin-1")}
        answer = ask(SERVICE, ONE, QUESTION, headers=sent)
        assert answer.status_code == 200
        assert "x-request-id" not in answer.headers


def test_a_plan_is_permitted_as_a_whole_or_not_at_all() -> None:
    write = {"action": {"name": "write"}}
    stop = {"options": {"evaluations_semantic": "deny_on_first_deny"}}
    both = {**QUESTION, "evaluations": [{}, write], **stop}
    assert decisions(ask(SERVICE, MANY, both).json()) == [True, True]
    bob = {**both, "subject": {"type": "user", "id": "bob"}}
    (denied,) = ask(SERVICE, MANY, bob).json()["evaluations"]
    assert (denied["decision"], denied["context"]["critic"]["offending_step"]) == (False, 1)
    assert decisions(ask(SERVICE, MANY, {**both, "evaluations": [{}, 1]}).json()) == [False]
    first = {**bob, "options": {"evaluations_semantic": "permit_on_first_permit"}}
    assert decisions(ask(SERVICE, MANY, {**first, "evaluations": [write, {}, {}]}).json()) == [
        *(False, True)
    ]


def tool_call(tool: str, **args: Any) -> Any:
    resource = {"type": "tool", "id": tool, "properties": {"arguments": args}}
    user = {"type": "identity", "id": "ada@example.org"}
    return {"subject": user, "action": {"name": "tools/call"}, "resource": resource}


def test_a_record_is_for_the_user_that_all_its_questions_are_of(tmp_path: Path) -> None:
    stop = {"options": {"evaluations_semantic": "deny_on_first_deny"}}
    bob = {"subject": {"type": "user", "id": "bob"}}
    questions: list[tuple[Any, str | None]] = [
        (QUESTION, "alice"),
        (tool_call("read"), "ada@example.org"),
        ({**QUESTION, "evaluations": [{}, {}], **stop}, "alice"),
        ({**QUESTION, "evaluations": [{}, bob], **stop}, None),
        ({**QUESTION, "subject": {"type": "group", "id": "staff"}}, None),
        ({**QUESTION, "subject": {"type": "user", "id": "Ada Ray"}}, None),
    ]
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        app = app_of(POLICY, log=log)
        for question, _ in questions:
            path = MANY if "evaluations" in question else ONE
            assert ask(app, path, question).status_code == 200
        rows = [one.row for one in Listing(log).rows(Filters()) if isinstance(one, Listed)]
        users = [row.of_user for row in rows]
    assert users == [user for _, user in questions]


def test_a_call_of_a_tool_is_judged_with_its_arguments() -> None:
    app = app_of(desk())
    assert decisions(ask(app, ONE, tool_call("list_mail")).json()) is True
    for denied in (tool_call("transfer", iban="iban-1", reason="x"), tool_call("none")):
        answer = ask(app, ONE, denied).json()
        assert answer["decision"] is False
        assert answer["context"]["critic"]["ok"] is False
        assert answer["context"]["reason"] == answer["context"]["critic"]["kind"]


def test_the_scope_of_the_policy_is_what_a_call_is_asked_for() -> None:
    ring = {"adapter_id": "desk", "capability_id": "ring_bell", "approval_mode": "network"}
    roles = {"arg_roles": {"times": "attribute"}, "may_be_empty": ["times"]}
    spec = {"id": "s", "required_outputs": [], "provenance": "closed"}
    decided = []
    for scope in ({}, {"scope": "all"}):
        guard = {"safety_mode": "network", **scope}
        app = app_of({"guard": guard, "spec": spec, "tool": [{**ring, **roles}]})
        decided.append(ask(app, ONE, tool_call("ring_bell", times=1)).json()["decision"])
    assert decided == [False, True]


def test_what_an_approval_would_clear_says_so_and_is_a_no() -> None:
    spec = {**POLICY["spec"], "approval_required_from": "destructive"}
    delete = {**QUESTION, "action": {"name": "delete", "properties": {"soft": True}}}
    answer = ask(app_of({**POLICY, "spec": spec}), ONE, delete).json()
    assert answer["decision"] is False
    assert answer["context"]["reason"] == "approval_required"
    assert answer["context"]["evaluation_id"] == answer["context"]["plan_digest"]


def test_a_shadow_permits_and_shows_the_verdict() -> None:
    policy = {**POLICY, "guard": {**POLICY["guard"], "shadow": True}}
    bob = {**QUESTION, "subject": {"type": "user", "id": "bob"}, "action": {"name": "write"}}
    answer = ask(app_of(policy), ONE, bob).json()
    assert (answer["decision"], answer["context"]["critic"]["ok"]) == (True, False)
    assert ask(app_of(policy), ONE, {}).json()["decision"] is False


def test_what_a_shadow_permits_is_on_record_as_a_shadow(tmp_path: Path) -> None:
    policy = {**POLICY, "guard": {**POLICY["guard"], "shadow": True}}
    bob = {**QUESTION, "subject": {"type": "user", "id": "bob"}, "action": {"name": "write"}}
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        app = app_of(policy, log=log)
        for question in (bob, QUESTION):
            assert ask(app, ONE, question).json()["decision"] is True
        app.close()
    with SqlDecisionLog.open_for_reading(tmp_path / "audit.db") as log:
        assert [record.action for record in log.records()] == ["shadow", "allow"]
        assert [one.status for one in replay(log)] == ["same"] * 2
        assert [*fates_in(log).values()] == ["ran_in_shadow", "not_run"]


def test_an_entity_takes_no_more_from_the_request_around_it_than_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged: list[Any] = []

    def noted(batch: Batch) -> Any:
        judged.extend(step.args for step in batch.plan.steps if isinstance(step, ToolStep))
        return verify_batch(batch)

    monkeypatch.setattr("harness.serve.authzen.verify_batch", noted)
    around = tool_call("read", page=1)
    subject = {**around["subject"], "properties": {"team": "desk"}}
    new = {"id": "read", "properties": {"arguments": {"page": 2}}}
    own = [{}, {"resource": {"type": "tool"}}, {"resource": new}]
    ask(SERVICE, MANY, {**around, "evaluations": own})
    assert judged == [{"page": 1}, {}, {"page": 2}]
    bob = {"subject": {"id": "bob"}}
    ask(SERVICE, MANY, {**QUESTION, "subject": subject, "evaluations": [bob]})
    assert judged[-1]["subject"] == {"type": subject["type"], "id": "bob"}


def test_each_decision_is_on_record_and_replays(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    with SqlDecisionLog.open(path) as log:
        app = app_of(POLICY, log=log)
        ask(app, MANY, CASES[-6]["body"])
        ask(app, ONE, QUESTION)
        app.close()
    with SqlDecisionLog.open_for_reading(path) as log:
        assert [one.status for one in replay(log)] == ["same"] * 3


def test_without_a_policy_nothing_is_permitted() -> None:
    for path in (ONE, MANY):
        answer = ask(app_of(), path, QUESTION)
        assert (answer.status_code, answer.json()["decision"]) == (404, False)


def test_the_metadata_name_the_endpoints_where_they_were_asked_for() -> None:
    path = "/.well-known/authzen-configuration"
    here = ask(SERVICE, path).json()
    assert here == {
        "policy_decision_point": BASE,
        "access_evaluation_endpoint": f"{BASE}{ONE}",
        "access_evaluations_endpoint": f"{BASE}{MANY}",
    }
    proxied = app_of(POLICY, public_url="https://pdp.example.org")
    assert ask(proxied, path).json()["access_evaluation_endpoint"].startswith("https://pdp.")
    strange = app_of(POLICY, loopback_only=False)
    assert ask(strange, path, headers={"host": "a<b"}).status_code == 400


PEOPLE = [
    ([("user", "ada")], "ada"),
    ([("identity", "ada")], "ada"),
    ([("service", "ada")], None),
    ([("user", "ada"), ("user", "ada")], "ada"),
    ([("user", "ada"), ("identity", "ada")], "ada"),
    ([("user", "ada"), ("user", "bob")], None),
    ([("user", "ada"), ("service", "bot")], None),
    ([("service", "ada"), ("user", "ada")], None),
    ([("user", "a b\n")], None),
]


@pytest.mark.parametrize(("subjects", "user"), PEOPLE)
def test_a_plan_is_for_a_user_only_if_each_of_its_calls_is(subjects: Any, user: Any) -> None:
    log = Kept()
    own = [{"subject": {"type": kind, "id": name}} for kind, name in subjects]
    stop = {"options": {"evaluations_semantic": "deny_on_first_deny"}}
    ask(app_of(POLICY, log=log), MANY, {**QUESTION, "evaluations": own, **stop})
    (decision,) = log.decisions
    assert decision.proposal.ctx.user_id == user


@pytest.mark.parametrize("kind", ["tool", "record", "Tool", "tools", "", "tool "])
@pytest.mark.parametrize("name", ["tools/call", "Tools/call", "tools/calls", "call"])
def test_a_call_of_a_tool_is_asked_for_by_both_its_names(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []

    def noted(batch: Batch) -> Any:
        judged.extend(call.tool for call in batch.calls)
        return verify_batch(batch)

    monkeypatch.setattr("harness.serve.authzen.verify_batch", noted)
    tool = {"type": kind, "id": "read", "properties": {"arguments": {}}}
    ask(SERVICE, ONE, {**QUESTION, "action": {"name": name}, "resource": tool})
    assert judged == ["read" if (kind, name) == ("tool", "tools/call") else name]
