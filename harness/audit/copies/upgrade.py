"""Copy a log of an older format into the one that this version makes.

Rule 1: the copy has the same records, hashes, inputs and head, compared byte for byte, before it
        gets its name.
Rule 2: a log that is not as it was recorded is not copied: the copy would look sound.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Final, TypeVar

from harness.audit.copies.copying import new_log
from harness.errors import UsageError, escape_text
from harness.log.log_errors import LogDamaged
from harness.log.sql import SqlDecisionLog
from harness.log.store import KEEP_EVIDENCE
from harness.record import Head
from harness.replay.engine import replay
from harness.replay.result import ReplayResult

Watch = Callable[[Iterator[ReplayResult], int], Iterable[ReplayResult]]
"""Is given the answers of replay and the number of records, to show progress."""

_BATCH: Final = 200  # records, or inputs, in one transaction


_T = TypeVar("_T")


def upgrade_log(old: Path, new: Path, watch: Watch = lambda answers, _total: answers) -> Head:
    """Copy the log `old` to `new`, which must not exist, and return the head of both.

    `old` is not changed. What a process leaves that is killed is `new` with `.partial`.

    Raises:
        UsageError: `new` exists, or `old` is of the present format already.
        LogError: `old` cannot be read or is not as it was recorded, or `new` cannot be written.
    """
    with SqlDecisionLog.open_for_reading(old) as source:
        if source.is_current:
            raise UsageError(f"{_shown(old)} is of the present format already: use it as it is")
        with new_log(new) as target:
            _require_sound(old, source, watch)
            _copy(source, target)
            head = target.head()
            if head != source.head() or not _equal(source, target):
                raise LogDamaged(f"{_shown(new)}: the copy differs from {_shown(old)}: try again")
    return head


def _require_sound(path: Path, log: SqlDecisionLog, watch: Watch) -> None:
    if log.problems:
        raise LogDamaged(f"{_shown(path)}: {log.problems[0]}: {KEEP_EVIDENCE}")
    for answer in watch(replay(log, judge=False), log.head().seq):
        if not answer:
            raise LogDamaged(
                f"{_shown(path)}: record {answer.seq} is {answer.status}, so it is not copied: "
                "replay it to see what is wrong"
            )


def _copy(source: SqlDecisionLog, target: SqlDecisionLog) -> None:
    for bodies in _batches(source.bodies()):
        if source.keeps_parts:
            target.copy_stored(dict(bodies), {})
        else:
            target.copy((), dict(bodies))
    for records in _batches(source.raw()):
        target.copy(records)
    for claims in _batches(source.all_claims()):
        target.copy_stored({}, dict(claims))


def _batches(items: Iterator[_T]) -> Iterator[list[_T]]:
    while batch := list(islice(items, _BATCH)):
        yield batch


def _equal(source: SqlDecisionLog, target: SqlDecisionLog) -> bool:
    """Return whether the copy holds what the source does, and no other record or claim."""
    pairs: Iterator[tuple[object, object]]
    pairs = chain(
        zip_longest(source.raw(), target.raw()),
        zip_longest(source.all_claims(), target.all_claims()),
        ((source.input(digest), target.input(digest)) for digest, _ in source.bodies()),
    )
    return all(one is not None and one == other for one, other in pairs)


def _shown(path: Path) -> str:
    return escape_text(str(path)[-200:])
