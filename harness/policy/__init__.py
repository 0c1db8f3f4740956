"""The policy file: read it, have every mistake in it explained, lint it, and compare two."""

from harness.policy.diff import PolicyChange, diff_policies
from harness.policy.envelopes import SESSION_BUDGET, GuardSettings, Policy, PolicyTool
from harness.policy.lint import lint
from harness.policy.lint_finding import LintFinding
from harness.policy.reading import (
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
