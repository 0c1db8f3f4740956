"""Derive what a manifest, a spec and a context allow: the facts that plans are drawn from."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from critic import CompiledContext, DecisionSpec, EvidenceItem, RunContext, ToolCapability
from evals.binding import scalars
from evals.capability import least_tokens
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.kinds import MODE_RANK
from evals.needs import Bound
from evals.pointers import values_at
from harness.errors import HarnessError
from harness.testing._draw.digests import args_digest
from harness.testing._draw.primitives import Json

Pair = tuple[str, str]

_UNLIMITED: Final = len(MODE_RANK)


class NoPlan(HarnessError, ValueError):
    """No plan under this manifest, spec and context meets the request; the message says why."""


class NotCovered(NoPlan):
    """No plan was found that produces the required outputs; another draw may find one."""


class Bounds(NamedTuple):
    """The three fixed inputs of `verify`, and what follows from them."""

    ctx: RunContext
    compiled: CompiledContext
    spec: DecisionSpec
    fresh: dict[str, list[EvidenceItem]]
    """Unexpired evidence by class."""
    stale: list[EvidenceItem]
    tools: list[ToolCapability]
    """Tools of any mode that fit the budget and whose evidence is available. Tools that produce
    all required outputs come first, so that plans shrink to one step."""
    steps_left: int
    tokens_left: int

    @property
    def required(self) -> list[str]:
        """Return the required outputs of the spec without duplicates."""
        return list(dict.fromkeys(self.spec.required_outputs))

    @property
    def pins(self) -> list[str]:
        """Return one fresh ref for each evidence class that the spec requires."""
        wanted = dict.fromkeys(self.spec.required_evidence or ())
        return [self.fresh[name][0].id for name in wanted if name in self.fresh]

    @property
    def listed(self) -> set[str]:
        """Return the outputs that some tool of the manifest lists: only such tools produce them."""
        tools = self.compiled.manifests.tool_manifest
        return {name for tool in tools for name in tool.produces or ()}

    @property
    def unreachable(self) -> list[str]:
        """Return the required outputs that are listed, but by no tool that a plan may call."""
        reachable = {
            name for tool in self.allowed_tools(approving=True) for name in tool.produces or ()
        }
        return [name for name in self.required if name in self.listed - reachable]

    def unproduced_outputs(
        self, tools: Iterable[ToolCapability | None], outputs: Iterable[str]
    ) -> list[str]:
        """Return the outputs that none of the tools can produce; None stands for a reason step."""
        called = list(tools)
        produced = {name for tool in called for name in (tool and tool.produces) or ()}
        if any(tool is None or tool.produces is None for tool in called):
            produced |= set(outputs) - self.listed
        return [name for name in outputs if name not in produced]

    def made_before(self, step: Json) -> bool:
        """Return whether an earlier plan made the destructive call of a step."""
        calls = (self.ctx.spent and self.ctx.spent.calls) or ()
        pair = (step.get("adapter_id", ""), step.get("capability_id", ""))
        tool = self.compiled.manifests.tools.get(pair)
        return (
            tool is not None
            and tool.approval_mode == "destructive"
            and any(
                pair == (call.adapter_id, call.capability_id)
                and call.args_digest.endswith(args_digest(step))
                for call in calls
            )
        )

    def over_limits(self, tool: ToolCapability) -> tuple[bool, bool, bool]:
        """Return whether the tool is over the safety mode, over the ceiling, needs an approval."""
        rank, ceiling = MODE_RANK[tool.approval_mode], self.spec.approval_mode
        tier = self.spec.approval_required_from
        return (
            rank > MODE_RANK[self.ctx.safety_mode],
            rank > (_UNLIMITED if ceiling is None else MODE_RANK[ceiling]),
            rank >= (_UNLIMITED if tier is None else MODE_RANK[tier]),
        )

    def allowed_tools(self, *, approving: bool) -> list[ToolCapability]:
        """Return the tools that a passing plan may call.

        Args:
            approving: whether to include tools that need an approval.
        """
        limits = [(tool, self.over_limits(tool)) for tool in self.tools]
        return [
            tool
            for tool, (over_mode, over_ceiling, needs_approval) in limits
            if not over_mode and not over_ceiling and (approving or not needs_approval)
        ]

    def obstacle(self) -> str | None:
        """Return why no plan can pass, or None if one can."""
        if self.tokens_left < 0:
            return "more tokens are spent than the budget has"
        if self.steps_left < 0:
            return "more steps are spent than the budget has"
        if self.steps_left == 0 and (self.required or self.spec.required_evidence):
            return "the budget leaves no step to meet the spec"
        missing = [name for name in self.spec.required_evidence or () if name not in self.fresh]
        if missing:
            return f"the spec requires evidence of the class {missing[0]}, and none is fresh"
        if self.unreachable:
            return f"no tool that a plan may call lists the output {self.unreachable[0]}"
        return None


def bounds_of(compiled: CompiledContext, spec: DecisionSpec, ctx: RunContext) -> Bounds:
    """Return the bounds that the three inputs set."""
    fresh: dict[str, list[EvidenceItem]] = {}
    stale = []
    for item in compiled.manifests.evidence_manifest:
        if _is_fresh(item, ctx):
            fresh.setdefault(item.classification, []).append(item)
        else:
            stale.append(item)
    budget, spent = ctx.run_budget, ctx.spent
    tokens = budget.bucket_tokens if budget else DEFAULT_BUCKET_TOKENS
    tokens -= (spent.tokens if spent else None) or 0
    steps = budget.max_steps if budget else DEFAULT_MAX_STEPS
    required = set(spec.required_outputs)
    tools = [
        tool
        for tool in compiled.manifests.tool_manifest
        if least_tokens(tool) <= tokens and all(name in fresh for name in required_classes(tool))
    ]
    return Bounds(
        ctx=ctx,
        compiled=compiled,
        spec=spec,
        fresh=fresh,
        stale=stale,
        tools=sorted(tools, key=lambda tool: not _produces_all(tool, required)),
        steps_left=steps - ((spent.steps if spent else None) or 0),
        tokens_left=tokens,
    )


def _is_fresh(item: EvidenceItem, ctx: RunContext) -> bool:
    """Return whether evidence is known to be unexpired.

    This repeats `timestamps.is_unexpired` on purpose: the generator must not share its errors.
    """
    return item.expires_at is None or (ctx.as_of is not None and ctx.as_of < item.expires_at)


def _produces_all(tool: ToolCapability, outputs: Iterable[str]) -> bool:
    """Return whether one step of the tool can produce all the outputs."""
    return tool.produces is None or set(outputs) <= set(tool.produces)


def required_classes(tool: ToolCapability) -> list[str]:
    """Return the classes of evidence that a tool requires, whatever else it demands of them."""
    required = tool.requires_evidence or ()
    return [entry if isinstance(entry, str) else entry.class_ for entry in required]


def held_values(items: Iterable[EvidenceItem], bound: Bound) -> list[tuple[Any, str]]:
    """Return the values that the evidence holds where a binding asks, each with the item's id."""
    backed = []
    for item in items:
        content = item.content
        if bound.at is not None:
            places = [] if isinstance(content, str) else bound.at
            found = [values_at(content, pointer, wildcard=True) for pointer in places]
            inner = [value for values in found for value in values]
            candidates = [value for value in inner if not isinstance(value, dict | list)]
        elif isinstance(content, str):
            candidates = [word for word in content.split() if item.backing.backs(word)]
        else:
            candidates = [] if content is None else list(scalars(content))
        backed += [(value, item.id) for value in candidates]
    return backed
