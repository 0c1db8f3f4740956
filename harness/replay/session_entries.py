"""The entry of one record in the session of a guard. Pure.

An entry is of its record alone, so it can be made in any order and any process: see
`harness.replay.session_reading`. What follows from the records before it is worked out by
`harness.replay.session_facts`.
"""

from typing import NamedTuple, TypeAlias

from evals.capability import ToolName
from evals.context import (
    ApprovedValue,
    OwnValue,
    SentValues,
    SessionFacts,
    Spent,
    WaivedCall,
)


class BatchCall(NamedTuple):
    """A call of a batch that may run. `spent` is its digest, if it is destructive."""

    tool: ToolName
    spent: str | None


class RulingEntry(NamedTuple):
    """A ruling on a batch: what was known then, and what it adds to that, if it may run.

    `evidence` are the digests of what was seen before it. Where it is `late`, each call adds what
    it adds when it is opened: the record of its end says so.
    """

    facts: SessionFacts
    spent: Spent | None
    evidence: tuple[str, ...]
    calls: tuple[BatchCall, ...]
    sent: tuple[SentValues, ...]
    verified: bool
    runs: bool
    late: bool = False


class BeginningEntry(NamedTuple):
    """An execution that began, under the hash of its record, and what an approval gave to it."""

    hash: str
    approved: tuple[ApprovedValue, ...]
    waived: tuple[WaivedCall, ...]


class EndEntry(NamedTuple):
    """A run that ended: the hash of its beginning, the status of each call, and what they made.

    A record does not say of which class a result is: `possible` holds what was made only if it is
    of a class that it does not contradict. `sent` is what calls sent that were made in the place of
    the allowed ones; `spent` are the digests of such calls that are destructive, and
    `possible_spent` of those that may be. Of a late batch they are those of all its calls, and
    `approved` and `waived` are what approvals of its openings gave.
    """

    begun: str | None
    statuses: tuple[tuple[int, str], ...]
    made: tuple[OwnValue, ...]
    possible: tuple[OwnValue, ...]
    sent: tuple[SentValues, ...] = ()
    spent: tuple[str, ...] = ()
    possible_spent: tuple[str, ...] = ()
    approved: tuple[ApprovedValue, ...] = ()
    waived: tuple[WaivedCall, ...] = ()


class LostEntry(NamedTuple):
    """A record whose inputs cannot be read: redacted, or missing. It may be of any turn."""

    is_redacted: bool


class TakenEntry(NamedTuple):
    """What a log begins with that goes on from another: keys of the sessions that were open."""

    sessions: frozenset[str]


class ClosedEntry(NamedTuple):
    """A session that was closed: only another life of it may follow.

    `turns` is how many there were. `spent` and `sent` are what that would carry; None where this
    was taken out.
    """

    turns: int
    spent: Spent | None
    sent: tuple[SentValues, ...] | None


class ReopenedEntry(NamedTuple):
    """Another life of a session that was closed, and what it carries; None if that cannot be read.

    It begins with `seen` items of evidence, and its turns count on.
    """

    turns: int
    seen: int
    spent: Spent | None
    sent: tuple[SentValues, ...]


Said: TypeAlias = (
    RulingEntry | BeginningEntry | EndEntry | LostEntry | TakenEntry | ClosedEntry | ReopenedEntry
)


class SessionEntry(NamedTuple):
    """The entry of one record in a session. `inputs` are the digests of what was judged."""

    trace: str
    turn: int
    inputs: tuple[str, ...]
    said: Said
