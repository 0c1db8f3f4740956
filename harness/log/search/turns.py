"""The turns of a log, as its index says them: their records, and what became of each.

Rule 1: a turn is asked for as a whole. It passes filters where any of its records does, and its
        fate is that of all its records, those that pass and those that do not.
Rule 2: a few numbers are kept of each record: no text, so that a large log fits.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name
from evals.kinds import Fate
from harness.log.log_errors import LogDamaged
from harness.log.search.query import ENDED_BY, Condition
from harness.log.store import Connection
from harness.log.tables import INDEX
from harness.record import RecordFacts, fate
from harness.record.fates import end_known, join_facts

RED: Final[Fate] = "ran_although_refused"
"""What comes first in every list, and lets a command that reads a log end with 1."""

_BEGAN: Final = int(RecordFacts.BEGAN)
_UNDER_WAY: Final = (
    f"CASE WHEN facts & {_BEGAN} > 0 AND {ENDED_BY} IS NULL THEN {_BEGAN} ELSE 0 END"
)
_FACTS: Final = " | ".join(
    f"max({_UNDER_WAY if one == RecordFacts.BEGAN else f'facts & {int(one)}'}) OVER turn_of"
    for one in RecordFacts
)
"""The facts of all records of a turn together. An execution that ended is not under way."""


class TurnRecords(NamedTuple):
    """A turn: the numbers of its records, in order, and what they say together."""

    records: tuple[int, ...]
    facts: RecordFacts

    def as_recorded(self, facts: Iterable[int]) -> "TurnRecords":
        """Return it with the facts that its records say, whose executions end as is known."""
        said = end_known(join_facts(map(RecordFacts, facts)))
        return self._replace(facts=said | (self.facts & RecordFacts.BEGAN))

    @property
    def first(self) -> int:
        """The number of its first record, by which it is listed."""
        return self.records[0]

    @property
    def fate(self) -> Fate:
        """What became of it."""
        return fate_named(self.facts)

    @property
    def after_yes(self) -> bool:
        """Whether a person said yes."""
        return bool(self.facts & RecordFacts.YES)

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        wire: dict[str, Any] = {"fate": self.fate, "records": list(self.records)}
        wire |= {"after_yes": True} if self.after_yes else {}
        return wire | ({"shadow": True} if self.shadow else {})

    @property
    def shadow(self) -> bool:
        """Whether it was not allowed, and that was not enforced."""
        return bool(self.facts & RecordFacts.SHADOW)


@cache
def fate_named(facts: int) -> Fate:
    """Return what became of a turn with these facts."""
    return fate([RecordFacts(facts)])


@cache
def facts_with(fates: frozenset[Fate]) -> tuple[int, ...]:
    """Return all facts that a turn of one of these fates may have."""
    return tuple(number for number in range(2 * max(RecordFacts)) if fate_named(number) in fates)


def turn_rows(condition: Condition, fates: frozenset[Fate] = frozenset()) -> str:
    """Return what selects the records of the turns that are asked for: a table of its own.

    It has the columns of the index, and of the turn of each record: `first_seq` and `last_seq`, the
    numbers of its first and of its last record that is not a beginning, and `turn_facts`.
    """
    wanted = f"CASE WHEN 1 = 1{condition.text} THEN 1 ELSE 0 END"
    # A trace is of whole turns: the others need not be looked at.
    within = " AND trace = :f_trace" if ":f_trace" in condition.text else ""
    own = "" if not fates else f" AND turn_facts IN ({', '.join(map(str, facts_with(fates)))})"
    return (
        f"(SELECT * FROM (SELECT {INDEX}.*, min(seq) OVER turn_of AS first_seq, "  # noqa: S608
        "max(CASE WHEN status <> 'begun' THEN seq END) OVER turn_of AS last_seq, "
        f"{_FACTS} AS turn_facts, max({wanted}) OVER turn_of AS is_wanted "
        f"FROM {INDEX} WHERE seq <= :last{within} "
        "WINDOW turn_of AS (PARTITION BY trace, turn, plan)) AS every "
        f"WHERE is_wanted = 1{own}) AS turns"
    )


class TurnTable:
    """The turns that are asked for, by the numbers of their records.

    It holds a few numbers for each record: its own, the facts of its turn, and the places of the
    next and the last record of that.
    """

    def __init__(
        self, connection: Connection, condition: Condition, fates: frozenset[Fate], last: int
    ) -> None:
        """Read them.

        Raises:
            LogDamaged: the index holds what no version writes.
        """
        self._seqs, self._facts = array("q"), array("h")
        self._next, self._latest = array("q"), array("q")
        self._firsts = array("q")
        rows = turn_rows(condition, fates)
        text = f"SELECT seq, first_seq, turn_facts FROM {rows} ORDER BY seq LIMIT :most"  # noqa: S608
        given = {**condition.values, "last": last, "most": 2**62}
        for seq, first, facts in connection.execute(text, given):
            self._add(seq, first, require_facts(facts))

    def _add(self, seq: int, first: int, facts: int) -> None:
        place = len(self._seqs)
        for column, value in ((self._seqs, seq), (self._next, -1), (self._latest, place)):
            column.append(value)
        self._facts.append(facts)
        if seq == first:
            self._firsts.append(place)
        else:
            begins = self._place_of(first)
            self._next[self._latest[begins]] = place
            self._latest[begins] = place

    def _place_of(self, seq: int) -> int:
        return bisect_left(self._seqs, seq)

    def __len__(self) -> int:
        return len(self._firsts)

    def counts(self) -> Counter[Fate]:
        """Return how many turns have each fate."""
        return Counter(fate_named(self._facts[place]) for place in self._firsts)

    def fate_of(self, seq: int) -> Fate | None:
        """Return what became of the turn of a record; None if it is not asked for."""
        place = self._place_of(seq)
        if place == len(self._seqs) or self._seqs[place] != seq:
            return None
        return fate_named(self._facts[place])

    def turns(self) -> Iterator[TurnRecords]:
        """Yield the turns by their first records, but first what ran although it was refused."""
        yield from (one for one in self._in_order(is_red=True))
        yield from (one for one in self._in_order(is_red=False))

    def _in_order(self, *, is_red: bool) -> Iterator[TurnRecords]:
        for place in self._firsts:
            if (fate_named(self._facts[place]) == RED) == is_red:
                yield TurnRecords(tuple(self._records(place)), RecordFacts(self._facts[place]))

    def _records(self, place: int) -> Iterator[int]:
        while place >= 0:
            yield self._seqs[place]
            place = self._next[place]


def require_facts(facts: Any) -> int:
    """Return the facts of a turn as the index says them.

    Raises:
        LogDamaged: they are what no version writes.
    """
    if type(facts) is not int or not 0 <= facts < 2 * max(RecordFacts):
        shown = escape_name(str(facts))
        raise LogDamaged(f"the index is damaged: it says facts {shown}: run `critic log verify`")
    return facts
