"""The members of a stored record, and the record without some of them. Pure."""

from collections.abc import Mapping

from evals.joined_json import join_object
from harness.canonical import canonical_json
from harness.record.closed_words import TEXT_MEMBER, WITH_TEXTS, close_record
from harness.record.parts import reference, split_body
from harness.wire import parse_json


def stored_members(body: bytes) -> dict[str, bytes]:
    """Return the members of a stored record: their bytes may have references to parts.

    Raises:
        InvalidInput: the body is not JSON with references.
    """
    name = "reference"
    while name.encode() in body:
        name += "_"
    stand_ins: dict[bytes, bytes] = {}
    pieces = []
    for literal, digest in split_body(body):
        pieces.append(literal)
        if digest is not None:
            stand_in = f'"{name}{digest}"'.encode()
            stand_ins[stand_in] = reference(digest)
            pieces.append(stand_in)
    members = {one: canonical_json(it) for one, it in parse_json(b"".join(pieces)).items()}
    for stand_in, place in stand_ins.items():
        members = {one: spelled.replace(stand_in, place) for one, spelled in members.items()}
    return members


def cut_members(body: bytes, digests: Mapping[str, str]) -> bytes:
    """Return a stored record with references in the places of members that are taken out.

    Args:
        body: the stored record.
        digests: those of the members, by name: see `harness.record.closed_words`.
    """
    members = stored_members(body)
    if TEXT_MEMBER in digests:
        told = {name: parse_json(members[name]) for name in WITH_TEXTS if name in members}
        closed, _ = close_record(told)
        members |= {name: canonical_json(value) for name, value in closed.items()}
    return join_object({**members, **{name: reference(one) for name, one in digests.items()}})
