"""Complete documents that leave out what a policy says.

A proposal may leave out `compiled` and `spec`, and in `ctx` the safety mode and the budget. Its
evidence may stay: `compiled.manifests` with an `evidence_manifest` alone adds to the policy's.
"""

from typing import Any, Final

from evals.escaping import pointer
from harness.policy.envelopes import Policy
from harness.wire import InvalidInput

Json = dict[str, Any]

_OWN: Final = "is given here and by the policy: leave it out, or leave the policy out"


def completed_proposal(policy: Policy, value: Any, at: str = "") -> Any:
    """Return a Proposal as JSON, with what it leaves out taken from the policy.

    A value that is not an object is returned as it is, for the wire to refuse.

    Args:
        at: JSON pointer to the proposal in its document, for the error.

    Raises:
        InvalidInput: it has tools or a spec of its own.
    """
    if not isinstance(value, dict):
        return value
    if "spec" in value:
        raise InvalidInput(f"{at}/spec", _OWN)
    completed = {**value, "spec": policy.spec.wire(), "compiled": policy.compiled().wire()}
    if "compiled" in value:
        completed["compiled"] = _with_evidence(policy, value["compiled"], f"{at}/compiled")
    if isinstance(value.get("ctx"), dict):
        completed["ctx"] = completed_context(policy, value["ctx"])
    return completed


def completed_run(policy: Policy, value: Any) -> Any:
    """Return a Run as JSON, with what its proposal leaves out taken from the policy.

    Raises:
        InvalidInput: its proposal has tools or a spec of its own.
    """
    if not isinstance(value, dict) or "proposal" not in value:
        return value
    return {**value, "proposal": completed_proposal(policy, value["proposal"], "/proposal")}


def completed_context(policy: Policy, value: Any) -> Any:
    """Return a RunContext as JSON, with the safety mode and the budget of the policy.

    What the context says itself stands.
    """
    return {**context_parts(policy), **value} if isinstance(value, dict) else value


def context_parts(policy: Policy) -> Json:
    """Return what a policy says of a RunContext, as JSON."""
    guard = policy.guard
    own: Json = {"safety_mode": guard.safety_mode}
    if guard.budget is not None:
        own["run_budget"] = guard.budget.wire()
    return own


def _with_evidence(policy: Policy, value: Any, at: str) -> Any:
    """Return the policy's CompiledContext as JSON, with more evidence."""
    manifests = value.get("manifests") if isinstance(value, dict) else None
    if not isinstance(manifests, dict) or not isinstance(
        manifests.get("evidence_manifest", []), list
    ):
        return value  # for the wire to refuse
    for name in ("tool_manifest", "classes", "record_fields"):
        if name in manifests:
            raise InvalidInput(f"{at}{pointer('manifests', name)}", _OWN)
    own = policy.compiled().wire()
    evidence = [*own["manifests"]["evidence_manifest"], *manifests.get("evidence_manifest", [])]
    merged = {**manifests, **own["manifests"], "evidence_manifest": evidence}
    return {**own, **value, "manifests": merged}
