"""What a search finds, and what is counted, of any rows: as a second statement of it says."""

import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evals.kinds import FATES, Fate
from harness.log import SqlDecisionLog
from harness.log.log_writing import Written
from harness.log.search import listing as listings
from harness.log.search.listing import Listing
from harness.log.search.log_statistics import log_statistics
from harness.log.search.query import Filters
from harness.record import Gap, RawRecord, RecordFacts, fate
from harness.record.drafts import begun_claim
from harness.record.fates import end_known
from harness.record.index_row import OF_NO_TURN, IndexRow, time_of
from tests.harness.log.decisions import meddle
from tests.support.effort import examples

_DAY: Final = 86_400_000_000
KINDS: Final = ("provenance", "provenance_of", "budget")
TOOLS: Final = (("shop", "pay"), ("shop", "pay_out"), ("pay", "list"))
FACTS: Final = st.integers(0, 2 * max(RecordFacts) - 1) | st.sampled_from(
    [
        RecordFacts.ASKED | RecordFacts.LAPSED,
        RecordFacts.ASKED | RecordFacts.LAPSED | RecordFacts.YES,
        RecordFacts.ALLOWED | RecordFacts.RAN,
        RecordFacts.REFUSED,
    ]
).map(int)


def _list_names(names: list[str]) -> str | None:
    return f" {' '.join(dict.fromkeys(names))} " if names else None


COLUMNS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "seq": st.just(0),
        "status": st.sampled_from(
            ["completed", "refused_by_critic", "begun", "settled", "critic_error", "closed"]
        ),
        "at_us": st.none() | st.integers(-2, 2) | st.sampled_from([-_DAY, _DAY - 1, _DAY]),
        "trace": st.sampled_from([None, "a", "b"]),
        "plan": st.sampled_from([None, "p", "q"]),
        "turn": st.sampled_from([None, 1, 2]),
        "kind": st.none() | st.sampled_from(KINDS),
        "kinds": st.lists(st.sampled_from(KINDS), max_size=2).map(_list_names),
        "tools": st.lists(st.sampled_from([f"{a}/{c}" for a, c in TOOLS]), max_size=2).map(
            _list_names
        ),
        "of_user": st.sampled_from([None, "ada", "adam"]),
        "facts": FACTS,
        "steps": st.none() | st.integers(0, 3),
        "max_steps": st.none() | st.integers(0, 3),
        "cost_micros": st.none() | st.integers(0, 3),
        "max_cost_micros": st.none() | st.integers(0, 3),
    }
)
rows = COLUMNS.map(lambda columns: IndexRow(**columns))
filters = st.builds(
    Filters,
    status=st.sampled_from([None, None, "completed", "begun", "open"]),
    kind=st.none() | st.sampled_from(KINDS),
    tool=st.sampled_from([None, None, "shop/pay", "pay", "pay_out", "list", "shop", "ist"]),
    trace=st.sampled_from([None, None, "a"]),
    user=st.sampled_from([None, None, "ada"]),
    since=st.none() | st.integers(-2, 2).map(time_of),
    until=st.none() | st.integers(-2, 2).map(time_of),
    least_cost=st.none() | st.integers(0, 3),
    most_cost=st.none() | st.integers(0, 3),
    fates=st.just(frozenset[Fate]()) | st.frozensets(st.sampled_from(FATES), max_size=4),
)


class Drawn(NamedTuple):
    """Rows with numbers, the numbers that are gone, and which record ends another one."""

    rows: list[IndexRow]
    gone: frozenset[int]
    ends: dict[int, int]

    @property
    def left(self) -> list[IndexRow]:
        return [row for row in self.rows if row.seq not in self.gone]


@st.composite
def logs(draw: st.DrawFn) -> Drawn:
    listed = draw(st.lists(rows, min_size=1, max_size=7))
    numbered = [row._replace(seq=at) for at, row in enumerate(listed, 1)]
    gone = draw(st.frozensets(st.integers(1, len(listed)), max_size=2))
    pairs = st.tuples(st.integers(1, len(listed)), st.integers(1, len(listed)))
    ends = dict(one for one in draw(st.lists(pairs, max_size=2)) if one[0] < one[1])
    return Drawn(numbered, gone - {len(listed)}, ends)


