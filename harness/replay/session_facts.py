"""Work out the facts of a guarded session again, from the earlier records of its log. Pure.

Rule 1: only what earlier records show is compared. A batch whose calls have not all ended on record
        may have made more known than they show.
Rule 2: a turn that is not on record leaves the facts after it unproved: they are incomplete. Where
        a record was redacted they are redacted, unless they say less than the others show.
Rule 3: sessions of one id, one after the other or at once, are told apart by their facts.
Rule 4: entries come in the order of their records, wherever those were replayed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from evals.capability import ToolName
from evals.context import ApprovedValue, OwnValue, SentValues, Spent, WaivedCall
from harness.canonical import digest
from harness.replay.problems import Problems
from harness.replay.result import ReplayResult
from harness.replay.session_entries import (
    BatchCall,
    BeginningEntry,
    EndEntry,
    LostEntry,
    RulingEntry,
    SessionEntry,
)

_MOST_LIVES: Final = 16
"""How many sessions of one id are kept apart: those that began last."""


class AnswerAlone(NamedTuple):
    """The answer for a record by itself.

    Attributes:
        replayed: the answer; final, unless there is an entry.
        entry: what the record says of the session of a guard: to compare with earlier records.
        problems: those of the record so far, if there is an entry.
    """

    replayed: ReplayResult
    entry: SessionEntry | None = None
    problems: Problems | None = None


@dataclass(slots=True)
class _Batch:
    """A batch that was ruled on: what it adds to what is known, if it may run.

    `known` is the digest of what was known then, `evidence` are those of what was seen before it.
    """

    inputs: tuple[str, ...]
    known: str
    evidence: tuple[str, ...]
    calls: tuple[BatchCall, ...]
    sent: tuple[SentValues, ...]
    verified: bool
    runs: bool
    ended: dict[int, str] = field(default_factory=dict)
    made: tuple[OwnValue, ...] = ()
    possible: tuple[OwnValue, ...] = ()
    approved: tuple[ApprovedValue, ...] = ()
    waived: tuple[WaivedCall, ...] = ()


class SessionHistory:
    """The history of each session in the records so far, by its trace."""

    def __init__(self, earlier: Callable[[], Iterable[SessionEntry]] = tuple) -> None:
        """Start before the first record, or after those that are not replayed.

        Args:
            earlier: returns the entries of the latter. It is called once, and only if any record
                that is replayed has an entry.
        """
        self._earlier: Callable[[], Iterable[SessionEntry]] | None = earlier
        self._lives: dict[str, list[dict[int, _Batch]]] = {}
        self._begun: dict[str, _Batch] = {}
        self._lost: dict[str, bool] = {}  # traces with records that cannot be read: any redacted?

    def check(self, entry: SessionEntry, problems: Problems) -> None:
        """Compare the entry of a record with those before it, and keep what it adds.

        Raises:
            harness.log.log_errors.LogError: the earlier records cannot be read.
        """
        earlier, self._earlier = self._earlier, None
        for one in earlier() if earlier else ():
            self._take(one, Problems())
        self._take(entry, problems)

    def _take(self, entry: SessionEntry, problems: Problems) -> None:
        try:
            if isinstance(entry.said, RulingEntry):
                self._check_ruling(entry, entry.said, problems)
            elif isinstance(entry.said, BeginningEntry):
                self._runs(entry, entry.said)
            elif isinstance(entry.said, LostEntry):
                known = self._lost.get(entry.trace, False)
                self._lost[entry.trace] = known or entry.said.is_redacted
            else:
                self._note_end(entry, entry.said)
        except Exception as error:
            # If this code fails, the log is not to blame.
            problems.drift.append(f"the session cannot be derived here: {type(error).__name__}")

    def _check_ruling(self, entry: SessionEntry, ruled: RulingEntry, problems: Problems) -> None:
        turn, lives = entry.turn, self._lives.setdefault(entry.trace, [])
        if turn == 1:
            lives.append({})
        candidates = [life for life in lives if turn - 1 in life or turn == 1]
        if not candidates:
            self._note_unproved(
                entry, f"turn {turn - 1} of its session is missing: its facts", problems
            )
            return
        batch = _batch_of(entry, ruled)
        found = [(life, [*_differences(life, batch, ruled)]) for life in candidates[::-1]]
        life, different = min(found, key=lambda one: len(one[1]))
        if certain := [
            one.name for one in different if one.is_less or entry.trace not in self._lost
        ]:
            named = ", ".join(certain)
            problems.contradiction(f"session facts do not follow from earlier records: {named}")
        elif different:
            self._note_unproved(entry, ", ".join(one.name for one in different), problems)
        if turn - 1 in life:  # only the last batch needs it
            life[turn - 1].evidence = ()
        life[turn] = batch
        del lives[:-_MOST_LIVES]

    def _note_unproved(self, entry: SessionEntry, what: str, problems: Problems) -> None:
        """Note facts that records which cannot be read may have led to."""
        if self._lost.get(entry.trace):
            why = "an earlier record of its session is redacted: its facts cannot be derived"
            problems.redacted.append(why)
        else:
            problems.incomplete.append(f"{what} cannot be derived")

    def _runs(self, entry: SessionEntry, began: BeginningEntry) -> None:
        batch = self._batch(entry)
        if batch is None:
            return
        batch.runs = True
        self._begun[began.hash] = batch
        batch.approved, batch.waived = began.approved, began.waived

    def _note_end(self, entry: SessionEntry, ended: EndEntry) -> None:
        begun = self._begun.pop(ended.begun or "", None)
        batch = begun or self._batch(entry)
        if batch is not None:
            batch.ended |= dict(ended.statuses)
            batch.made, batch.possible = ended.made, ended.possible

    def _batch(self, entry: SessionEntry) -> _Batch | None:
        """Return the batch that was ruled on last with the same inputs."""
        lives = reversed(self._lives.get(entry.trace, []))
        batches = (life.get(entry.turn) for life in lives)
        return next((one for one in batches if one and one.inputs == entry.inputs), None)


def complete_answer(answer: AnswerAlone, sessions: SessionHistory) -> ReplayResult:
    """Return the answer for a record with what earlier records say of its session.

    Raises:
        harness.log.log_errors.LogError: the earlier records cannot be read.
    """
    if answer.entry is None or answer.problems is None:
        return answer.replayed
    problems = answer.problems
    sessions.check(answer.entry, problems)
    changed = {"status": problems.status, "reasons": problems.reasons}
    return answer.replayed.model_copy(update=changed)


def _batch_of(entry: SessionEntry, ruled: RulingEntry) -> _Batch:
    spent = "" if ruled.spent is None else digest(ruled.spent)
    return _Batch(
        inputs=entry.inputs,
        known=digest(ruled.facts) + spent,
        evidence=ruled.evidence,
        calls=ruled.calls,
        sent=ruled.sent,
        verified=ruled.verified,
        runs=ruled.runs,
    )


class _Difference(NamedTuple):
    """A fact that earlier records contradict; `is_less`: whatever else there was, it says less."""

    name: str
    is_less: bool


def _differences(
    life: dict[int, _Batch], batch: _Batch, ruled: RulingEntry
) -> Iterator[_Difference]:
    """Yield the facts that earlier records contradict.

    An answer is judged on what was known at its question.
    """
    facts, spent = ruled.facts, ruled.spent
    asked = life.get(facts.turn)
    if asked is not None and (asked.known, asked.evidence) == (batch.known, batch.evidence):
        return
    before = life[facts.turn - 1].evidence if facts.turn > 1 else ()
    if batch.evidence[: len(before)] != before:
        yield _Difference("evidence", is_less=True)
    ran = [one for turn, one in life.items() if turn < facts.turn and one.runs]
    yield from _spent_differences(ran, spent)
    trusted = [one for one in ran if one.verified]
    sent = tuple(sent for one in ran for sent in one.sent) or None
    if facts.sent != sent:
        yield _Difference("sent", is_less=not _is_within(sent or (), facts.sent or ()))
    # Of a batch whose calls have not all ended, what they made may be known already.
    made = [value for one in trusted for value in one.made]
    possible = [value for one in trusted for value in one.possible]
    if not _is_within(made, facts.own or ()):
        yield _Difference("own", is_less=True)
    elif all(one.ended for one in trusted) and not _is_within(facts.own or (), possible):
        yield _Difference("own", is_less=False)
    certain_tools, tools = (_completed_tools(trusted, certain=one) for one in (True, False))
    yield from _outside("ran", certain_tools, facts.ran or (), tools)
    for name, given in (("approved", facts.approved), ("waived", facts.waived)):
        values = _each_once(value for one in ran for value in getattr(one, name)) or None
        if given != values:
            yield _Difference(name, is_less=not _is_within(values or (), given or ()))


def _spent_differences(ran: list[_Batch], spent: Spent | None) -> Iterator[_Difference]:
    steps = sum(len(batch.calls) for batch in ran)
    if spent is None or spent.steps is None or spent.steps < steps:
        yield _Difference("spent.steps", is_less=True)
        return
    certain, possible = (_spent_calls(ran, certain=one) for one in (True, False))
    calls = [*_outside("spent.calls", certain, _digests(spent), possible)]
    if spent.steps > steps:
        yield _Difference("spent.steps", is_less=False)
        yield from (one for one in calls if one.is_less)
    else:
        yield from calls


def _outside(
    name: str, least: Iterable[object], given: Iterable[object], most: Iterable[object]
) -> Iterator[_Difference]:
    """Yield what is different about values that are less than some, or more than others."""
    kept = [*given]
    if not _is_within(least, kept):
        yield _Difference(name, is_less=True)
    elif not _is_within(kept, most):
        yield _Difference(name, is_less=False)


def _is_within(some: Iterable[object], others: Iterable[object]) -> bool:
    return {*map(repr, some)} <= {*map(repr, others)}


def _each_once(values: Iterable[object]) -> tuple[object, ...]:
    return tuple({repr(value): value for value in values}.values())


def _digests(spent: Spent) -> list[str]:
    return [one.args_digest for one in spent.calls or ()]


def _spent_calls(batches: Iterable[_Batch], *, certain: bool) -> Iterator[str]:
    """Yield the destructive calls that count; `certain`: that surely do, by the records so far."""
    for batch in batches:
        for step, call in enumerate(batch.calls):
            status = batch.ended.get(step)
            counts = status not in (None, "failed") if certain else status != "failed"
            if call.spent is not None and counts:
                yield call.spent


def _completed_tools(batches: Iterable[_Batch], *, certain: bool) -> Iterator[ToolName]:
    """Yield the tools that completed; `certain`: that surely did, by the records so far."""
    for batch in batches:
        for step, call in enumerate(batch.calls):
            status = batch.ended.get(step)
            if status == "completed" or (status is None and not certain):
                yield call.tool
