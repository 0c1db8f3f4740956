"""PolicyJudge plans by a policy, many of them, and with evidence of their own."""

from typing import Any

from critic import (
    CompiledContext,
    EvidenceItem,
    Manifests,
    Plan,
    Refused,
    RunContext,
    Verified,
    verify,
)
from harness.canonical import canonical_json
from harness.policy.analysis.backing import ToolPair
from harness.policy.analysis.stories import pair_of
from harness.policy.envelopes import Policy
from harness.policy.partial_documents import completed_context
from harness.wire import InvalidInput, build

Json = dict[str, Any]


class PolicyJudge:
    """A policy as `critic verify --policy` uses it.

    A plan is judged with the tools that it calls and those that list a required output: no other
    tool has a part in its verdict.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._tools = {tool.pair: tool.capability for tool in policy.tool}
        required = set(policy.spec.required_outputs)
        self._makers = [
            tool.pair for tool in policy.tool if not required.isdisjoint(tool.produces or ())
        ]
        self._ids = {item.id for item in policy.evidence}
        self._last: tuple[Any, CompiledContext] = None, policy.compiled()

    def verdict(self, plan: Plan, ctx: Json, evidence: tuple[Json, ...]) -> Verified | Refused:
        """Return what the policy says to the plan.

        Raises:
            InvalidInput: the context, or the evidence beside that of the policy, is not valid.
        """
        completed = build(RunContext, completed_context(self.policy, ctx))
        called = map(pair_of, plan.wire()["steps"])
        pairs = dict.fromkeys(pair for pair in (*self._makers, *called) if pair in self._tools)
        compiled = self._compiled_of(tuple(pairs), evidence)
        return verify(completed, compiled, self.policy.spec, plan)

    def _compiled_of(
        self, pairs: tuple[ToolPair, ...], evidence: tuple[Json, ...]
    ) -> CompiledContext:
        key = pairs, canonical_json(list(evidence))
        if self._last[0] != key:
            items = [build(EvidenceItem, item) for item in evidence]
            if not self._ids.isdisjoint(item.id for item in items):
                raise InvalidInput("", "the policy holds evidence of that id")
            manifests = Manifests(
                tool_manifest=[self._tools[pair] for pair in pairs],
                evidence_manifest=[*self.policy.evidence, *items],
                record_fields=self.policy.record_fields,
            )
            self._last = key, CompiledContext(manifests=manifests)
        return self._last[1]
