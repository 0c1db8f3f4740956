"""What the records so far say of one session: a fold that keeps what later facts follow from. Pure.

Rule 1: of a turn that can change no more only sums and sets are kept. The last turns are kept as
        they are: an answer rules on its turn again, and a session may go on from an earlier state.
Rule 2: values are compared as they are spelled: to Python, 1 is True, and both are 1.0.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

import orjson

from evals.capability import ToolName
from evals.context import OwnValue, SentValues
from evals.envelope import Envelope
from evals.side_table import Beside
from harness.canonical import canonical_bytes
from harness.record import sha256
from harness.record.inputs import ToolKey
from harness.replay.session_entries import (
    BeginningEntry,
    EndEntry,
    ReopenedEntry,
    RulingEntry,
    SessionEntry,
)

_KEPT_TURNS: Final = 8
"""So many turns before the last are kept as they are."""

Key = bytes
_NO_KEYS: Final = frozenset[Key]()
_K = TypeVar("_K")


def tool_key(name: ToolName) -> ToolKey:
    """Return what a tool is compared by: the same object for the same tool, since many are kept."""
    return _one_key(name.adapter_id, name.capability_id)


@lru_cache(maxsize=4096)
def _one_key(*name: str) -> ToolKey:
    adapter, capability = name
    return adapter, capability


def inputs_key(digests: Iterable[str]) -> Key:
    """Return what stands for the inputs of a record."""
    return _hash_texts(digests)


def _hash_texts(texts: Iterable[str]) -> Key:
    """Return a hash of digests, or of other texts of one length each."""
    return bytes.fromhex(sha256("".join(texts).encode()))


def own_key(one: OwnValue) -> Key:
    """Return what a thing that a session made is compared by."""
    return orjson.dumps((one.kind, one.value), option=orjson.OPT_SORT_KEYS)


def sent_key(one: SentValues) -> Key:
    """Return what is kept of what a call sent."""
    known = _SENT.get(one)
    if known is None:
        written = orjson.dumps((one.seq, one.values), option=orjson.OPT_SORT_KEYS)
        known = _SENT.keep(one, bytes.fromhex(sha256(written)))
    return known


_SENT: Final = Beside[Key]()


def _keys_of(made: Iterable[OwnValue]) -> frozenset[Key]:
    """Return the keys of things that were made. Most calls make none, and share that."""
    return frozenset(map(own_key, made)) or _NO_KEYS


def yes_key(one: Envelope) -> Key:
    """Return what a yes is compared by."""
    return canonical_bytes(one)


class SeenThen(NamedTuple):
    """What was seen before a batch, and what was known: how many items, and the hashes of both."""

    items: int
    evidence: Key
    facts: Key


@dataclass(slots=True)
class RuledTurn:
    """A batch that was ruled on: what it adds to what is known, if it may run.

    `seen` is kept of the last two turns. `inputs` stands for the digests of its inputs.
    """

    number: int
    inputs: Key
    seen: SeenThen | None
    tools: tuple[ToolKey, ...]
    spent: tuple[str | None, ...]
    sent: tuple[Key, ...]
    verified: bool
    runs: bool
    ended: dict[int, str] = field(default_factory=dict)
    made: frozenset[Key] = _NO_KEYS
    possible: frozenset[Key] = _NO_KEYS
    sent_by_others: tuple[Key, ...] = ()
    spent_by_others: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
    approved: tuple[Key, ...] = ()
    waived: tuple[Key, ...] = ()
    late: bool = False
    is_over: bool = False

    @classmethod
    def of(cls, entry: SessionEntry, ruled: RulingEntry, sent: Iterable[Key]) -> "RuledTurn":
        """Return the turn of a ruling. `sent` are the keys of what was sent before it."""
        return cls(
            number=entry.turn,
            inputs=inputs_key(entry.inputs),
            seen=_seen_by(ruled, sent),
            tools=tuple(tool_key(call.tool) for call in ruled.calls),
            spent=tuple(call.spent for call in ruled.calls),
            sent=tuple(map(sent_key, ruled.sent)),
            verified=ruled.verified,
            runs=ruled.runs,
            late=ruled.late,
        )

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, if only one of its calls; a late one as a whole."""
        return self.is_over if self.late else bool(self.ended)

    @property
    def is_settled(self) -> bool:
        """Whether no later record can change it: all of its calls ended, or none can begin."""
        if self.late and self.runs:
            return self.is_over
        return len(self.ended) >= len(self.tools) if self.runs else not self.verified

    def begin(self, began: BeginningEntry) -> None:
        """Note that its execution began."""
        self.runs = True
        self.approved, self.waived = (
            tuple(map(yes_key, values)) for values in (began.approved, began.waived)
        )

    def end(self, ended: EndEntry) -> None:
        """Note how its calls ended: what has an end ran, whatever was ruled."""
        self.runs = self.is_over = True
        self.ended |= dict(ended.statuses)
        self.approved += tuple(map(yes_key, ended.approved))
        self.waived += tuple(map(yes_key, ended.waived))
        self.made, self.possible = _keys_of(ended.made), _keys_of(ended.possible)
        self.sent_by_others = tuple(map(sent_key, ended.sent))
        self.spent_by_others = ended.spent, ended.possible_spent

    def completed_tools(self, *, certain: bool) -> Iterator[ToolKey]:
        """Yield the tools that completed; `certain`: that surely did, by the records so far."""
        for step, tool in enumerate(self.tools):
            status = self.ended.get(step)
            is_open = status is None and not (self.late and self.is_over)
            if status == "completed" or (is_open and not certain):
                yield tool

    def spent_calls(self, *, certain: bool) -> Iterator[str]:
        """Yield the destructive calls that count, or that surely do, by the records so far."""
        yield from self.spent_by_others[not certain]
        for step, call in enumerate(self.spent):
            status = self.ended.get(step)
            counts = status not in (None, "failed") if certain else status != "failed"
            if call is not None and counts:
                yield call


