"""The plan of the steps that were opened, each with its values: a plain plan, which grows.

Rule 1: its steps come in the order of their openings, without takes, dependencies and steps that
        they wait for. Its id is the digest of the late plan, and it declares no outputs.
Rule 2: each of its steps is hashed once. The plan itself is made if anybody asks for it.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

from critic.checks.violation import Found
from evals.canonical_json import canonical_bytes, canonical_json, digest
from evals.context import RunContext
from evals.joined_json import begin_object, finish_object
from evals.manifest import CompiledContext
from evals.plan import Plan, Proposal, ToolStep
from evals.spec import DecisionSpec


class SettledPlan:
    """The settled steps of a late plan.

    Attributes:
        late_digest: the digest of the late plan.
        spec: the contract of one opening: what the whole plan has to give was judged before.
        steps: those that were opened.
    """

    def __init__(self, plan: Plan, spec: DecisionSpec) -> None:
        """Begin without a step."""
        self.late_digest: Final = digest(plan)
        names = spec.model_fields_set - {"required_evidence"}
        fields = {name: getattr(spec, name) for name in names}
        self.spec: Final = DecisionSpec(**{**fields, "required_outputs": ()})
        self.steps: Final[list[ToolStep]] = []
        self._trace: dict[str, Any] = {} if plan.trace_id is None else {"trace_id": plan.trace_id}
        name = canonical_json(self.late_digest)
        members = {"declared_outputs": b"[]", "plan_id": name, "steps": b"["}
        self._hashed = hashlib.sha256(begin_object(members))

    def add(self, sent: ToolStep) -> None:
        """Add a step that was opened."""
        self._hashed.update(self._spell(sent))
        self.steps.append(sent)

    def _spell(self, sent: ToolStep) -> bytes:
        return (b"," if self.steps else b"") + canonical_bytes(sent)

    def alone(self, sent: ToolStep) -> Plan:
        """Return a plan of a step alone."""
        return Plan(steps=(sent,), declared_outputs=(), **self._trace)

    def with_last(self, count: int, sent: ToolStep) -> Plan:
        """Return the plan of the first so many steps, and one behind them."""
        steps = (*self.steps[:count], sent)
        return Plan(steps=steps, declared_outputs=(), plan_id=self.late_digest, **self._trace)

    def digest_with(self, count: int, sent: ToolStep) -> str:
        """Return the digest of that plan. Of all steps that there are it costs the last one."""
        if count < len(self.steps):
            return digest(self.with_last(count, sent))
        state = self._hashed.copy()
        trace = {name: canonical_json(value) for name, value in self._trace.items()}
        state.update(self._spell(sent) + b"]" + (finish_object(trace) if trace else b"}"))
        return state.hexdigest()


class SettledStep:
    """A step with its values: the settled plan in the settled context, in which it is the last.

    Attributes:
        sent: the step; None where it has no values, and then there is no proposal.
        refused: why it has none.
    """

    def __init__(
        self,
        plan: SettledPlan,
        make_context: Callable[[], tuple[RunContext, CompiledContext]],
        sent: ToolStep | None = None,
        refused: Sequence[Found] = (),
    ) -> None:
        """Say what comes behind the steps that a plan has by now, in which context."""
        self._plan, self._count, self._make_context = plan, len(plan.steps), make_context
        self.sent, self.refused = sent, tuple(refused)

    @property
    def args(self) -> dict[str, Any]:
        """What it sends."""
        return {} if self.sent is None else dict(self.sent.args)

    @cached_property
    def proposal(self) -> Proposal | None:
        """The settled plan in the settled context. It holds all that came before."""
        if self.sent is None:
            return None
        ctx, compiled = self._make_context()
        plan = self._plan.with_last(self._count, self.sent)
        return Proposal(ctx=ctx, compiled=compiled, spec=self._plan.spec, plan=plan)

    @cached_property
    def plan_digest(self) -> str | None:
        """The digest of the settled plan."""
        return None if self.sent is None else self._plan.digest_with(self._count, self.sent)
