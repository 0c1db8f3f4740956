"""Keep canonical JSON in parts: what is large once, and a reference in its place. Pure.

Rule 1: canonical JSON holds no zero byte, and the bytes of a subtree are a piece of the bytes of
        the whole. A reference is a zero byte and the 32 bytes of the SHA-256 of the piece.
Rule 2: whoever puts every piece in the place of its reference has the whole, byte for byte. A
        reader needs nothing else, and believes nothing but the digest of the whole.
Rule 3: a body that is only the reference to itself says that its piece was redacted.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from evals.joined_json import join_array, join_object
from harness.canonical import canonical_json
from harness.record.drafts import Parted, sha256
from harness.wire import MAX_DOCUMENT_BYTES

_MARK: Final = b"\0"
LENGTH_OF_REFERENCE: Final = 33
"""Bytes: the mark and a SHA-256."""
_ENTRIES: Final = frozenset({"tool_manifest", "evidence_manifest"})
MOST_RETURNED: Final = MAX_DOCUMENT_BYTES - 1024 * 1024
"""Bytes of what the calls of one plan may return, so that the record of their run is a document."""
LARGE: Final = 512
"""Bytes of what is not yet a piece, in which references stand for its own pieces."""
SMALLEST: Final = 64
"""Bytes of any piece."""
_REFERENCE: Final = re.compile(rb"\0(.{32})", re.DOTALL)
_BYTES_PER_REFERENCE: Final = 16  # fewer than any document has that is written here
_BEFORE: Final = frozenset({b":", b"[", b",", b""})  # what a reference may follow
_AFTER: Final = frozenset({b",", b"]", b"}", b""})  # and what may follow it
_GROUP: Final = 32  # elements: an array that grows stores only its last group again

_Dumps = Callable[[Any], bytes]


class Whole(NamedTuple):
    """A stored body as it is read: the whole bytes, or None and why they cannot be had."""

    data: bytes | None
    missing: tuple[str, ...] = ()
    """Digests of pieces that are not stored."""
    redacted: tuple[str, ...] = ()
    """Digests of pieces that were redacted."""
    broken: str = ""
    """What is wrong with the references, or empty."""
    shown: bytes = b""
    """Of a document with redacted pieces and no other fault: null stands in their places."""


def part_document(document: bytes, large: int = LARGE) -> Parted:
    """Return a canonical document in parts. `whole_of` gives the same bytes back.

    Args:
        document: canonical JSON.
        large: what has more bytes, with references for its own pieces, is a piece.
    """
    if len(document) <= large:
        return Parted(document, {}, len(document))
    value = orjson.loads(document)
    # orjson keeps the order of the keys. Only numbers may come out in another spelling.
    plain = orjson.dumps(value) == document
    splitter = _Splitter(orjson.dumps if plain else canonical_json, large)
    body = splitter.skeleton(value, document)
    if whole_of(body, splitter.pieces, len(document)).data != document:
        return Parted(document, {}, len(document))  # not canonical, so kept as it is
    return Parted(body, splitter.pieces, len(document))


def new_pieces(apart: Parted, known: Container[str]) -> dict[str, bytes]:
    """Return the pieces of a document that are not known to be stored.

    A piece that is stored was stored with its own pieces, so that what is below it is not looked
    at: of a document that grows, what is new is returned at the cost of what is new.
    """
    found: dict[str, bytes] = {}
    waiting = [apart.body]
    while waiting:
        for named in _REFERENCE.findall(waiting.pop()):  # all in their places: it was made here
            digest = named.hex()
            if digest not in known and digest not in found:
                found[digest] = apart.pieces[digest]
                waiting.append(apart.pieces[digest])
    return found


class GrowingArray:
    """An array that is only added to, taken apart: an element once, and each full group once."""

    def __init__(self, pieces: dict[str, bytes], least: int, large: int = LARGE) -> None:
        """Put the pieces among others. An element is one if its body has `least` bytes.

        A group is one if its body has more than `large`.
        """
        self._pieces, self._least, self._large = pieces, least, large
        self._groups: list[bytes] = []
        self._wholes: list[bytes] = []
        self._bodies: list[bytes] = []

    def add(self, whole: bytes, body: bytes) -> None:
        """Add an element: its bytes, and those with references for its own pieces."""
        self._wholes.append(whole)
        self._bodies.append(keep_piece(self._pieces, whole, body, self._least))
        if len(self._wholes) == _GROUP:
            whole, body = b",".join(self._wholes), b",".join(self._bodies)
            group = keep_piece(self._pieces, whole, body, self._large + 1)
            self._groups.append(group)
            self._wholes, self._bodies = [], []

    def elements(self) -> list[bytes]:
        """Return the bytes that stand for the elements, or for groups of them."""
        return [*self._groups, *self._bodies]


def keep_piece(
    pieces: dict[str, bytes], whole: bytes, body: bytes, least: int = LARGE + 1
) -> bytes:
    """Return a reference to the piece, or the body itself if it has fewer bytes than `least`."""
    if len(body) < least or len(whole) < SMALLEST:
        return body
    digest = sha256(whole)
    pieces[digest] = body
    return reference(digest)


class _Splitter:
    """Takes pieces out of a JSON value."""

    def __init__(self, dumps: _Dumps, large: int) -> None:
        self._dumps, self._large = dumps, large
        self.pieces: dict[str, bytes] = {}

    def skeleton(self, value: Any, whole: bytes) -> bytes:
        """Return the bytes of a value with references for its pieces."""
        if len(whole) <= self._large:
            return whole
        if type(value) is dict:
            return join_object({name: self._store_member(it, name) for name, it in value.items()})
        return join_array(self._elements(value)) if type(value) is list else whole

    def _store_member(self, value: Any, name: str) -> bytes:
        """Return the bytes that stand for the value of a member."""
        whole = self._dumps(value)
        if name in _ENTRIES and type(value) is list:
            body = join_array(self._elements(value, least=SMALLEST))
        else:
            body = self.skeleton(value, whole)
        return keep_piece(self.pieces, whole, body, self._large + 1)

    def _elements(self, values: list[Any], least: int | None = None) -> list[bytes]:
        """Return the bytes that stand for the elements of an array, or for groups of them.

        An element whose own bytes are at least `least` is a piece.
        """
        array = GrowingArray(self.pieces, least or self._large + 1, self._large)
        for value in values:
            whole = self._dumps(value)
            array.add(whole, self.skeleton(value, whole))
        return array.elements()


def reference(digest: str) -> bytes:
    """Return the bytes that stand for the piece with this digest."""
    return _MARK + bytes.fromhex(digest)


def references(body: bytes) -> Iterator[str]:
    """Yield the digests of the references in a stored body; those out of place are left out."""
    if _MARK in body:
        yield from (digest for _, digest in split_body(body) if digest)


def is_redacted(digest: str, body: bytes) -> bool:
    """Return whether a stored body says that the piece with this digest was taken out."""
    return body == reference(digest)


def whole_of(body: bytes, stored: Mapping[str, bytes], limit: int = MAX_DOCUMENT_BYTES) -> Whole:
    """Return the bytes of a stored body, with every piece in its place. Never raises.

    The bytes are not compared with a digest.

    Args:
        body: a stored body; without references it is the whole.
        stored: the bodies of pieces by digest; more than needed is fine.
        limit: the largest number of bytes that are put together.
    """
    if _MARK not in body:
        return Whole(body)
    joiner = _Joiner(stored, limit)
    joiner.join(body)
    missing, redacted = tuple(joiner.missing), tuple(joiner.redacted)
    if joiner.broken or missing:
        return Whole(None, missing, redacted, joiner.broken)
    data = b"".join(joiner.pieces)
    return Whole(None, redacted=redacted, shown=data) if redacted else Whole(data)


def pieces_of(
    bodies: Iterable[bytes], fetch: Callable[[list[str]], Mapping[str, bytes]]
) -> dict[str, bytes]:
    """Return the bodies of all pieces that the bodies name, directly or through other pieces.

    Args:
        bodies: stored bodies.
        fetch: returns what is stored under digests, and leaves out what is not.
    """
    found: dict[str, bytes] = {}
    asked: set[str] = set()
    while new := list(dict.fromkeys(_unasked_pieces(bodies, asked))):
        asked.update(new)
        stored = fetch(new)
        found.update(stored)
        bodies = stored.values()
    return found


def _unasked_pieces(bodies: Iterable[bytes], asked: set[str]) -> Iterator[str]:
    named = (digest for body in bodies if _MARK in body for digest in references(body))
    return (digest for digest in named if digest not in asked)


class _Joiner:
    """Puts the pieces of one document together, the outermost first, without recursion."""

    def __init__(self, stored: Mapping[str, bytes], limit: int) -> None:
        self._stored = stored
        self._left = limit
        self._references = limit // _BYTES_PER_REFERENCE + 1
        self.pieces: list[bytes] = []
        self.missing: dict[str, None] = {}
        self.redacted: dict[str, None] = {}
        self.broken = ""

    def join(self, body: bytes) -> None:
        """Collect the pieces of a body in their order."""
        waiting = [split_body(body)]
        while waiting and not self.broken:
            literal, digest = next(waiting[-1], (None, None))
            if literal is None:
                waiting.pop()
                continue
            self._take(literal)
            if digest == "":
                self.broken = "a reference is not in the place of a value"
            elif digest is not None and (inner := self._body(digest)) is not None:
                waiting.append(split_body(inner))

    def _take(self, literal: bytes) -> None:
        self._left -= len(literal)
        self.pieces.append(literal)
        if self._left < 0:
            self.broken = "with its parts it is over the limit of a document"

    def _body(self, digest: str) -> bytes | None:
        self._references -= 1
        if self._references < 0:
            self.broken = "it has too many references"
        body = self._stored.get(digest)
        if body is None:
            self.missing[digest] = None
        elif is_redacted(digest, body):
            self.redacted[digest] = None
            self._take(b"null")
        else:
            return body
        return None


def split_body(body: bytes) -> Iterator[tuple[bytes, str | None]]:
    """Yield the literal bytes of a body, each with the digest that follows it, if one does.

    The digest of a reference that is not in the place of a value is "".
    """
    start = 0
    while (at := body.find(_MARK, start)) >= 0:
        end = at + LENGTH_OF_REFERENCE
        in_place = body[at - 1 : at] in _BEFORE and body[end : end + 1] in _AFTER
        yield body[start:at], body[at + 1 : end].hex() if in_place and end <= len(body) else ""
        start = end
    yield body[start:], None
