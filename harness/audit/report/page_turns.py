"""The turns of a page: the records of each, what became of it, and who answered. Pure.

Rule 1: the unit is the turn. `harness.record.fates` says what became of it, and nothing here does.
Rule 2: an execution is open while no record that was read names it as the one that it ends.
Rule 3: a record of which a part was taken out says what the index of its log says of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, assert_never, cast, get_args

from evals.kinds import HARD_EVALUATORS, AnswerKind, Fate
from evals.plan_verdicts import Refused
from harness.record import (
    BegunRecord,
    CriticErrorRecord,
    DecisionRecord,
    RecordFacts,
    SettledRecord,
    TurnKey,
    TurnRecord,
    fate,
)
from harness.record.fates import UNTIL_ENDED, end_known, join_facts
from harness.record.index_row import IndexRow, name_in_column, time_of, turn_key

_NO_FACTS: Final = RecordFacts(0)


@dataclass(slots=True)
class PageTurn:
    """One turn of the page.

    Attributes:
        session: the number of its trace among those of the page, from 1.
        records: the numbers of its records, in their order.
        facts: those of all its records together, without those that hold until an execution ends.
        pending: the latter, by the hashes of the records that say them.
        asked: the record of the question to a person, or None; `question` is why it was asked.
        settled: what persons said of its executions without an end, by record: its hash, and that.
        kind: why it was refused or asked about: `score` for a run that failed; None for neither.
        reason: the first reason of that.
        overruled: whether a verdict of it would not have allowed it.
        approver: who answered yes or no, and `answered` is the record of that answer.
        user, tenant: whom it was for, as its caller said.
    """

    session: int
    trace: str | None
    at: datetime
    records: list[int] = field(default_factory=list)
    facts: RecordFacts = _NO_FACTS
    pending: dict[str, RecordFacts] = field(default_factory=dict)
    decision: str | None = None
    tools: list[str] = field(default_factory=list)
    asked: int | None = None
    question: str | None = None
    settled: dict[int, tuple[str, str]] = field(default_factory=dict)
    answered: int | None = None
    answer: AnswerKind | None = None
    approver: str | None = None
    kind: str | None = None
    reason: str | None = None
    overruled: bool = False
    user: str | None = None
    tenant: str | None = None
    worst: str | None = None

    @property
    def number(self) -> int:
        """The number of its first record, which names the turn."""
        return self.records[0]


class TurnsOfPage:
    """Collects turns as records come."""

    def __init__(self) -> None:
        self._turns: dict[TurnKey, PageTurn] = {}
        self._sessions: dict[str | None, int] = {}
        self._ended: dict[str, int] = {}
        self.place: dict[int, PageTurn] = {}

    def __iter__(self) -> Iterator[PageTurn]:
        return iter(self._turns.values())

    def __len__(self) -> int:
        return len(self._turns)

    def add(self, record: TurnRecord, row: IndexRow, approver: str | None) -> PageTurn:
        """Take in a record; return its turn.

        Args:
            record: the record, under the number that it is kept under.
            row: its columns, derived from it and its inputs.
            approver: who approved its plan, if its context holds an approval of it.
        """
        turn = self._take(row, _trace_of(record), moment_of(record), record.hash)
        if isinstance(record, DecisionRecord | SettledRecord):
            self._ended.update({} if record.begun is None else {record.begun: row.seq})
        if isinstance(record, SettledRecord):
            turn.settled[row.seq] = record.hash, settlement_line(record)
        if isinstance(record, DecisionRecord):
            _add_verdict(turn, record)
        if RecordFacts(row.facts) & RecordFacts.YES and turn.answer is None:
            turn.answer, turn.approver = "yes", approver
        return turn

    def add_redacted(self, row: IndexRow, own_hash: str) -> PageTurn:
        """Take in a record that cannot be read, as a part of it was taken out; return its turn.

        Args:
            row: its columns, as the index has them.
            own_hash: its hash.

        Raises:
            OverflowError: the index says a time that no record can say.
        """
        trace = None if row.trace is None else name_in_column(row.trace)
        turn = self._take(row, trace, time_of(row.at_us or 0), own_hash)
        _add_columns(turn, row)
        return turn

    def _take(self, row: IndexRow, trace: str | None, at: datetime, own_hash: str) -> PageTurn:
        key, facts = turn_key(row), RecordFacts(row.facts)
        turn = self._turns.get(key)
        if turn is None:
            session = self._sessions.setdefault(key.trace, len(self._sessions) + 1)
            turn = self._turns[key] = PageTurn(session, trace, at)
        turn.records.append(row.seq)
        turn.user, turn.tenant = turn.user or row.of_user, turn.tenant or row.of_tenant
        self.place[row.seq] = turn
        turn.facts |= end_known(facts)
        turn.pending[own_hash] = facts & UNTIL_ENDED
        return turn

    def open_hashes(self) -> list[str]:
        """Return the hashes of the records whose executions no record that was read ends."""
        pending = (one for turn in self for one in turn.pending.items())
        return [own for own, facts in pending if facts and own not in self._ended]

    def end(self, ends: Mapping[str, int]) -> None:
        """Note which records end the executions that began with the records of these hashes."""
        self._ended.update(ends)

    def settlements_of(self, turn: PageTurn) -> Iterator[tuple[int, str, int | None]]:
        """Yield what persons said of its executions, and which record overtook that."""
        for seq, (own_hash, said) in turn.settled.items():
            yield seq, said, self._ended.get(own_hash)

    def facts_of(self, turn: PageTurn) -> RecordFacts:
        """Return the facts of all its records together."""
        left = (facts for own, facts in turn.pending.items() if own not in self._ended)
        return join_facts((turn.facts, *left))

    def fate_of(self, turn: PageTurn) -> Fate:
        """Return what became of a turn."""
        return fate([self.facts_of(turn)])


def settlement_line(record: SettledRecord) -> str:
    """Return what a person said of an execution."""
    return f"settled as {record.outcome} by {record.by}: {record.because}"


def moment_of(record: TurnRecord) -> datetime:
    """Return the time of a record."""
    match record:
        case DecisionRecord():
            return record.report.decided_at
        case BegunRecord():
            return record.begun_at
        case SettledRecord():
            return record.settled_at
        case CriticErrorRecord():
            return record.failed_at
        case _:
            assert_never(record)


def _trace_of(record: TurnRecord) -> str | None:
    return record.report.trace_id if isinstance(record, DecisionRecord) else record.trace_id


def _add_columns(turn: PageTurn, row: IndexRow) -> None:
    """Take in what the columns of a record say as `_add_verdict` does what it says itself."""
    if row.kind is not None and row.action != "allow":
        turn.kind, turn.overruled = row.kind, True
    elif row.kind in HARD_EVALUATORS:
        turn.kind = "score"
    if row.action == "ask" and turn.asked is None:
        turn.asked = row.seq
    if row.answered in get_args(AnswerKind):
        turn.answer, turn.answered = cast("AnswerKind", row.answered), row.seq
        turn.approver = None if row.approver is None else name_in_column(row.approver)


def _add_verdict(turn: PageTurn, record: DecisionRecord) -> None:
    """Take in what a decision says: why it was refused, that a person was asked, and the answer."""
    report = record.report
    turn.decision = report.decision_key
    if isinstance(report.verify, Refused):
        stricter = f"{record.error}; " if record.error is not None and record.run is None else ""
        turn.kind, turn.overruled = report.verify.kind, True
        turn.reason = f"{stricter}{report.verify.reasons[0]}"
    elif report.refused_at == "score":
        turn.kind, turn.reason = "score", report.rationale
    elif report.refused_at == "open":
        turn.kind, turn.reason = "open", report.rationale
    if record.action == "ask" and turn.asked is None:
        turn.asked, turn.question = record.seq, turn.reason
    if record.answer is not None:
        turn.answer, turn.approver = record.answer.answer, record.answer.approver
        turn.answered = record.seq
