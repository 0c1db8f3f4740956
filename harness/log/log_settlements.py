"""Executions that a person settled, and that a decision ends after all.

Rule 1: who has what the calls returned knows more than who settled it. So a decision that names the
        beginning of an execution ends the settlement, in the transaction that finds it.
Rule 2: a chain has no fork: of two decisions that end one settlement, the second is refused.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from harness.canonical import canonical_json
from harness.log.log_writing import Prepared
from harness.log.statements import records_numbered, stored_claims
from harness.log.store import Connection
from harness.record.drafts import begun_claim
from harness.record.integrity import read_text_of

_BEGUN: Final = "begun"


def end_settled(
    connection: Connection, entries: Sequence[Prepared], made: Mapping[str, int]
) -> tuple[Prepared, ...]:
    """Return entries, of which each that ends a settled execution names the settlement.

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
    settlement = _settlement_at(connection, made.get(claim))
    if settlement is None:
        return entry
    ended = {_BEGUN: canonical_json(settlement)}
    members, sealed = {**drafted.members, **ended}, {**drafted.sealed, **ended}
    claims = tuple(begun_claim(settlement) if one == claim else one for one in drafted.claims)
    return entry._replace(drafted=drafted._replace(members=members, sealed=sealed, claims=claims))


def _settlement_at(connection: Connection, seq: int | None) -> str | None:
    """Return the hash of a settlement under a number that nothing has ended; None without one."""
    for raw in records_numbered(connection, [] if seq is None else [seq]):
        is_ended = stored_claims(connection, [begun_claim(raw.hash)])
        if read_text_of(raw, checked=False).kind == "settled" and not is_ended:
            return raw.hash
    return None
