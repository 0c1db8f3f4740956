"""Judge evidence for drawn steps: stated plainly and apart from the check, to share no error."""

from collections.abc import Iterable
from typing import Any

from critic import EvidenceItem, ToolCapability
from evals.binding import BoundValues, is_empty
from evals.evidence import EvidenceFault, EvidenceReview
from evals.needs import Need, needs_of
from evals.pointers import values_at
from harness.canonical import canonical_json
from harness.testing._draw.bounds import Bounds
from harness.testing._draw.primitives import Json


def meets_demand(item: EvidenceItem, need: Need, args: Json) -> bool:
    """Return whether the content of an item says what a demand asks for."""
    if need.schema is not None and (item.content is None or not need.schema.is_valid(item.content)):
        return False
    return all(_holds(item, pointer, args.get(name)) for name, pointer in need.about)


def _holds(item: EvidenceItem, pointer: str, argument: Any) -> bool:
    if is_empty(argument) or isinstance(item.content, str):
        return False
    for found in values_at(item.content, pointer, wildcard=False):
        if not isinstance(argument, list):
            return canonical_json(found) == canonical_json(argument)
        there = [canonical_json(value) for value in (found if isinstance(found, list) else [found])]
        return all(canonical_json(element) in there for element in argument)
    return False


def backed_together(tool: ToolCapability, args: Json, items: Iterable[EvidenceItem]) -> bool:
    """Return whether each group of arguments is backed by one of the items alone."""
    bound, pinned = needs_of(tool).bound, list(items)
    for group in needs_of(tool).groups:
        values = {name: BoundValues(args[name], bound[name].at) for name in group if name in args}
        given = {name: one for name, one in values.items() if one.values}
        if given and not any(
            all(
                item.classification in bound[name].classes and item.backing.backs_all(one)
                for name, one in given.items()
            )
            for item in pinned
        ):
            return False
    return True


def faults_of(
    bounds: Bounds, tool: ToolCapability, step: Json, **changes: Any
) -> list[EvidenceFault]:
    """Return what check 4 finds in a step after some changes of it."""
    changed = {**step, **changes}
    review = EvidenceReview(bounds.compiled.manifests.evidence, bounds.ctx.as_of)
    claims, refs = changed.get("requires_evidence"), changed.get("evidence_refs")
    return list(review.faults(tool, claims, refs, changed.get("args", {})))
