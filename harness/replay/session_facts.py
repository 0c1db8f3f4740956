"""Work out the facts of a guarded session again, from the earlier records of its log. Pure.

Rule 1: only what earlier records show is compared. A batch whose calls have not all ended on record
        may have made more known than they show.
Rule 2: a turn that is not on record leaves the facts after it unproved: they are incomplete. Where
        a record was redacted they are redacted, unless they say less than the others show.
Rule 3: sessions of one id, one after the other or at once, are told apart by their facts.
Rule 4: what is kept is bounded: a session that goes on after very many turns of others is
        incomplete.
Rule 5: of a session that was open when its log was handed over to this one, the first turn here is
        believed; the facts of later ones may say more than the records here, and never less.
Rule 6: a session that was closed is forgotten, once what it carries was compared. Another life of
        it begins with that.
Rule 7: entries come in the order of their records, wherever those were replayed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from evals.context import SentValues, Spent
from harness.record.drafts import session_key
from harness.replay.problems import Problems
from harness.replay.result import ReplayResult
from harness.replay.session_entries import (
    BeginningEntry,
    ClosedEntry,
    EndEntry,
    LostEntry,
    ReopenedEntry,
    RulingEntry,
    SessionEntry,
    TakenEntry,
)
from harness.replay.session_lives import (
    Key,
    Life,
    RanSum,
    RuledTurn,
    hash_evidence,
    in_turn,
    inputs_key,
    own_key,
    sent_key,
    tool_key,
    yes_key,
)

_T = TypeVar("_T")
_MOST_LIVES: Final = 16
"""How many sessions of one id are kept apart: those that began last."""
_MOST_TURNS: Final = 100_000
"""How many turns of all sessions are kept: sessions without a record for the longest time go."""


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
class _Trace:
    """The sessions of one id, and whether records of it cannot be read; if so, whether redacted."""

    lives: list[Life] = field(default_factory=list)
    is_redacted: bool | None = None

    @property
    def size(self) -> int:
        """Return about how much is kept of it."""
        return 1 + sum(life.size for life in self.lives)


class SessionHistory:
    """The history of each session in the records so far, by its trace: see `session_lives`."""

    def __init__(self, earlier: Callable[[], Iterable[SessionEntry]] = tuple) -> None:
        """Start before the first record, or after those that are not replayed.

        Args:
            earlier: returns the entries of the latter. It is called once, and only if any record
                that is replayed has an entry.
        """
        self._earlier: Callable[[], Iterable[SessionEntry]] | None = earlier
        self._traces: dict[str, _Trace] = {}
        self._size = 0
        self._are_any_gone = False
        self._taken: set[str] = set()

    @property
    def held(self) -> int:
        """Return about how much is kept: a number for each session, and for each of its turns."""
        return self._size

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
        known = self._traces.pop(entry.trace, None)
        self._size -= known.size if known else 0
        trace = known or _Trace()
        try:
            if isinstance(entry.said, ClosedEntry):
                self._check_close(trace, entry.said, problems)
                return
            self._take_in(trace, entry, problems)
        except Exception as error:
            # If this code fails, the log is not to blame.
            problems.drift.append(f"the session cannot be derived here: {type(error).__name__}")
        self._traces[entry.trace] = trace
        self._size += trace.size
        while self._size > _MOST_TURNS and len(self._traces) > 1:
            self._size -= self._traces.pop(next(iter(self._traces))).size
            self._are_any_gone = True

    def _take_in(self, trace: _Trace, entry: SessionEntry, problems: Problems) -> None:
        if isinstance(entry.said, RulingEntry):
            self._check_ruling(trace, entry, entry.said, problems)
        elif isinstance(entry.said, BeginningEntry):
            for life, turn in _turns_of(trace, entry):
                turn.begin(entry.said)
                life.note_change(turn)
                life.begun[entry.said.hash] = turn
        elif isinstance(entry.said, LostEntry):
            trace.is_redacted = trace.is_redacted or entry.said.is_redacted
        elif isinstance(entry.said, TakenEntry):
            self._taken |= entry.said.sessions
        elif isinstance(entry.said, ReopenedEntry):
            trace.lives = [Life.after(entry.said)]
            trace.is_redacted = True if entry.said.spent is None else None
        elif isinstance(entry.said, EndEntry):
            _note_end(trace, entry, entry.said)

    def _check_ruling(
        self, trace: _Trace, entry: SessionEntry, ruled: RulingEntry, problems: Problems
    ) -> None:
        number, lives = entry.turn, trace.lives
        sent = [*map(sent_key, ruled.facts.sent or ())]
        turn = RuledTurn.of(entry, ruled, sent)
        if number == 1:
            lives.append(Life())
        elif (key := session_key(ruled.facts.id)) in self._taken:
            self._taken.remove(key)
            lives.append(Life(is_taken=True))
            lives[-1].rule(number, turn)
            return
        candidates = [life for life in lives if life.goes_on_with(number)]
        if not candidates:
            where = "is missing, or too far back" if self._are_any_gone or lives else "is missing"
            _note_unproved(trace, f"turn {number - 1} of its session {where}: its facts", problems)
            return
        found = [(life, [*_differences(life, turn, ruled, sent)]) for life in candidates[::-1]]
        life, different = min(found, key=lambda one: len(one[1]))
        _note_differences(trace, life, different, problems)
        life.rule(number, turn)
        del lives[:-_MOST_LIVES]

    def _check_close(self, trace: _Trace, closed: ClosedEntry, problems: Problems) -> None:
        """Compare what a session carries with its turns. If none is here, it is believed."""
        if closed.sent is None or (not trace.lives and self._taken):
            return
        if not trace.lives:
            _note_unproved(trace, "the turns of its session are missing: what it carries", problems)
            return
        found = [(life, [*_differences_at_end(life, closed)]) for life in trace.lives[::-1]]
        life, different = min(found, key=lambda one: len(one[1]))
        _note_differences(trace, life, different, problems)


def _note_differences(
    trace: _Trace, life: Life, different: "Iterable[_Difference]", problems: Problems
) -> None:
    """Note facts that earlier records contradict, unless those that cannot be read may explain."""
    counted = [one for one in different if one.is_less or not life.is_taken]
    is_lost = trace.is_redacted is not None
    if certain := [one.name for one in counted if one.is_less or not is_lost]:
        named = ", ".join(certain)
        problems.contradiction(f"session facts do not follow from earlier records: {named}")
    elif counted:
        _note_unproved(trace, ", ".join(one.name for one in counted), problems)


def _note_unproved(trace: _Trace, what: str, problems: Problems) -> None:
    """Note facts that records which cannot be read may have led to."""
    if trace.is_redacted:
        why = "an earlier record of its session is redacted: its facts cannot be derived"
        problems.redacted.append(why)
    else:
        problems.incomplete.append(f"{what} cannot be derived")


def _note_end(trace: _Trace, entry: SessionEntry, ended: EndEntry) -> None:
    begun = (life.begun.pop(ended.begun or "", None) for life in trace.lives)
    turn = next(filter(None, begun), None)
    if turn is None:
        turn = next((one for _, one in _turns_of(trace, entry)), None)
    if turn is not None:
        turn.end(ended)
        for life in trace.lives:
            life.note_change(turn)


def _turns_of(trace: _Trace, entry: SessionEntry) -> Iterator[tuple[Life, RuledTurn]]:
    """Yield the turn that was ruled on last with the same inputs, if there is one."""
    turns = ((life, life.turns.get(entry.turn)) for life in reversed(trace.lives))
    key = inputs_key(entry.inputs)
    same = ((life, one) for life, one in turns if one is not None and one.inputs == key)
    yield from islice(same, 1)


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


class _Difference(NamedTuple):
    """A fact that earlier records contradict; `is_less`: whatever else there was, it says less."""

    name: str
    is_less: bool


def _differences(
    life: Life, turn: RuledTurn, ruled: RulingEntry, sent: list[Key]
) -> Iterator[_Difference]:
    """Yield the facts that earlier records contradict.

    An answer is judged on what was known at its question.

    Args:
        sent: the keys of what was sent before.
    """
    facts = ruled.facts
    asked = life.turns.get(facts.turn)
    if asked is not None and asked.seen is not None and asked.seen == turn.seen:
        return
    last = life.turns.get(facts.turn - 1)
    before = None if last is None else last.seen
    if before and hash_evidence(ruled.evidence[: before.items]) != before.evidence:
        yield _Difference("evidence", is_less=True)
    ran = life.ran_before(facts.turn)
    yield from _spent_differences(ran, ruled.spent)
    yield from _sent_differences(ran, facts.sent, sent)
    # Of a batch whose calls have not all ended, what they made may be known already.
    own = {*map(own_key, facts.own or ())}
    if not ran.made <= own:
        yield _Difference("own", is_less=True)
    elif ran.all_ended and not own <= ran.possible:
        yield _Difference("own", is_less=False)
    yield from _outside("ran", ran.tools, {*map(tool_key, facts.ran or ())}, ran.possible_tools)
    for name, kept, given in (
        ("approved", ran.approved, facts.approved),
        ("waived", ran.waived, facts.waived),
    ):
        keys = [*dict.fromkeys(in_turn(kept))]
        if ran.any_late:
            yield from _other_yeses(name, {*keys}, {*map(yes_key, given or ())}, ran)
        else:
            yield from _other_values(name, keys, given, yes_key)


def _differences_at_end(life: Life, closed: ClosedEntry) -> Iterator[_Difference]:
    """Yield what a session carries that its turns contradict."""
    if closed.turns != life.last:
        yield _Difference("turns", is_less=closed.turns < life.last)
    ran = life.ran_before(life.last + 1)
    yield from _spent_differences(ran, closed.spent)
    yield from _sent_differences(ran, closed.sent, [*map(sent_key, closed.sent or ())])


def _other_yeses(name: str, kept: set[Key], given: set[Key], ran: RanSum) -> Iterator[_Difference]:
    """Yield that what a person approved is other than it should be, in any order.

    What was approved when a call was opened is on record once its batch has ended.
    """
    if not kept <= given:
        yield _Difference(name, is_less=True)
    elif kept != given and not ran.any_awaited:
        yield _Difference(name, is_less=False)


def _other_values(
    name: str, kept: list[Key], given: Sequence[_T] | None, key_of: Callable[[_T], Key]
) -> Iterator[_Difference]:
    """Yield that values are others, or in another order, than they should be."""
    keys = None if given is None else [*map(key_of, given)]
    if keys != (kept or None):
        yield _Difference(name, is_less=not {*kept} <= {*(keys or ())})


def _sent_differences(
    ran: RanSum, sent: Sequence[SentValues] | None, keys: list[Key]
) -> Iterator[_Difference]:
    """Yield that what was sent is other values, or in another order, than it should be.

    Of a batch whose calls have not all ended, other calls than the allowed ones may have sent more.
    """
    kept = in_turn(ran.sent)
    is_same = kept == keys  # most are, and counting costs more
    if not (is_same or Counter(kept) <= Counter(keys)):
        yield _Difference("sent", is_less=True)
        return
    seqs = [one.seq for one in sent or ()]
    differs = not is_same and Counter(kept) != Counter(keys)
    if seqs != sorted(seqs) or (differs and not ran.any_awaited):
        yield _Difference("sent", is_less=False)


def _spent_differences(ran: RanSum, spent: Spent | None) -> Iterator[_Difference]:
    if spent is None or spent.steps is None or spent.steps < ran.steps:
        yield _Difference("spent.steps", is_less=True)
        return
    given = {one.args_digest for one in spent.calls or ()}
    calls = [*_outside("spent.calls", ran.spent, given, ran.possible_spent)]
    if spent.steps > ran.steps + ran.waiting:
        yield _Difference("spent.steps", is_less=False)
    if spent.steps > ran.steps or ran.any_awaited:
        yield from (one for one in calls if one.is_less)
    else:
        yield from calls


def _outside(name: str, least: set[_T], given: set[_T], most: set[_T]) -> Iterator[_Difference]:
    """Yield what is different about values that are less than some, or more than others."""
    if not least <= given:
        yield _Difference(name, is_less=True)
    elif not given <= most:
        yield _Difference(name, is_less=False)
