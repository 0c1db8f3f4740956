"""The rules of sessions say what the policy says: budget, freshness, class and tier."""

from typing import Any

import pytest

from harness.policy.envelopes import SESSION_BUDGET
from harness.policy.policy_rules import rules_of
from tests.harness.policy.test_envelopes import LIMITS, policy_with
from tests.support.guarding import policy_of


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
    told = (
        rules_of(policy_of({**wire, "spec": {**wire["spec"], "late": "sources"}})).tools["x"].told
    )
    assert (told.expires_after_s, told.yields) == (limit, "k")


@pytest.mark.parametrize("mode", ["read_only", "local_write", "destructive"])
def test_a_tool_has_its_tier_unless_a_command_is_judged_in_its_place(mode: str) -> None:
    plain = {"approval_mode": mode}
    shell = {"capability_id": "sh", "approval_mode": mode, "shell": "command"}
    policy = policy_of({**policy_with(plain, shell), "shell": {"table": "common-1"}})
    tools = rules_of(policy).tools
    assert tools["x"].capability.approval_mode == mode
    assert tools["sh"].capability.approval_mode == "read_only"
