"""What a manifest, a spec and a context leave room for: the facts that plans are drawn from."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from critic import CompiledContext, DecisionSpec, EvidenceItem, RunContext, ToolCapability
from evals.binding import scalars
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.envelope import MODE_RANK
from harness.errors import HarnessError

Pair = tuple[str, str]

_UNLIMITED: Final = len(MODE_RANK)


class NoPlan(HarnessError, ValueError):
    """No plan can be what was asked for under this manifest, spec and context; says why."""


class Bounds(NamedTuple):
    """The three fixed inputs of `verify`, and what follows from them."""

    ctx: RunContext
    compiled: CompiledContext
    spec: DecisionSpec
    fresh: dict[str, list[EvidenceItem]]
    """Unexpired evidence by class."""
    stale: list[EvidenceItem]
    tools: list[ToolCapability]
    """Those whose evidence is there and that fit the budget, whatever their mode. Tools that
    produce all required outputs come first, so that plans shrink to one step."""
    steps_left: int
    tokens_left: int

    @property
    def required(self) -> list[str]:
        """The outputs that the spec asks for, each once."""
        return list(dict.fromkeys(self.spec.required_outputs))

    @property
    def pins(self) -> list[str]:
        """One fresh ref for each class that the spec wants pinned somewhere."""
        wanted = dict.fromkeys(self.spec.required_evidence or ())
        return [self.fresh[name][0].id for name in wanted if name in self.fresh]

    def over(self, tool: ToolCapability) -> tuple[bool, bool, bool]:
        """Whether the tool is above the safety mode, above the ceiling, and needs an approval."""
        rank, ceiling = MODE_RANK[tool.approval_mode], self.spec.approval_mode
        tier = self.spec.approval_required_from
        return (
            rank > MODE_RANK[self.ctx.safety_mode],
            rank > (_UNLIMITED if ceiling is None else MODE_RANK[ceiling]),
            rank >= (_UNLIMITED if tier is None else MODE_RANK[tier]),
        )

    def allowed(self, *, approving: bool) -> list[ToolCapability]:
        """The tools that a passing plan may call; `approving`: if approvals can be had."""
        known = [(tool, self.over(tool)) for tool in self.tools]
        return [
            tool
            for tool, (mode, ceiling, tier) in known
            if not mode and not ceiling and (approving or not tier)
        ]

    def obstacle(self) -> str | None:
        """Return why no plan at all can pass, or None."""
        if self.tokens_left < 0:
            return "more tokens are spent than the budget has"
        if self.steps_left < 0:
            return "more steps are spent than the budget has"
        if self.steps_left == 0 and (self.required or self.spec.required_evidence):
            return "the budget leaves no step to meet the spec with"
        missing = [name for name in self.spec.required_evidence or () if name not in self.fresh]
        if missing:
            return f"there is no fresh evidence of the class {missing[0]} that the spec requires"
        return None


def bounds_of(compiled: CompiledContext, spec: DecisionSpec, ctx: RunContext) -> Bounds:
    """Return what the three inputs leave room for."""
    fresh: dict[str, list[EvidenceItem]] = {}
    stale = []
    for item in compiled.manifests.evidence_manifest:
        if is_fresh(item, ctx):
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
        if (tool.min_tokens or 0) <= tokens
        and all(name in fresh for name in tool.requires_evidence or ())
    ]
    return Bounds(
        ctx=ctx,
        compiled=compiled,
        spec=spec,
        fresh=fresh,
        stale=stale,
        tools=sorted(tools, key=lambda tool: not produces_all(tool, required)),
        steps_left=steps - ((spent.steps if spent else None) or 0),
        tokens_left=tokens,
    )


def is_fresh(item: EvidenceItem, ctx: RunContext) -> bool:
    """Return whether evidence is known to be unexpired.

    Stated here again, because a wrong `evals.timestamps.unexpired` must not hide itself.
    """
    return item.expires_at is None or (ctx.as_of is not None and ctx.as_of < item.expires_at)


def produces_all(tool: ToolCapability, outputs: Iterable[str]) -> bool:
    """Return whether one step of the tool may give all the outputs."""
    return tool.produces is None or set(outputs) <= set(tool.produces)


def held_values(items: Iterable[EvidenceItem]) -> list[tuple[Any, str]]:
    """Return values that evidence backs, each with the id of its item."""
    found = []
    for item in items:
        content = item.content
        known = content.split() if isinstance(content, str) else list(scalars(content))
        found += [(value, item.id) for value in known if item.backing.backs(value)]
    return found
