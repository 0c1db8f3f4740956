"""The record of a redaction: the last one of a copy, of what was taken out, by whom and why.

Rule 1: it names what was taken by digest, never the value that was searched for, nor its digest.
Rule 2: it is of no turn. It may follow the end of a log that goes on in another one.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field

from evals.envelope import ARRAY, OPTIONAL, Envelope, Identifier
from evals.json_value import SAFE_INTEGER
from evals.timestamps import Time
from harness.canonical import canonical_json
from harness.record.closed_words import seal_members
from harness.record.decision import drafted_versions
from harness.record.drafts import CanonicalLine, Digest, RecordDraft, one_line
from harness.record.index_row import index_row
from harness.wire import build


class _Redaction(Envelope):
    """The fields of a redaction."""

    taken: Annotated[tuple[Digest, ...], ARRAY, Field(min_length=1)]
    by: Identifier
    because: Annotated[str, AfterValidator(one_line)]
    redacted_at: Time


class RedactedRecord(Envelope):
    """A redaction in the log: the digests of what is not in it any more."""

    kind: Literal["redacted"]
    seq: Annotated[int, Field(ge=1, le=SAFE_INTEGER)]
    prev_hash: Digest
    taken: Annotated[tuple[Digest, ...], ARRAY, Field(min_length=1)]
    by: Identifier
    because: CanonicalLine
    redacted_at: Time
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    hash: Digest


class Redacted(NamedTuple):
    """What was taken out of a copy. `because` is escaped and cut unless it is a safe line."""

    taken: Sequence[str]
    by: str
    because: str
    redacted_at: datetime

    @property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the entry.

        Raises:
            InvalidInput: a field is not what it should be.
        """
        wire: dict[str, Any] = build(_Redaction, self._asdict()).wire() | {"kind": "redacted"}
        members = {name: canonical_json(one) for name, one in wire.items()} | drafted_versions()
        row = index_row(wire, None, None)
        return RecordDraft({}, members, seal_members(members, wire), row)