def written(path: Path, drawn: Drawn) -> SqlDecisionLog:
    log = SqlDecisionLog.open(path)
    records = [RawRecord(row.seq, f"{row.seq:064x}", b"{}") for row in drawn.rows]
    claims = {begun_claim(f"{first:064x}"): last for first, last in drawn.ends.items()}
    log._write_all(lambda *_: Written(records, {}, claims, drawn.rows))
    tables = ("records", "record_index")
    gone = [(f"DELETE FROM {one} WHERE seq = ?", (seq,)) for one in tables for seq in drawn.gone]  # noqa: S608
    if gone:
        meddle(path, *gone)
    return log


# The second statement.


def has_name(listed: str | None, name: str) -> bool:
    return name in (listed or "").split()


def is_within(row: IndexRow, asked: Filters) -> bool:
    """Return whether the time of a record is asked for."""
    at = row.at_us
    return (asked.since is None or (at is not None and time_of(at) >= asked.since)) and (
        asked.until is None or (at is not None and time_of(at) < asked.until)
    )


def passes(row: IndexRow, asked: Filters, *, is_ended: bool) -> bool:
    """Return whether a record is asked for by itself, whatever its time."""
    cost = row.cost_micros
    tools = (row.tools or "").split()
    status = asked.status
    if status == "open":
        by_status = row.status == "begun" and not is_ended
    else:
        by_status = status is None or row.status == status
    return all(
        (
            by_status,
            asked.kind is None or has_name(row.kinds, asked.kind) or row.kind == asked.kind,
            asked.tool is None or any(asked.tool in (one, one.partition("/")[2]) for one in tools),
            asked.trace is None or row.trace == asked.trace,
            asked.user is None or row.of_user == asked.user,
            asked.least_cost is None or (cost is not None and cost >= asked.least_cost),
            asked.most_cost is None or (cost is not None and cost <= asked.most_cost),
        )
    )


class Turn(NamedTuple):
    """The records of a turn, and what became of it."""

    records: list[IndexRow]
    facts: RecordFacts
    fate: Fate


def turns_of(drawn: Drawn) -> list[Turn]:
    """Return the turns by their first records."""
    groups: dict[Any, list[IndexRow]] = defaultdict(list)
    for row in drawn.left:
        if row.status not in OF_NO_TURN:
            groups[row.trace, row.turn, row.plan].append(row)
    found = []
    for records in groups.values():
        said = [facts_left(row, drawn) for row in records]
        whole = RecordFacts(0)
        for one in said:
            whole |= one
        found.append(Turn(records, whole, fate(said)))
    return found


def facts_left(row: IndexRow, drawn: Drawn) -> RecordFacts:
    facts = RecordFacts(row.facts)
    return end_known(facts) if row.seq in drawn.ends else facts


def wanted_turns(drawn: Drawn, asked: Filters) -> list[Turn]:
    return [
        turn
        for turn in turns_of(drawn)
        if any(passes(row, asked, is_ended=row.seq in drawn.ends) for row in turn.records)
        and is_within(turn.records[0], asked)
        and (not asked.fates or turn.fate in asked.fates)
    ]


def gaps_in(drawn: Drawn) -> Iterator[Gap]:
    for before, after in pairwise([0, *(row.seq for row in drawn.left)]):
        if after > before + 1:
            yield Gap(before + 1, after - 1)


def listed_rows(drawn: Drawn, asked: Filters) -> list[Any]:
    """Return the rows that are asked for by their numbers, and all gaps, in order."""
    fates = {row.seq: turn.fate for turn in turns_of(drawn) for row in turn.records}
    found: list[Any] = [
        (row.seq, fates.get(row.seq))
        for row in drawn.left
        if passes(row, asked, is_ended=row.seq in drawn.ends)
        and is_within(row, asked)
        and (not asked.fates or fates.get(row.seq) in asked.fates)
    ]
    return sorted([*found, *gaps_in(drawn)], key=lambda one: one[0])


def row(seq: int, **columns: Any) -> IndexRow:
    given: dict[str, Any] = {"status": "completed", "at_us": 0, "trace": "a", "plan": "p"}
    return IndexRow(seq, **{**given, **columns})


