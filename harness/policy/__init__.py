"""The policy file: read it, have every mistake in it explained, and lint it."""

from harness.policy.envelopes import SESSION_BUDGET, GuardSettings, Policy, PolicyTool
from harness.policy.lint import LintFinding, lint
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
    "PolicyDocument",
    "PolicyFault",
    "PolicyTool",
    "lint",
    "parse_policy",
    "read_document",
    "read_policy",
]
