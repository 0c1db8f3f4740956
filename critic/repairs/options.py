"""The means to repair a plan: fresh evidence, tools within bounds, budget that is left."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from critic.repairs.repair_kinds import MOST_CANDIDATES, Capability
from critic.surface import Surface, ToolEntry
from evals.binding import BoundValues, ContentIndex, Subject, is_empty, scalars, unbacked_values
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS, RunContext
from evals.evidence import EvidenceReview, meets
from evals.json_schemas import CompiledSchema
from evals.kinds import MODE_RANK
from evals.manifest import EvidenceItem
from evals.needs import Bound, Need
from evals.spec import DecisionSpec
from evals.timestamps import is_unexpired

# Looking a value up in a piece of evidence is cheap, but values times evidence is not linear. After
# this many look-ups (a text counts as one for each 4 KiB), finding evidence is left to the planner.
_LOOK_UPS: Final = 200_000
_TEXT_PER_LOOK_UP: Final = 4096

_UNLIMITED: Final = len(MODE_RANK)


class RepairOptions:
    """The means of repair of one proposal. Nothing here depends on its plan."""

    def __init__(self, ctx: RunContext, surface: Surface, spec: DecisionSpec) -> None:
        self.ctx: Final = ctx
        self.surface: Final = surface
        budget, spent = ctx.run_budget, ctx.spent
        self.steps_left: Final = (budget.max_steps if budget else DEFAULT_MAX_STEPS) - (
            (spent.steps if spent else None) or 0
        )
        self.tokens_left: Final = (budget.bucket_tokens if budget else DEFAULT_BUCKET_TOKENS) - (
            (spent.tokens if spent else None) or 0
        )
        ceiling, tier = spec.approval_mode, spec.approval_required_from
        limit = _UNLIMITED if ceiling is None else MODE_RANK[ceiling]
        self.highest_rank: Final = min(MODE_RANK[ctx.safety_mode], limit)
        """Steps of a higher rank may not run, even with an approval."""
        self.approved_from: Final = _UNLIMITED if tier is None else MODE_RANK[tier]
        """Steps of this rank or a higher one need an approval."""
        self._search_budget = _LOOK_UPS
        self._fresh: dict[str, list[EvidenceItem]] = {}
        self._allowed: dict[tuple[ToolEntry, str], list[EvidenceItem]] = {}
        self._validators: dict[ToolEntry, CompiledSchema | None] = {}
        self._candidates: dict[Hashable, tuple[str, ...]] = {}
        self.review: Final = EvidenceReview(surface.evidence, ctx.as_of)

    def validator_of(self, tool: ToolEntry) -> CompiledSchema | None:
        """Return the validator of the tool's args, or None where it has no schema."""
        return self._validators.get(tool) or self._validators.setdefault(tool, tool.validator())

    def fresh_of(self, name: str) -> list[EvidenceItem]:
        """Return unexpired evidence of a class, in the order of the manifest."""
        if name not in self._fresh:
            self._fresh[name] = list(self._unexpired_of(name))
        return self._fresh[name]

    def evidence_for(self, name: str) -> tuple[str, ...]:
        """Return the ids of fresh evidence of a class, at most `MOST_CANDIDATES`."""
        if name not in self._candidates:
            first = islice(self._unexpired_of(name), MOST_CANDIDATES)
            self._candidates[name] = tuple(item.id for item in first)
        return self._candidates[name]

    def _unexpired_of(self, name: str) -> Iterator[EvidenceItem]:
        as_of, items = self.ctx.as_of, self.surface.by_class.get(name, ())
        return (item for item in items if is_unexpired(item.expires_at, as_of))

    def producers(self, output: str, wanted: set[str]) -> tuple[Capability, ...]:
        """Return tools that list the output and that a plan may call, at most `MOST_CANDIDATES`.

        Those that list most of the `wanted` outputs come first. Those that need an approval are
        returned only where there are no others.
        """
        highest = min(self.highest_rank, self.approved_from - 1)
        return self._list_producers(output, wanted, highest) or self._list_producers(
            output, wanted, self.highest_rank
        )

    def forbidden_producers(self, output: str) -> tuple[Capability, ...]:
        """Return tools that list the output, whether a plan may call them or not."""
        return self._list_producers(output, set(), _UNLIMITED)

    def _list_producers(
        self, output: str, wanted: set[str], highest: int
    ) -> tuple[Capability, ...]:
        calls = self.surface.producers.get(output, ())
        within = [call for call in calls if self.surface.tools[call].rank <= highest]
        within.sort(key=lambda call: len(self.surface.tools[call].produces & wanted), reverse=True)
        return tuple(
            Capability(adapter_id=adapter, capability_id=capability)
            for adapter, capability in within[:MOST_CANDIDATES]
        )

    def allowed_evidence(self, tool: ToolEntry, argument: str) -> list[EvidenceItem]:
        """Return fresh evidence of the classes that may back an argument of the tool."""
        key = (tool, argument)
        if key not in self._allowed:
            classes = self.review.needs_of(tool.capability).bound[argument].classes
            self._allowed[key] = [item for name in classes for item in self.fresh_of(name)]
        return self._allowed[key]

    def unbacked_scalars(
        self, bound: Bound, argument: Any, refs: Iterable[str] | None
    ) -> Sequence[Any]:
        """Return the scalars of an argument that no fresh item among the refs backs."""
        by_class = self.review.pins(refs).by_class
        return unbacked_values(
            list(scalars(argument)), self.review.backings(bound, by_class), bound.at
        )

    @property
    def is_exhausted(self) -> bool:
        """Return whether some evidence has not been looked at, for want of time."""
        return self._search_budget < 0

    def evidence_backing(self, tool: ToolEntry, argument: str, value: Any) -> tuple[str, ...]:
        """Return evidence that backs the value of an argument, within the search budget."""
        at = self.review.needs_of(tool.capability).bound[argument].at
        key = (tool, argument, type(value) is bool, value)
        if key not in self._candidates:
            self._candidates[key] = self._look_up(
                self.allowed_evidence(tool, argument),
                lambda index: not unbacked_values([value], [index], at),
            )
        return self._candidates[key]

    def evidence_backing_together(
        self, tool: ToolEntry, names: Sequence[str], args: Mapping[str, Any]
    ) -> tuple[str, ...]:
        """Return evidence that alone backs these arguments, within the search budget."""
        bound = self.review.needs_of(tool.capability).bound
        values = [BoundValues(args[name], bound[name].at) for name in names]
        items = [
            item
            for item in self.allowed_evidence(tool, names[0])
            if all(item.classification in bound[name].classes for name in names)
        ]
        return self._look_up(items, lambda index: all(map(index.backs_all, values)))

    def evidence_meeting(self, need: Need, args: Mapping[str, Any]) -> tuple[str, ...]:
        """Return evidence that meets a demand for these args, within the search budget."""
        if any(is_empty(args.get(name)) for name, _ in need.about):
            return ()
        about = tuple((Subject.of(args[name]), place) for name, place in need.about)
        key = (need, about)
        if key not in self._candidates:
            items = self.fresh_of(need.classification)
            self._candidates[key] = self._look_up(items, lambda index: meets(index, need, about))
        return self._candidates[key]

    def _look_up(
        self, items: Iterable[EvidenceItem], suits: Callable[[ContentIndex], bool]
    ) -> tuple[str, ...]:
        ids: list[str] = []
        for item in items:
            text = len(item.content) if isinstance(item.content, str) else 0
            self._search_budget -= 1 + text // _TEXT_PER_LOOK_UP
            if self._search_budget < 0 or len(ids) == MOST_CANDIDATES:
                break
            if suits(self.review.index_of(item)):
                ids.append(item.id)
        return tuple(ids)
