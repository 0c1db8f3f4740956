"""The evidence that a step pins: does it exist, is it fresh, and does it back the arguments?"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from evals.binding import ContentIndex, scalars, unbacked
from evals.manifest import EvidenceItem
from evals.timestamps import unexpired


class PinFault(NamedTuple):
    """A pinned ref that proves nothing: its position in `evidence_refs`, and the reason."""

    position: int
    ref: str
    why: str


class Pins(NamedTuple):
    """The fresh items that the refs of a step name, and the refs that name none."""

    fresh: list[EvidenceItem]
    faults: list[PinFault]


def resolve_pins(
    refs: Iterable[str], manifest: Mapping[str, EvidenceItem], as_of: datetime | None
) -> Pins:
    """Look up every ref, each once. The text of a ref proves nothing; only the manifest does."""
    fresh: list[EvidenceItem] = []
    faults: list[PinFault] = []
    seen: set[str] = set()
    for position, ref in enumerate(refs):
        if ref in seen:
            continue
        seen.add(ref)
        item = manifest.get(ref)
        if item is None:
            faults.append(PinFault(position, ref, "which is not in the evidence manifest"))
        elif unexpired(item.expires_at, as_of):
            fresh.append(item)
        else:
            why = "which has expired" if as_of else "whose expiry cannot be judged without as_of"
            faults.append(PinFault(position, ref, why))
    return Pins(fresh, faults)


def unbacked_arguments(
    bound_args: Mapping[str, Iterable[str]],
    args: Mapping[str, Any],
    fresh: Iterable[EvidenceItem],
    indexes: dict[int, ContentIndex] | None = None,
) -> list[str]:
    """Return the bound arguments in `args` with a value that no fresh item of their class backs.

    `indexes` holds the content indexes used so far, by the identity of their items, and gains new
    ones: a caller that asks about many steps has the content of each item looked at once.
    """
    indexes = {} if indexes is None else indexes
    by_class: dict[str, list[ContentIndex]] = {}
    for item in fresh:
        if id(item) not in indexes:
            indexes[id(item)] = item.backing
        by_class.setdefault(item.classification, []).append(indexes[id(item)])
    names = []
    for name in sorted(filter(args.__contains__, bound_args)):
        allowed = [by_class.get(kind, ()) for kind in dict.fromkeys(bound_args[name])]
        backings = list(chain.from_iterable(allowed))
        if unbacked(list(scalars(args[name])), backings):
            names.append(name)
    return names
