"""Complete documents from a policy.

A proposal may leave out `compiled` and `spec`, and in `ctx` the safety mode, budget and scope. Its
evidence may stay: `compiled.manifests` with an `evidence_manifest` alone adds to the policy's.

Rule 1: the context of the policy is a ceiling. A document may ask for less. More is invalid input,
        whoever wrote the document.
"""

from typing import Any, Final

from evals.context import RunBudget
from evals.escaping import pointer
from evals.kinds import MODE_RANK
from harness.policy.envelopes import Policy
from harness.wire import InvalidInput

Json = dict[str, Any]

_OWN: Final = "is given here and by the policy: leave it out, or leave the policy out"
_ABOVE: Final = "is above that of the policy, which is {}: leave it out, or ask for less"


def completed_proposal(policy: Policy, value: Any, at: str = "") -> Any:
    """Return a Proposal as JSON, with missing parts taken from the policy.

    A value that is not an object is returned unchanged, for the wire to refuse.

    Args:
        at: JSON pointer to the proposal in its document, for the error.

    Raises:
        InvalidInput: it has its own tools or spec.
    """
    if not isinstance(value, dict):
        return value
    if "spec" in value:
        raise InvalidInput(f"{at}/spec", _OWN)
    completed = {**value, "spec": policy.spec.wire(), "compiled": policy.compiled().wire()}
    if "compiled" in value:
        completed["compiled"] = _with_evidence(policy, value["compiled"], f"{at}/compiled")
    if isinstance(value.get("ctx"), dict):
        completed["ctx"] = completed_context(policy, value["ctx"], f"{at}/ctx")
    return completed


def completed_run(policy: Policy, value: Any) -> Any:
    """Return a Run as JSON, with missing parts of its proposal taken from the policy.

    Raises:
        InvalidInput: its proposal has its own tools or spec.
    """
    if not isinstance(value, dict) or "proposal" not in value:
        return value
    return {**value, "proposal": completed_proposal(policy, value["proposal"], "/proposal")}


def completed_context(policy: Policy, value: Any, at: str = "") -> Any:
    """Return a RunContext as JSON, with the safety mode, the budget and the scope of the policy.

    A lower mode, a lower limit, or any scope of the context is kept.

    Args:
        at: JSON pointer to the context in its document, for the error.

    Raises:
        InvalidInput: it has a higher one.
    """
    if not isinstance(value, dict):
        return value
    _refuse_higher_mode(policy, value, at)
    completed = {**context_parts(policy), **value}
    if policy.guard.budget is not None and isinstance(value.get("run_budget"), dict):
        completed["run_budget"] = _with_limits(policy.guard.budget, value["run_budget"], at)
    return completed


def _refuse_higher_mode(policy: Policy, ctx: Json, at: str) -> None:
    mode, most = ctx.get("safety_mode"), policy.guard.safety_mode
    if isinstance(mode, str) and MODE_RANK.get(mode, 0) > MODE_RANK[most]:
        raise InvalidInput(f"{at}/safety_mode", _ABOVE.format(most))


def _with_limits(most: RunBudget, given: Json, at: str) -> Json:
    """Return a budget with missing limits taken from the policy."""
    limits = {name: getattr(most, name) for name in RunBudget.model_fields}
    known = {name: limit for name, limit in limits.items() if limit is not None}
    for name, limit in known.items():
        asked = given.get(name)
        if isinstance(asked, int | float) and asked > limit:
            raise InvalidInput(f"{at}/run_budget/{name}", _ABOVE.format(limit))
    return {**known, **given}


def context_parts(policy: Policy) -> Json:
    """Return the parts of a RunContext in a policy, as JSON."""
    guard = policy.guard
    own: Json = {"safety_mode": guard.safety_mode}
    if guard.budget is not None:
        own["run_budget"] = guard.budget.wire()
    scope = policy.scope_names
    if scope is not None:
        own["scope"] = [one.wire() for one in scope]
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
