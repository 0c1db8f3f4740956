"""Fill a new log from another one.

Rule 1: a log that is copied as it is keeps its numbers, hashes and links, so every checkpoint and
        proof of it holds for the copy.
Rule 2: a file gets its name when it is whole. A database has its rows one batch after the other: a
        copy that did not end is refused as a log with another head, and not gone on from.
Rule 3: what is appended while it is copied is not in the copy.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from harness.audit.copies.value_search import SoughtValues
from harness.errors import UsageError
from harness.log.log_errors import LogDamaged, LogFull
from harness.log.log_places import is_url
from harness.log.sql import SqlDecisionLog
from harness.log.statements import DIGESTS, head
from harness.log.store import KEEP_EVIDENCE
from harness.record import Head, RawRecord
from harness.replay.log_check import CheckedReplay
from harness.whole_files import new_file, show_path

_BATCH: Final = 200  # rows in one transaction
_SOUND: Final = frozenset({"same", "open", "redacted"})

_T = TypeVar("_T")


class LogExtent(NamedTuple):
    """The contents of a log when its copy began: its head, and the digests of inputs and parts."""

    head: Head
    digests: frozenset[str]


@contextmanager
def new_log(path: Path) -> Iterator[SqlDecisionLog]:
    """Yield a log to fill, which gets the name `path` at the end.

    Raises:
        UsageError: something has the name, or it cannot be that of a file.
        LogError: the log cannot be written. Nothing is left behind.
    """
    try:
        with new_file(path) as partial, SqlDecisionLog.open(partial) as log:
            yield log
    except LogFull:
        raise LogFull(
            f"{show_path(path)}: the disk is full and nothing was copied: free some "
            "space and run the command again"
        ) from None


def copy_log(log: SqlDecisionLog, place: str) -> Head:
    """Copy a log to a new file, or to an empty schema of a database. Return its head.

    Raises:
        UsageError: the file exists, or the database holds records.
        LogError: the log cannot be read or is not as it was recorded, or the copy cannot be
            written.
    """
    require_sound(log)
    if not is_url(place):
        with new_log(Path(place)) as target:
            return _copy_whole(log, target)
    with SqlDecisionLog.open(place) as target:
        if target.head().seq or next(iter(target.digests()), None) is not None:
            raise UsageError(f"{target.where}: it holds records: name an empty schema")
        return _copy_whole(log, target)


def _copy_whole(log: SqlDecisionLog, target: SqlDecisionLog) -> Head:
    upto = extent_of(log)
    bodies = (one for one in log.bodies() if one[0] in upto.digests)
    fill_log(log, target, upto.head, bodies, rows_up_to(upto.head.seq, log.stored_records()))
    copy_journals(log, target)
    if target.head() != upto.head:
        raise LogDamaged(f"{target.where}: the copy has another head: remove it, and try again")
    return upto.head


def copy_journals(
    log: SqlDecisionLog, target: SqlDecisionLog, without: SoughtValues | None = None
) -> int:
    """Copy the journals of open sessions, but for those that hold a value. Return how many do."""
    left_out = 0
    for session in log.journaled_sessions():
        rows = log.journal(session)
        if without is not None and any(without.hold_bytes(row.body) for row in rows):
            left_out += 1
            continue
        target.copy_journal(session, rows)
    return left_out


def require_sound(log: SqlDecisionLog) -> None:
    """Check that a log is as it was recorded: a copy of another one would look sound.

    Raises:
        LogDamaged: it is not.
    """
    checked = CheckedReplay(log, judge=False)
    for answer in checked.answers():
        if answer.status not in _SOUND:
            raise LogDamaged(
                f"record {answer.seq} is {answer.status}, so the log is not copied: replay it to "
                "see what is wrong"
            )
    for problem in checked.check().damage:
        raise LogDamaged(f"the log is damaged: {problem}: {KEEP_EVIDENCE}")


def extent_of(log: SqlDecisionLog) -> LogExtent:
    """Return what a log holds now."""
    with log.begin_reading() as connection:
        return LogExtent(
            head(connection), frozenset(str(one) for (one,) in connection.execute(DIGESTS.select))
        )


def fill_log(
    source: SqlDecisionLog,
    target: SqlDecisionLog,
    upto: Head,
    bodies: Iterable[tuple[str, bytes]],
    rows: Iterable[RawRecord],
) -> None:
    """Store bodies, records, and the claims that the source has for them, in a new log.

    Raises:
        LogError: they cannot be read or stored.
    """
    for some in batches(bodies):
        target.copy_stored(dict(some), {})
    for records in batches(rows):
        target.copy_rows(records, source.index(raw.seq for raw in records))
    for claims in batches(one for one in source.all_claims() if one[1] <= upto.seq):
        target.copy_stored({}, dict[str, int](claims))


def rows_up_to(last: int, rows: Iterable[RawRecord]) -> Iterator[RawRecord]:
    """Return rows as far as a number."""
    return takewhile(lambda raw: raw.seq <= last, rows)


def batches(items: Iterable[_T]) -> Iterator[list[_T]]:
    """Yield items, as many together as are written in one transaction."""
    left = iter(items)
    while batch := list(islice(left, _BATCH)):
        yield batch
