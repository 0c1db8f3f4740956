"""Whether a stored record is what was recorded: bytes, hash, number and link. Pure.

Works on plain JSON, not on envelopes, so that a record of any version can be checked.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name
from harness.canonical import canonical_json
from harness.record import GENESIS, INPUTS, Head, RawRecord, record_hash
from harness.wire import InvalidInput, parse_json

_DIGEST: Final = re.compile("[0-9a-f]{64}")


class Link(NamedTuple):
    """What the next record has to follow.

    `hashes` is the one hash of a sound record, all that an unsound one claims or has (it is
    reported by itself, and its follower is not to be blamed), and empty after missing records.
    """

    seq: int
    hashes: frozenset[str]
    decided_at: datetime | None = None


START: Final = Link(0, frozenset({GENESIS}))


@dataclass(frozen=True)
class StoredDocument:
    """A stored record, parsed as far as it can be."""

    raw: RawRecord
    value: Mapping[str, Any]
    """The JSON object; empty if `fault`."""
    own_hash: str
    """What its hash has to be; empty if `fault`."""
    fault: str
    """Why the body cannot be read, or empty."""

    @property
    def digests(self) -> dict[str, str]:
        """The digests of the inputs by name, those that are well-formed."""
        named = self.value.get("inputs")
        if not isinstance(named, dict):
            return {}
        return {name: named[name] for name in INPUTS if is_digest(named.get(name))}

    @property
    def hashes(self) -> frozenset[str]:
        """Every hash the record claims or has."""
        claims = (self.raw.hash, self.value.get("hash"), self.own_hash)
        return frozenset(str(claim) for claim in claims if is_digest(claim))


def read_document(raw: RawRecord) -> StoredDocument:
    """The stored record as plain JSON. Never raises."""
    try:
        value = parse_json(raw.body)
        if not isinstance(value, dict):
            return _unread(raw, "its body is no JSON object")
        if canonical_json(value) != raw.body:
            return StoredDocument(raw, value, record_hash(value), "its body is not canonical JSON")
        return StoredDocument(raw, value, record_hash(value), "")
    except InvalidInput as error:
        return _unread(raw, f"its body cannot be read: {error}")
    except (ValueError, TypeError, RecursionError):
        return _unread(raw, "its body has no canonical form")


def faults(document: StoredDocument, expected: Head | None) -> Iterator[str]:
    """What is wrong with the record by itself, a line each."""
    raw = document.raw
    if document.fault:
        yield document.fault
    if not document.own_hash:
        return
    if document.value.get("seq") != raw.seq:
        yield f"its body says that it is record {_shown(document.value.get('seq'))}"
    if document.value.get("hash") != document.own_hash:
        claimed = _shown(document.value.get("hash"))
        yield f"its content has hash {_short(document.own_hash)}, but it claims {claimed}"
    if raw.hash != document.own_hash:
        stored = _shown(raw.hash)
        yield f"its content has hash {_short(document.own_hash)}, but is stored under {stored}"
    if expected is not None and raw.seq == expected.seq and document.own_hash != expected.hash:
        own, known = _short(document.own_hash), _short(expected.hash)
        yield f"history was rewritten: its hash is {own}, the expected head is {known}"


def link_fault(document: StoredDocument, before: Link) -> str | None:
    """Why the record does not follow the one before, or None."""
    raw = document.raw
    if raw.seq <= before.seq:
        return f"its number does not follow {before.seq}"
    if not before.hashes or not document.own_hash:
        return None
    claimed = document.value.get("prev_hash")
    if isinstance(claimed, str) and claimed in before.hashes:
        return None
    place = f"record {before.seq}" if before.seq else "the start of the log"
    own = ", ".join(_short(known) for known in sorted(before.hashes))
    return f"it does not follow {place}: it names {_shown(claimed)}, there is {own}"


def _unread(raw: RawRecord, fault: str) -> StoredDocument:
    return StoredDocument(raw, {}, "", fault)


def is_digest(value: object) -> bool:
    """Whether a value is a SHA-256 as the log spells it."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _short(digest: str) -> str:
    return f"{digest[:12]}..."


def _shown(claim: object) -> str:
    """A claim that may be anything at all, safe to print."""
    if isinstance(claim, str) and is_digest(claim):
        return _short(claim)
    return "nothing" if claim is None else escape_name(str(claim)[:80])
