"""Turn a policy into the rules for its sessions, and the tools for texts about refusals."""

from typing import TYPE_CHECKING

from critic.session import SessionRules, SessionTool
from harness.policy.envelopes import SESSION_BUDGET, Policy

if TYPE_CHECKING:
    from critic.replies.catalogue import Catalogue


def rules_of(policy: Policy) -> SessionRules:
    """Return the rules of all sessions under a policy. Build them once: schemas are compiled.

    Raises:
        ValueError: an id of evidence, or the name of a class, is reserved for sessions.
    """
    expiries = policy.expiries()
    tools = {
        name: SessionTool.of(
            tool.capability,
            result_class=tool.result_class,
            expires_after_s=expiries.get(tool.pair),
        )
        for name, tool in policy.tools.items()
    }
    return SessionRules(
        digest=policy.digest(),
        tools=tools,
        spec=policy.spec,
        safety_mode=policy.guard.safety_mode,
        default_budget=SESSION_BUDGET,
        budget=policy.guard.budget,
        classes=policy.classes,
        record_fields=policy.record_fields,
        evidence=policy.evidence,
    )


def catalogue_of(policy: Policy) -> "Catalogue":
    """Return the tools of a policy for texts about refusals."""
    from critic.replies.catalogue import Catalogue, KnownTool  # noqa: PLC0415 - for refusals only

    expiries = policy.expiries()
    tools = [
        KnownTool(name, tool.capability, tool.result_class, expiries.get(tool.pair), tool.summary)
        for name, tool in policy.tools.items()
    ]
    return Catalogue(tuple(tools), {one.class_: one for one in policy.classes or ()})
