"""Read a context that goes on from an earlier one of its session: at the cost of what is new. Pure.

Rule 1: what is read so is what reading the whole gives. Its bytes have the digest under which it is
        stored: the hash goes on from that of the earlier one where both name the same parts, and
        one part has one body in a log. Its new items are canonical and valid.
Rule 2: where anything is otherwise, nothing is returned, and the whole is read, which says why.
Rule 3: what is held for later contexts is bounded: of sessions that were not read of lately it
        goes.

For example, `#` stands for a part: between two records, an item comes behind those before:

    {"manifests":{"evidence_manifest":[#,#,#],"tool_manifest":[#]}}
    {"manifests":{"evidence_manifest":[#,#,#,#],"tool_manifest":[#]}}
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from evals.manifest import CompiledContext, EvidenceItem, Manifests
from harness.canonical import canonical_bytes
from harness.record.parts import LENGTH_OF_REFERENCE, split_body, whole_of
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, parse

_IN_PROPOSAL: Final = b'{"compiled":'
_BEFORE: Final = b'{"manifests":{"evidence_manifest":['
_BEHIND: Final = b'],"tool_manifest":[]}}'
_MOST: Final = 16
_MOST_BYTES: Final = 16 * 1024 * 1024


class _Hashes(NamedTuple):
    """The SHA-256 of a context so far, and that of a proposal, whose first member it is."""

    context: Any
    proposal: Any

    def copy(self) -> "_Hashes":
        return _Hashes(self.context.copy(), self.proposal.copy())

    def update(self, data: bytes) -> None:
        self.context.update(data)
        self.proposal.update(data)


class _Mark(NamedTuple):
    """A place in a stored body where an item ends, and a part.

    Attributes:
        end: where it is in the stored body.
        items: how many items come before it.
        size: how many bytes of the whole come before it.
        hashes: those of all before it.
    """

    end: int
    items: int
    size: int
    hashes: _Hashes


_BEGINNING: Final = _Mark(0, 0, 0, _Hashes(hashlib.sha256(), hashlib.sha256(_IN_PROPOSAL)))


class _Frame(NamedTuple):
    """What stands around the evidence of a context.

    Attributes:
        opening: the stored bytes before it.
        stored: the stored bytes behind it.
        whole: the bytes behind it.
        bare: the context without evidence.
    """

    opening: bytes
    stored: bytes
    whole: bytes
    bare: CompiledContext


class GrownContext(NamedTuple):
    """A context that was read.

    Attributes:
        value: the context.
        proposal: the SHA-256 of a proposal up to its end: not to be changed.
        new: how many of its bytes were read.
    """

    value: CompiledContext
    proposal: Any
    new: int


class _Known(NamedTuple):
    """The evidence of a context that was read: its stored body up to there, marks and items."""

    stored: bytes
    marks: Sequence[_Mark]
    items: tuple[EvidenceItem, ...]
    size: int

    def mark_in(self, stored: bytes) -> _Mark | None:
        """Return the last mark up to which stored evidence is the same: items come behind it."""
        if not self.marks or not stored.startswith(self.stored[: self.marks[0].end]):
            return None
        marks = (one for one in reversed(self.marks) if stored.startswith(self.stored[: one.end]))
        return next((one for one in marks if stored[one.end : one.end + 1] in (b"", b",")), None)


class _Start(NamedTuple):
    """What a context goes on from."""

    known: _Known
    mark: _Mark


class _Found(NamedTuple):
    """A context, the digest of its bytes, and what later ones may go on from."""

    context: GrownContext
    digest: str
    known: _Known


class GrownContexts:
    """The contexts that were read last, each with what later ones may go on from."""

    def __init__(self) -> None:
        self._known: list[_Known] = []
        self._frames: list[_Frame] = []

    def read(self, digest: str, body: bytes, bodies: Mapping[str, bytes]) -> GrownContext | None:
        """Return the context that is stored under a digest, if it goes on from a known one."""
        for frame in self._frames:
            stored = body.removesuffix(frame.stored)
            marks = ((known, known.mark_in(stored)) for known in self._known)
            starts = [_Start(known, mark) for known, mark in marks if mark is not None]
            if starts and len(stored) < len(body) and body.startswith(frame.opening):
                start = max(starts, key=lambda one: one.mark.items)
                found = self._go_on(start, stored, frame, bodies)
                if found is not None and found.digest == digest:
                    self._hold(found.known, start.known)
                    return found.context
        return None

    def _go_on(
        self, start: _Start, stored: bytes, frame: _Frame, bodies: Mapping[str, bytes]
    ) -> _Found | None:
        """Return the context with the items behind a mark, if they are items."""
        known, mark = start
        tail = stored[mark.end + 1 :]
        before, rest = mark.size + bool(tail), len(frame.whole)
        new = whole_of(tail, bodies, MAX_DOCUMENT_BYTES - before - rest).data
        is_broken = new is None or stored[mark.end :] == b","
        items = None if new is None or is_broken else _items_after(known.items, mark.items, new)
        value = None if items is None else _with_items(frame.bare, items)
        if new is None or items is None or value is None:
            return None
        ends = _ends_of(items, mark.items, mark.size + 1)
        marks, hashes = _walk(stored, mark, ends, bodies)
        kept = [one for one in known.marks if one.end <= mark.end]
        grown = _Known(stored, (*kept, *marks), items, before + len(new))
        hashes.update(frame.whole)
        context = GrownContext(value, hashes.proposal, len(new))
        return _Found(context, hashes.context.hexdigest(), grown)

    def note(
        self, body: bytes, whole: bytes, value: CompiledContext, bodies: Mapping[str, bytes]
    ) -> None:
        """Keep what later contexts may go on from, of one that was read as a whole."""
        items, bare = value.manifests.evidence_manifest, _with_items(value, ())
        if not items or bare is None:
            return
        start = _first_difference(whole, canonical_bytes(bare))
        ends = _ends_of(items, 0, start)
        size = max(ends)
        begin, end = (_stored_place(body, place, bodies) for place in (start, size))
        if begin is None or end is None:
            return
        marks, _ = _walk(body[:end], _BEGINNING, ends, bodies)
        frame = _Frame(body[:begin], body[end:], whole[size:], bare)
        self._frames = [one for one in self._frames if one[:2] != frame[:2]][1 - _MOST :]
        self._frames.append(frame)
        self._hold(_Known(body[:end], marks, items, size), None)

    def _hold(self, known: _Known, before: _Known | None) -> None:
        """Hold what later contexts may go on from; of a session what was read of it last."""
        if before is not None and known.items[: len(before.items)] == before.items:
            self._known = [one for one in self._known if one is not before]
        del self._known[: 1 - _MOST]
        self._known.append(known)
        while sum(one.size for one in self._known) > _MOST_BYTES:
            self._known.pop(0)


def _items_after(
    known: tuple[EvidenceItem, ...], count: int, new: bytes
) -> tuple[EvidenceItem, ...] | None:
    """Return the first items, and those that are spelled behind them; None where not all are.

    Where parts became one part, the items are those that are known.
    """
    again = b",".join(map(canonical_bytes, known[count:]))
    if new == again:
        return known
    if again and new.startswith(again + b","):
        count, new = len(known), new[len(again) + 1 :]
    found = _read_items(new)
    return None if found is None else (*known[:count], *found)


def _read_items(spelled: bytes) -> tuple[EvidenceItem, ...] | None:
    """Return items that are spelled one behind the other, if that is all, and canonical."""
    document = _BEFORE + spelled + _BEHIND
    try:
        value = parse(CompiledContext, document, max_bytes=len(document))
    except InvalidInput:
        return None
    items = value.manifests.evidence_manifest
    alone = CompiledContext(manifests=Manifests(tool_manifest=(), evidence_manifest=items))
    return items if canonical_bytes(alone) == document else None


def _with_items(
    context: CompiledContext, items: tuple[EvidenceItem, ...]
) -> CompiledContext | None:
    """Return a context with other evidence; None if two items have one id."""
    try:
        manifests = context.manifests.model_copy(update={"evidence_manifest": items})
    except ValidationError:
        return None
    return context.model_copy(update={"manifests": manifests})


def _ends_of(items: tuple[EvidenceItem, ...], count: int, start: int) -> dict[int, int]:
    """Return how many items come before each place where one ends, behind the first `count`."""
    ends = {}
    for number, item in enumerate(items[count:], count + 1):
        start += len(canonical_bytes(item))
        ends[start] = number
        start += 1
    return ends


def _walk(
    stored: bytes, mark: _Mark, ends: Mapping[int, int], bodies: Mapping[str, bytes]
) -> tuple[list[_Mark], _Hashes]:
    """Return the marks behind one, and the hashes of all. The parts are known to be there."""
    place, size, hashes, marks = mark.end, mark.size, mark.hashes.copy(), list[_Mark]()
    for literal, digest in split_body(stored[mark.end :]):
        part = whole_of(bodies[digest], bodies).data or b"" if digest else b""
        place += len(literal) + (LENGTH_OF_REFERENCE if digest else 0)
        size += len(literal) + len(part)
        hashes.update(literal)
        hashes.update(part)
        if digest and size in ends:
            marks.append(_Mark(place, ends[size], size, hashes.copy()))
    return marks, hashes


def _stored_place(body: bytes, size: int, bodies: Mapping[str, bytes]) -> int | None:
    """Return where a place of the whole is in the stored body; None where that is in a part."""
    place = 0
    for literal, digest in split_body(body):
        if size <= len(literal):
            return place + size
        size -= len(literal) + (len(whole_of(bodies[digest], bodies).data or b"") if digest else 0)
        place += len(literal) + (LENGTH_OF_REFERENCE if digest else 0)
        if size < 0:
            return None
    return None


def _first_difference(one: bytes, other: bytes) -> int:
    return next(
        at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right
    )
