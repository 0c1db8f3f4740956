"""Go on in a new log: what the old one keeps from being used again comes along.

Rule 1: the old log ends first, so nothing is recorded there that the new one does not know of. Who
        is stopped after that runs the command again, which goes on.
Rule 2: the new log is there as a whole or not at all, and only once.
Rule 3: it needs nothing of the old one. What it says of it is the head.
"""

from collections.abc import Iterable, Iterator, Set
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple, Self

from harness.audit.copies.copying import new_log
from harness.audit.settlements import settle
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
    SettledRecord,
    TakenOverRecord,
    read_record,
    taken_over,
)
from harness.record.drafts import HANDED_OVER, begun_claim, session_key
from harness.record.parts import pieces_of
from harness.replay.index_check import IndexedReader
from harness.replay.log_check import CheckedReplay

_SOUND: Final = frozenset({"same", "open", "redacted"})
_BEGUN: Final = begun_claim("")
_STEP: Final = "step "
_PAGE: Final = 64
_KEY: Final = 64  # characters of what stands for a session at the end of a trace that was made


class _Executions(NamedTuple):
    """The numbers of records in which executions began, and of settlements."""

    begun: list[int]
    settled: list[int]

    def plus(self, other: Self) -> Self:
        """Return those of both."""
        return self._replace(begun=self.begun + other.begun, settled=self.settled + other.settled)


class _Standing(NamedTuple):
    """A settlement that no decision has ended, and the hash of the record in which it all began."""

    settlement: SettledRecord
    first: str


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
    last, found = log.head().seq, _executions(log)
    old = log.hand_over(now)
    found = found.plus(_executions_since(log, last))
    settled = _standing_settlements(log, found.settled)
    inherited = _Inheritance(log, old, found.begun, settled.keys(), now)
    if is_url(place):
        with SqlDecisionLog.open(place) as target:
            inherited.store_in(target)
            new = _settle_again(target, settled.values())
    else:
        with new_log(Path(place)) as target:
            inherited.store_in(target)
            new = _settle_again(target, settled.values())
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
        raise UsageError(f"{shown} exists, and continues another log: name an empty place")
    settled = _standing_settlements(log, _executions_since(log, 0).settled)
    with SqlDecisionLog.open(place) as target:
        new = _settle_again(target, settled.values())
    log.end_hand_over()
    return Succession(old, new)


def _executions(log: SqlDecisionLog) -> _Executions:
    """Return what has no end, or that of a person alone, of a log that is sound.

    Raises:
        LogDamaged: it is not as it was recorded.
    """
    replayed, found = CheckedReplay(log, judge=False), _Executions([], [])
    for answer in replayed.answers():
        if answer.status not in _SOUND:
            raise LogDamaged(
                f"record {answer.seq} is {answer.status}, so the log does not go on in another: "
                "replay it to see what is wrong"
            )
        if answer.status == "open":
            found.begun.append(answer.seq)
        elif answer.kind == "settled":
            found.settled.append(answer.seq)
    if damage := replayed.check().damage:
        raise LogDamaged(f"the log is damaged: {damage[0]}: {KEEP_EVIDENCE}")
    return found


def _executions_since(log: SqlDecisionLog, last: int) -> _Executions:
    """Return what began and what was settled after a record, such as while the log was checked."""
    found = _Executions([], [])
    for one in log.entries(last + 1):
        if isinstance(one, BegunRecord):
            found.begun.append(one.seq)
        elif isinstance(one, SettledRecord):
            found.settled.append(one.seq)
    return found


def _standing_settlements(log: SqlDecisionLog, numbers: Iterable[int]) -> dict[int, _Standing]:
    """Return settlements that a late result may still end, by the numbers of the beginnings.

    The result is one of an open session: whoever else has it appends to the log before.
    """
    sessions, found = frozenset(log.journaled_sessions()), dict[int, _Standing]()
    for raw in log.raw_at(sorted({*numbers})):
        record = read_record(raw.body)
        if not isinstance(record, SettledRecord) or log.claims([begun_claim(raw.hash)]):
            continue
        if sessions.isdisjoint((session_key(record.trace_id), record.trace_id[-_KEY:])):
            continue
        raw_begun = log.named([record.begun])[record.begun]
        begun = read_record(raw_begun.body)
        first = begun.begun if isinstance(begun, BegunRecord) else None
        found[raw_begun.seq] = _Standing(record, first or record.begun)
    return found


def _settle_again(target: SqlDecisionLog, settled: Iterable[_Standing]) -> Head:
    """Settle here what a person settled in the log before, and return the head of this log.

    What a run that was stopped settled stays as it is.
    """
    for one, first in settled:
        claim = begun_claim(first)
        seq = target.claims([claim])[claim]
        began = target.raw_at([seq])[0]
        if not target.claims([begun_claim(began.hash)]):
            settle(
                target,
                seq,
                outcome=one.outcome,
                by=one.by,
                because=one.because,
                now=one.settled_at,
            )
    return target.head()


class _Inheritance:
    """What a new log begins with."""

    def __init__(
        self,
        log: SqlDecisionLog,
        old: Head,
        begun: Iterable[int],
        settled: Set[int],
        taken_at: datetime,
    ) -> None:
        sessions = [one for one in log.journaled_sessions() if one != ROTATION]
        self._carried = list(_carry(log, begun, settled))
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
        self.counts = len(claims), len(self._carried) - len(settled), len(sessions)

    def store_in(self, target: SqlDecisionLog) -> None:
        target.take_over(self._entries, self._bodies, self._steps)


def _carry(log: SqlDecisionLog, begun: Iterable[int], settled: Set[int]) -> Iterator[CarriedOn]:
    """Yield the executions of records with these numbers that have no end, or are settled."""
    for found in IndexedReader(log).read(sorted({*begun, *settled})):
        if found.problem or found.row is None:
            raise LogDamaged(found.problem or f"record {found.document.raw.seq} cannot be read")
        claim = begun_claim(found.document.raw.hash)
        record = read_record(found.document.raw.body)
        is_open = found.document.raw.seq in settled or not log.claims([claim])
        if isinstance(record, BegunRecord) and is_open:
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
