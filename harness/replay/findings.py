"""Look for something in every record of a log, beside what replay says of the record. Pure.

Rule 1: what is looked for follows from one record, so that any process can find it.
Rule 2: the answers are those of replay, and whoever takes a finding is given the answer with it:
        what is found in a record that was damaged is not to be believed.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, NamedTuple, TypeVar

from harness.record import Gap
from harness.record.integrity import START
from harness.replay.document_reading import RecordedLog
from harness.replay.engine import Replayer
from harness.replay.recheck import Rechecked, RecordedInputs
from harness.replay.result import ReplayResult, ReplayStatus
from harness.replay.session_facts import SessionHistory, complete_answer
from harness.replay.stretches import AnsweredStretch, find_in

_T = TypeVar("_T")

DAMAGE: Final[frozenset[ReplayStatus]] = frozenset({"tampered", "incomplete"})
"""The answers that say that a log is damaged."""


class RecordFinding(NamedTuple, Generic[_T]):
    """What replay says of a record, and what was found in it; or the records that are missing."""

    answer: ReplayResult
    found: _T | Gap

    @property
    def is_damaged(self) -> bool:
        """Return whether the record was altered, or is missing in whole or in part."""
        return self.answer.status in DAMAGE


def findings(log: RecordedLog, find: Callable[[RecordedInputs], _T]) -> Iterator[RecordFinding[_T]]:
    """Yield what is found in each record of a log, in order.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    return findings_of_rows(Replayer(log, None, judge=True).replay_rows(log.raw(), START), find)


def findings_of_rows(
    rechecked: Iterable[Rechecked], find: Callable[[RecordedInputs], _T]
) -> Iterator[RecordFinding[_T]]:
    """Yield what is found in records that are judged one after the other, from the first one on."""
    sessions = SessionHistory()
    for answer, _, recorded in rechecked:
        if recorded is not None:
            # What earlier records say of the session comes to its problems after this.
            found = find_in(recorded, find)
            yield RecordFinding(complete_answer(answer, sessions), found)


def findings_of_batches(batches: Iterable[AnsweredStretch]) -> Iterator[RecordFinding[Any]]:
    """Yield what was found in all stretches of a log, from the first one on.

    Raises:
        harness.errors.HarnessError: a stretch ends with it.
    """
    sessions = SessionHistory()
    for batch in batches:
        for answer, found in zip(batch.answers, batch.found, strict=True):
            yield RecordFinding(complete_answer(answer, sessions), found)
        if batch.error is not None:
            raise batch.error
