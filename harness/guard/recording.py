"""Record what a guard decides, before it is answered.

Rule 1: a ruling is a decision without a run. Where it lets a verified batch run, the beginning of
        its execution is recorded with it, both or neither, and uses up the approval. Once the calls
        ended, there is a decision of the same proposal with the calls and their score, which names
        the beginning.
Rule 2: a session that goes on from a state claims it with its next record. Of two that go on from
        one state, the log refuses the second.
Rule 3: a session claims its id with its first record. What was refused, asked and spent in it
        would be forgotten by another of that id, so a log has one.
Rule 4: a failure of the guard is recorded too, if the log still takes it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, runtime_checkable

from critic import consolidate
from critic.session.call_batch import Batch
from harness.clock import SystemClock
from harness.errors import HarnessError
from harness.guard.course import ToRecord
from harness.record import (
    AlreadyClaimed,
    Begun,
    CriticError,
    CriticErrorRecord,
    Decision,
    DecisionRecord,
    Head,
    used_approvals,
)
from harness.runtime.ports import Clock, RecordsBegun

if TYPE_CHECKING:
    from harness.guard.session_inputs import BatchInputs

OnDecision = Callable[[Decision], None]
"""Is given each decision after it was recorded, and before it is answered."""

_CLAIM: Final = "session "
"""How the claim of a session on a state begins."""
_OPENED: Final = "opened "
"""How the claim of a session on its id begins."""
_APPROVAL: Final = "approval "
"""How the claim of a beginning on an approval begins."""


class WentOnElsewhere(HarnessError):
    """Another process went on from the state that this session came from."""


class GuardLog(Protocol):
    """Keeps decisions. Synchronous: `AsyncGuard` calls it in a thread.

    A log that also has `begin` and `append_error` of `SqlDecisionLog` shows what may have run when
    a process died, and where the guard failed. One that has `append_all` too keeps a ruling and
    the beginning of what it lets run, both or neither. One that has `head` and `claims` lets a
    session go on from another process, and none be opened under the id of another.
    """

    def append(self, decision: Decision) -> DecisionRecord:
        """Keep the decision, and return its record once it is safely stored."""
        ...


@runtime_checkable
class _KeepsTogether(Protocol):
    """A log that keeps several entries or none: beginnings too, if it has `begin`."""

    def append_all(self, entries: Iterable[Decision | Begun]) -> Sequence[Any]:
        """Keep the entries in their order, all or none. Return the `seq` and `hash` of each."""
        ...


@runtime_checkable
class _RecordsErrors(Protocol):
    """A log that keeps failures of the critic."""

    def append_error(self, error: CriticError) -> CriticErrorRecord:
        """Keep the failure."""
        ...


@runtime_checkable
class _KeepsClaims(Protocol):
    """A log in which only one record makes a claim."""

    def claims(self, claims: Iterable[str]) -> Mapping[str, int]:
        """Return the number of the record that made each claim; leave out what none made."""
        ...

    def head(self) -> Head:
        """Return the number and the hash of the last record."""
        ...


@dataclass(slots=True)
class Marks:
    """Where a session is in the log.

    Attributes:
        last: the number of its last record; None before the first.
        claims: on its id, and on the states that it went on from, while it has no record since.
        begun: the hashes of the beginnings of batches whose calls have not all ended, by turn.
        inputs: of these batches, where they were ruled on in this process.
    """

    last: int | None = None
    claims: tuple[str, ...] = ()
    begun: dict[int, str] = field(default_factory=dict)
    inputs: "dict[int, BatchInputs]" = field(default_factory=dict)

    def inputs_of(self, batch: Batch) -> "BatchInputs":
        """Return the inputs of a batch, which are those that it was ruled on with."""
        from harness.guard.session_inputs import (  # noqa: PLC0415 - only what records needs it
            BatchInputs,
        )

        return self.inputs.get(batch.turn) or BatchInputs(batch)


class RulingRecorder:
    """Writes to the log of a guard, if there is one."""

    def __init__(
        self, log: GuardLog | None, clock: Clock, on_decision: OnDecision | None = None
    ) -> None:
        """Record in a log, with the time of a clock, and show each decision once it is stored."""
        self._log, self._clock, self._on_decision = log, clock, on_decision

    def begin(self, session: str) -> Marks | None:
        """Return where a new session is; None if its id is that of another session of the log."""
        if not isinstance(self._log, _KeepsClaims):
            return Marks()
        claim = _id_claim(session)
        return None if _require_stored(self._log.claims([claim])) else Marks(claims=(claim,))

    def mark(self, marks: Marks) -> int | None:
        """Return the number of the record after which the next process goes on."""
        if marks.last is None and isinstance(self._log, _KeepsClaims):
            return self._log.head().seq
        return marks.last

    def goes_on(self, session: str, marks: Marks) -> None:
        """Check that nobody went on from the states of a session. Without a log, none is claimed.

        One that comes from a guard without a log is new to this one.

        Raises:
            WentOnElsewhere: somebody did.
            HarnessError: the log keeps no claims, so two processes could go on from one state.
        """
        if self._log is None:
            marks.claims = ()
            return
        if not isinstance(self._log, _KeepsClaims):
            raise HarnessError("this log cannot show whether the session went on elsewhere")
        if marks.last is None and _id_claim(session) not in marks.claims:
            marks.claims = (_id_claim(session), *marks.claims)
        for seq in self._log.claims(marks.claims).values():
            raise _went_on(f", at record {seq}")

    def record(self, entries: Sequence[ToRecord], marks: Marks) -> None:
        """Record what was decided, in order, and note where the session is then.

        Raises:
            WentOnElsewhere: another process went on from the same state.
            Exception: the log did not take it.
        """
        if not entries or (self._log is None and self._on_decision is None):
            return
        inputs = [marks.inputs_of(entry.batch) for entry in entries]
        decisions: list[Decision] = []
        for entry, given in zip(entries, inputs, strict=True):
            claims = () if decisions or self._log is None else marks.claims
            decisions.append(_decision_of(entry, given, self._clock.now(), marks, claims))
        if self._log is not None:
            self._store(self._log, zip(entries, inputs, decisions, strict=True), marks)
        for entry, given, decision in zip(entries, inputs, decisions, strict=True):
            if entry.ended is not None:
                marks.begun.pop(entry.batch.turn, None)
                marks.inputs.pop(entry.batch.turn, None)
            elif entry.begins:
                marks.inputs[entry.batch.turn] = given
            if self._on_decision is not None:
                self._on_decision(decision.detach_decision(given.handed_out()))

    def _store(
        self,
        log: GuardLog,
        decided: Iterable[tuple[ToRecord, "BatchInputs", Decision]],
        marks: Marks,
    ) -> None:
        """Store decisions, each with the beginning of what it lets run."""
        given: list[tuple[int, Decision | Begun]] = []
        for entry, inputs, decision in decided:
            given.append((entry.batch.turn, decision))
            if entry.begins and isinstance(log, RecordsBegun):
                given.append((entry.batch.turn, self._beginning_of(inputs, decision)))
        stored = _append_entries(log, [entry for _, entry in given])
        try:
            for (turn, kept), record in zip(given, stored, strict=True):
                if isinstance(kept, Begun):
                    marks.begun[turn] = record.hash
                else:
                    marks.last, marks.claims = record.seq, ()
        except AlreadyClaimed as error:
            raise _error_of_claim(error) from None

    def _beginning_of(self, inputs: "BatchInputs", ruling: Decision) -> Begun:
        """Return that a batch may run from here on."""
        batch, now = inputs.batch, self._clock.now()
        used = used_approvals(batch.proposal) if batch.ctx.approvals else ()
        return Begun.of(inputs, proposal=ruling.proposal, approvals=used, begun_at=now)

    def record_failure(self, asked: Any, where: str, trace_id: str | None) -> None:
        """Record that the guard failed.

        Raises:
            Exception: the log did not take it.
        """
        if not isinstance(self._log, _RecordsErrors):
            return
        failed_at = self._time_of_failure()
        error = CriticError(asked=asked, where=where, failed_at=failed_at, trace_id=trace_id)
        _require_stored(self._log.append_error(error))

    def _time_of_failure(self) -> datetime:
        """Return the time, even if it is the clock that failed."""
        try:
            now = self._clock.now()
            if now.utcoffset() is not None:
                return now
        except Exception:  # noqa: S110 - told by the clock of this machine instead
            pass
        return SystemClock().now()


def state_claim(digest: str) -> str:
    """Return the claim of a session on the state with this digest."""
    return f"{_CLAIM}{digest}"


def _id_claim(session: str) -> str:
    """Return the claim on an id, which may be any text: a claim is short and printable."""
    return f"{_OPENED}{sha256(session.encode()).hexdigest()}"


def _decision_of(
    entry: ToRecord,
    inputs: "BatchInputs",
    decided_at: datetime,
    marks: Marks,
    claims: tuple[str, ...],
) -> Decision:
    """Return an entry as a decision. With a run, it names the beginning of its execution."""
    report = consolidate(
        trace_id=inputs.batch.ctx.trace_id,
        decision_key=inputs.batch.rules.batch_spec.id,
        verify=entry.verdict,
        score=entry.score,
        decided_at=decided_at,
    )
    begun = None if entry.ended is None else marks.begun.get(entry.batch.turn)
    facts = {"run": entry.facts, "report": report, "error": entry.note, "begun": begun}
    return Decision.of(inputs, claims=claims, **facts)


def _append_entries(log: GuardLog, entries: Sequence[Decision | Begun]) -> Iterator[Any]:
    """Yield the records of entries, once they are stored: all at once if the log can do that."""
    if isinstance(log, _KeepsTogether):
        yield from _require_stored(log.append_all(entries))
        return
    for entry in entries:
        if isinstance(entry, Begun):
            yield _require_stored(cast("RecordsBegun", log).begin(entry))
        else:
            yield _require_stored(log.append(entry))


def _error_of_claim(error: AlreadyClaimed) -> HarnessError:
    """Return the error for a session whose claim another process made."""
    if all(claim.startswith(_APPROVAL) for claim in error.claims):
        return error
    if any(claim.startswith(_OPENED) for claim in error.claims):
        return WentOnElsewhere("another session has its id in the log: choose a new id")
    return _went_on()


def _require_stored(given: Any) -> Any:
    """Return what a log returned, which has to be there at once."""
    if not isawaitable(given):
        return given
    close = getattr(given, "close", None)
    if close is not None:
        close()
    raise HarnessError("the log is asynchronous: give the guard one that stores at once")


def _went_on(where: str = "") -> WentOnElsewhere:
    return WentOnElsewhere(f"the session went on elsewhere{where}: go on from there")
