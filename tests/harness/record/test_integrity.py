"""What is read of a stored record: its canonical bytes, whatever way they are found."""

import json
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.canonical import canonical_json
from harness.record import GENESIS, HandedOver, Head, RawRecord, record_hash, seal_record
from harness.record.closed_words import SEALED, TEXT_MEMBER, close_record
from harness.record.drafts import sha256
from harness.record.integrity import (
    Link,
    document_errors,
    is_digest,
    link_error,
    read_text_of,
)
from harness.record.parts import reference
from harness.record.record_kinds import claims_of, record_model
from harness.record.redactions import Redacted
from harness.wire import build, parse_json
from tests.harness.log.decisions import KINDS, NOON, decision
from tests.harness.record.every_kind import EVERY_ENTRY

TEXTS = st.text(max_size=6) | st.sampled_from(["a:1.5", "[2e3", ",0.1", "\uffee", "\U0001f600"])
EXACT = 2**53 - 1  # a canonical float above it may be spelled as an integer that JSON does not hold
FLOATS = st.floats(-EXACT, EXACT) | st.sampled_from([1e21, -1e300, 1.5e22])
NUMBERS = st.integers(-EXACT, EXACT) | FLOATS
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["hash", "report", "run", "seq"])
RECORDS = st.dictionaries(NAMES, VALUES, min_size=1) | st.dictionaries(NAMES | TEXTS, VALUES)
UNLIKE = {"run": {"\uffee": 1, "\U0001f600": 2}}  # sorted by bytes unlike by UTF-16
SORTED: Any = {"spaces": (",", ":"), "escaped": False, "canonical": True}
SPACES = st.sampled_from([(",", ":"), (", ", ": "), (",\n", ":\t")])


@example(value=UNLIKE, spaces=(",", ":"), escaped=True, canonical=False)
@example(value=UNLIKE, spaces=(",", ":"), escaped=False, canonical=True)
@example(value={"hash": "a", "run": {"hash": "a", "seq": 1}, "seq": 1}, **SORTED)
@example(value={"hash": "a", "run": {"hash": "a"}}, **SORTED)
@example(value={"a": {"hash": "a", "seq": 1}, "hash": "a"}, **SORTED)
@example(value={"a": '"hash":null,', "seq": 1}, **SORTED)
@given(value=RECORDS, spaces=SPACES, escaped=st.booleans(), canonical=st.booleans())
def test_the_bytes_of_a_record_are_compared_with_its_canonical_form(
    value: dict[str, Any], spaces: tuple[str, str], escaped: bool, canonical: bool
) -> None:
    written = json.dumps(value, ensure_ascii=escaped, separators=spaces).encode()
    data = canonical_json(value) if canonical else written
    read, document = parse_json(data), read_text_of(RawRecord(1, "", data))
    assert document.own_hash == record_hash(read)
    assert bool(document.error) == (data != canonical_json(read))
    if "report" in read:
        assert document.report == canonical_json(read["report"])


OTHER = "f" * 64
BEFORE = Head(6, "a" * 64)


def stored(entry: Any, before: Head = BEFORE) -> RawRecord:
    return RawRecord(*seal_record(entry.snapshot, before))


def told(raw: RawRecord, expected: Head | None = None) -> list[str]:
    return [*document_errors(read_text_of(raw), expected)]


@pytest.mark.parametrize("entry", EVERY_ENTRY.values(), ids=EVERY_ENTRY)
def test_a_record_of_any_kind_claims_what_its_envelope_says_and_was_drafted(entry: Any) -> None:
    raw = stored(entry)
    document, value = read_text_of(raw), parse_json(raw.body)
    record = build(record_model(value), value)
    assert document.claims == claims_of(record) == entry.snapshot.claims


@pytest.mark.parametrize("entry", EVERY_ENTRY.values(), ids=EVERY_ENTRY)
def test_each_of_number_and_hashes_alone_makes_a_record_of_any_kind_unsound(entry: Any) -> None:
    raw = stored(entry)
    assert told(raw) == []
    assert told(raw._replace(seq=raw.seq + 1)) != []
    for other in (OTHER, raw.hash.upper(), raw.hash[:-1], "", GENESIS):
        assert told(raw._replace(hash=other)) != [], other
    value = parse_json(raw.body)
    claimed = canonical_json({**value, "hash": OTHER})
    assert told(RawRecord(raw.seq, OTHER, claimed)) != []
    assert told(RawRecord(raw.seq, raw.hash, claimed)) != []