def _seen_by(ruled: RulingEntry, sent: Iterable[Key]) -> SeenThen:
    """Return what was seen and known at a ruling."""
    spent = "" if ruled.spent is None else ruled.spent.model_dump_json()
    rest = ruled.facts.model_dump_json(exclude={"sent"})
    # What was sent grows with the session, and each of it has its key already.
    keys = None if ruled.facts.sent is None else b"".join(sent).hex()
    facts = _hash_texts([f"{rest} {spent} {keys}"])
    return SeenThen(len(ruled.evidence), hash_evidence(ruled.evidence), facts)


def hash_evidence(digests: Iterable[str]) -> Key:
    """Return one hash for the digests of some items."""
    return _hash_texts(digests)


@dataclass(slots=True)
class RanSum:
    """What the batches that ran add up to. What is certain is also possible.

    Attributes:
        steps: how many calls they had.
        tools: those of verified batches that surely completed.
        possible_tools: those that may have.
        spent: the destructive calls that surely count.
        possible_spent: those that may count.
        made: what verified batches surely made.
        possible: what they may have made.
        sent: what was sent, by turn.
        approved: what a person approved, by turn.
        waived: the calls that a person approved, by turn.
        all_ended: whether each verified batch has ended, if only one of its calls.
        any_awaited: whether a batch has not ended: of its calls others may have been made.
        waiting: how many calls late batches have that have not ended: any of them may have begun.
        any_late: whether a batch is late: what a person approves of it comes at any time.
    """

    steps: int = 0
    tools: set[ToolKey] = field(default_factory=set)
    possible_tools: set[ToolKey] = field(default_factory=set)
    spent: set[str] = field(default_factory=set)
    possible_spent: set[str] = field(default_factory=set)
    made: set[Key] = field(default_factory=set)
    possible: set[Key] = field(default_factory=set)
    sent: dict[int, tuple[Key, ...]] = field(default_factory=dict)
    approved: dict[int, tuple[Key, ...]] = field(default_factory=dict)
    waived: dict[int, tuple[Key, ...]] = field(default_factory=dict)
    all_ended: bool = True
    any_awaited: bool = False
    waiting: int = 0
    any_late: bool = False

    def add(self, number: int, turn: RuledTurn) -> None:
        """Add a batch that ran."""
        self.steps += len(turn.ended) if turn.late else len(turn.tools)
        self.waiting += len(turn.tools) if turn.late and not turn.is_over else 0
        self.any_late = self.any_late or turn.late
        self.any_awaited = self.any_awaited or not turn.has_ended
        self.spent.update(turn.spent_calls(certain=True))
        self.possible_spent.update(turn.spent_calls(certain=False))
        for kept, more in (
            (self.sent, turn.sent + turn.sent_by_others),
            (self.approved, turn.approved),
            (self.waived, turn.waived),
        ):
            if more:
                kept[number] = more
        if turn.verified:
            self.tools.update(turn.completed_tools(certain=True))
            self.possible_tools.update(turn.completed_tools(certain=False))
            self.made |= turn.made
            self.possible |= turn.possible
            self.all_ended = self.all_ended and turn.has_ended

    def plus(self, turns: Mapping[int, RuledTurn]) -> "RanSum":
        """Return the sum with more batches that ran, by their numbers."""
        ran = self._copy()
        for number, turn in turns.items():
            ran.add(number, turn)
        return ran

    def _copy(self) -> "RanSum":
        return replace(
            self,
            tools={*self.tools},
            possible_tools={*self.possible_tools},
            spent={*self.spent},
            possible_spent={*self.possible_spent},
            made={*self.made},
            possible={*self.possible},
            sent={**self.sent},
            approved={**self.approved},
            waived={**self.waived},
        )


