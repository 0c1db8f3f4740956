"""Where evidence shows a value, asked of the index alone."""

from collections.abc import Iterator
from datetime import datetime

from critic.provenance.item_parts import FieldTables
from critic.provenance.origins import Limits, Sighting
from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import Seen, both_seen
from critic.provenance.value_kinds import read_value
from evals.manifest import Manifests


def seen_anew(manifests: Manifests, as_of: datetime | None) -> tuple[Seen, Seen]:
    """Return what the evidence shows, by an index of its own."""
    items = SeenItems(FieldTables(manifests))
    for item in manifests.evidence_manifest:
        items.add(item)
    items.move_to(as_of)
    return both_seen(items)


def sighting(seen: Seen, value: str) -> Sighting:
    """Return where evidence shows a value, without what a session did."""
    return next(origins(seen, value), Sighting("unseen"))


def origins(seen: Seen, value: str) -> Iterator[Sighting]:
    one, limits = read_value(value, None), Limits("attribute")
    spoken = seen.in_request(one, limits)
    if spoken.origin != "unseen":
        yield Sighting(spoken.origin, spoken.item)
    operator, _ = seen.by_operator(one, limits)
    if operator:
        yield Sighting("operator", operator)
    if record := seen.in_record(one, limits):
        yield Sighting("system", record)
    yield from seen.in_fields(one, limits)
    yield from seen.in_other_text(one, limits)
