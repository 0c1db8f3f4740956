"""Executions that a person settled or that came from another log, and that a decision ends.

Rule 1: who has what the calls returned knows more than who settled it, and names the beginning that
        it knows of. So the decision ends the record that stands for it now, in the transaction
        that finds it: the settlement, or the beginning as it was recorded again.
Rule 2: a chain has no fork: of two decisions that end one settlement, the second is refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from harness.canonical import canonical_json
from harness.log.log_writing import Prepared
from harness.log.statements import records_numbered, stored_claims
from harness.log.store import Connection
from harness.record import RawRecord
from harness.record.drafts import begun_claim
from harness.record.integrity import read_text_of

_BEGUN: Final = "begun"


_STANDING: Final = frozenset({"settled", "begun"})


def end_settled(
    connection: Connection, entries: Sequence[Prepared], made: Mapping[str, int]
) -> tuple[Prepared, ...]:
    """Return entries, of which each that ends an execution names the record that stands for it.

    Args:
        connection: of the transaction that appends them.
        entries: what is to be appended.
        made: the claims of entries that the log has, with the numbers of their records.
    """
    return tuple(_end_settled(connection, entry, made) for entry in entries)


def _end_settled(connection: Connection, entry: Prepared, made: Mapping[str, int]) -> Prepared:
    drafted = entry.drafted
    named = drafted.members.get(_BEGUN)
    if named is None or "kind" in drafted.members:
        return entry
    claim = begun_claim(named[1:-1].decode())
    standing = _standing_at(connection, made.get(claim))
    if standing is None:
        return entry
    ended = {_BEGUN: canonical_json(standing)}
    members, sealed = {**drafted.members, **ended}, {**drafted.sealed, **ended}
    claims = tuple(begun_claim(standing) if one == claim else one for one in drafted.claims)
    return entry._replace(drafted=drafted._replace(members=members, sealed=sealed, claims=claims))


def settled_among(connection: Connection, hashes: Iterable[str]) -> frozenset[str]:
    """Return those of some beginnings that a person settled, and that nothing has ended since."""
    found = set[str]()
    for own in hashes:
        last = _last_of(connection, stored_claims(connection, [begun_claim(own)]).values())
        if last is not None and _kind(last) == "settled":
            found.add(own)
    return frozenset(found)


def _standing_at(connection: Connection, seq: int | None) -> str | None:
    """Return the hash of the record that stands for an execution; None where that has ended.

    `seq` is the number of the record that claims its beginning.
    """
    last = _last_of(connection, [] if seq is None else [seq])
    return last.hash if last is not None and _kind(last) in _STANDING else None


def _last_of(connection: Connection, numbers: Iterable[int]) -> RawRecord | None:
    """Return the last record of a chain of claims that begins with a number."""
    last: RawRecord | None = None
    while found := records_numbered(connection, numbers):
        last = found[0]
        numbers = stored_claims(connection, [begun_claim(last.hash)]).values()
    return last


def _kind(raw: RawRecord) -> str:
    return read_text_of(raw, checked=False).kind
