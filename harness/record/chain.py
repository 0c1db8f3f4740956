"""The chain of records: numbers, hashes, and the bytes of a record in its place. Pure.

Rule 1: a record and the inputs it names are all that is needed to derive its verdict again.
Rule 2: a record is one RFC 8785 JSON object, and `hash` is the SHA-256 of its sealed form without
        the member `hash`: see `harness.record.closed_words`. A canonicalizer and SHA-256 are enough
        to check a log.
Rule 3: `prev_hash` is the `hash` of the record before; the first record names 64 zeros.
Rule 4: an input is stored once, under the SHA-256 of its canonical bytes.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from evals.joined_json import join_object
from harness.canonical import canonical_json
from harness.record.closed_words import seal_members
from harness.record.decision import DecisionRecord
from harness.record.drafts import RecordDraft, sha256
from harness.record.record_kinds import LogRecord, record_model
from harness.wire import MAX_DOCUMENT_BYTES, build, parse, parse_json


class Head(NamedTuple):
    """The number of the last record of a log and its hash; `(0, GENESIS)` for an empty log."""

    seq: int
    hash: str


class Gap(NamedTuple):
    """Records that are missing: the first and the last of their numbers."""

    first: int
    last: int

    def text(self) -> str:
        """Say which records are missing, in a few words."""
        if self.first == self.last:
            return f"record {self.first} is missing"
        return f"records {self.first} to {self.last} are missing"


class RawRecord(NamedTuple):
    """A stored record, unchecked: `hash` and `body` may be any text and bytes.

    The body may name parts: see `harness.record.parts`.
    """

    seq: int
    hash: str
    body: bytes


class Sealed(NamedTuple):
    """A record in its place in the chain, as the bytes that its hash is taken of."""

    seq: int
    hash: str
    body: bytes

    @property
    def record(self) -> DecisionRecord:
        """Return the decision that the bytes spell. It shares nothing with the decision given."""
        return parse(DecisionRecord, self.body, max_bytes=len(self.body))


def seal_record(drafted: RecordDraft, before: Head) -> Sealed:
    """Return the record that follows `before`, as bytes."""
    place = place_members(before)
    own_hash = sha256(join_object({**drafted.sealed, **place}))
    members = {**drafted.members, **place, "hash": canonical_json(own_hash)}
    return Sealed(before.seq + 1, own_hash, join_object(members))


def place_members(before: Head) -> dict[str, bytes]:
    """Return the members that say the place of the record that follows `before`."""
    return {"seq": canonical_json(before.seq + 1), "prev_hash": canonical_json(before.hash)}


def record_hash(document: Mapping[str, Any]) -> str:
    """Return what the `hash` of a record must be, given the whole record as parsed JSON."""
    return sha256(sealed_bytes(document))


def sealed_bytes(document: Mapping[str, Any], gone: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes that the hash of a record is taken of.

    Args:
        document: the record as parsed JSON.
        gone: the digests of the members that were taken out of it.

    Raises:
        ValueError, TypeError, RecursionError: it has no sealed form.
    """
    members = {name: canonical_json(one) for name, one in document.items() if name != "hash"}
    return join_object(seal_members(members, document, gone))


def read_record(body: bytes, max_bytes: int = MAX_DOCUMENT_BYTES) -> LogRecord:
    """Return the record of any kind that whole bytes spell, unchecked: replay shows if it is right.

    Raises:
        InvalidInput: the bytes are not a record.
    """
    document = parse_json(body, max_bytes)
    model = record_model(document) if isinstance(document, dict) else DecisionRecord
    return build(model, document)
