"""Turn a policy into the rules for its sessions, and the tools for texts about refusals."""

from typing import TYPE_CHECKING

from critic.session import SessionRules, SessionTool
from evals.capability import ToolCapability
from harness.policy.envelopes import SESSION_BUDGET, Policy, PolicyTool

if TYPE_CHECKING:
    from critic.replies.catalogue import Catalogue


def rules_of(policy: Policy) -> SessionRules:
    """Return the rules of all sessions under a policy. Build them once: schemas are compiled.

    Raises:
        ValueError: an id of evidence, or the name of a class, is reserved for sessions.
    """
    expiries = policy.expiries()
    shell = None
    if any(tool.acting_arguments for tool in policy.tool):
        from harness.policy.shell_policy import shell_rules_of  # noqa: PLC0415 - few have it

        shell = shell_rules_of(policy)
    tools = {
        name: SessionTool.of(
            tool.capability if tool.shell is None else _carrier_of(tool),
            result_class=tool.result_class,
            expires_after_s=expiries.get(tool.pair),
            told=policy.told_entry(tool, expiries),
            is_derived=tool.result is not None and tool.result.derived is True,
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
        shell=shell,
    )


def _carrier_of(tool: PolicyTool) -> ToolCapability:
    """Return a tool that takes a shell command: what the command does is judged in its place."""
    return tool.capability.model_copy(update={"approval_mode": "read_only"})


def catalogue_of(policy: Policy) -> "Catalogue":
    """Return the tools of a policy for texts about refusals."""
    from critic.replies.catalogue import Catalogue, KnownTool  # noqa: PLC0415 - for refusals only

    expiries = policy.expiries()
    tools = [
        KnownTool(name, tool.capability, tool.result_class, expiries.get(tool.pair), tool.summary)
        for name, tool in policy.tools.items()
    ]
    return Catalogue(tuple(tools), {one.class_: one for one in policy.classes or ()})
