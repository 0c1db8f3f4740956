"""What the items of some manifests say, and what a session sent, indexed once and kept.

Rule 1: an index is kept beside the manifests that it is of. Later ones that begin with the same
        items take it over, at the cost of the items that are new.
Rule 2: it answers as a new index does. Fields of an envelope never change; the JSON inside them can
        be edited in place, so what was read of it is compared whenever the index is used.
Rule 3: beside the items stands what the session that saw them sent: it only grows as well.
Rule 4: whoever uses an index has it alone. If anything fails meanwhile, it is not used again.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import Any, Final, NamedTuple

import orjson

from critic.provenance.item_parts import FieldTables
from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import Seen, both_seen
from critic.provenance.sent_values import SentIndex
from evals.context import SentValues
from evals.manifest import EvidenceItem, Manifests
from evals.side_table import Beside

_MOST_RECENT: Final = 16
_MOST_SIZE: Final = 8 * 1024 * 1024
"""Characters of items that are held for manifests to come, after those before them are gone."""
_EXACT: Final = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATETIME


class _Index:
    """The index of some items, and all by which it is known whether it is still theirs."""

    __slots__ = (
        *("_contents", "_described", "_sent", "_sent_spelled", "_spelled"),
        *("_texts", "items", "seen"),
    )

    def __init__(self, manifests: Manifests) -> None:
        """Start with none of the items."""
        self.items: tuple[EvidenceItem, ...] = ()
        self.seen: Final = SeenItems(FieldTables(manifests))
        self._texts = 0
        self._described: Final = _spell(_descriptions_in(manifests))
        self._contents: list[Any] = []
        self._spelled: bytes | None = b"[]"
        self._sent, self._sent_spelled = SentIndex(), _spell([])

    @property
    def size(self) -> int:
        """Return about how many characters it is of."""
        return self._texts + len(self._spelled or b"") + len(self._sent_spelled or b"")

    def is_of(self, manifests: Manifests) -> bool:
        """Return whether the items are just those of the manifests, and nothing was edited."""
        return self.items is manifests.evidence_manifest and self._is_told_by(
            manifests, self._contents
        )

    def begins(self, manifests: Manifests) -> bool:
        """Return whether the items of the manifests begin with these, as they were read."""
        first = manifests.evidence_manifest[: len(self.items)]
        return self.items == first and self._is_told_by(manifests, _contents_of(first))

    def _is_told_by(self, manifests: Manifests, contents: list[Any]) -> bool:
        """Compare what can be edited in place: to Python, 1 is True, and both are 1.0."""
        described, spelled = _spell(_descriptions_in(manifests)), _spell(contents)
        is_spelled = described is not None and spelled is not None
        return is_spelled and (described, spelled) == (self._described, self._spelled)

    def grow_to(self, manifests: Manifests) -> None:
        """Add the items that the manifests have behind these."""
        items = manifests.evidence_manifest
        for item in items[len(self.items) :]:
            self.seen.add(item)
            self._texts += len(item.content) if type(item.content) is str else 0
        self.items = items
        self._contents = _contents_of(items)
        self._spelled = _spell(self._contents)

    def index_sent(self, values: Iterable[SentValues]) -> SentIndex:
        """Return an index of what a session sent: each is read once, if others come behind."""
        ordered = [(one.seq, one.values, one) for one in sorted(values, key=lambda sent: sent.seq)]
        before = _spell([one[:2] for one in ordered[: len(self._sent)]])
        if before is None or before != self._sent_spelled:
            self._sent = SentIndex()
        for *_, one in ordered[len(self._sent) :]:
            self._sent.add(one)
        self._sent_spelled = _spell([one[:2] for one in ordered])
        return self._sent


class Looked(NamedTuple):
    """What is known of values.

    Attributes:
        fresh: what the evidence shows that has not expired.
        every: what all of it shows: the same object, if nothing has expired.
        sent: what the session sent.
    """

    fresh: Seen
    every: Seen
    sent: SentIndex


def _descriptions_in(manifests: Manifests) -> list[Any]:
    """Return what says who fills which field."""
    classes = [(one.class_, one.fields, one.schema_) for one in manifests.classes or ()]
    return [classes, manifests.record_fields]


def _contents_of(items: tuple[EvidenceItem, ...]) -> list[Any]:
    """Return the contents that are read and are no texts."""
    return [
        item.content for item in items if type(item.content) is not str and item.source is not None
    ]


def _spell(value: Any) -> bytes | None:
    """Return the bytes of a value, or None if an edit left something that is not JSON."""
    try:
        return orjson.dumps(value, option=_EXACT)
    except TypeError:
        return None


class _Kept:
    """A place for the index of some manifests. It is empty while the index is used."""

    __slots__ = ("index", "lock")

    def __init__(self) -> None:
        self.lock: Final = Lock()
        self.index: _Index | None = None

    def give_up(self, manifests: Manifests) -> _Index | None:
        """Return the index, which stays here no longer, if the manifests begin with its items."""
        if not self.lock.acquire(blocking=False):  # whoever waits here could be waited for
            return None
        try:
            index = self.index
            if index is None or not index.begins(manifests):
                return None
            self.index = None
            return index
        finally:
            self.lock.release()


class _Recent:
    """The indexes that were used last, for manifests that go on from theirs."""

    def __init__(self) -> None:
        self._lock: Final = Lock()
        self._kept: list[_Kept] = []

    def take_over(self, manifests: Manifests) -> _Index | None:
        """Return the longest index of items with which those of the manifests begin."""
        with self._lock:
            known = [(kept, kept.index) for kept in self._kept]
        count = len(manifests.evidence_manifest)
        fitting = [one for one in known if one[1] is not None and 0 < len(one[1].items) <= count]
        longest_first = sorted(fitting, key=_length, reverse=True)
        found = (kept.give_up(manifests) for kept, _ in longest_first)
        return next(filter(None, found), None)

    def add(self, kept: _Kept) -> None:
        """Hold an index for a while; those that were added before go first."""
        with self._lock:
            self._kept = [one for one in self._kept if one is not kept and one.index is not None]
            self._kept.append(kept)
            del self._kept[:-_MOST_RECENT]
            size = sum(map(_size, self._kept))
            while size > _MOST_SIZE:
                size -= _size(self._kept.pop(0))


def _length(one: tuple[_Kept, _Index | None]) -> int:
    return len(one[1].items) if one[1] is not None else 0


def _size(kept: _Kept) -> int:
    return kept.index.size if kept.index is not None else 0


_KEPT: Final = Beside[_Kept]()
_RECENT: Final = _Recent()


@contextmanager
def seen_in(
    manifests: Manifests, as_of: datetime | None, sent: Iterable[SentValues] = ()
) -> Iterator[Looked]:
    """Give what the evidence shows at a moment. What is given holds in the `with` block only."""
    kept = _KEPT.get(manifests) or _KEPT.keep(manifests, _Kept())
    with kept.lock:
        index, kept.index = kept.index, None
        is_known = index is not None and index.is_of(manifests)
        if index is None or not is_known:
            index = _RECENT.take_over(manifests) or _Index(manifests)
            index.grow_to(manifests)
        index.seen.move_to(as_of)
        yield Looked(*both_seen(index.seen), index.index_sent(sent))
        kept.index = index
        if not is_known:
            _RECENT.add(kept)
