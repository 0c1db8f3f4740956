"""The policy file: read it, explain every mistake in it, lint it, and compare two."""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.policy.analysis.lint_finding import LintFinding
    from harness.policy.analysis.policy_diff import PolicyChange, diff_policies
    from harness.policy.analysis.policy_lint import lint
    from harness.policy.envelopes import SESSION_BUDGET, GuardSettings, Policy, PolicyTool
    from harness.policy.policy_reading import (
        InvalidPolicy,
        PolicyDocument,
        PolicyFault,
        parse_policy,
        read_document,
        read_policy,
    )

__all__ = [
    "SESSION_BUDGET",
    "GuardSettings",
    "InvalidPolicy",
    "LintFinding",
    "Policy",
    "PolicyChange",
    "PolicyDocument",
    "PolicyFault",
    "PolicyTool",
    "diff_policies",
    "lint",
    "parse_policy",
    "read_document",
    "read_policy",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.policy.analysis.lint_finding": "LintFinding",
            "harness.policy.analysis.policy_diff": "PolicyChange diff_policies",
            "harness.policy.analysis.policy_lint": "lint",
            "harness.policy.envelopes": "GuardSettings Policy PolicyTool SESSION_BUDGET",
            "harness.policy.policy_reading": (
                "InvalidPolicy PolicyDocument PolicyFault parse_policy read_document read_policy"
            ),
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
