"""Check that a stored record is what was recorded: bytes, hash, number and link. Pure.

It works on plain JSON, not on envelopes, so that a record of any version can be checked.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name
from evals.joined_json import join_object
from harness.canonical import canonical_json
from harness.record import GENESIS, INPUT_NAMES, Head, RawRecord
from harness.record.chain import sealed_bytes
from harness.record.closed_words import SEALED, TEXT_MEMBER, seal_members, without_texts
from harness.record.drafts import HANDED_OVER, approval_claim, begun_claim, sha256
from harness.record.parts import Whole, split_body, whole_of
from harness.wire import InvalidInput, parse_json

_DIGEST: Final = re.compile("[0-9a-f]{64}")
_CLAIMING: Final = frozenset({"decision", "closed", "reopened", "taken_over"})
_MEMBER: Final = re.compile("[a-z_]+")  # names that are spelled as they are, in this order


class Link(NamedTuple):
    """The record that the next one has to follow.

    `hashes` holds the hash of a sound record. For an unsound record it holds every hash that the
    record claims or has: that record is reported itself, and its follower is not blamed for it.
    After missing records it is empty.
    """

    seq: int
    hashes: frozenset[str]
    decided_at: datetime | None = None
    is_end: bool = False
    """Whether the log continues in another log, so that nothing follows."""


START: Final = Link(0, frozenset({GENESIS}))


@dataclass(frozen=True)
class StoredDocument:
    """A stored record, parsed as far as it can be."""

    raw: RawRecord
    value: Mapping[str, Any]
    """The JSON object; empty if it cannot be read."""
    own_hash: str
    """The hash of its content; empty if it cannot be read."""
    error: str
    """Why the body cannot be read or is not canonical; empty for a sound body."""
    missing: tuple[str, ...] = ()
    """Digests of parts of it that are not stored."""
    redacted: tuple[str, ...] = ()
    """Digests of parts of it that were redacted: `value` has null in their places."""
    gone: Mapping[str, str] = field(default_factory=dict)
    """The members that were redacted as wholes, with their digests; or that are its texts."""
    closed: Mapping[str, Any] = field(default_factory=dict)
    """The JSON object as it is stored where its texts are gone; else empty."""

    @cached_property
    def report(self) -> bytes:
        """Return the canonical bytes of its report.

        Raises:
            KeyError: it has none.
            ValueError: it has no canonical form.
        """
        return canonical_json(self.value["report"])

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """Return the well-formed digests of the inputs, by name."""
        named = self.value.get("inputs")
        if not isinstance(named, dict):
            return {}
        return {name: named[name] for name in INPUT_NAMES if is_digest(named.get(name))}

    @cached_property
    def sealed(self) -> bytes:
        """Return the bytes that its hash is taken of.

        Raises:
            ValueError, TypeError, RecursionError: it has none.
        """
        return sealed_bytes(self.closed or self.value, self.gone)

    @property
    def is_readable(self) -> bool:
        """Return whether all of it is there but its texts, in whose places words stand."""
        return (
            bool(self.value)
            and not self.missing
            and {*self.redacted} <= {self.gone.get(TEXT_MEMBER)}
        )

    @property
    def kind(self) -> str:
        """Return the kind of the record; of a decision, which does not say it, "decision"."""
        return str(self.value.get("kind", "decision"))

    @property
    def is_end(self) -> bool:
        """Return whether the log continues in another log."""
        return self.kind == "handed_over"

    @property
    def begun(self) -> str:
        """Return the hash of the record whose execution this one ends, or an empty text."""
        begun = self.value.get("begun")
        return begun if isinstance(begun, str) and is_digest(begun) else ""

    @property
    def named(self) -> str:
        """Return the hash of the record that this one goes on from or ends, or an empty text."""
        closed = self.value.get("closed") if self.kind == "reopened" else ""
        return self.begun or (closed if isinstance(closed, str) and is_digest(closed) else "")

    @property
    def claims(self) -> tuple[str, ...]:
        """Return what the record claims, as far as it can be read."""
        approvals, claims = self.value.get("approvals"), self.value.get("claims")
        made = [begun_claim(self.begun)] if self.begun else []
        if self.kind == "begun" and isinstance(approvals, list):
            made += [_approval_claim(one) for one in approvals if isinstance(one, dict)]
        made += claims if isinstance(claims, list) and self.kind in _CLAIMING else []
        made += [HANDED_OVER] if self.kind == "handed_over" else []
        return tuple(one for one in made if isinstance(one, str))

    @property
    def hashes(self) -> frozenset[str]:
        """Return every hash that the record claims or has."""
        claims = (self.raw.hash, self.value.get("hash"), self.own_hash)
        return frozenset(str(claim) for claim in claims if is_digest(claim))


def read_text_of(
    raw: RawRecord, parts: Mapping[str, bytes] = MappingProxyType({}), *, checked: bool = True
) -> StoredDocument:
    """Put a stored record together and parse it as plain JSON. Never raises.

    Args:
        raw: the stored row.
        parts: stored bodies by digest: those that it names; more is fine.
        checked: whether to compare the bytes with their canonical form, and to hash them. Without,
            it is parsed as the canonical JSON that it should be, and there is no `own_hash`.
    """
    whole = whole_of(raw.body, parts)
    if whole.data is not None:
        return _parse_record(raw, whole.data, {}, checked=checked)
    if whole.broken:
        return _unread_document(raw, f"its body cannot be read: {whole.broken}")
    if whole.missing:
        return StoredDocument(raw, {}, "", "", missing=whole.missing, redacted=whole.redacted)
    gone = _members_gone(raw.body, whole)
    read = _parse_record(raw, whole.shown, gone, checked=checked)
    is_sealed = {*whole.redacted} == {*gone.values()}
    read = replace(read, redacted=whole.redacted, gone=gone)
    read = read if is_sealed else replace(read, own_hash="")
    if TEXT_MEMBER not in gone:
        return read
    return replace(read, value=without_texts(read.value), closed=read.value)


def _members_gone(body: bytes, whole: Whole) -> dict[str, str]:
    """Return the members of a record that were redacted as wholes, with their digests."""
    named = b"".join(
        literal if digest is None else b'%b"%b"' % (literal, digest.encode())
        for literal, digest in split_body(body)
    )
    try:
        told, shown = parse_json(named), parse_json(whole.shown)
    except InvalidInput:
        return {}
    if not isinstance(told, dict) or not isinstance(shown, dict):
        return {}
    return {
        name: told[name]
        for name in SEALED
        if told.get(name) in whole.redacted and shown.get(name, whole) is None
    }


def _parse_record(
    raw: RawRecord, data: bytes, gone: Mapping[str, str], *, checked: bool
) -> StoredDocument:
    try:
        value = parse_json(data) if checked else parse_json(data, len(data))
        if not isinstance(value, dict):
            return _no_object(raw)
        if not checked:
            return StoredDocument(raw, value, "", "")
        return _check_record(raw, value, data, gone)
    except InvalidInput as error:
        return _unread_document(raw, f"its body cannot be read: {error}")


def _check_record(
    raw: RawRecord, value: Mapping[str, Any], data: bytes, gone: Mapping[str, str]
) -> StoredDocument:
    try:
        spelled, own_hash = _spell_record(value, gone)
    except (ValueError, TypeError, RecursionError):
        return StoredDocument(raw, value, "", "its body has no canonical form")
    error = "" if spelled == data else "its body is not canonical JSON"
    return StoredDocument(raw, value, own_hash, error)


def _spell_record(value: Mapping[str, Any], gone: Mapping[str, str]) -> tuple[bytes, str]:
    """Return the canonical bytes of a record, and its hash."""
    if not all(map(_MEMBER.fullmatch, value)):
        return canonical_json(value), sha256(sealed_bytes(value, gone))
    members = {name: canonical_json(item) for name, item in value.items()}
    whole = join_object(members)
    members.pop("hash", None)
    return whole, sha256(join_object(seal_members(members, value, gone)))


def document_errors(document: StoredDocument, expected: Head | None) -> Iterator[str]:
    """Yield what is wrong with the record by itself, a line each."""
    raw = document.raw
    if document.error:
        yield document.error
    if document.own_hash:
        yield from _contradictions(document)
    # Of a record that cannot be hashed, such as a redacted one, the stored hash has to do.
    own_hash = document.own_hash or raw.hash
    if expected is not None and raw.seq == expected.seq and own_hash != expected.hash:
        own, head = _show_claim(own_hash), _short_digest(expected.hash)
        yield f"history was rewritten: its hash is {own}, the expected head is {head}"


def _contradictions(document: StoredDocument) -> Iterator[str]:
    """Yield how a record that can be hashed contradicts its number and its hash."""
    raw = document.raw
    if document.value.get("seq") != raw.seq:
        yield f"its body says that it is record {_show_claim(document.value.get('seq'))}"
    if document.value.get("hash") != document.own_hash:
        claimed = _show_claim(document.value.get("hash"))
        yield f"its content has hash {_short_digest(document.own_hash)}, but it claims {claimed}"
    if raw.hash != document.own_hash:
        stored = _show_claim(raw.hash)
        yield (
            f"its content has hash {_short_digest(document.own_hash)}, but is stored under {stored}"
        )


def link_error(document: StoredDocument, before: Link) -> str | None:
    """Return why the record does not follow the one before, or None if it does."""
    raw = document.raw
    if raw.seq <= before.seq:
        return f"its number does not follow {before.seq}"
    if before.is_end and document.kind != "redacted":
        return f"record {before.seq} handed the log over, and nothing may follow"
    if not before.hashes or not document.value:
        return None
    claimed = document.value.get("prev_hash")
    if isinstance(claimed, str) and claimed in before.hashes:
        return None
    place = f"record {before.seq}" if before.seq else "the start of the log"
    hashes = ", ".join(map(_short_digest, sorted(before.hashes)))
    return f"it does not follow {place}: it names {_show_claim(claimed)}, there is {hashes}"


def _no_object(raw: RawRecord) -> StoredDocument:
    return _unread_document(raw, "its body is not a JSON object")


def _unread_document(raw: RawRecord, error: str) -> StoredDocument:
    return StoredDocument(raw, {}, "", error)


def _approval_claim(approval: Mapping[str, Any]) -> str:
    return approval_claim(str(approval.get("approval_id")), str(approval.get("plan_digest")))


def is_digest(value: object) -> bool:
    """Return whether a value is a SHA-256 of 64 lower-case hexadecimal digits."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _short_digest(digest: str) -> str:
    return f"{digest[:12]}..."


def _show_claim(claim: object) -> str:
    """Return a claim of any type, safe to print."""
    if isinstance(claim, str) and is_digest(claim):
        return _short_digest(claim)
    return "nothing" if claim is None else escape_name(str(claim)[:80])
