"""What a log object knows of its log: what it acknowledged last, and what it sent in doubt.

Rule 1: the log still holds the last record that was acknowledged. One that does not was cut, put
        back or exchanged, and nothing is appended to it.
Rule 2: records whose commit failed are looked for before anything is appended: the log holds all
        of them, or none. Whoever looks is alone in the log, so no commit is still under way.
Rule 3: what other writers append is not in the way: they may share the log.
"""

from collections.abc import Sequence
from typing import Final

from harness.log.log_errors import LogDamaged
from harness.log.statements import HASHES, head, rows_with
from harness.log.store import KEEP_EVIDENCE, Connection
from harness.record import Head, RawRecord


class LogStanding:
    """Where a log object stands. A write asks it before it appends, and tells it how that ended.

    `last` is the head as the log was opened, and then the last record that was acknowledged.
    """

    def __init__(self, where: str, last: Head) -> None:
        """Begin with the head of the log as it was opened."""
        self._where: Final = where
        self.last = last
        self._doubted: tuple[Head, ...] = ()

    @property
    def is_doubted(self) -> bool:
        """Return whether a commit failed, so that nobody knows yet what the log holds."""
        return bool(self._doubted)

    def acknowledge(self, sent: Sequence[RawRecord]) -> None:
        """Note that a commit has returned that held these records."""
        if sent:
            self.last = Head(sent[-1].seq, sent[-1].hash)

    def doubt(self, sent: Sequence[RawRecord]) -> None:
        """Note that the commit of these records failed."""
        self._doubted = tuple(Head(raw.seq, raw.hash) for raw in sent)

    def settle(self, connection: Connection) -> Head:
        """Return the head of the log, after a look at whether it holds what it has to.

        Raises:
            LogDamaged: it does not.
        """
        if self._doubted:
            self._settle_doubt(connection)
        found = head(connection)
        if found != self.last and not _holds(connection, [self.last]):
            raise LogDamaged(
                f"{self._where}: cannot append: it does not hold record {self.last.seq} as it was "
                f"acknowledged, so it was cut, put back or exchanged: {KEEP_EVIDENCE}"
            )
        return found

    def _settle_doubt(self, connection: Connection) -> None:
        doubted = self._doubted
        if _holds(connection, doubted[-1:]):
            if not _holds(connection, doubted):
                raise LogDamaged(
                    f"{self._where}: cannot append: it holds a part of what was committed as a "
                    f"whole, up to record {doubted[-1].seq}: {KEEP_EVIDENCE}"
                )
            self.last = doubted[-1]
        self._doubted = ()


def _holds(connection: Connection, heads: Sequence[Head]) -> bool:
    """Return whether the log holds records of these numbers with these hashes."""
    rows = rows_with(connection, HASHES.select, HASHES.by, [one.seq for one in heads if one.seq])
    return {Head(int(seq), str(own)) for seq, own in rows} >= {one for one in heads if one.seq}
