"""What a session has seen, in order. Evidence is only added, so what is derived from it is too.

Rule 1: a trail never changes: adding to it gives a new one, which shares what came before.
Rule 2: adding costs what is added. Two trails that go on from the same place do not see each other.
Rule 3: an index may lag behind, or be built anew; what it answers is that of the trail alone.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import Any, Final

from critic.session.values import Seen
from evals.canonical import canonical_bytes, canonical_json
from evals.context import RunContext
from evals.manifest import CompiledContext, EvidenceItem, Manifests
from evals.spec import DecisionSpec
from evals.timestamps import unexpired

_OPENING: Final = b'{"compiled":{"manifests":{"evidence_manifest":['
"""How the canonical JSON of a context begins: evidence comes first."""


class _Shared:
    """The items of trails that go on from one another, and what is derived from the first ones."""

    __slots__ = ["digest", "digested", "indexed", "items", "lock", "of_class", "seen", "soonest"]

    def __init__(self, items: Iterable[EvidenceItem], seen: Seen) -> None:
        self.lock: Final = Lock()
        self.items: list[EvidenceItem] = []
        self.of_class: dict[str, list[int]] = {}
        self.soonest: list[datetime | None] = []
        self.seen, self.indexed = seen, 0
        self.digest, self.digested = hashlib.sha256(_OPENING), 0
        self.add(items)

    def add(self, items: Iterable[EvidenceItem]) -> None:
        """Add items, and note of each number of items when the first of them expires."""
        for item in items:
            last = self.soonest[-1] if self.soonest else None
            times = [time for time in (last, item.expires_at) if time is not None]
            self.soonest.append(min(times, default=None))
            self.of_class.setdefault(item.classification, []).append(len(self.items))
            self.items.append(item)


class Trail:
    """The evidence of a session up to some moment."""

    __slots__ = ("_count", "_record_fields", "_shared")

    def __init__(
        self,
        items: Iterable[EvidenceItem] = (),
        record_fields: tuple[str, ...] | None = None,
    ) -> None:
        """Start with what is known already."""
        self._record_fields = record_fields
        self._shared = _Shared(items, Seen(record_fields or ()))
        self._count = len(self._shared.items)

    def __len__(self) -> int:
        return self._count

    @property
    def items(self) -> tuple[EvidenceItem, ...]:
        """The items, in the order in which they were seen."""
        return tuple(self._shared.items[: self._count])

    def fresh(self, classification: str, as_of: datetime | None) -> list[str]:
        """Return the ids of the items of a class that have not expired, in their order."""
        items, places = self._shared.items, self._shared.of_class.get(classification, ())
        return [
            items[at].id
            for at in places
            if at < self._count and unexpired(items[at].expires_at, as_of)
        ]

    def first(self, count: int) -> "Trail":
        """Return the trail as it was when it had `count` items."""
        return self._at(self._shared, min(count, self._count))

    def plus(self, items: Collection[EvidenceItem]) -> "Trail":
        """Return a trail with more items."""
        if not items:
            return self
        shared = self._shared
        with shared.lock:
            if len(shared.items) == self._count:
                shared.add(items)
                return self._at(shared, self._count + len(items))
        return Trail([*self.items, *items], self._record_fields)

    def _at(self, shared: _Shared, count: int) -> "Trail":
        trail = Trail.__new__(Trail)
        trail._shared, trail._count, trail._record_fields = shared, count, self._record_fields
        return trail

    @contextmanager
    def seen(self, as_of: datetime | None, without: Collection[int] = ()) -> Iterator[Seen]:
        """Give an index of what was seen, which is this trail's only inside the `with` block.

        Args:
            as_of: what has expired by then contests, and gives no authority.
            without: positions of items that do not count.
        """
        shared, end = self._shared, self._count
        while end and end - 1 in without:
            end -= 1
        with shared.lock:
            has_expired = end > 0 and not unexpired(shared.soonest[end - 1], as_of)
            if has_expired or shared.indexed > end or any(at < end for at in without):
                yield self._built(end, as_of, without)
                return
            for item in shared.items[shared.indexed : end]:
                shared.seen.add(item)
            shared.indexed = end
            yield shared.seen

    def _built(self, end: int, as_of: datetime | None, without: Collection[int]) -> Seen:
        built = Seen(self._record_fields or ())
        for at, item in enumerate(self._shared.items[:end]):
            if at not in without:
                built.add(item, has_expired=not unexpired(item.expires_at, as_of))
        return built

    def context_digest(self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> str:
        """Return what `critic.context_digest` returns for a context with just this evidence."""
        state = self._digest_state()
        state.update(_after_evidence(ctx, compiled, spec))
        return str(state.hexdigest())

    def _digest_state(self) -> Any:
        """Return the state of the digest after the evidence: bytes are hashed once."""
        shared = self._shared
        with shared.lock:
            if shared.digested > self._count:
                state, done = hashlib.sha256(_OPENING), 0
            else:
                state, done = shared.digest, shared.digested
            for at in range(done, self._count):
                state.update((b"," if at else b"") + canonical_bytes(shared.items[at]))
            if state is shared.digest:
                shared.digested = self._count
            return state.copy()


def _after_evidence(ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> bytes:
    """Return the canonical JSON of a context from the end of its evidence on."""
    manifests = compiled.manifests
    rest = Manifests(
        tool_manifest=manifests.tool_manifest,
        evidence_manifest=(),
        record_fields=manifests.record_fields,
    )
    bare = CompiledContext(manifests=rest, pack_version=compiled.pack_version)
    members = {"compiled": bare.wire(), "spec": spec.wire(), "trace_id": ctx.trace_id}
    return canonical_json(members).removeprefix(_OPENING)
