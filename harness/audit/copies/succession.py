"""Go on in a new log: what the old one keeps from being used again comes along.

Rule 1: the old log ends first, so nothing is recorded there that the new one does not know of. Who
        is stopped after that runs the command again, which goes on.
Rule 2: the new log is there as a whole or not at all, and only once.
Rule 3: it needs nothing of the old one. What it says of it is the head.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from harness.audit.copies.copying import new_log
from harness.errors import UsageError, escape_text
from harness.log.appending import GOES_ON, ROTATION, LogEntry
from harness.log.journal_rows import JournalRow, JournalStep
from harness.log.log_errors import LogDamaged, LogUnavailable
from harness.log.log_places import is_url
from harness.log.sql import SqlDecisionLog
from harness.log.store import KEEP_EVIDENCE
from harness.record import (
    BegunRecord,
    CarriedOn,
    Head,
    OldHead,
    TakenOverRecord,
    read_record,
    taken_over,
)
from harness.record.drafts import HANDED_OVER, begun_claim
from harness.record.parts import pieces_of
from harness.replay.index_check import IndexedReader
from harness.replay.log_check import CheckedReplay

_SOUND: Final = frozenset({"same", "open", "redacted"})
_BEGUN: Final = begun_claim("")
_STEP: Final = "step "
_PAGE: Final = 64


class Succession(NamedTuple):
    """The heads of both logs, and what came along: how many of each."""

    old: Head
    new: Head
    claims: int = 0
    executions: int = 0
    sessions: int = 0


def go_on_in(log: SqlDecisionLog, place: str, now: datetime) -> Succession:
    """End a log, and go on in a new file or an empty schema of a database.

    Raises:
        UsageError: the file exists, or the database holds records.
        LogError: the log is not as it was recorded or was handed over before, or one of the logs
            cannot be read or written.
    """
    if log.is_succeeded:
        raise LogUnavailable(f"{log.where}: it was handed over before: {GOES_ON}")
    if (there := _first_record(place)) is not None:
        return _finish(log, place, there)
    last, begun = log.head().seq, _open_executions(log)
    old = log.hand_over(now)
    begun += _begun_since(log, last)
    inherited = _Inheritance(log, old, begun, now)
    if is_url(place):
        with SqlDecisionLog.open(place) as target:
            new = inherited.store_in(target)
    else:
        with new_log(Path(place)) as target:
            new = inherited.store_in(target)
    log.end_hand_over()
    return Succession(old, new, *inherited.counts)


def _first_record(place: str) -> TakenOverRecord | None:
    """Return the first record of a log that was begun there; None if nothing is there.

    Raises:
        UsageError: something else is there.
        LogError: it cannot be read.
    """
    if not is_url(place) and not Path(place).exists() and not Path(place).is_symlink():
        return None
    opened = SqlDecisionLog.open if is_url(place) else SqlDecisionLog.open_for_reading
    with opened(place) as log:
        record = next(log.entries(), None)
        if isinstance(record, TakenOverRecord):
            return record
        if is_url(place) and record is None and next(iter(log.digests()), None) is None:
            return None
    shown = "the database" if is_url(place) else escape_text(place[-200:])
    raise UsageError(f"{shown} exists, and is another log: name an empty place")


def _finish(log: SqlDecisionLog, place: str, there: TakenOverRecord) -> Succession:
    """End what was stopped when the new log was there, and the old one did not know."""
    old = log.head()
    if not log.is_handed_over or there.old != OldHead(seq=old.seq, hash=old.hash):
        shown = "the database" if is_url(place) else escape_text(place[-200:])
        raise UsageError(f"{shown} exists, and goes on from another log: name an empty place")
    log.end_hand_over()
    with SqlDecisionLog.open_for_reading(place) as target:
        return Succession(old, target.head())


def _open_executions(log: SqlDecisionLog) -> list[int]:
    """Return the numbers of the records whose executions have no end, of a log that is sound.

    Raises:
        LogDamaged: it is not as it was recorded.
    """
    replayed, begun = CheckedReplay(log, judge=False), list[int]()
    for answer in replayed.answers():
        if answer.status not in _SOUND:
            raise LogDamaged(
                f"record {answer.seq} is {answer.status}, so the log does not go on in another: "
                "replay it to see what is wrong"
            )
        begun += [answer.seq] if answer.status == "open" else []
    if damage := replayed.check().damage:
        raise LogDamaged(f"the log is damaged: {damage[0]}: {KEEP_EVIDENCE}")
    return begun


def _begun_since(log: SqlDecisionLog, last: int) -> list[int]:
    """Return the numbers of beginnings that were recorded while the log was checked."""
    return [one.seq for one in log.entries(last + 1) if isinstance(one, BegunRecord)]


class _Inheritance:
    """What a new log begins with."""

    def __init__(
        self, log: SqlDecisionLog, old: Head, begun: Iterable[int], taken_at: datetime
    ) -> None:
        sessions = [one for one in log.journaled_sessions() if one != ROTATION]
        self._carried = list(_carry(log, begun))
        own = {claim for one in self._carried for claim in one.snapshot.claims}
        claims = [one for one in _kept_claims(log, frozenset(sessions)) if one not in own]
        head = OldHead(seq=old.seq, hash=old.hash)
        self._entries: list[LogEntry] = [
            *taken_over(head, claims, sessions, taken_at),
            *self._carried,
        ]
        self._bodies = _bodies_of(log, self._carried)
        self._steps: list[tuple[JournalStep, JournalRow]] = [
            (JournalStep(session, row.number, row.body), row)
            for session in sessions
            for row in log.journal(session)
        ]
        self.counts = len(claims), len(self._carried), len(sessions)

    def store_in(self, target: SqlDecisionLog) -> Head:
        return target.take_over(self._entries, self._bodies, self._steps)


def _carry(log: SqlDecisionLog, begun: Iterable[int]) -> Iterator[CarriedOn]:
    """Yield the executions that have no end, of records with these numbers."""
    for found in IndexedReader(log).read(sorted({*begun})):
        if found.problem or found.row is None:
            raise LogDamaged(found.problem or f"record {found.document.raw.seq} cannot be read")
        claim = begun_claim(found.document.raw.hash)
        record = read_record(found.document.raw.body)
        if isinstance(record, BegunRecord) and not log.claims([claim]):
            yield CarriedOn(record, found.row)


def _kept_claims(log: SqlDecisionLog, sessions: frozenset[str]) -> list[str]:
    """Return the claims that nobody may make again: of steps, the last one of an open session."""
    kept, steps = list[str](), dict[str, str]()
    for claim, _ in log.all_claims():
        if claim.startswith(_STEP):
            session = claim.split(" ")[1]
            steps |= {session: claim} if session in sessions else {}
        elif claim != HANDED_OVER and not claim.startswith(_BEGUN):
            kept.append(claim)
    return [*kept, *steps.values()]


def _bodies_of(log: SqlDecisionLog, carried: Iterable[CarriedOn]) -> dict[str, bytes]:
    """Return the inputs of executions with all their parts, as the log stores them."""
    named = {digest for one in carried for digest in one.begun.inputs.wire().values()}
    bodies = log.stored(named)
    return {**bodies, **pieces_of(list(bodies.values()), log.stored)}