def in_turn(kept: dict[int, tuple[_K, ...]]) -> list[_K]:
    """Return values that are kept by turn, in the order of the turns."""
    return [one for number in sorted(kept) for one in kept[number]]


class Life:
    """One session of an id, by its turns.

    One that `is_taken` had turns that are not known here: the facts may say more than those show.
    """

    __slots__ = ("_early", "_first", "_folded", "_folded_to", "_ran", "begun", "is_taken", "turns")

    def __init__(self, *, is_taken: bool = False) -> None:
        """Start before its first turn here."""
        self.is_taken = is_taken
        self.turns: dict[int, RuledTurn] = {}
        self.begun: dict[str, RuledTurn] = {}
        self._first = 1
        self._ran: RanSum | None = None
        self._folded, self._folded_to = 0, 0
        self._early: tuple[int, RanSum] | None = None

    @classmethod
    def after(cls, reopened: ReopenedEntry) -> "Life":
        """Return another life of a session, with what it carries."""
        spent = reopened.spent
        life = cls(is_taken=spent is None)
        life._first, life._folded_to = reopened.turns + 1, reopened.turns
        if spent is not None:
            life._ran = ran = RanSum(steps=spent.steps or 0)
            calls = [one.args_digest for one in spent.calls or ()]
            ran.spent.update(calls)
            ran.possible_spent.update(calls)
            echoes = (one.model_copy(update={"seq": reopened.seen}) for one in reopened.sent)
            ran.sent[0] = tuple(map(sent_key, echoes))
        return life

    @property
    def last(self) -> int:
        """Return the number of its last turn."""
        return max(self._folded_to, *self.turns, 0)

    @property
    def size(self) -> int:
        """Return how many turns it had."""
        return self._folded + len(self.turns)

    def goes_on_with(self, number: int) -> bool:
        """Return whether a turn may be its next one, or is one of the last again."""
        follows = number == self._first or number - 1 in self.turns
        is_first_here = self.is_taken and number in self.turns
        return number > self._folded_to and (follows or is_first_here)

    def rule(self, number: int, turn: RuledTurn) -> None:
        """Take in a ruling on a turn, and fold those that are far before it."""
        if number - 2 in self.turns:  # an answer to the last one is compared with the one before
            self.turns[number - 2].seen = None
        self.turns[number] = turn
        for other in [one for one in self.turns if one < number - _KEPT_TURNS]:
            if self.turns[other].is_settled:
                settled = self.turns.pop(other)
                self._folded += 1
                self._folded_to = max(self._folded_to, other)
                if settled.runs:
                    self._ran = self._ran or RanSum()
                    self._ran.add(other, settled)

    def note_change(self, turn: RuledTurn) -> None:
        """Forget what turns add up to, if this one, which began or ended, is among them."""
        if self._early is not None and turn.number < self._early[0]:
            self._early = None

    def ran_before(self, number: int) -> RanSum:
        """Return what the batches before a turn that ran add up to.

        Those that wait for results long after they were ruled on are added up once.
        """
        first = number - _KEPT_TURNS
        if self._early is not None and self._early[0] > first:
            self._early = None
        start, early = self._early or (0, self._ran or RanSum())
        if waiting := self._turns_that_run(start, first):
            early = early.plus(waiting)
            self._early = first, early
        return early.plus(self._turns_that_run(first, number))

    def _turns_that_run(self, first: int, end: int) -> dict[int, RuledTurn]:
        """Return the turns from one up to another that ran."""
        return {at: one for at, one in self.turns.items() if first <= at < end and one.runs}
