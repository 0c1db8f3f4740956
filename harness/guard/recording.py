"""Record what a guard decides, before it is answered, and notice a session that went on twice.

Rule 1: a ruling is a decision without a run. A batch that ended is another one, of the same
        proposal, with its calls and their score.
Rule 2: of two processes that go on from one state, the one that comes second is refused, and where
        both record at one moment, neither goes on.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from inspect import isawaitable
from typing import Any, Protocol, runtime_checkable

from critic import consolidate
from harness.errors import HarnessError
from harness.guard.course import ToRecord
from harness.record import Decision, DecisionRecord, Head, RawRecord
from harness.runtime.ports import Clock
from harness.wire import InvalidInput, parse_json


class WentOnElsewhere(HarnessError):
    """Another process went on from the state that this session came from."""


class GuardLog(Protocol):
    """Keeps decisions. Synchronous: `AsyncGuard` calls it in a thread."""

    def append(self, decision: Decision) -> DecisionRecord:
        """Keep the decision, and return its record once it is safely stored."""
        ...


@runtime_checkable
class _ReadableLog(Protocol):
    """A log that can be read, as a session needs it that goes on in another process."""

    def raw(self, start: int | None = None) -> Iterator[RawRecord]:
        """Yield the records from a number on, in their order."""
        ...

    def head(self) -> Head:
        """Return the number and the hash of the last record."""
        ...


def decision_of(entry: ToRecord, decided_at: datetime) -> Decision:
    """Return an entry as a decision."""
    proposal = entry.batch.proposal
    report = consolidate(
        trace_id=proposal.ctx.trace_id,
        decision_key=proposal.spec.id,
        verify=entry.verdict,
        score=entry.score,
        decided_at=decided_at,
    )
    return Decision(proposal=proposal, run=entry.run, report=report, error=entry.note)


@dataclass(slots=True)
class Marks:
    """Where a session is in the log.

    Attributes:
        last: the number of the last record that was answered for; None before the first.
        travelled: it went on in another process, so others may have recorded for it since.
        own: the numbers of later records that were made here.
    """

    last: int | None = None
    travelled: bool = False
    own: set[int] = field(default_factory=set)


class RulingRecorder:
    """Writes to the log of a guard, if there is one."""

    def __init__(self, log: GuardLog | None, clock: Clock) -> None:
        """Record in a log, with the time of a clock."""
        self._log, self._clock = log, clock

    def mark(self, marks: Marks) -> int | None:
        """Return the number of the record after which the next process goes on."""
        if self._log is None or marks.last is not None or not isinstance(self._log, _ReadableLog):
            return marks.last
        return self._log.head().seq

    def require_readable(self) -> None:
        """Require that the log can show whether a session went on elsewhere.

        Raises:
            HarnessError: it cannot.
        """
        if self._log is not None and not isinstance(self._log, _ReadableLog):
            raise HarnessError("this log cannot show whether the session went on elsewhere")

    def record(self, trace_id: str, entries: Iterable[ToRecord], marks: Marks) -> None:
        """Record what was decided, in order, and note where the session is then.

        Raises:
            WentOnElsewhere: another process recorded for this session. What is recorded here now
                was not answered.
            Exception: the log did not take it.
        """
        if self._log is None:
            return
        for entry in entries:
            decision = decision_of(entry, self._clock.now())
            if marks.travelled:
                self._require_alone(trace_id, marks)
            number = _append(self._log, decision)
            marks.own.add(number)
            if marks.travelled:  # once more: somebody may have been as quick
                self._require_alone(trace_id, marks, number)
            marks.last, marks.own = number, set()

    def _require_alone(self, trace_id: str, marks: Marks, until: int | None = None) -> None:
        """Require that no other process recorded for a session since its last record."""
        if not isinstance(self._log, _ReadableLog):
            raise HarnessError("this log cannot show whether the session went on elsewhere")
        for raw in self._log.raw((marks.last or 0) + 1):
            if until is not None and raw.seq >= until:
                return
            if raw.seq not in marks.own and _trace_of(raw) == trace_id:
                raise WentOnElsewhere(
                    f"the session went on elsewhere, at record {raw.seq}: go on from there"
                )


def _append(log: GuardLog, decision: Decision) -> int:
    """Append a decision and return the number of its record."""
    record: Any = log.append(decision)
    if isawaitable(record):
        close = getattr(record, "close", None)
        if close is not None:
            close()
        raise HarnessError("the log is asynchronous: give the guard one that stores at once")
    number: int = record.seq
    return number


def _trace_of(raw: RawRecord) -> object:
    try:
        return parse_json(raw.body)["report"]["trace_id"]
    except (InvalidInput, TypeError, KeyError):
        return None  # no record of this session: what a damaged one was, replay says
