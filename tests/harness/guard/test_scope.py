"""Which tools a request is for: the scope of `open`, else that of the policy."""

import json
from typing import Any

import pytest

from critic import Plan, Verified, verify
from harness.guard import Guard, Ruling
from harness.integrations.seam.guarded import GuardedSession
from harness.integrations.seam.ruling_replies import GuardHalted
from harness.log import SqlDecisionLog
from harness.policy import InvalidPolicy, Policy, parse_policy
from harness.wire import build
from tests.harness.guard.test_expiries import Log

Json = dict[str, Any]

ROLES = {"to": "recipient", "amount": "attribute"}
TOOL: Json = {"adapter_id": "bank", "approval_mode": "delegated", "arg_roles": ROLES}
PAY, MOVE = ({**TOOL, "capability_id": name} for name in ("send_money", "move_stock"))
ARGS = {"to": "anna@corp.example", "amount": 12}
REQUEST = "Give anna@corp.example 12 of it"


def policy(scope: Any = None, *tools: Json) -> Json:
    guard = {"safety_mode": "destructive"} | ({} if scope is None else {"scope": scope})
    spec = {"id": "s", "required_outputs": [], "provenance": "closed"}
    return {"guard": guard, "spec": spec, "tool": [*(tools or (PAY, MOVE))]}


def ruled(guard: Guard, tool: str = "send_money", **opening: Any) -> str:
    opened = guard.handle_line(
        json.dumps({"event": "open", "session": "s", "request": REQUEST, **opening}).encode()
    )
    if opened is not None:
        return str(opened.error)  # type: ignore[union-attr]
    call = {"id": "c", "tool": tool, "args": ARGS}
    answer = guard.handle_line(
        json.dumps({"event": "calls", "session": "s", "calls": [call]}).encode()
    )
    assert isinstance(answer, Ruling)
    return answer.action


ALWAYS = {**PAY, "requested": "always"}
RULED: list[tuple[Any, tuple[Json, ...], Any, str]] = [
    # of the policy, its tools, of `open`, the ruling on send_money
    (None, (), None, "ask"),
    ("all", (), None, "allow"),
    (["send_money"], (), None, "allow"),
    (["move_stock"], (), None, "ask"),
    ([], (), None, "ask"),
    (None, (ALWAYS, MOVE), None, "allow"),
    (["move_stock"], (ALWAYS, MOVE), None, "allow"),
    # The scope of `open` takes the place of that of the policy, narrower or wider.
    ("all", (), ["move_stock"], "ask"),
    ("all", (), [], "ask"),
    (None, (ALWAYS, MOVE), ["move_stock"], "ask"),
    (["move_stock"], (), ["send_money"], "allow"),
]


@pytest.mark.parametrize(("scope", "tools", "opened", "action"), RULED)
def test_the_scope_is_that_of_open_else_of_the_policy(
    scope: Any, tools: tuple[Json, ...], opened: Any, action: str
) -> None:
    log = Log()
    built = build(Policy, policy(scope, *tools))
    given = {} if opened is None else {"scope": opened}
    assert ruled(Guard(built, log=log), **given) == action
    recorded = log.decisions[0].proposal
    known = built.scope if opened is None else tuple(opened)
    assert [one.capability_id for one in recorded.ctx.scope or ()] == [*(known or ())]
    assert (recorded.ctx.scope is None) == (known is None)
    if opened is None:  # a plan is judged by the same
        step = {"kind": "tool", **built.tool[0].capability.wire(), "args": ARGS}
        step = {key: step[key] for key in ("kind", "adapter_id", "capability_id", "args")}
        plan = build(Plan, {"steps": [step], "declared_outputs": []})
        items = recorded.compiled.manifests.evidence_manifest
        context = built.context("t", "2026-05-09T12:00:00Z")
        verdict = verify(context, built.compiled(evidence=items), built.spec, plan)
        assert isinstance(verdict, Verified) == (action == "allow")


def test_a_session_that_goes_on_elsewhere_has_it(tmp_path: Any) -> None:
    built = build(Policy, policy("all"))
    place = str(tmp_path / "log.db")
    opening = json.dumps({"event": "open", "session": "s", "request": REQUEST}).encode()
    with SqlDecisionLog.open(place) as log:
        assert Guard(built, log=log).handle_line(opening) is None
    with SqlDecisionLog.open(place) as log:
        call = {"id": "c", "tool": "send_money", "args": ARGS}
        calls = json.dumps({"event": "calls", "session": "s", "calls": [call]}).encode()
        assert bool(Guard(built, log=log).handle_line(calls))


@pytest.mark.parametrize("scope", [["send_mony"], ["send_money", "sendMoney"], [""]])
def test_an_open_with_an_unknown_name_is_an_error(scope: list[str]) -> None:
    guard = Guard(build(Policy, policy("all")))
    found = ruled(guard, scope=scope)
    assert f"/scope/{len(scope) - 1}" in found
    assert "the policy has no tool" in found
    assert guard.status("s") is None
    with pytest.raises(GuardHalted, match="no tool"):
        GuardedSession(guard, "s").began(REQUEST, scope=scope)


def test_a_text_for_a_list_is_an_error() -> None:
    guard = Guard(build(Policy, policy()))
    assert "/scope" in ruled(guard, scope="send_money")
    with pytest.raises(GuardHalted, match="scope"):
        GuardedSession(guard, "s").began(REQUEST, scope="send_money")
    assert guard.status("s") is None


FAULTS = [
    ('scope = ["send_mony"]', "line 3", "did you mean send_money?"),
    ('scope = "al"', "line 3", "did you mean all?"),
    ("scope = 3", "line 3", '"all", or an array of names'),
]


@pytest.mark.parametrize(("line", "at", "said"), FAULTS)
def test_a_wrong_scope_is_a_fault_with_its_line(line: str, at: str, said: str) -> None:
    tools = "".join(
        f'[[tool]]\nadapter_id = "a"\ncapability_id = "{name}"\napproval_mode = "network"\n'
        for name in ("send_money", "move_stock")
    )
    text = f'[guard]\nsafety_mode = "destructive"\n{line}\n[spec]\nid = "s"\n'
    text += f"required_outputs = []\n{tools}"
    with pytest.raises(InvalidPolicy) as caught:
        parse_policy(text.encode())
    assert len(caught.value.faults) == 1
    assert at in str(caught.value)
    assert said in str(caught.value)


def test_no_policy_is_built_with_an_unknown_name() -> None:
    built = build(Policy, policy("all"))
    with pytest.raises(ValueError, match="no tool is called pay"):
        built.model_copy(update={"guard": {"safety_mode": "destructive", "scope": ["pay"]}})
