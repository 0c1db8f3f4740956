"""The evidence of a session, in order. It is only added to, and so is what is derived from it.

Rule 1: a trail never changes: adding to it gives a new one, which shares what came before.
Rule 2: adding costs what is added. Two trails that go on from the same place do not see each other.
Rule 3: an index may lag behind, or be built anew; what it answers is that of the trail alone.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import Any, Final

from critic.session.session_values import FieldTables, Seen, SeenItems, both_seen
from evals.canonical_json import canonical_bytes, canonical_json
from evals.confinement import Confined, ConfinedContent
from evals.context import RunContext
from evals.joined_json import begin_object
from evals.manifest import CompiledContext, EvidenceItem, Manifests
from evals.spec import DecisionSpec
from evals.timestamps import is_unexpired

_NOTHING_DESCRIBED: Final = Manifests(tool_manifest=(), evidence_manifest=())


def _opening_of(described: Manifests) -> bytes:
    """Return how the canonical JSON of a context begins: classes and evidence come first."""
    members = {"evidence_manifest": b"["}
    if described.classes is not None:
        members["classes"] = canonical_json([one.wire() for one in described.classes])
    return begin_object({"compiled": begin_object({"manifests": begin_object(members)})})


class _Shared:
    """The items of trails that go on from one another, and what is derived from the first ones."""

    __slots__ = [
        "__weakref__",
        "by_id",
        "classes",
        "confined",
        "confined_lock",
        "digest",
        "digest_lock",
        "digested",
        "expiries",
        "indexed",
        "items",
        "lock",
        "of_class",
        "opening",
        "place",
        "seen",
    ]

    def __init__(self, described: Manifests) -> None:
        self.lock: Final = Lock()
        self.digest_lock: Final = Lock()  # another one: a digest is asked for while values are
        self.items: list[EvidenceItem] = []
        self.by_id: dict[str, EvidenceItem] = {}
        self.classes: dict[str, str] = {}
        self.expiries: dict[str, datetime] = {}
        self.place: dict[str, int] = {}
        self.of_class: dict[str, list[int]] = {}
        self.confined: dict[str, ConfinedContent] = {}
        self.confined_lock: Final = Lock()
        self.seen, self.indexed = SeenItems(FieldTables(described)), 0
        self.opening: Final = _opening_of(described)
        self.digest, self.digested = hashlib.sha256(self.opening), 0

    def add(self, items: Collection[EvidenceItem]) -> None:
        """Add items, each with an id of its own."""
        ids = {item.id for item in items}
        if len(ids) < len(items) or not ids.isdisjoint(self.by_id.keys()):
            raise ValueError("two items of evidence have the same id")
        for item in items:
            self.of_class.setdefault(item.classification, []).append(len(self.items))
            self.by_id[item.id] = item
            self.place[item.id] = len(self.items)
            self.classes[item.id] = item.classification
            if item.expires_at is not None:
                self.expiries[item.id] = item.expires_at
            self.items.append(item)

    def confined_of(self, name: str) -> ConfinedContent:
        """Return the content of all items of a class, each read once."""
        content = self.confined.setdefault(name, ConfinedContent())
        places = self.of_class.get(name, ())
        for at in places[len(content) :]:
            content.add(self.items[at])
        return content

    def index(self, count: int) -> None:
        """Note what the first items say, each once."""
        for item in self.items[self.indexed : count]:
            self.seen.add(item)
        self.indexed = max(self.indexed, count)


class Trail:
    """The evidence of a session up to some moment."""

    __slots__ = ("_count", "_described", "_shared")

    def __init__(
        self,
        items: Collection[EvidenceItem] = (),
        described: Manifests = _NOTHING_DESCRIBED,
    ) -> None:
        """Start with what is known already.

        Args:
            described: manifests that say what the items of each class are.

        Raises:
            ValueError: two items have one id.
        """
        self._described = described
        self._shared = _Shared(described)
        self._shared.add(items)
        self._count = len(items)

    def __len__(self) -> int:
        return self._count

    @property
    def items(self) -> tuple[EvidenceItem, ...]:
        """The items, in the order in which they were seen."""
        return tuple(self._shared.items[: self._count])

    @property
    def by_id(self) -> Mapping[str, EvidenceItem]:
        """The items by id. Items that came later may be among them."""
        return self._shared.by_id

    @property
    def classes(self) -> Mapping[str, str]:
        """The class of each item by id. Items that came later may be among them."""
        return self._shared.classes

    @property
    def expiries(self) -> Mapping[str, datetime]:
        """When the items that expire do, by id. Items that came later may be among them."""
        return self._shared.expiries

    def of_class(self, classification: str) -> list[EvidenceItem]:
        """Return the items of a class, in their order."""
        items, places = self._shared.items, self._shared.of_class.get(classification, ())
        return [items[at] for at in places[: bisect_left(places, self._count)]]

    def confined_content(self, classes: Iterable[str]) -> Confined:
        """Return the content of some classes, to be looked for."""
        return _ConfinedTrail(self._shared, self._count, tuple(dict.fromkeys(classes)))

    def pick_items(
        self, refs: Iterable[str], classes: Iterable[str] = ()
    ) -> tuple[EvidenceItem, ...]:
        """Return the items that some refs name, and those of some classes, in their order."""
        shared = self._shared
        of_classes = (at for name in classes for at in shared.of_class.get(name, ()))
        places = {*of_classes, *(shared.place[ref] for ref in refs)}
        return tuple(shared.items[at] for at in sorted(places) if at < self._count)

    def fresh_ids(self, classification: str, as_of: datetime | None) -> list[str]:
        """Return the ids of the items of a class that have not expired, in their order."""
        found = self.of_class(classification)
        return [item.id for item in found if is_unexpired(item.expires_at, as_of)]

    def first_items(self, count: int) -> "Trail":
        """Return the trail as it was when it had `count` items."""
        return self._trail_at(self._shared, min(count, self._count))

    def plus(self, items: Collection[EvidenceItem]) -> "Trail":
        """Return a trail with more items.

        Raises:
            ValueError: two items have one id.
        """
        if not items:
            return self
        shared = self._shared
        with shared.lock:
            if len(shared.items) == self._count:
                shared.add(items)
                return self._trail_at(shared, self._count + len(items))
        return Trail([*self.items, *items], self._described)

    def _trail_at(self, shared: _Shared, count: int) -> "Trail":
        trail = Trail.__new__(Trail)
        trail._shared, trail._count, trail._described = shared, count, self._described
        return trail

    def read(self) -> None:
        """Index what the items say, so that looking it up later costs less."""
        with self._shared.lock:
            self._shared.index(self._count)

    @contextmanager
    def seen_sources(
        self, as_of: datetime | None, without: Collection[int] = ()
    ) -> Iterator[tuple[Seen, Seen]]:
        """Give what unexpired items show, and what all show: as they are in the `with` block only.

        Args:
            as_of: what has expired by then contests, and gives no authority.
            without: positions of items that do not count.
        """
        shared = self._shared
        with shared.lock:
            shared.index(self._count)
            shared.seen.move_to(as_of)
            later = range(self._count, shared.indexed)
            hidden = frozenset(shared.items[at].id for at in (*without, *later))
            yield both_seen(shared.seen, hidden)

    def context_digest(self, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> str:
        """Return what `critic.context_digest` returns for a context with just this evidence."""
        state = self.digest_state()
        state.update(_after_evidence(ctx, compiled, spec, self._shared.opening))
        return str(state.hexdigest())

    @property
    def opening(self) -> bytes:
        """How the canonical JSON of a proposal begins, up to its first item of evidence."""
        return self._shared.opening

    @property
    def root(self) -> object:
        """What all trails that go on from one another share: to keep things beside."""
        return self._shared

    def added_since(self, count: int) -> list[EvidenceItem]:
        """Return the items after the first ones, in their order."""
        return self._shared.items[count : self._count]

    def digest_state(self) -> Any:
        """Return the SHA-256 of a proposal up to the end of its evidence: bytes are hashed once."""
        shared = self._shared
        with shared.digest_lock:
            if shared.digested > self._count:
                state, done = hashlib.sha256(shared.opening), 0
            else:
                state, done = shared.digest, shared.digested
            for at in range(done, self._count):
                state.update((b"," if at else b"") + canonical_bytes(shared.items[at]))
            if state is shared.digest:
                shared.digested = self._count
            return state.copy()


class _ConfinedTrail:
    """The content of some classes of a trail, to be looked for class by class."""

    def __init__(self, shared: _Shared, count: int, classes: tuple[str, ...]) -> None:
        self._shared, self._count, self._classes = shared, count, classes

    def _parts_by_class(self) -> Iterator[tuple[ConfinedContent, int]]:
        """Yield the content of each class, and how many of its items the trail has."""
        for name in self._classes:
            places = self._shared.of_class.get(name, ())
            yield self._shared.confined_of(name), bisect_left(places, self._count)

    def found_in(self, values: Iterable[Any]) -> list[str | None]:
        """Return, for each JsonValue, the id of the first item with content in it, or None."""
        searched = list(values)
        found: list[str | None] = [None for _ in searched]
        with self._shared.confined_lock:
            for content, count in self._parts_by_class():
                more = content.found_in(searched, count)
                found = [one or other for one, other in zip(found, more, strict=True)]
        return found

    def without_text(self) -> list[str]:
        """Return the ids of the items without content to look for."""
        with self._shared.confined_lock:
            return [
                name
                for content, count in self._parts_by_class()
                for name in content.without_text(count)
            ]


def _after_evidence(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, opening: bytes
) -> bytes:
    """Return the canonical JSON of a context from the end of its evidence on."""
    manifests = compiled.manifests
    rest = Manifests(
        tool_manifest=manifests.tool_manifest,
        evidence_manifest=(),
        classes=manifests.classes,
        record_fields=manifests.record_fields,
    )
    bare = CompiledContext(manifests=rest, pack_version=compiled.pack_version)
    members = {"compiled": bare.wire(), "spec": spec.wire(), "trace_id": ctx.trace_id}
    return canonical_json(members).removeprefix(opening)
