"""Find a small plan that one policy accepts and another refuses, verified by both.

Plans are built to meet what the accepting policy demands and nothing more, from the smallest
arguments up, so that what the other one demands beside it shows. The facts around a plan (evidence,
approvals, what the user asked for) are the same for both policies. Nothing here is a proof but the
two verdicts: a plan that was built wrongly is refused by both, and is no witness.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final, NamedTuple

from critic import (
    CompiledContext,
    EvidenceItem,
    Plan,
    Refused,
    RunContext,
    Verified,
    Violation,
    digest,
    verify,
)
from evals.escaping import escape_line
from evals.schemas import compile_schema
from harness.canonical import canonical_json
from harness.policy.backing import (
    backed_steps,
    item_of,
    named_arguments,
    pinning,
    request_for,
)
from harness.policy.envelopes import SESSION_BUDGET, Policy, PolicyTool
from harness.policy.samples import samples, smallest_first
from harness.wire import InvalidInput, build

Json = dict[str, Any]
Pair = tuple[str, str]

_MOST_ARGS: Final = 40
_TRACE: Final = "witness"


class Witness(NamedTuple):
    """A plan that one policy accepts and the other refuses.

    Attributes:
        document: the proposal without what a policy says: `critic verify --policy P` takes it.
        verdict: the refusal.
    """

    document: Json
    verdict: Refused

    @property
    def reason(self) -> str:
        """The kind and the first reason of the refusal, on one line."""
        return f"{self.verdict.kind}: {escape_line('; '.join(self.verdict.reasons))}"


class Facts(NamedTuple):
    """What surrounds a plan: evidence that was seen, and whether a person asked and approved."""

    evidence: tuple[Json, ...] = ()
    approved: bool = False
    requested: bool = False


class _Judge:
    """A policy as the guard uses it: with the budget of a session."""

    def __init__(self, policy: Policy, as_of: datetime) -> None:
        self.policy = policy
        self._as_of = as_of
        self._own = policy.compiled()
        self._last = b"[]", self._own

    def context(self, plan: Plan, facts: Facts) -> Json:
        """Return the context in wire form."""
        budget = self.policy.guard.budget or SESSION_BUDGET
        mode = self.policy.guard.safety_mode
        ctx = RunContext(trace_id=_TRACE, safety_mode=mode, as_of=self._as_of, run_budget=budget)
        return {**ctx.wire(), **_approval(plan, facts), **_scope(plan, facts)}

    def verdict(self, plan: Plan, facts: Facts) -> Verified | Refused:
        """Return what the policy says to the plan."""
        ctx = build(RunContext, self.context(plan, facts))
        return verify(ctx, self._compiled_with(facts.evidence), self.policy.spec, plan)

    def _compiled_with(self, evidence: tuple[Json, ...]) -> CompiledContext:
        known = canonical_json(list(evidence))
        if self._last[0] != known:
            own = self._own.manifests
            manifests = own.model_copy(
                update={
                    "evidence_manifest": [
                        *own.evidence_manifest,
                        *(build(EvidenceItem, item) for item in evidence),
                    ]
                }
            )
            self._last = known, self._own.model_copy(update={"manifests": manifests})
        return self._last[1]


def _approval(plan: Plan, facts: Facts) -> Json:
    if not facts.approved:
        return {}
    approval = {"approval_id": "a1", "plan_digest": digest(plan), "approver": "someone"}
    return {"approvals": [approval]}


def _scope(plan: Plan, facts: Facts) -> Json:
    if not facts.requested:
        return {}
    calls = [step for step in plan.wire()["steps"] if step["kind"] == "tool"]
    pairs = dict.fromkeys((step["adapter_id"], step["capability_id"]) for step in calls)
    return {"scope": [{"adapter_id": one, "capability_id": other} for one, other in pairs]}


class Search:
    """Looks for witnesses between an accepting and a refusing policy."""

    def __init__(self, accepting: Policy, refusing: Policy) -> None:
        as_of = _before_any_expiry(accepting, refusing)
        self._accepts = _Judge(accepting, as_of)
        self._refuses = _Judge(refusing, as_of)
        self._tools = {tool.pair: tool for tool in accepting.tool}
        self._others = {tool.pair: tool for tool in refusing.tool}
        self._makers = {name: tool for tool in accepting.tool for name in tool.produces or ()}
        self._repriced = any(
            (tool.min_tokens or 0) != (self._others[pair].min_tokens or 0)
            for pair, tool in self._tools.items()
            if pair in self._others
        )

    def for_tool(self, pair: Pair) -> Witness | None:
        """Return a plan of which the refusing policy refuses the call of this tool."""
        tool = self._tools.get(pair)
        if tool is None:
            return None
        other = self._others.get(pair)
        for plan, facts in self._plans(tool, other):
            calls = {at for at, step in enumerate(plan["steps"]) if _pair_of(step) == pair}
            found = self._witness(plan, facts, lambda one: _is_about(one, calls, tool, other))  # noqa: B023 - asked at once
            if found is not None:
                return found
        return None

    def for_plans(self) -> Witness | None:
        """Return a plan that the refusing policy refuses as a whole, whatever it calls."""
        for plan, facts in self._whole_plans():
            found = self._witness(plan, facts, lambda one: one.offending_step is None)
            if found is None and any(step.get("evidence_refs") for step in plan["steps"]):
                found = self._witness(plan, facts, lambda one: one.check == "evidence")
            if found is not None:
                return found
        return None

    def _witness(self, wire: Json, facts: Facts, wanted: Any) -> Witness | None:
        try:
            plan = build(Plan, wire)
            accepted = self._accepts.verdict(plan, facts)
            refused = self._refuses.verdict(plan, facts)
        except (InvalidInput, ValueError):  # a sample that no plan or item may hold
            return None
        if not isinstance(accepted, Verified) or not isinstance(refused, Refused):
            return None
        if not any(map(wanted, refused.violations)):
            return None
        return Witness(self._document(plan, facts), refused)

    def _document(self, plan: Plan, facts: Facts) -> Json:
        ctx = self._accepts.context(plan, facts)
        guards = self._accepts.policy.guard, self._refuses.policy.guard
        own = {"safety_mode"} | {"run_budget" for guard in guards if guard.budget is not None}
        same = {name: ctx[name] for name in ctx if name not in own}
        document: Json = {"ctx": same, "plan": plan.wire()}
        if facts.evidence:
            document["compiled"] = {"manifests": {"evidence_manifest": list(facts.evidence)}}
        return document

    # Plans around one call.

    def _plans(self, tool: PolicyTool, other: PolicyTool | None) -> Iterator[tuple[Json, Facts]]:
        for args in self._args(tool, other):
            for step, evidence in backed_steps(tool, args, other):
                yield from self._around(step, evidence)

    def _args(self, tool: PolicyTool, other: PolicyTool | None) -> list[Json]:
        """Return arguments that the tool takes, the smallest first, from both sides' schemas."""
        known = [one for one in (tool, other) if one is not None]
        schemas = [one.args_schema for one in known if one.args_schema is not None]
        found = [value for schema in schemas for value in samples(schema)]
        names = sorted({name for one in known for name in named_arguments(one)})
        found += [{}, dict.fromkeys(names, "a"), *({name: "a"} for name in names)]
        fits = compile_schema(True if tool.args_schema is None else tool.args_schema).is_valid
        objects = [one for one in smallest_first(found) if isinstance(one, dict) and fits(one)]
        least = objects[:_MOST_ARGS]
        return [*least, *filter(fits, self._leaks(least))]

    def _leaks(self, args: list[Json]) -> Iterator[Json]:
        """Yield the arguments with text that only the refusing policy confines in one of them."""
        for name in self._newly_confined():
            for one in args:
                texts = [key for key, value in one.items() if isinstance(value, str)]
                yield from ({**one, key: f"confidential {name}"} for key in texts)

    def _newly_confined(self) -> list[str]:
        own = set(self._accepts.policy.spec.confined_evidence or ())
        return sorted(set(self._refuses.policy.spec.confined_evidence or ()) - own)

    def _around(self, step: Json, evidence: tuple[Json, ...]) -> Iterator[tuple[Json, Facts]]:
        """Yield the plan of a step and of what the spec demands, under each set of facts."""
        steps, outputs, items = (
            [step],
            list(self._accepts.policy.spec.required_outputs),
            [*evidence],
        )
        for more, found in self._covering(outputs, step):
            steps.append(more)
            items += found
        pinned = self._pinned_by_spec(items)
        items += pinned
        steps[0] = pinning(steps[0], [item["id"] for item in pinned])
        items += self._confined(items)
        plan = {"steps": steps, "declared_outputs": outputs}
        padded = self._padded(plan)
        repeated = {**plan, "steps": [*steps, step]} if step["kind"] == "tool" else None
        told = (*items, request_for(steps))
        for approved in (False, True):
            for candidate in filter(None, (plan, padded, repeated)):
                yield candidate, Facts(tuple(items), approved)
                yield candidate, Facts(told, approved, requested=True)

    def _covering(self, outputs: list[str], step: Json) -> Iterator[tuple[Json, list[Json]]]:
        """Yield the steps that make the outputs which the step does not make."""
        own = self._tools.get(_pair_of(step))
        makers = self._makers
        made = set(own.produces or ()) if own else set()
        if (own is None or own.produces is not None) and not made | makers.keys() >= {*outputs}:
            yield {"kind": "reason"}, []
        for name in outputs:
            if name in makers and name not in made:
                if (found := self._simplest(makers[name])) is not None:
                    yield found[0], list(found[1])
                made |= set(makers[name].produces or ())

    def _simplest(self, tool: PolicyTool) -> tuple[Json, tuple[Json, ...]] | None:
        """Return the smallest step that calls a tool, and its evidence."""
        args = next(iter(self._args(tool, None)), None)
        return None if args is None else next(backed_steps(tool, args, None))

    def _pinned_by_spec(self, items: list[Json]) -> list[Json]:
        held = {item["classification"] for item in items}
        wanted = self._accepts.policy.spec.required_evidence or ()
        return [item_of(name, {}) for name in dict.fromkeys(wanted) if name not in held]

    def _confined(self, items: list[Json]) -> list[Json]:
        """Return an item of each class that only the refusing policy confines."""
        known = {item["id"] for item in items}
        names = self._newly_confined()
        found = [item_of(name, f"confidential {name}", "confined") for name in names]
        return [item for item in found if item["id"] not in known]

    def _padded(self, plan: Json) -> Json | None:
        """Return the plan with a step that takes all tokens which the accepting policy leaves."""
        budget = self._accepts.policy.guard.budget or SESSION_BUDGET
        least = [
            (self._tools[pair].min_tokens or 0) if (pair := _pair_of(step)) in self._tools else 0
            for step in plan["steps"]
        ]
        left = budget.bucket_tokens - sum(least)
        if not self._repriced or left < 0:
            return None
        thinking = {"kind": "reason", "estimated_tokens": left}
        return {**plan, "steps": [*plan["steps"], thinking]}

    # Plans that are about no tool.

    def _least(self) -> tuple[Json, tuple[Json, ...]]:
        """Return the step that any plan may begin with: the maker of an output, or reasoning."""
        for name in self._accepts.policy.spec.required_outputs:
            for tool in self._tools.values():
                found = self._simplest(tool) if name in (tool.produces or ()) else None
                if found is not None:
                    return found
        return {"kind": "reason"}, ()

    def _whole_plans(self) -> Iterator[tuple[Json, Facts]]:
        """Yield plans without a call of interest: outputs, evidence, steps and tokens."""
        step, evidence = self._least()
        yield from self._around(step, evidence)
        for tool in self._tools.values():
            if _changed_output(tool, self._others.get(tool.pair)):
                yield from islice(self._plans(tool, None), 8)
        for item in self._accepts.policy.evidence:
            yield from self._around(pinning(step, [item.id]), evidence)
        budgets = [
            one.policy.guard.budget or SESSION_BUDGET for one in (self._refuses, self._accepts)
        ]
        refused, accepted = budgets
        if refused.bucket_tokens < accepted.bucket_tokens:
            tokens = refused.bucket_tokens + 1
            yield from self._around({**step, "estimated_tokens": tokens}, evidence)
        if refused.max_steps < min(accepted.max_steps, 1000):
            for plan, facts in self._around(step, evidence):
                more = refused.max_steps + 1 - len(plan["steps"])
                yield {**plan, "steps": plan["steps"] + [{"kind": "reason"}] * more}, facts


def _is_about(
    violation: Violation, calls: set[int], tool: PolicyTool, other: PolicyTool | None
) -> bool:
    """Return whether a violation is of one of these calls, or of the tokens that they take."""
    dearer = other is not None and (other.min_tokens or 0) > (tool.min_tokens or 0)
    by_tokens = violation.kind == "budget_exceeded" and dearer
    return violation.offending_step in calls or by_tokens


def _changed_output(tool: PolicyTool, other: PolicyTool | None) -> bool:
    return other is None or other.produces != tool.produces


def _before_any_expiry(*policies: Policy) -> datetime:
    """Return a time at which nothing that the policies hold has expired."""
    expiries = [item.expires_at for policy in policies for item in policy.evidence]
    known = [expiry for expiry in expiries if expiry is not None]
    latest = datetime(2000, 1, 1, tzinfo=UTC)
    return min([latest, *(expiry - timedelta(seconds=1) for expiry in known)])


def _pair_of(step: Json) -> Pair:
    return step.get("adapter_id", ""), step.get("capability_id", "")
