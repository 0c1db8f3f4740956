"""The measurement of the lint: its policies have what is to be found, and it keeps its bars."""

import pytest

from harness.policy import parse_policy
from harness.policy.analysis.policy_lint import lint
from tests.experiments.linting.__main__ import BARS, policy_text, time_lint


def test_the_policies_have_so_many_tools_and_the_trusting_ones_are_shown_by_sessions() -> None:
    for is_trusting in (False, True):
        policy = parse_policy(policy_text(12, is_trusting=is_trusting).encode()).policy
        assert len(policy.tool) == 12
        rules = {one.rule for one in lint(policy)}
        assert ("public_reaches_target" in rules) is is_trusting


@pytest.mark.slow
@pytest.mark.parametrize("tools", BARS)
def test_the_lint_takes_no_longer_than_it_may(tools: int) -> None:
    for one in time_lint(tools):
        assert one.seconds < BARS[tools], one
