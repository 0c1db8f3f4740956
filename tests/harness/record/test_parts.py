"""Parts: what is put together again is what was taken apart, and nothing else is believed."""

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.canonical import canonical_json
from harness.record.drafts import Parted, sha256
from harness.record.parts import (
    is_redacted,
    part_document,
    reference,
    references,
    whole_of,
)
from tests.support.json_values import keys, numbers

LONG = "x" * 600
TEXTS = st.text(max_size=30) | st.sampled_from(["\x00", "\\u0000", LONG, LONG + "\x00"])
KEYS = keys | st.sampled_from(["tool_manifest", "evidence_manifest", "content"])
SMALL = st.recursive(
    numbers | TEXTS | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
MANY = st.builds(lambda few, times: few * times, st.lists(SMALL, max_size=3), st.integers(1, 60))
JSON = st.dictionaries(KEYS, SMALL | MANY, max_size=4) | MANY | SMALL


def together(document: Parted, **more: bytes) -> bytes | None:
    return whole_of(document.body, {**document.pieces, **more}).data


def tools(count: int) -> list[dict[str, Any]]:
    return [{"adapter_id": "a", "capability_id": f"c_{n}", "text": "y" * 50} for n in range(count)]


@given(JSON, st.sampled_from([64, 512, 2000]))
def test_what_is_put_together_is_what_was_taken_apart(value: Any, large: int) -> None:
    document = canonical_json(value)
    apart = part_document(document, large)
    assert together(apart) == document
    # And so is each piece on its own, under the digest of its bytes.
    for digest, body in apart.pieces.items():
        piece = whole_of(body, apart.pieces).data
        assert piece is not None
        assert sha256(piece) == digest
        assert piece in document


@given(JSON, st.sampled_from([512, 2000]))
def test_no_large_subtree_is_left_in_a_body(value: Any, large: int) -> None:
    apart = part_document(canonical_json({"value": value}), large)
    for body in (apart.body, *apart.pieces.values()):
        for digest in references(body):
            body = body.replace(reference(digest), b'""')  # noqa: PLW2901 - one after the other
        for member in _members(orjson.loads(b"[" + body + b"]")):
            assert len(canonical_json(member)) <= large


def _members(elements: list[Any]) -> list[Any]:
    """Return the members of the objects that a body holds at its top."""
    return [value for each in elements if isinstance(each, dict) for value in each.values()]


def test_a_small_document_is_one_body() -> None:
    document = canonical_json({"tool_manifest": tools(3)})
    assert part_document(document) == Parted(document, {}, len(document))


def test_every_entry_of_a_manifest_is_a_piece_of_its_own() -> None:
    entries = tools(20)
    apart = part_document(canonical_json({"manifests": {"tool_manifest": entries}}))
    assert {sha256(canonical_json(entry)) for entry in entries} <= apart.pieces.keys()


def test_equal_subtrees_are_one_piece() -> None:
    output = {"text": LONG}
    one = part_document(canonical_json({"content": output, "id": 1}))
    other = part_document(canonical_json({"calls": [{"output": output}]}))
    assert one.pieces == other.pieces == {sha256(f'"{LONG}"'.encode()): f'"{LONG}"'.encode()}


@pytest.mark.parametrize("count", [33, 64, 100, 1000])
def test_an_array_that_grows_stores_only_its_last_group_again(count: int) -> None:
    before = part_document(canonical_json({"evidence_manifest": tools(count)}))
    after = part_document(canonical_json({"evidence_manifest": tools(count + 1)}))
    new = after.pieces.keys() - before.pieces.keys()
    # The entry, the array, and a group that is now whole.
    assert len(new) <= 3
    assert sum(len(after.pieces[digest]) for digest in new) + len(after.body) < 33 * 66 + count * 2


def test_a_piece_that_is_not_stored_is_named() -> None:
    apart = part_document(canonical_json({"a": LONG, "b": LONG[1:]}))
    read = whole_of(apart.body, {})
    assert read.data is None
    assert set(read.missing) == set(apart.pieces)


def test_a_piece_that_was_redacted_is_named() -> None:
    apart = part_document(canonical_json({"a": LONG}))
    (digest,) = apart.pieces
    read = whole_of(apart.body, {digest: reference(digest)})
    assert (read.data, read.redacted, read.missing, read.broken) == (None, (digest,), (), "")
    assert is_redacted(digest, reference(digest))
    assert not is_redacted(digest, reference("0" * 64))


@pytest.mark.parametrize(
    "body",
    [
        *(b'{"a":' + reference("1" * 64)[:length] for length in (1, 2, 32)),
        b'{"a":"' + reference("1" * 64) + b'"}',
        b"[1" + reference("1" * 64) + b"]",
        b"[" + reference("1" * 64) + b"1]",
        reference("1" * 64) * 2,
    ],
)
def test_a_reference_that_is_cut_short_or_out_of_place_is_broken(body: bytes) -> None:
    assert whole_of(body, {}).broken == "a reference is not in the place of a value"
    assert list(references(body)) == []


def test_pieces_that_hold_each_other_end() -> None:
    one, other = "1" * 64, "2" * 64
    stored = {one: reference(other), other: reference(one)}
    assert whole_of(reference(one), stored, 10_000).broken == "it has too many references"


def test_pieces_that_multiply_are_not_put_together() -> None:
    digests = [f"{n:064x}" for n in range(40)]
    stored = {digest: b",".join([reference(inner)] * 2) for digest, inner in pairwise(digests)}
    stored[digests[-1]] = b"x" * 1000
    read = whole_of(reference(digests[0]), stored, 1_000_000)
    assert read.data is None
    assert read.broken in (
        "with its parts it is over the limit of a document",
        "it has too many references",
    )


def test_a_document_that_is_not_canonical_is_kept_as_it_is() -> None:
    document = orjson.dumps({"b": [1.0] * 300, "a": LONG}, option=orjson.OPT_INDENT_2)
    assert part_document(document) == Parted(document, {}, len(document))
