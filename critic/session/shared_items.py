"""The items that trails share which go on from one another, and what is derived from them.

Rule 1: items are only added, and what is derived lags behind until it is asked for.
Rule 2: those of a branch stand behind those of a trail that it goes on from, and refer to these.
"""

import hashlib
from bisect import bisect_left
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import Any, Final, Protocol, TypeVar

from critic.session.session_values import FieldTables, SeenItems
from evals.canonical_json import canonical_json
from evals.confinement import ConfinedContent
from evals.joined_json import begin_object
from evals.manifest import EvidenceItem, Manifests

_V = TypeVar("_V")


def _opening_of(described: Manifests) -> bytes:
    """Return how the canonical JSON of a context begins: classes and evidence come first."""
    members = {"evidence_manifest": b"["}
    if described.classes is not None:
        members["classes"] = canonical_json([one.wire() for one in described.classes])
    return begin_object({"compiled": begin_object({"manifests": begin_object(members)})})


class Before(Protocol):
    """A trail that others go on from."""

    @property
    def by_id(self) -> Mapping[str, EvidenceItem]:
        """The items by id."""
        ...

    @property
    def classes(self) -> Mapping[str, str]:
        """The class of each item by id."""
        ...

    @property
    def expiries(self) -> Mapping[str, datetime]:
        """When the items that expire do, by id."""
        ...

    @property
    def index(self) -> SeenItems:
        """The index of what its items say."""
        ...

    @property
    def last_seq(self) -> int:
        """The highest `seq` of its items."""
        ...

    def digest_state(self) -> Any:
        """Return the SHA-256 of a proposal up to the end of its evidence."""
        ...


class SharedItems:
    """The items of trails that go on from one another, and what is derived from the first ones."""

    __slots__ = [
        "__weakref__",
        "before",
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
        "last_seqs",
        "lock",
        "of_class",
        "opening",
        "place",
        "seen",
    ]

    def __init__(self, described: Manifests, before: "Before | None" = None) -> None:
        """Start with nothing, or behind the items of a trail. Places are among its own items."""
        self.before: Final = before
        self.lock: Final = Lock()
        self.digest_lock: Final = Lock()  # another one: a digest is asked for while values are
        self.items: list[EvidenceItem] = []
        self.digest: Any = None
        self.last_seqs: list[int] = []
        """The highest `seq` of the items up to each of them."""
        self.by_id: Final[MutableMapping[str, EvidenceItem]] = _begin(
            None if before is None else before.by_id
        )
        self.classes: Final[MutableMapping[str, str]] = _begin(
            None if before is None else before.classes
        )
        self.expiries: Final[MutableMapping[str, datetime]] = _begin(
            None if before is None else before.expiries
        )
        self.place: dict[str, int] = {}
        self.of_class: dict[str, list[int]] = {}
        self.confined: dict[str, ConfinedContent] = {}
        self.confined_lock: Final = Lock()
        seen = None if before is None else before.index
        self.seen: Final[SeenItems] = SeenItems(FieldTables(described), seen)
        self.indexed: int = 0
        self.opening: Final = _opening_of(described)
        self.digested: int = 0

    def new_digest(self) -> Any:
        """Return the SHA-256 of a proposal up to its first own item."""
        return hashlib.sha256(self.opening) if self.before is None else self.before.digest_state()

    def add(self, items: Collection[EvidenceItem]) -> None:
        """Add items, each with an id of its own."""
        ids = {item.id for item in items}
        if len(ids) < len(items) or any(name in self.by_id for name in ids):
            raise ValueError("two items of evidence have the same id")
        last = self.last_seqs[-1] if self.last_seqs else self._last_seq_before
        for item in items:
            self.of_class.setdefault(item.classification, []).append(len(self.items))
            self.by_id[item.id] = item
            self.place[item.id] = len(self.items)
            self.classes[item.id] = item.classification
            if item.expires_at is not None:
                self.expiries[item.id] = item.expires_at
            self.items.append(item)
            seq = item.source.seq if item.source is not None else None
            last = last if seq is None else max(last, seq)
            self.last_seqs.append(last)

    @property
    def _last_seq_before(self) -> int:
        return -1 if self.before is None else self.before.last_seq

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


def _begin(before: Mapping[str, _V] | None) -> MutableMapping[str, _V]:
    """Return a mapping to add to, which has what another one has."""
    # What is added goes into the first of the maps.
    return {} if before is None else ChainMap({}, before)  # type: ignore[arg-type]


ItemLayer = tuple[SharedItems, int]
"""Items, and how many of the first ones count."""


class ConfinedItems:
    """The content of some classes of a trail and those before it, class by class."""

    def __init__(self, layers: tuple[ItemLayer, ...], classes: tuple[str, ...]) -> None:
        self._layers, self._classes = layers, classes

    def _parts_by_class(self) -> Iterator[tuple[ConfinedContent, int]]:
        """Yield the content of each class, and how many of its items the trail has."""
        for name in self._classes:
            for shared, count in self._layers:
                places = shared.of_class.get(name, ())
                yield shared.confined_of(name), bisect_left(places, count)

    @contextmanager
    def _hold_locks(self, number: int = 0) -> Iterator[None]:
        """Hold the locks of the layers from a number on."""
        if number == len(self._layers):
            yield
            return
        lock = self._layers[number][0].confined_lock
        with lock, self._hold_locks(number + 1):
            yield

    def found_in(self, values: Iterable[Any]) -> list[str | None]:
        """Return, for each JsonValue, the id of the first item with content in it, or None."""
        searched = list(values)
        found: list[str | None] = [None for _ in searched]
        with self._hold_locks():
            for content, count in self._parts_by_class():
                more = content.found_in(searched, count)
                found = [one or other for one, other in zip(found, more, strict=True)]
        return found

    def without_text(self) -> list[str]:
        """Return the ids of the items without content to look for."""
        with self._hold_locks():
            return [
                name
                for content, count in self._parts_by_class()
                for name in content.without_text(count)
            ]
