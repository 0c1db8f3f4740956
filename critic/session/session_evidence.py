"""The evidence of a session, in order. It is only added to, and so is what is derived from it.

Rule 1: a trail never changes: adding to it gives a new one, which shares what came before.
Rule 2: adding costs what is added. Two trails that go on from the same place do not see each other.
Rule 3: an index may lag behind, or be built anew; what it answers is that of the trail alone.
Rule 4: a branch goes on from a trail that does not see it: that costs nothing, as copying would.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from itertools import chain
from typing import Any, Final

from critic.session.session_values import Seen, SeenItems, both_seen
from critic.session.shared_items import ConfinedItems, ItemLayer, SharedItems
from evals.canonical_json import canonical_bytes, canonical_json
from evals.confinement import Confined
from evals.context import RunContext
from evals.manifest import CompiledContext, EvidenceItem, Manifests
from evals.spec import DecisionSpec
from evals.timestamps import is_unexpired

_NOTHING_DESCRIBED: Final = Manifests(tool_manifest=(), evidence_manifest=())


class Trail:
    """The evidence of a session up to some moment."""

    __slots__ = ("_before", "_count", "_described", "_shared")

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
        self._before: Trail | None = None
        self._shared = SharedItems(described)
        self._shared.add(items)
        self._count = len(items)

    def branch(self, described: Manifests | None = None) -> "Trail":
        """Return a trail of the same items. What is added to it is seen by no other one.

        Args:
            described: manifests that say what the items of each class are that are added to it.
        """
        described = described or self._described
        branch = self._trail_at(SharedItems(described, self), 0)
        branch._described, branch._before = described, self
        return branch

    @property
    def index(self) -> SeenItems:
        """The index of what its items say, and those that came later."""
        return self._shared.seen

    def __len__(self) -> int:
        return self._count + (0 if self._before is None else len(self._before))

    def __contains__(self, ref: str) -> bool:
        """Return whether an item has an id."""
        place = self._shared.place.get(ref)
        if place is not None:
            return place < self._count
        return self._before is not None and ref in self._before

    @property
    def items(self) -> tuple[EvidenceItem, ...]:
        """The items, in the order in which they were seen."""
        own = tuple(self._shared.items[: self._count])
        return own if self._before is None else (*self._before.items, *own)

    @property
    def last_seq(self) -> int:
        """The highest `seq` of any of them; -1 where none has one."""
        if self._count:
            return self._shared.last_seqs[self._count - 1]
        return -1 if self._before is None else self._before.last_seq

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
        own = (items[at] for at in places[: bisect_left(places, self._count)])
        before = () if self._before is None else self._before.of_class(classification)
        return [*before, *own]

    def confined_content(self, classes: Iterable[str]) -> Confined:
        """Return the content of some classes, to be looked for."""
        return ConfinedItems(self._layers, tuple(dict.fromkeys(classes)))

    @property
    def _layers(self) -> tuple[ItemLayer, ...]:
        """What this trail and those before it have: their items, and how many of each."""
        own = (self._shared, self._count)
        return (own,) if self._before is None else (*self._before._layers, own)

    def pick_items(
        self, refs: Iterable[str], classes: Iterable[str] = ()
    ) -> tuple[EvidenceItem, ...]:
        """Return the items that some refs name, and those of some classes, in their order.

        Of a branch, its own ones can be named.
        """
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
        if self._before is not None and count < len(self._before):
            return self._before.first_items(count)
        own = count if self._before is None else count - len(self._before)
        return self._trail_at(self._shared, min(own, self._count))

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

    def _trail_at(self, shared: SharedItems, count: int) -> "Trail":
        trail = Trail.__new__(Trail)
        trail._shared, trail._count = shared, count
        trail._described, trail._before = self._described, self._before
        return trail

    def read(self) -> None:
        """Index what the items say, so that looking it up later costs less."""
        if self._before is not None:
            self._before.read()
        with self._shared.lock:
            self._shared.index(self._count)

    @contextmanager
    def seen_sources(
        self, as_of: datetime | None, without: Collection[int] = ()
    ) -> Iterator[tuple[Seen, Seen]]:
        """Give what unexpired items show, and what all show: as they are in the `with` block only.

        Args:
            as_of: what has expired by then contests, and gives no authority.
            without: positions of items that do not count, of a trail that is no branch.
        """
        with self._seen_items(as_of) as (seen, later):
            hidden = (self._shared.items[at].id for at in without)
            yield both_seen(seen, frozenset(chain(hidden, later)))

    @contextmanager
    def _seen_items(self, as_of: datetime | None) -> Iterator[tuple[SeenItems, list[str]]]:
        """Give the index of the items at a moment, and the ids of those in it that came later."""
        shared = self._shared
        with ExitStack() as stack:
            hidden: list[str] = []
            if self._before is not None:
                _, hidden = stack.enter_context(self._before._seen_items(as_of))
            with shared.lock:
                shared.index(self._count)
                shared.seen.move_to(as_of)
                later = (item.id for item in shared.items[self._count : shared.indexed])
                yield shared.seen, [*hidden, *later]

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
        before = 0 if self._before is None else len(self._before)
        return self._shared.items[count - before : self._count]

    def digest_state(self) -> Any:
        """Return the SHA-256 of a proposal up to the end of its evidence: bytes are hashed once."""
        shared = self._shared
        with shared.digest_lock:
            if shared.digest is None:
                shared.digest = shared.new_digest()
            if shared.digested > self._count:
                state, done = shared.new_digest(), 0
            else:
                state, done = shared.digest, shared.digested
            is_first = self._before is None or not len(self._before)
            for at in range(done, self._count):
                between = b"" if is_first and not at else b","
                state.update(between + canonical_bytes(shared.items[at]))
            if state is shared.digest:
                shared.digested = self._count
            return state.copy()


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
