"""The policy file: read it, and have every mistake in it explained."""

from harness.policy.envelopes import SESSION_BUDGET, GuardSettings, Policy, PolicyTool
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
    "Policy",
    "PolicyDocument",
    "PolicyFault",
    "PolicyTool",
    "parse_policy",
    "read_document",
    "read_policy",
]
