"""The rules of sessions say what the policy says: budget, freshness, class and tier."""

from typing import Any

import pytest

from harness.policy.envelopes import SESSION_BUDGET
from harness.policy.policy_rules import catalogue_of, rules_of
from tests.harness.policy.test_envelopes import LIMITS, policy_with
from tests.support.guarding import policy_of

TABLE = {"table": "common-1"}


@pytest.mark.parametrize("budget", [None, {"max_steps": 2, "bucket_tokens": 7}])
def test_a_session_may_spend_what_its_policy_says(budget: Any) -> None:
    policy = policy_of(policy_with({}, guard={} if budget is None else {"budget": budget}))
    rules = rules_of(policy)
    assert (rules.budget, rules.default_budget) == (policy.guard.budget, SESSION_BUDGET)
    assert (rules.digest, rules.safety_mode) == (policy.digest(), "destructive")


@pytest.mark.parametrize("own", LIMITS)
@pytest.mark.parametrize("of_class", LIMITS)
def test_results_are_fresh_in_sessions_as_the_policy_says(
    own: int | None, of_class: int | None
) -> None:
    wire = policy_with({"yields": "k"} | ({} if own is None else {"expires_after_s": own}))
    wire["class"] = [{"name": "k", **({} if of_class is None else {"fresh_s": of_class})}]
    policy = policy_of(wire)
    limit = policy.expiries().get(("a", "x"))
    tool = rules_of(policy).tools["x"]
    assert (tool.expires_after_s, tool.result_class) == (limit, "k")
    assert tool.told == tool.capability
    (known,) = catalogue_of(policy).tools
    assert (known.name, known.fresh_s, known.yields) == ("x", limit, "k")
    told = (
        rules_of(policy_of({**wire, "spec": {**wire["spec"], "late": "sources"}})).tools["x"].told
    )
    assert (told.expires_after_s, told.yields) == (limit, "k")


@pytest.mark.parametrize("mode", ["read_only", "local_write", "destructive"])
def test_a_tool_has_its_tier_unless_a_command_is_judged_in_its_place(mode: str) -> None:
    acts: tuple[dict[str, Any], ...] = ({}, {"writes": ["c"]}, {"patches": "c"}, {"shell": "c"})
    for acting in acts:
        tool = {"approval_mode": mode, **acting}
        policy = policy_of({**policy_with({"capability_id": "y"}, tool), "shell": TABLE})
        rules = rules_of(policy)
        is_judged = "shell" in acting
        assert rules.tools["x"].capability.approval_mode == ("read_only" if is_judged else mode)
        assert (rules.shell is None) == (not acting)


@pytest.mark.parametrize("derived", [None, True])
def test_a_session_knows_whose_word_each_result_is(derived: bool | None) -> None:
    """Of each tool by itself, whatever the other one is."""
    result = {"author": "member", **({} if derived is None else {"derived": derived})}
    wire = policy_with(
        {"result": result},
        {"capability_id": "y", "result": {"author": "system"}},
        {"capability_id": "z"},
    )
    tools = rules_of(policy_of(wire)).tools
    assert {name: tool.is_derived for name, tool in tools.items()} == {
        "x": derived is True,
        "y": False,
        "z": False,
    }
    assert [tool.result_class for tool in tools.values()] == [
        tool.result_class for tool in policy_of(wire).tool
    ]
