"""The journals of sessions that are open, beside their records: what goes on in another process.

Rule 1: a step has its number in its session: of two processes that go on from one, one is refused.
Rule 2: a step and the records that it caused are one transaction, so neither is there alone.
Rule 3: rows go only with a step that says all that they said, or with the end of the session.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from harness.errors import HarnessError
from harness.log.store import Connection
from harness.log.tables import JOURNAL

_COLUMNS: Final = "number, seq, begun, CAST(body AS BLOB)"
_AFTER: Final = (
    f"SELECT {_COLUMNS} FROM {JOURNAL} WHERE session = :session AND number > :after "  # noqa: S608 - our own words
    "ORDER BY number"
)
_LAST: Final = f"SELECT max(number) FROM {JOURNAL} WHERE session = :session"  # noqa: S608 - as above
_INSERT: Final = (
    f"INSERT INTO {JOURNAL} (session, number, seq, begun, body) "  # noqa: S608 - as above
    "VALUES (:session, :number, :seq, :begun, :body)"
)
_DELETE: Final = f"DELETE FROM {JOURNAL} WHERE session = :session AND number < :before"  # noqa: S608 - as above
_SESSIONS: Final = (
    f"SELECT DISTINCT session FROM {JOURNAL} WHERE session > :after ORDER BY session LIMIT :most"  # noqa: S608 - as above
)
_NO_NUMBER: Final = 2**53


class JournalMoved(HarnessError):
    """Another process went on with the session since this one looked. Nothing was recorded."""

    def __init__(self) -> None:
        super().__init__("another process went on with this session: read what it did")


class JournalRow(NamedTuple):
    """A step of a session as it is stored.

    Attributes:
        number: its place in the session, from 1.
        seq: the number of the last record of the session then, if it had one.
        begun: the hash of the record that an execution began in this step, if one did.
        body: what happened, or all that is known of the session.
    """

    number: int
    seq: int | None
    begun: str | None
    body: bytes


class JournalStep(NamedTuple):
    """A step of a session that is to be appended.

    Attributes:
        session: what stands for the id of the session: `session_key`.
        number: its place in the session, from 1.
        body: what happened, or all that is known of the session.
        seq: the number of the last record of the session before it.
        is_whole: the body says all that is known: the rows before it go.
        is_end: the session has ended: all its rows go.
        is_reopening: it has ended, and goes on: the number follows that of the end. The record of
            the step claims it, so that it is made once.
    """

    session: str
    number: int
    body: bytes
    seq: int | None = None
    is_whole: bool = False
    is_end: bool = False
    is_reopening: bool = False

    def to_row(self, decided: Sequence[int], begun: Sequence[str]) -> JournalRow:
        """Return the row of the step that caused these decisions, and these beginnings."""
        seq = decided[-1] if decided else self.seq
        return JournalRow(self.number, seq, begun[-1] if begun else None, self.body)


def journal_rows(connection: Connection, session: str, after: int = 0) -> list[JournalRow]:
    """Return the rows of a session after one, in their order."""
    found = connection.execute(_AFTER, {"session": session, "after": after})
    return [
        JournalRow(number, seq, begun, bytes(body or b"")) for number, seq, begun, body in found
    ]


def journaled_sessions(connection: Connection, after: str, most: int) -> list[str]:
    """Return what stands for the ids of sessions that have a journal, in order."""
    given = {"after": after, "most": most}
    return [str(session) for (session,) in connection.execute(_SESSIONS, given)]


def last_number(connection: Connection, session: str) -> int:
    """Return the number of the last step of a session; 0 if it has none."""
    ((number,),) = connection.execute(_LAST, {"session": session})
    return 0 if number is None else int(number)


def write_steps(connection: Connection, steps: Iterable[tuple[JournalStep, JournalRow]]) -> bool:
    """Write steps in their order. Return whether the journals hold exactly that now."""
    written = [_write_step(connection, step, row) for step, row in steps]
    return all(written)


def _write_step(connection: Connection, step: JournalStep, row: JournalRow) -> bool:
    session = step.session
    if step.is_end:
        connection.execute(_DELETE, {"session": session, "before": _NO_NUMBER})
        return last_number(connection, session) == 0
    connection.execute(_INSERT, {"session": session, **row._asdict()})
    if step.is_whole:
        connection.execute(_DELETE, {"session": session, "before": row.number})
    return journal_rows(connection, session, row.number - 1) == [row]
