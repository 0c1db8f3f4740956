"""The turns of a log, as its index says them: their records, and what became of each.

Rule 1: a turn is asked for as a whole. It passes filters where any of its records does, and its
        fate is that of all its records, those that pass and those that do not.
Rule 2: a few numbers are kept of each record: no text, so that a large log fits.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name
from evals.kinds import Fate
from harness.log.log_errors import LogDamaged
from harness.log.search.query import ENDED_BY, SqlCondition
from harness.log.store import Connection
from harness.log.tables import INDEX
from harness.record import RecordFacts, fate
from harness.record.fates import UNTIL_ENDED, end_known, join_facts
from harness.record.index_row import OF_NO_TURN

RED: Final[Fate] = "ran_although_refused"
"""What comes first in every list, and lets a command that reads a log end with 1."""

_UNTIL: Final = int(UNTIL_ENDED)
_SAID: Final = (
    f"CASE WHEN facts & {_UNTIL} > 0 AND {ENDED_BY} IS NOT NULL "
    f"THEN facts & {~_UNTIL} ELSE facts END"
)
"""The facts of a record in SQL, without those that hold until its execution has ended."""

_BITS: Final = [
    f"max(CASE WHEN facts & {bit} > 0 AND {ENDED_BY} IS NULL THEN {bit} ELSE 0 END)"
    if bit & _UNTIL
    else f"max(facts & {bit})"
    for bit in map(int, RecordFacts)
]
_KEY: Final = "trace, turn, plan"
_LOST: Final = {"session": "session IS NULL AND mode IS NULL", "tool": "steps IS NULL"}
"""The condition that a record has lost what a filter asks for, if not that its context is gone."""

_OF_TURNS: Final = f"coalesce(status, '') NOT IN ({', '.join(map(repr, OF_NO_TURN))})"
"""The condition that a record is of a turn."""


class TurnRecords(NamedTuple):
    """A turn: the numbers of its records, in order, and what they say together."""

    records: tuple[int, ...]
    facts: RecordFacts

    def as_recorded(self, facts: Iterable[int]) -> "TurnRecords":
        """Return it with the facts that its records say, whose executions end as is known."""
        said = end_known(join_facts(map(RecordFacts, facts)))
        return self._replace(facts=said | (self.facts & UNTIL_ENDED))

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
def _facts_with(fates: frozenset[Fate]) -> tuple[int, ...]:
    """Return all facts that a turn of one of these fates may have."""
    return tuple(number for number in range(2 * max(RecordFacts)) if fate_named(number) in fates)


def turn_rows(condition: SqlCondition, fates: frozenset[Fate]) -> str:
    """Return what selects the records of the turns that are asked for: a table of its own."""
    facts = " | ".join(f"{bit} OVER turn_of" for bit in _BITS)
    return (
        f"(SELECT * FROM (SELECT {INDEX}.*, {facts} AS turn_facts, "  # noqa: S608
        f"max({_wanted_column(condition)}) OVER turn_of AS is_wanted, "
        "min(seq) OVER turn_of AS first_seq "
        f"FROM {INDEX} WHERE seq <= :last AND {_OF_TURNS}{_within(condition)} "
        f"WINDOW turn_of AS (PARTITION BY {_KEY})) AS every "
        f"WHERE is_wanted = 1{_began_so(condition)}{_of_fates('turn_facts', fates)}) AS turns"
    )


def turn_groups(condition: SqlCondition, fates: frozenset[Fate]) -> str:
    """Return what selects the turns that are asked for: a table of its own.

    It has the numbers of the first record and of the last one that is more than a beginning or a
    settlement, `first_seq` and `last_seq`, and `turn_facts`.
    """
    facts = " | ".join(_BITS)
    return (
        "(SELECT * FROM (SELECT min(seq) AS first_seq, "  # noqa: S608
        "max(CASE WHEN status NOT IN ('begun', 'settled') THEN seq END) AS last_seq, "
        f"{facts} AS turn_facts "
        f"FROM {INDEX} WHERE seq <= :last AND {_OF_TURNS}{_within(condition)} GROUP BY {_KEY} "
        f"HAVING max({_wanted_column(condition)}) = 1{_of_fates(facts, fates)}) AS every "
        f"WHERE 1 = 1{_began_so(condition)}) AS turns"
    )


def turn_count(last: int) -> str:
    """Return what counts all turns up to a record."""
    turns = f"SELECT 1 FROM {INDEX} WHERE seq <= {last:d} AND {_OF_TURNS} GROUP BY {_KEY}"  # noqa: S608
    return f"SELECT count(*) FROM ({turns}) AS turns"  # noqa: S608


def unseen_turns(columns: Iterable[str], last: int) -> str:
    """Return what selects the turns up to a record that have lost what filters ask for.

    A column without a value is one that was taken out where its whole input was.
    """
    lost = " OR ".join(_LOST.get(one, "mode IS NULL") for one in columns)
    return (
        f"SELECT DISTINCT {_KEY} FROM {INDEX} WHERE seq <= {last:d} AND {_OF_TURNS} "  # noqa: S608
        f"AND status <> 'critic_error' AND ({lost}) "
        f"AND EXISTS (SELECT 1 FROM {INDEX} WHERE status = 'redacted')"
    )


def _wanted_column(condition: SqlCondition) -> str:
    return _flag(condition.text)


def _flag(condition: str) -> str:
    return f"CASE WHEN 1 = 1{condition} THEN 1 ELSE 0 END"


def _began_so(condition: SqlCondition) -> str:
    """Return the condition of a turn that its first record passes what is asked of that."""
    first = f"SELECT 1 FROM {INDEX} AS began WHERE began.seq = first_seq"  # noqa: S608
    return f" AND EXISTS ({first}{condition.began})" if condition.began else ""


def _within(condition: SqlCondition) -> str:
    """Return what need not be looked at: a trace is of whole turns."""
    return " AND trace = :f_trace" if ":f_trace" in condition.text else ""


def _of_fates(facts: str, fates: frozenset[Fate]) -> str:
    return f" AND ({facts}) IN ({', '.join(map(str, _facts_with(fates)))})" if fates else ""


class TurnTable:
    """The turns that are asked for, by the numbers of their records.

    It holds a few numbers for each record and for each turn, which are counted by their keys.
    """

    def __init__(
        self, connection: Connection, condition: SqlCondition, fates: frozenset[Fate], last: int
    ) -> None:
        """Read them.

        Raises:
            LogDamaged: the index holds what no version writes.
        """
        self._seqs, self._turn_of, self._next = array("q"), array("q"), array("q")
        self._latest, self._facts, self._wanted = array("q"), array("h"), bytearray()
        self._firsts = array("q")
        text = (
            f"SELECT seq, dense_rank() OVER (ORDER BY {_KEY}), {_SAID}, "  # noqa: S608
            f"{_wanted_column(condition)}, {_flag(condition.began)} FROM {INDEX} "
            f"WHERE seq <= :last AND {_OF_TURNS}{_within(condition)} "
            "ORDER BY seq LIMIT :most"
        )
        given = {**condition.values, "last": last, "most": 2**62}
        for seq, rank, facts, wanted, began in connection.execute(text, given):
            self._add(seq, rank, require_facts(facts), wanted, began)
        self._firsts = array("q", (one for one in self._firsts if self._is_asked_for(one, fates)))

    def _add(self, seq: int, turn: int, facts: int, wanted: int, began: int) -> None:
        place = len(self._seqs)
        if (more := turn + 1 - len(self._latest)) > 0:
            self._latest.extend([-1] * more)
            self._facts.extend([0] * more)
            self._wanted.extend(bytes(more))
        if (before := self._latest[turn]) >= 0:
            self._next[before] = place
        elif began:
            self._firsts.append(place)
        self._latest[turn] = place
        self._facts[turn] |= facts
        self._wanted[turn] |= wanted
        self._seqs.append(seq)
        self._turn_of.append(turn)
        self._next.append(-1)

    def _is_asked_for(self, place: int, fates: frozenset[Fate]) -> bool:
        is_wanted = bool(self._wanted[self._turn_of[place]])
        return is_wanted and (not fates or self._fate_at(place) in fates)

    def _fate_at(self, place: int) -> Fate:
        return fate_named(self._facts[self._turn_of[place]])

    def __len__(self) -> int:
        return len(self._firsts)

    def fate_of(self, seq: int) -> Fate | None:
        """Return what became of the turn of a record, asked for or not; None if it is of none."""
        place = bisect_left(self._seqs, seq)
        is_known = place < len(self._seqs) and self._seqs[place] == seq
        return self._fate_at(place) if is_known else None

    def turns(self) -> Iterator[TurnRecords]:
        """Yield the turns by their first records, but first what ran although it was refused."""
        yield from self._in_order(is_red=True)
        yield from self._in_order(is_red=False)

    def _in_order(self, *, is_red: bool) -> Iterator[TurnRecords]:
        for place in self._firsts:
            if (self._fate_at(place) == RED) == is_red:
                facts = RecordFacts(self._facts[self._turn_of[place]])
                yield TurnRecords(tuple(self._records(place)), facts)

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
