"""A record in canonical bytes before it has a place in the chain. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Final, NamedTuple

from pydantic import Field

from evals.escaping import escape_name
from harness.record.index_row import IndexRow
from harness.wire import EnvelopeT, build

GENESIS: Final = "0" * 64
"""The `prev_hash` of record 1."""

_LONGEST_LINE: Final = 300
"""The number of characters up to which a line is kept as it is."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""A SHA-256 as 64 lower-case hexadecimal digits."""

# Escaping turns 200 characters into 2,000 at most, and says how many there were.
CanonicalLine = Annotated[str, Field(pattern="^[ -~]{1,2100}$")]
"""One line of printable ASCII."""

Claim = Annotated[str, Field(pattern="^[!-~][ -~]{0,999}$")]
"""What one record of a log may use up: one line of printable ASCII, at most 1,000 characters."""

HANDED_OVER: Final = "log handed over"
"""The claim of the last record of a log that goes on in another one."""

RESERVED_CLAIMS: Final = ("approval ", "begun ", HANDED_OVER)
"""How the claims start that follow from the kind of a record."""


class Parted(NamedTuple):
    """A document as it is stored: its body, with references, and the pieces by their digests.

    The bodies of the pieces may have references too, and more pieces than are named are fine.
    """

    body: bytes
    pieces: Mapping[str, bytes]
    size: int
    """The length of the whole document."""


class RecordDraft(NamedTuple):
    """A decision, or another entry, in canonical bytes, before it has a place in the chain.

    Everything slow is done here, so that a log is locked only to number and to hash.
    """

    bodies: Mapping[str, bytes | Parted]
    """The canonical bytes of the inputs, whole or in parts, by digest."""
    members: Mapping[str, bytes]
    """The canonical bytes of each member of the record except seq, prev_hash and hash."""
    sealed: Mapping[str, bytes]
    """The same members as they are hashed: see `harness.record.closed_words`."""
    row: IndexRow
    """What a log searches the record by, without its number."""
    claims: tuple[str, ...] = ()
    """What the record claims: no other record of a log may claim one of them."""


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def session_key(session: str) -> str:
    """Return what stands for the id of a session, which may be any text."""
    return sha256(session.encode("utf-8", "surrogatepass"))


def one_line(text: str) -> str:
    """Return `text` if it is safe to print, else escaped: no message costs us a record."""
    safe = text.isascii() and text.isprintable() and not set(text) & set("<>&\"'`")
    if safe and 0 < len(text) <= _LONGEST_LINE:
        return text
    return escape_name(text) or "no message"


def revalidate_envelope(envelope: EnvelopeT) -> EnvelopeT:
    """Return a checked copy. Frozen is shallow: args may have been changed in place."""
    return build(type(envelope), envelope.model_dump(exclude_none=True))


def approval_claim(approval_id: str, plan_digest: str) -> str:
    """Return the claim of an execution on an approval of its plan."""
    return f"approval {approval_id} {plan_digest}"


def begun_claim(own_hash: str) -> str:
    """Return the claim of a decision on the execution that it ends."""
    return f"begun {own_hash}"
