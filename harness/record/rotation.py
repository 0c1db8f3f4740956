"""The records at the seams: where a session was closed, and where a log goes on in another one.

Rule 1: a log ends once. After its `handed_over` nothing is recorded.
Rule 2: a log that goes on from another begins with `taken_over`: the head of the other, what was
        claimed there for ever, and the sessions that were open. So nothing is used again, and the
        other log is not needed.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice, zip_longest
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field

from evals.envelope import ARRAY, OPTIONAL, Envelope, Identifier
from evals.json_value import SAFE_INTEGER
from evals.timestamps import Time
from harness.canonical import canonical_json
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


class _Close(Envelope):
    trace_id: Identifier
    closed_at: Time
    claims: Annotated[tuple[Claim, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None


class _Ending(Envelope):
    handed_at: Time


class _Beginning(Envelope):
    old: OldHead
    of: _Number
    claims: Annotated[tuple[Claim, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    sessions: Annotated[tuple[Digest, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    taken_at: Time


class SessionClosedRecord(Envelope):
    """The end of a session that was closed: none of its records follows."""

    kind: Literal["closed"]
    seq: _Number
    prev_hash: Digest
    trace_id: Identifier
    closed_at: Time
    claims: Annotated[tuple[Claim, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
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
    """A session was closed, and did not only stop."""

    trace_id: str
    closed_at: datetime
    claims: tuple[str, ...] = ()

    @property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the entry."""
        given = {name: value for name, value in self._asdict().items() if value}
        return _draft("closed", build(_Close, given).wire(), self.claims)


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
    return RecordDraft({}, members, members, index_row(wire, None, None), claims)


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