def alone(*found: IndexRow, gone: frozenset[int] = frozenset()) -> Drawn:
    return Drawn(list(found), gone, {})


OPEN = RecordFacts.ASKED
LAPSED_THEN_YES = int(OPEN | RecordFacts.LAPSED | RecordFacts.YES | RecordFacts.ALLOWED)


@example(drawn=alone(row(1, at_us=2)), asked=Filters(until=time_of(2)), window=9)
@example(drawn=alone(row(1), row(2, at_us=2)), asked=Filters(since=time_of(1)), window=9)
@example(drawn=alone(row(1, cost_micros=3)), asked=Filters(most_cost=3), window=9)
@example(drawn=alone(row(1, tools=" shop/pay_out ")), asked=Filters(tool="pay"), window=9)
@example(drawn=alone(row(1, kinds=" provenance_of ")), asked=Filters(kind="provenance"), window=9)
@example(drawn=alone(row(1, turn=1), row(2, turn=2)), asked=Filters(), window=9)
@example(drawn=alone(row(1, of_user="ada"), row(2)), asked=Filters(user="ada"), window=9)
@example(drawn=alone(row(1, facts=LAPSED_THEN_YES)), asked=Filters(), window=9)
@example(drawn=alone(row(1, steps=2, max_steps=2)), asked=Filters(), window=9)
@example(
    drawn=alone(*(row(n) for n in range(1, 7)), gone=frozenset({1, 4})), asked=Filters(), window=2
)
@settings(max_examples=examples(100), deadline=None)
@given(drawn=logs(), asked=filters, window=st.integers(1, 9))
def test_a_search_of_any_rows_finds_and_counts_what_the_rows_say(
    drawn: Drawn, asked: Filters, window: int
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="critic-rows-"))
    try:
        with written(folder / "log", drawn) as log, pytest.MonkeyPatch.context() as patched:
            patched.setattr(listings, "_WINDOW", window)
            listing = Listing(log)
            told = [
                one if isinstance(one, Gap) else (one.row.seq, one.fate)
                for one in listing.rows(asked)
            ]
            assert told == listed_rows(drawn, asked)
            compare_turns(listing, drawn, asked)
            compare_counts(listing, drawn, asked)
    finally:
        shutil.rmtree(folder)


def compare_turns(listing: Listing, drawn: Drawn, asked: Filters) -> None:
    found = [(one.records, one.fate) for one in listing.turns(asked).turns()]
    expected = [
        (tuple(row.seq for row in turn.records), turn.fate) for turn in wanted_turns(drawn, asked)
    ]
    assert sorted(found) == sorted(expected)
    reds = [fate == "ran_although_refused" for _, fate in found]
    assert reds == sorted(reds, reverse=True)
    assert listing.count_turns() == len(turns_of(drawn))


def compare_counts(listing: Listing, drawn: Drawn, asked: Filters) -> None:
    counted, turns = log_statistics(listing, asked), wanted_turns(drawn, asked)
    assert counted.fates == Counter(turn.fate for turn in turns)
    asks = [turn.facts for turn in turns if turn.facts & RecordFacts.ASKED]
    answers = RecordFacts.YES | RecordFacts.NO
    assert counted.questions == (
        len(asks),
        sum(bool(one & RecordFacts.YES) for one in asks),
        sum(bool(one & RecordFacts.NO) for one in asks),
        sum(bool(one & RecordFacts.LAPSED and not one & answers) for one in asks),
    )
    lasts = [
        [row for row in turn.records if row.status not in ("begun", "settled")] for turn in turns
    ]
    ends = [some[-1] for some in lasts if some]
    for name in ("steps", "cost_micros"):
        pairs = [(getattr(one, name), getattr(one, f"max_{name}")) for one in ends]
        known = [(used, most) for used, most in pairs if None not in (used, most)]
        spending = counted.budgets[name]
        assert spending.measured == len(known)
        assert spending.over == sum(used > most for used, most in known)
        assert spending.total == sum(used or 0 for used, _ in pairs)


def test_what_is_asked_for_by_nothing_is_all() -> None:
    whole = Filters()
    assert whole.condition().text == ""
    assert all(passes(row(1), replace(whole), is_ended=end) for end in (True, False))
