"""The records at the seams: where a session was closed or goes on, and a log goes on in another.

Rule 1: a log ends once. After its `handed_over` nothing is recorded.
Rule 2: a log that goes on from another begins with `taken_over`: the head of the other, what was
        claimed there for ever, and the sessions that were open. So nothing is used again, and the
        other log is not needed.
Rule 3: a session that was closed says what another life of its id would carry. It is sealed like a
        run, so that it can be taken out: then there is no other life.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice, zip_longest
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field

from evals.context import SentValues, Spent
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.json_value import SAFE_INTEGER, Text
from evals.timestamps import Time
from harness.canonical import canonical_json
from harness.record.closed_words import seal_members
from harness.record.decision import drafted_versions
from harness.record.drafts import HANDED_OVER, Claim, Digest, RecordDraft
from harness.record.index_row import index_row
from harness.wire import build

_TOGETHER: Final = 10_000  # claims or sessions of a record: about a megabyte
_Number = Annotated[int, Field(ge=1, le=SAFE_INTEGER)]


class OldHead(Envelope):
    """The last record of the log before: its number and its hash."""

    seq: _Number
    hash: Digest


class CarriedSession(Envelope):
    """What a session carries into another life of its id: what binds it, and no authority.

    `denied` are the tools and targets that a person said no to, as canonical JSON; `asked` counts
    the questions since the last yes.
    """

    policy_digest: Identifier
    spent: Spent
    sent: Annotated[tuple[SentValues, ...] | None, OPTIONAL, ARRAY] = None
    asked: Count
    denied: Annotated[tuple[Text, ...] | None, OPTIONAL, ARRAY] = None
    has_halted: bool


class _Close(Envelope):
    trace_id: Identifier
    turns: Count
    carried: CarriedSession
    closed_at: Time
    claims: Annotated[tuple[Claim, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None


class _Reopening(Envelope):
    trace_id: Identifier
    closed: Digest
    turns: Count
    seen: Count
    reopened_at: Time
    claims: Annotated[tuple[Claim, ...], ARRAY, Field(min_length=1)]


class _Ending(Envelope):
    handed_at: Time


class _Beginning(Envelope):
    old: OldHead
    of: _Number
    claims: Annotated[tuple[Claim, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    sessions: Annotated[tuple[Digest, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    taken_at: Time


class SessionClosedRecord(Envelope):
    """The end of a session that was closed after so many turns.

    None of its records follows, unless it is opened again: with what it `carried`, which is absent
    where it was taken out.
    """

    kind: Literal["closed"]
    seq: _Number
    prev_hash: Digest
    trace_id: Identifier
    turns: Count
    carried: Annotated[CarriedSession | None, OPTIONAL] = None
    closed_at: Time
    claims: Annotated[tuple[Claim, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    hash: Digest


class SessionReopenedRecord(Envelope):
    """Another life of a session, which goes on from the record with the hash `closed`.

    Its turns count on from `turns`. It begins with `seen` items of evidence.
    """

    kind: Literal["reopened"]
    seq: _Number
    prev_hash: Digest
    trace_id: Identifier
    closed: Digest
    turns: Count
    seen: Count
    reopened_at: Time
    claims: Annotated[tuple[Claim, ...], ARRAY, Field(min_length=1)]
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    hash: Digest


class HandedOverRecord(Envelope):
    """The end of a log, which goes on in another one."""

    kind: Literal["handed_over"]
    seq: _Number
    prev_hash: Digest
    handed_at: Time
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    hash: Digest


class TakenOverRecord(Envelope):
    """The beginning of a log that goes on from another one: the first `of` records.

    `claims` are those of the other log that nobody may make again. `sessions` stand for the ids of
    those that were open.
    """

    kind: Literal["taken_over"]
    seq: _Number
    prev_hash: Digest
    old: OldHead
    of: _Number
    claims: Annotated[tuple[Claim, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    sessions: Annotated[tuple[Digest, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    taken_at: Time
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    hash: Digest


class SessionClosed(NamedTuple):
    """A session was closed after so many turns, and did not only stop."""

    trace_id: str
    turns: int
    carried: CarriedSession
    closed_at: datetime
    claims: tuple[str, ...] = ()

    @property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the entry."""
        given = {name: one for name, one in self._asdict().items() if one or name == "turns"}
        return _draft("closed", build(_Close, given).wire(), self.claims)


class SessionReopened(NamedTuple):
    """A closed session was reopened: see `SessionReopenedRecord`."""

    trace_id: str
    closed: str
    turns: int
    seen: int
    reopened_at: datetime
    claims: tuple[str, ...]

    @property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the entry."""
        return _draft("reopened", build(_Reopening, self._asdict()).wire(), self.claims)


class HandedOver(NamedTuple):
    """A log ends here, and goes on in another."""

    handed_at: datetime

    @property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the entry."""
        wire = build(_Ending, self._asdict()).wire()
        return _draft("handed_over", wire, (HANDED_OVER,))


class TakenOver(NamedTuple):
    """A log goes on here from another: see `TakenOverRecord`."""

    old: OldHead
    of: int
    claims: Sequence[str]
    sessions: Sequence[str]
    taken_at: datetime

    @property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the entry."""
        given = {name: value for name, value in self._asdict().items() if value}
        return _draft("taken_over", build(_Beginning, given).wire(), tuple(self.claims))


def _draft(kind: str, wire: dict[str, Any], claims: tuple[str, ...]) -> RecordDraft:
    wire = {**wire, "kind": kind}
    members = {name: canonical_json(value) for name, value in wire.items()} | drafted_versions()
    row = index_row(wire, None, None)
    return RecordDraft({}, members, seal_members(members, wire), row, claims)


def taken_over(
    old: OldHead, claims: Iterable[str], sessions: Iterable[str], taken_at: datetime
) -> list[TakenOver]:
    """Return the entries that a log begins with: each has so many claims and sessions at most."""
    parts = [*zip_longest(_parts(claims), _parts(sessions), fillvalue=())] or [((), ())]
    return [TakenOver(old, len(parts), *part, taken_at) for part in parts]


def _parts(items: Iterable[str]) -> Iterator[tuple[str, ...]]:
    left = iter(items)
    while part := tuple(islice(left, _TOGETHER)):
        yield part
