"""Compare the evidence of two policies, and the possible effects on calls.

Rule 1: a removed item, or one that expires sooner, backs no more than before. A new one, or one
        that expires later, backs no less.
Rule 2: the content of an item is confined, fresh or not: a new item confines more.
Rule 3: for provenance, content and source may count either way. An earlier expiry counts only
        against a value, since expired items still contest.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from critic import EvidenceItem
from harness.canonical import canonical_json
from harness.policy.envelopes import Policy

_UNJUDGED: Final = ("snapshot", "subject", "expires_at")
"""Fields of an item that are recorded and not judged, and the one that is compared by itself."""
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class ItemChange(NamedTuple):
    """An item that differs between two policies, by its id.

    Attributes:
        before: the item of the old policy; None if it is new.
        after: the item of the new policy; None if it was removed.
    """

    before: EvidenceItem | None
    after: EvidenceItem | None

    @property
    def rewritten(self) -> bool:
        """Whether its content or its source differs."""
        return self._judged_part(self.before) != self._judged_part(self.after)

    @property
    def backs_more(self) -> bool:
        """Whether it may back more than before."""
        return self.after is not None and (
            self.rewritten or _end_of(self.after) > _end_of(self.before)
        )

    @property
    def backs_less(self) -> bool:
        """Whether it may back less than before."""
        return ItemChange(self.after, self.before).backs_more

    @staticmethod
    def _judged_part(item: EvidenceItem | None) -> bytes | None:
        if item is None:
            return None
        wire = item.wire()
        return canonical_json({key: wire[key] for key in wire if key not in _UNJUDGED})


def _end_of(item: EvidenceItem | None) -> datetime:
    return _NEVER if item is None or item.expires_at is None else item.expires_at


def item_changes(old: Policy, new: Policy) -> tuple[ItemChange, ...]:
    """Return the items that differ between the policies, by id."""
    before, after = ({item.id: item for item in policy.evidence} for policy in (old, new))
    found = (ItemChange(before.get(name), after.get(name)) for name in {**before, **after})
    return tuple(one for one in found if one.backs_more or one.backs_less)


class EvidenceUse(NamedTuple):
    """How calls of a tool depend on evidence.

    Attributes:
        demanded: the classes that may back a call.
        confined: the classes whose content may not be in it.
        sourced: whether the sources of values matter.
    """

    demanded: Collection[str]
    confined: Collection[str]
    sourced: bool


def may_be_looser(changes: Collection[ItemChange], use: EvidenceUse) -> bool:
    """Return whether a call may pass that was refused before."""
    return any(_loosens(change, use) for change in changes)


def may_be_tighter(changes: Collection[ItemChange], use: EvidenceUse) -> bool:
    """Return whether a call may be refused that passed before."""
    return any(_loosens(ItemChange(change.after, change.before), use) for change in changes)


def _loosens(change: ItemChange, use: EvidenceUse) -> bool:
    before, after = change.before, change.after
    if after is not None and change.backs_more and after.classification in use.demanded:
        return True
    if before is not None and change.rewritten and before.classification in use.confined:
        return True
    sources = [item for item in (before, after) if item is not None and item.source is not None]
    return bool(use.sourced and sources) and (change.rewritten or change.backs_more)


def pinnable(old: Policy, new: Policy) -> Iterator[tuple[bool, bool]]:
    """Yield for each item whether more steps may pin it than before, and whether fewer may.

    Its content does not matter here, only its presence, its class and its expiry.
    """
    for change in item_changes(old, new):
        before, after = change.before, change.after
        if before is None or after is None or before.classification != after.classification:
            yield after is not None, before is not None
        else:
            yield _end_of(after) > _end_of(before), _end_of(after) < _end_of(before)
