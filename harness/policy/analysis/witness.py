"""Find a small plan that one policy accepts and another refuses, verified by both.

Plans meet exactly the demands of the accepting policy, from the smallest arguments up, so that the
further demands of the other one show. The facts around a plan (evidence, approvals, the request)
are the same for both policies. Only the two verdicts are a proof: a badly built plan is refused by
both, and does not count.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final, NamedTuple

from critic import (
    CompiledContext,
    EvidenceItem,
    Manifests,
    Plan,
    Refused,
    RunBudget,
    RunContext,
    Verified,
    Violation,
    verify,
)
from evals.capability import least_tokens
from evals.escaping import escape_line
from evals.json_schemas import compile_schema
from evals.schema_budget import json_values
from evals.timestamps import format_time, is_unexpired
from harness.canonical import canonical_json
from harness.policy.analysis.backing import (
    ToolPair,
    backed_steps,
    item_of,
    named_arguments,
    pin_evidence,
    sampled_schemas,
    scalars_of,
)
from harness.policy.analysis.samples import NAMED_VALUES, samples, smallest_first
from harness.policy.analysis.stories import Stories, Story, changed_roles, pair_of
from harness.policy.envelopes import SESSION_BUDGET, Policy, PolicyTool
from harness.policy.partial_documents import completed_context
from harness.wire import InvalidInput, build

Json = dict[str, Any]


class _PolicyJudge:
    """A policy as `critic verify --policy` uses it.

    A plan is judged with the tools that it calls, those that list a required output, and the
    classes of the items that it may pin: others do not matter for its verdict.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._tools = {tool.pair: tool.capability for tool in policy.tool}
        required = set(policy.spec.required_outputs)
        self._makers = [
            tool.pair for tool in policy.tool if not required.isdisjoint(tool.produces or ())
        ]
        self._ids = {item.id for item in policy.evidence}
        self._classes = {one.class_: one for one in policy.classes or ()}
        self._last: tuple[Any, CompiledContext] = None, policy.compiled()

    def verdict(self, plan: Plan, ctx: Json, evidence: tuple[Json, ...]) -> Verified | Refused:
        """Return the verdict on the plan.

        Raises:
            InvalidInput: the context, or the evidence besides that of the policy, is invalid.
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
            known = [*self.policy.evidence, *items]
            names = dict.fromkeys(item.classification for item in known)
            classes = [self._classes[name] for name in names if name in self._classes]
            manifests = Manifests(
                tool_manifest=[self._tools[pair] for pair in pairs],
                evidence_manifest=known,
                classes=classes or None,
                record_fields=self.policy.record_fields,
            )
            self._last = key, CompiledContext(manifests=manifests)
        return self._last[1]


_Sides = tuple[PolicyTool | None, PolicyTool | None]
"""A tool as the accepting policy has it, and as the refusing one has it."""

_MOST_PLANS: Final = 1_500
"""How many small plans are tried for all tools together: a second or two."""
_BYTES_OF_PLAN: Final = 500
"""A plan of so many bytes more, with its evidence, counts once more."""
_ITEMS_OF_PLAN: Final = 50
"""So many items that a policy holds, or values of a schema, count like a plan."""
_PAIRS_OF_PLAN: Final = 2_000
"""Each place of a schema is looked for in all of it: so many pairs of values count like a plan."""
_CONTENTS_OF_PLAN: Final = 4
"""So many small schemas of which contents are made count like a plan."""
_LEFT_FOR_ALL: Final = 500
"""How many are tried that are about no tool, however many were tried of tools."""
_LEAST_SHARE: Final = 12
"""How many are tried of a tool, however many there are: the least arguments under each story."""
_MOST_ARGS: Final = 40
_MOST_EXPIRING: Final = 3
_TRACE: Final = "witness"
_OTHER: Final = "zz"
"""A value that no other argument has."""
_CONFINED: Final = 8
"""Shorter strings are not confined."""


class Witness(NamedTuple):
    """A plan that one policy accepts and the other refuses.

    Attributes:
        document: the proposal without the parts of the policy, for `critic verify --policy P`.
        verdict: the refusal.
    """

    document: Json
    verdict: Refused

    @property
    def reason(self) -> str:
        """The kind and the first reason of the refusal, on one line."""
        return f"{self.verdict.kind}: {escape_line('; '.join(self.verdict.reasons))}"


class Search:
    """Looks for witnesses between an accepting and a refusing policy."""

    def __init__(self, accepting: Policy, refusing: Policy, tools: int = 1) -> None:
        """Prepare a search that tries at most `_MOST_PLANS`, shared by that many tools."""
        self._share = max(_LEAST_SHARE, _MOST_PLANS // max(tools, 1))
        self._ctx: Json = {
            "trace_id": _TRACE,
            "as_of": format_time(_before_any_expiry(accepting, refusing)),
        }
        budgets = [policy.guard.budget for policy in (accepting, refusing)]
        if budgets == [None, None]:
            budgets = [SESSION_BUDGET, SESSION_BUDGET]
            self._ctx["run_budget"] = SESSION_BUDGET.wire()
        self._budget, self._other_budget = (budget or RunBudget() for budget in budgets)
        held = len(accepting.evidence) + len(refusing.evidence)
        self._left, self._cost_of_plan = _MOST_PLANS, 1 + held // _ITEMS_OF_PLAN
        self._accepts, self._refuses = _PolicyJudge(accepting), _PolicyJudge(refusing)
        self._stories = Stories(accepting, refusing)
        self._tools = {tool.pair: tool for tool in accepting.tool}
        self._others = {tool.pair: tool for tool in refusing.tool}
        self._makers = {name: tool for tool in accepting.tool for name in tool.produces or ()}
        self._smallest: dict[ToolPair, tuple[Json, tuple[Json, ...]] | None] = {}
        self._expiring = list(_expiring_items(accepting, refusing))
        self._repriced = any(
            least_tokens(tool) != least_tokens(self._others[pair])
            for pair, tool in self._tools.items()
            if pair in self._others
        )

    def for_tool(self, pair: ToolPair) -> Witness | None:
        """Return a plan whose call of this tool the refusing policy refuses."""
        tool = self._tools.get(pair)
        other = self._others.get(pair)
        if tool is None or not self._spend(_cost_of_samples(tool, other)):
            return None
        for plan, facts in islice(self._plans(tool, other), self._share):
            if self._left < 0:
                return None
            calls = {at for at, step in enumerate(plan["steps"]) if pair_of(step) == pair}
            found = self._witness(plan, facts, lambda one: _is_about(one, calls, tool, other))  # noqa: B023 - asked at once
            if found is not None:
                return found
        return None

    def for_plans(self) -> Witness | None:
        """Return a plan that the refusing policy refuses as a whole, whatever it calls."""
        self._left = max(self._left, _LEFT_FOR_ALL)
        for plan, facts in islice(self._whole_plans(), _MOST_PLANS):
            if self._left < 0:
                return None
            found = self._witness(plan, facts, lambda one: one.offending_step is None)
            if found is None and any(step.get("evidence_refs") for step in plan["steps"]):
                found = self._witness(plan, facts, lambda one: one.check == "evidence")
            if found is not None:
                return found
        return None

    def _spend(self, cost: int) -> bool:
        """Spend a cost from the rest for all plans. Return False if it exceeds the rest."""
        self._left -= cost
        return self._left >= 0

    def _witness(self, wire: Json, facts: Story, wanted: Any) -> Witness | None:
        size = len(canonical_json([wire, list(facts.evidence)]))
        if not self._spend(self._cost_of_plan + size // _BYTES_OF_PLAN):
            return None
        try:
            plan = build(Plan, wire)
            ctx = {**self._ctx, **facts.context(plan)}
            accepted = self._accepts.verdict(plan, ctx, facts.evidence)
            refused = self._refuses.verdict(plan, ctx, facts.evidence)
        except (InvalidInput, ValueError):  # a sample that no plan or item may hold
            return None
        if not isinstance(accepted, Verified) or not isinstance(refused, Refused):
            return None
        if not any(map(wanted, refused.violations)):
            return None
        document: Json = {"ctx": ctx, "plan": plan.wire()}
        if facts.evidence:
            document["compiled"] = {"manifests": {"evidence_manifest": list(facts.evidence)}}
        return Witness(document, refused)

    # Plans around one call.

    def _plans(self, tool: PolicyTool, other: PolicyTool | None) -> Iterator[tuple[Json, Story]]:
        for step, evidence in backed_steps(tool, self._sample_args(tool, other), other):
            yield from self._plans_around(step, evidence, (tool, other))

    def _sample_args(self, tool: PolicyTool, other: PolicyTool | None) -> list[Json]:
        """Return arguments that the tool accepts, the smallest first, from both schemas."""
        known = [one for one in (tool, other) if one is not None]
        schemas = [one.args_schema for one in known if one.args_schema is not None]
        found = [value for schema in schemas for value in samples(schema)]
        names = sorted({name for one in known for name in named_arguments(one)})
        found += [{}, dict.fromkeys(names, "a"), *({name: "a"} for name in names)]
        fits = compile_schema(True if tool.args_schema is None else tool.args_schema).is_valid
        objects = [one for one in smallest_first(found) if isinstance(one, dict) and fits(one)]
        least = objects[:_MOST_ARGS]
        others = ({**one, name: _OTHER} for name in changed_roles(tool, other) for one in least[:3])
        named = [{**one, **_plain_values(tool)} for one in least[:2] if tool.arg_kinds]
        return [*filter(fits, (*others, *named)), *least, *filter(fits, self._leaks(least))]

    def _leaks(self, args: list[Json]) -> Iterator[Json]:
        """Yield the arguments, one of them with text that only the refusing policy confines."""
        texts = [f"confidential {name}" for name in self._newly_confined()]
        for text in (*texts, *self._newly_held()):
            for one in args:
                names = [key for key, value in one.items() if isinstance(value, str)]
                yield from ({**one, key: text} for key in names)

    def _newly_held(self) -> list[str]:
        """Return text that only the refusing policy holds and confines."""
        held = [_confined_texts(judge.policy) for judge in (self._refuses, self._accepts)]
        return sorted(held[0] - held[1])

    def _newly_confined(self) -> list[str]:
        own = set(self._accepts.policy.spec.confined_evidence or ())
        return sorted(set(self._refuses.policy.spec.confined_evidence or ()) - own)

    def _plans_around(
        self, step: Json, evidence: tuple[Json, ...], of: _Sides = (None, None)
    ) -> Iterator[tuple[Json, Story]]:
        """Yield the plan of a step and the demands of the spec, under each story."""
        outputs = list(self._accepts.policy.spec.required_outputs)
        steps, items = [step], [*evidence]
        for more, found in self._covering_steps(outputs, step):
            steps.append(more)
            items += found
        pinned = self._pinned_by_spec(items)
        items += pinned
        steps[0] = pin_evidence(steps[0], [item["id"] for item in pinned])
        items += self._confined_items(items)
        plan = {"steps": steps, "declared_outputs": outputs}
        candidates = [plan, *filter(None, (self._pad_plan(plan), self._repeat_call(plan)))]
        for facts in self._stories.stories_of(steps, items, *of):
            yield from ((candidate, facts) for candidate in candidates)
            yield from self._plans_later(plan, facts)

    def _plans_later(self, plan: Json, facts: Story) -> Iterator[tuple[Json, Story]]:
        """Yield the plan with an item that the refusing policy lacks or lets expire sooner."""
        for name, as_of in self._expiring[:_MOST_EXPIRING]:
            first, *others = plan["steps"]
            pinned = {**plan, "steps": [pin_evidence(first, [name]), *others]}
            yield pinned, facts if as_of is None else facts._replace(as_of=as_of)

    def _repeat_call(self, plan: Json) -> Json | None:
        """Return the plan with its first call repeated, which a destructive call may not be."""
        step = plan["steps"][0]
        sides = [tools.get(pair_of(step)) for tools in (self._tools, self._others)]
        modes = {tool.approval_mode for tool in sides if tool is not None}
        if "destructive" not in modes or len(modes) == 1:
            return None
        return {**plan, "steps": [*plan["steps"], step]}

    def _covering_steps(self, outputs: list[str], step: Json) -> Iterator[tuple[Json, list[Json]]]:
        """Yield the steps for the outputs that the step does not make."""
        own = self._tools.get(pair_of(step))
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
        if tool.pair not in self._smallest:
            steps = backed_steps(tool, self._sample_args(tool, None), None)
            self._smallest[tool.pair] = next(steps, None)
        return self._smallest[tool.pair]

    def _pinned_by_spec(self, items: list[Json]) -> list[Json]:
        held = {item["classification"] for item in items}
        wanted = self._accepts.policy.spec.required_evidence or ()
        return [item_of(name, {}) for name in dict.fromkeys(wanted) if name not in held]

    def _confined_items(self, items: list[Json]) -> list[Json]:
        """Return an item of each class that only the refusing policy confines."""
        known = {item["id"] for item in items}
        names = self._newly_confined()
        found = [item_of(name, f"confidential {name}", "confined") for name in names]
        return [item for item in found if item["id"] not in known]

    def _pad_plan(self, plan: Json) -> Json | None:
        """Return the plan with a step that takes all remaining tokens of the accepting policy."""
        least = [
            least_tokens(self._tools[pair]) if (pair := pair_of(step)) in self._tools else 0
            for step in plan["steps"]
        ]
        left = self._budget.bucket_tokens - sum(least)
        if not self._repriced or left < 0:
            return None
        thinking = {"kind": "reason", "estimated_tokens": left}
        return {**plan, "steps": [*plan["steps"], thinking]}

    # Plans that are about no tool.

    def _least(self) -> tuple[Json, tuple[Json, ...]]:
        """Return a step that any plan may begin with: the producer of an output, or reasoning."""
        for name in self._accepts.policy.spec.required_outputs:
            for tool in self._tools.values():
                found = self._simplest(tool) if name in (tool.produces or ()) else None
                if found is not None:
                    return found
        return {"kind": "reason"}, ()

    def _whole_plans(self) -> Iterator[tuple[Json, Story]]:
        """Yield plans without a call of interest: outputs, evidence, steps and tokens."""
        step, evidence = self._least()
        yield from self._plans_around(step, evidence)
        for tool in self._tools.values():
            if _changed_output(tool, self._others.get(tool.pair)):
                yield from islice(self._plans(tool, None), 8)
        for item in self._accepts.policy.evidence:
            pinned = pin_evidence(step, [item.id])
            yield from self._plans_around(pinned, evidence)
            claim = {"requires_evidence": [item.classification]}
            yield from self._plans_around({**pinned, **claim}, evidence)
        refused, accepted = self._other_budget, self._budget
        if refused.bucket_tokens < accepted.bucket_tokens:
            tokens = refused.bucket_tokens + 1
            yield from self._plans_around({**step, "estimated_tokens": tokens}, evidence)
        if refused.max_steps < min(accepted.max_steps, 1000):
            for plan, facts in self._plans_around(step, evidence):
                more = refused.max_steps + 1 - len(plan["steps"])
                yield {**plan, "steps": plan["steps"] + [{"kind": "reason"}] * more}, facts


def _cost_of_samples(tool: PolicyTool, other: PolicyTool | None) -> int:
    """Return the cost of making arguments and evidence for a tool, in plans."""
    sides = [side for side in (tool, other) if side is not None]
    named = sum(1 for side in sides for _ in named_arguments(side))
    args = sum(_cost_of_schema(side.args_schema) for side in sides)
    demands = sampled_schemas(tool, other)
    contents = sum(often * (1 + _cost_of_schema(one)) for one, often in demands)
    return 2 + args + named // _ITEMS_OF_PLAN + contents // _CONTENTS_OF_PLAN


def _cost_of_schema(schema: Any) -> int:
    """Return the cost of making values of a schema; a recursive one has many places."""
    values = min(json_values(schema), _ITEMS_OF_PLAN * _ITEMS_OF_PLAN)
    refers = isinstance(schema, dict) and b'"$ref"' in canonical_json(schema)
    return values // _ITEMS_OF_PLAN + values * values // _PAIRS_OF_PLAN + 4 * refers


def _plain_values(tool: PolicyTool) -> Json:
    """Return a value for each argument whose kind has its own comparison."""
    kinds = (tool.arg_kinds or {}).items()
    return {
        name: NAMED_VALUES[kind] for name, kind in kinds if kind in NAMED_VALUES and name[:1] != "/"
    }


def _is_about(
    violation: Violation, calls: set[int], tool: PolicyTool, other: PolicyTool | None
) -> bool:
    """Return whether a violation is about one of these calls, or about their tokens."""
    dearer = least_tokens(other) > least_tokens(tool)
    by_tokens = violation.kind == "budget_exceeded" and dearer
    return violation.offending_step in calls or by_tokens


def _changed_output(tool: PolicyTool, other: PolicyTool | None) -> bool:
    return other is None or other.produces != tool.produces


def _before_any_expiry(*policies: Policy) -> datetime:
    """Return a time before anything in the policies expires."""
    expiries = [item.expires_at for policy in policies for item in policy.evidence]
    known = [expiry for expiry in expiries if expiry is not None]
    latest = datetime(2000, 1, 1, tzinfo=UTC)
    return min([latest, *(expiry - timedelta(seconds=1) for expiry in known)])


def _expiring_items(accepting: Policy, refusing: Policy) -> Iterator[tuple[str, str | None]]:
    """Yield items that back nothing under the refusing policy, and when; None for always."""
    others = {item.id: item for item in refusing.evidence}
    for item in accepting.evidence:
        other = others.get(item.id)
        if other is None:
            yield item.id, None
        elif other.expires_at is not None and is_unexpired(item.expires_at, other.expires_at):
            yield item.id, format_time(other.expires_at)


def _confined_texts(policy: Policy) -> set[str]:
    """Return the texts of eight characters or more that a policy holds and confines."""
    confined = set(policy.spec.confined_evidence or ())
    contents = (item.content for item in policy.evidence if item.classification in confined)
    scalars = (scalar for content in contents for scalar in scalars_of(content))
    return {scalar for scalar in scalars if isinstance(scalar, str) and len(scalar) >= _CONFINED}
