"""Make of a recorded proposal what it would be under another policy, safety mode or budget. Pure.

Rule 1: what the policy says replaces what was recorded; what the request, the run and the planner
        said stays. A recorded scope stays too: who gave it is not on record.
Rule 2: a person's yes is to what was asked: an approval that held for the recorded plan and context
        holds for those that replace them.
Rule 3: contexts that many records share are made and indexed once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

from critic import (
    Approval,
    CompiledContext,
    EvidenceItem,
    Manifests,
    Plan,
    Proposal,
    RunBudget,
    RunContext,
    context_digest,
)
from critic.session import SessionRules
from evals.escaping import escape_name
from evals.kinds import ApprovalMode
from harness.canonical import digest
from harness.policy import SESSION_BUDGET, Policy
from harness.policy.policy_rules import rules_of
from harness.replay.session_reading import is_of_a_guard
from harness.what_if.changed_turns import Unjudgeable, turn_under

KeptEvidence = Literal["both", "recorded", "policy"]
"""Whose evidence counts outside of sessions. Of one id in both, the item of the policy counts."""

_MOST_KEPT: Final = 8  # contexts: each may be as large as a document
_PREFIX: Final = "sha256:"


@dataclass(frozen=True)
class Alteration:
    """The change to try. A member that is None or empty stays as it was recorded.

    Attributes:
        policy: replaces tools, spec, record fields, safety mode and budget.
        safety_mode: replaces that of the record, or of the policy.
        budget: fields of a RunBudget by name: they replace those of the record, or of the policy.
        evidence: whose evidence counts under a policy.
        relabels: under a policy, what sessions saw is labelled as it labels results.
    """

    policy: Policy | None = None
    safety_mode: ApprovalMode | None = None
    budget: Mapping[str, int] = field(default_factory=dict)
    evidence: KeptEvidence = "both"
    relabels: bool = False

    @cached_property
    def rules(self) -> SessionRules | None:
        """The rules that sessions would be judged by.

        Raises:
            ValueError: the policy gives evidence an id, or a class a name, that sessions give.
        """
        return None if self.policy is None else rules_of(self.policy)


ChangeBySpec = Alteration | Mapping[str, Alteration]
"""One change of all plans, or one for each spec, by its id."""


def changed_inputs(change: ChangeBySpec) -> "ChangedInputs | InputsBySpec":
    """Return what makes changed proposals.

    Raises:
        ValueError: a policy gives evidence an id, or a class a name, that sessions give.
    """
    return ChangedInputs(change) if isinstance(change, Alteration) else InputsBySpec(change)


class InputsBySpec:
    """Makes changed proposals of a log of several specs: each by the change for its own."""

    def __init__(self, changes: Mapping[str, Alteration]) -> None:
        """Take the changes by the ids of specs.

        Raises:
            ValueError: a policy gives evidence an id, or a class a name, that sessions give.
        """
        self._changed = {spec: ChangedInputs(change) for spec, change in changes.items()}
        self.makes_turns_anew = any(one.makes_turns_anew for one in self._changed.values())

    def proposal(self, recorded: Proposal, compiled_digest: str) -> Proposal | Unjudgeable:
        """Return a recorded proposal as it would be, or why that is not known."""
        changed = self._changed.get(recorded.spec.id)
        if changed is None:
            return Unjudgeable(f"no policy was given for spec {escape_name(recorded.spec.id)}")
        return changed.proposal(recorded, compiled_digest)


class ChangedInputs:
    """Makes changed proposals, and keeps the contexts that it made last."""

    def __init__(self, change: Alteration) -> None:
        """Take a change.

        Raises:
            ValueError: the policy gives evidence an id, or a class a name, that sessions give.
        """
        _ = change.rules  # raises now, and not at the first session
        self._change = change
        self._contexts: dict[str, CompiledContext] = {}
        self.makes_turns_anew = change.policy is not None

    def proposal(self, recorded: Proposal, compiled_digest: str) -> Proposal | Unjudgeable:
        """Return a recorded proposal as it would be, or why the record does not say that.

        Args:
            compiled_digest: the digest of the recorded `compiled`.
        """
        policy, rules = self._change.policy, self._change.rules
        if policy is None or rules is None:
            ctx = self._context(recorded.ctx, None)
            return _proposal(ctx, recorded.compiled, recorded.spec, recorded.plan)
        if is_of_session(recorded):
            turn = turn_under(rules, recorded, relabels=self._change.relabels)
            if isinstance(turn, Unjudgeable):
                return turn
            ctx = self._context(turn.ctx, SESSION_BUDGET)
            return _carry_approvals(recorded, _proposal(ctx, turn.compiled, turn.spec, turn.plan))
        ctx = self._context(recorded.ctx, None)
        compiled = self._compile_context(policy, recorded.compiled, compiled_digest)
        return _carry_approvals(recorded, _proposal(ctx, compiled, policy.spec, recorded.plan))

    def _context(self, ctx: RunContext, default: RunBudget | None) -> RunContext:
        """Return a context with the mode and the budget; `default` is for policies without one."""
        change = self._change
        replaced: dict[str, Any] = {}
        if change.policy is not None:
            guard = change.policy.guard
            replaced["safety_mode"] = guard.safety_mode
            if ctx.scope is None and change.policy.scope_names is not None:
                replaced["scope"] = change.policy.scope_names
            budget = guard.budget or default
            replaced |= {} if budget is None else {"run_budget": budget}
        if change.safety_mode is not None:
            replaced["safety_mode"] = change.safety_mode
        if change.budget:
            limits = replaced.get("run_budget") or ctx.run_budget or RunBudget()
            replaced["run_budget"] = limits.model_copy(update=change.budget)
        return ctx.model_copy(update=replaced)

    def _compile_context(
        self, policy: Policy, recorded: CompiledContext, key: str
    ) -> CompiledContext:
        key = "" if self._change.evidence == "policy" else key
        made = self._contexts.pop(key, None)
        if made is None:
            made = _compiled_of(policy, self._evidence(policy, recorded))
        self._contexts[key] = made  # the last that was used
        if len(self._contexts) > _MOST_KEPT:
            del self._contexts[next(iter(self._contexts))]
        return made

    def _evidence(self, policy: Policy, recorded: CompiledContext) -> list[EvidenceItem]:
        items = recorded.manifests.evidence_manifest
        if self._change.evidence == "recorded":
            return [*items]
        own = {item.id for item in policy.evidence}
        kept = [item for item in items if item.id not in own]
        return [*policy.evidence, *([] if self._change.evidence == "policy" else kept)]


def is_of_session(proposal: Proposal) -> bool:
    """Return whether a proposal is a turn of a guarded session."""
    return proposal.ctx.session is not None and is_of_a_guard(proposal)


def _compiled_of(policy: Policy, items: list[EvidenceItem]) -> CompiledContext:
    expiries = policy.expiries()
    manifests = Manifests(
        tool_manifest=[policy.told_entry(tool, expiries) for tool in policy.tool],
        evidence_manifest=items,
        classes=policy.classes,
        record_fields=policy.record_fields,
    )
    return CompiledContext(manifests=manifests, pack_version=policy.digest())


def _proposal(ctx: RunContext, compiled: CompiledContext, spec: Any, plan: Plan) -> Proposal:
    return Proposal(ctx=ctx, compiled=compiled, spec=spec, plan=plan)


def _carry_approvals(old: Proposal, new: Proposal) -> Proposal:
    """Return a proposal with the approvals of the one that it replaces."""
    given = old.ctx.approvals
    if not given:
        return new
    plans = digest(old.plan), digest(new.plan)
    contexts = (
        context_digest(old.ctx, old.compiled, old.spec),
        context_digest(new.ctx, new.compiled, new.spec),
    )
    approvals = tuple(_carry_approval(one, plans, contexts) for one in given)
    ctx = new.ctx.model_copy(update={"approvals": approvals})
    return _proposal(ctx, new.compiled, new.spec, new.plan)


def _carry_approval(
    approval: Approval, plans: tuple[str, str], contexts: tuple[str, str]
) -> Approval:
    """Return an approval of the first plan and context as one of the second ones."""
    if approval.plan_digest.removeprefix(_PREFIX) != plans[0]:
        return approval
    carried = {"plan_digest": plans[1]}
    if approval.context_digest == contexts[0]:
        carried["context_digest"] = contexts[1]
    return approval.model_copy(update=carried)
