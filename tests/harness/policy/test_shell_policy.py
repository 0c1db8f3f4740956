"""The effects of shell commands have the tiers that a policy gives them, and each no other's."""

from typing import Any, get_args

import pytest

from evals.kinds import MODES
from harness.policy.shell_policy import shell_rules_of
from harness.policy.shell_settings import EffectName
from tests.harness.policy.test_envelopes import policy_with
from tests.support.guarding import policy_of


def tiers_of(tiers: Any) -> dict[str, str]:
    shell = {"table": "common-1", **({} if tiers is None else {"tiers": tiers})}
    rules = shell_rules_of(policy_of({**policy_with({"shell": "command"}), "shell": shell}))
    assert rules is not None
    return {tool.capability_id: tool.approval_mode for tool in rules.effects}


@pytest.mark.parametrize("name", get_args(EffectName))
def test_a_tier_changes_its_effect_alone(name: str) -> None:
    plain = tiers_of(None)
    for mode in MODES:
        changed = tiers_of({name: mode})
        assert changed[name] == mode
        assert {one for one, tier in changed.items() if tier != plain[one]} <= {name}


def test_a_policy_without_a_table_judges_no_commands() -> None:
    assert shell_rules_of(policy_of(policy_with({}))) is None


def test_commands_are_judged_by_the_whole_table_of_the_policy() -> None:
    """Each argument that acts by its own tool, and programs of the team among the others."""
    tools: list[Any] = [
        {"shell": "c"},
        {"capability_id": "w", "writes": ["p", "q"]},
        {"capability_id": "z"},
    ]
    shell = {"table": "common-1", "command": [{"names": "deploy"}]}
    policy = policy_of({**policy_with(*tools), "shell": shell})
    rules = shell_rules_of(policy)
    assert rules is not None
    assert policy.shell is not None
    assert (rules.table, rules.source) == (policy.shell.programs, policy.shell.source)
    assert "deploy" in rules.table.entries
    assert {name: (one.names, one.kind) for name, one in rules.arguments.items()} == {
        "x": (("c",), "command"),
        "w": (("p", "q"), "path"),
    }