@pytest.mark.parametrize("entry", EVERY_ENTRY.values(), ids=EVERY_ENTRY)
def test_a_head_is_compared_with_the_record_of_its_number_whatever_can_be_read(entry: Any) -> None:
    raw = stored(entry)
    for body in (raw.body, b"", b"[]", b'{"a":' + reference(OTHER) + b"}"):
        other = raw._replace(body=body)
        errors = [one for one in told(other, Head(raw.seq, OTHER)) if "rewritten" in one]
        assert len(errors) == 1
        for head in (Head(raw.seq, raw.hash), Head(raw.seq + 1, OTHER), None):
            assert not [one for one in told(other, head) if "rewritten" in one]


@pytest.mark.parametrize("entry", EVERY_ENTRY.values(), ids=EVERY_ENTRY)
def test_nothing_but_a_redaction_follows_the_end_of_a_log(entry: Any) -> None:
    end = stored(HandedOver(NOON), Head(5, OTHER))
    document = read_text_of(stored(entry, Head(end.seq, end.hash)))
    link = Link(end.seq, frozenset({end.hash}), None, read_text_of(end).is_end)
    assert link.is_end
    assert (link_error(document, link) is None) == isinstance(entry, Redacted)
    assert link_error(document, link._replace(is_end=False)) is None


def redacted(document: dict[str, Any], members: tuple[str, ...]) -> RawRecord:
    """Return a record without some of its members, in the way in which a redaction takes them."""
    closed, texts = close_record(document)
    value = {**document}
    pieces: dict[str, bytes] = {}
    if TEXT_MEMBER in members:
        value |= {**closed, TEXT_MEMBER: None}
        pieces[TEXT_MEMBER] = reference(sha256(canonical_json(texts)))
    for name in {*members} - {TEXT_MEMBER}:
        pieces[name] = reference(sha256(canonical_json(document[name])))
        value[name] = None
    body = canonical_json(value)
    for name, piece in pieces.items():
        body = body.replace(b'"%b":null' % name.encode(), b'"%b":%b' % (name.encode(), piece))
    return RawRecord(document["seq"], document["hash"], body)


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_record_that_lacks_its_texts_alone_can_be_read_as_one(kind: str) -> None:
    document: dict[str, Any] = parse_json(stored(decision(kind=kind)).body)
    there = [name for name in SEALED if name in document or name == TEXT_MEMBER]
    for count in range(len(there) + 1):
        for members in combinations(there, count):
            raw = redacted(document, members)
            gone = {piece: reference(piece) for piece in _references(raw.body)}
            read = read_text_of(raw, gone)
            assert {*read.gone} == {*members}
            assert read.is_readable == ({*members} <= {TEXT_MEMBER}), members
            assert read.own_hash == document["hash"]


def _references(body: bytes) -> list[str]:
    return [body[at + 1 : at + 33].hex() for at in range(len(body)) if body[at : at + 1] == b"\0"]


NO_DIGESTS: tuple[object, ...] = (
    *("", OTHER[1:], f"{OTHER}0", f"{OTHER}\n", f" {OTHER[1:]}", OTHER.upper(), f"{OTHER[1:]}g"),
    *(f"sha256:{OTHER}", f"\uff10{OTHER[1:]}", OTHER.encode(), None, True, 1, [OTHER], {}),
)
"""What is nearly a SHA-256, or nothing of the kind."""


def test_only_64_hexadecimal_digits_name_a_record_or_an_input() -> None:
    value = {"begun": OTHER, "closed": OTHER, "kind": "reopened", "hash": OTHER}
    assert is_digest(OTHER)
    for other in NO_DIGESTS:
        assert not is_digest(other), other
        read = read_text_of(RawRecord(1, OTHER, b"{}"))
        ending = replace(read, value={"begun": other, "inputs": {"ctx": other, "plan": OTHER}})
        assert (ending.begun, ending.named, ending.claims) == ("", "", ()), other
        assert ending.digests == {"plan": OTHER}, other
        assert replace(read, value={**value, "begun": "", "closed": other}).named == "", other
        assert replace(read, value={"hash": other}, own_hash="").hashes == {OTHER}, other
