"""Each filter lets through what it names and nothing that is near it; what is missing is said."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from harness.log import SqlDecisionLog
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.search.turns import TurnRecords
from harness.record import Gap, RecordFacts
from harness.record.index_row import name_column, time_of
from tests.harness.log.decisions import filled, meddle
from tests.harness.log.search.test_drawn_rows import Drawn, alone, row, written

ODD: Final = 'a "b"\\c é'
ROWS: Final = [
    row(1, checks=" budget ", mode="normal", cost_micros=0),
    row(2, checks=" budget_of x_budget ", mode="normal ", cost_micros=1),
    row(3, checks=" approval budget ", mode="Normal", session=name_column(ODD)),
    row(4, session=name_column(name_column(ODD)), of_tenant="t", of_user="u"),
    row(5, session="a", of_tenant="u", of_user="t"),
    row(6, trace="session", session="trace", of_tenant="T"),
    row(7, status="begun", trace="b1"),
    row(8, status="begun", trace="b2"),
    row(9, status="settled", trace="b2", facts=int(RecordFacts.UNKNOWN)),
    row(10, status="settled", trace="b3"),
    row(11, status="completed", trace="b2", tools=" x/pay "),
    row(12, tools=" x/repay pay/x "),
]
ENDS: Final = {8: 9, 9: 11}
ASKED: Final[list[tuple[Any, list[int]]]] = [
    (Filters(check="budget"), [1, 3]),
    (Filters(check="budget_of"), [2]),
    (Filters(check=""), []),
    (Filters(mode="normal"), [1]),
    (Filters(session=ODD), [3]),
    (Filters(session=name_column(ODD)), [4]),
    (Filters(session="trace"), [6]),
    (Filters(trace="session"), [6]),
    (Filters(tenant="t"), [4]),
    (Filters(user="t"), [5]),
    (Filters(tenant="u", user="t"), [5]),
    (Filters(tool="pay"), [11]),
    (Filters(tool="x/pay"), [11]),
    (Filters(tool="pay/x"), [12]),
    (Filters(least_cost=0), [1, 2]),
    (Filters(most_cost=0), [1]),
    (Filters(status="begun"), [7, 8]),
    (Filters(status="open"), [7]),
    (Filters(status="settled"), [9, 10]),
    (Filters(numbers=frozenset({3, 7, 40})), [3, 7]),
    (Filters(numbers=frozenset()), []),
    (Filters(numbers=frozenset({3}), check="budget"), [3]),
    (Filters(since=time_of(0), until=time_of(1), numbers=frozenset({5})), [5]),
    (Filters(until=time_of(0)), []),
    (Filters(since=time_of(1)), []),
]


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listing]:
    path = tmp_path_factory.mktemp("rows") / "log"
    with written(path, Drawn(ROWS, frozenset(), ENDS)) as log:
        yield Listing(log)


@pytest.mark.parametrize(("asked", "numbers"), ASKED)
def test_a_filter_lets_through_what_it_names(
    listing: Listing, asked: Filters, numbers: list[int]
) -> None:
    found = [one for one in listing.rows(asked) if not isinstance(one, Gap)]
    assert [one.row.seq for one in found] == numbers
    ended = {seq: ENDS.get(seq) for seq in numbers}
    assert {one.row.seq: one.ended_by for one in found} == ended


def test_a_turn_says_what_all_its_records_say(tmp_path: Path) -> None:
    ran, allowed = int(RecordFacts.RAN), int(RecordFacts.ALLOWED)
    rows = [
        *(row(1, facts=allowed, of_user="ada"), row(2, facts=ran), row(3, turn=1, facts=ran)),
        *(row(4, turn=1, facts=allowed), row(5, turn=2, facts=ran, of_user="ada")),
    ]
    with written(tmp_path / "log", alone(*rows)) as log:
        listing = Listing(log)
        told = {
            one.row.seq: one.fate for one in listing.rows(Filters()) if not isinstance(one, Gap)
        }
        assert told == {**dict.fromkeys((1, 2, 3, 4), "ran"), 5: "ran_although_refused"}
        turns = [*listing.turns(Filters(user="ada")).turns()]
        assert [(one.records, one.fate) for one in turns] == [
            ((5,), "ran_although_refused"),
            ((1, 2), "ran"),
        ]


@pytest.mark.parametrize("user", [None, "ada"])
def test_every_gap_is_among_the_rows_whatever_is_asked_for(
    tmp_path: Path, user: str | None
) -> None:
    rows = [row(at, of_user="ada" if at in (7, 9) else None) for at in range(1, 10)]
    gone = frozenset({1, 3, 5, 6, 8})
    with written(tmp_path / "log", alone(*rows, gone=gone)) as log:
        told = [
            one if isinstance(one, Gap) else one.row.seq
            for one in Listing(log).rows(Filters(user=user))
        ]
    gaps = [Gap(1, 1), Gap(3, 3), Gap(5, 6), Gap(8, 8)]
    first, second, third, fourth = gaps
    everything = [first, 2, second, 4, third, 7, fourth, 9]
    assert told == (everything if user is None else [first, second, third, 7, fourth, 9])


LACKING, OTHER = "1 record is not listed", "the index has 1 row without a record"
DELETED = "DELETE FROM record_index WHERE seq = 2"
ADDED = "INSERT INTO record_index (seq, facts, approvals, attempts) VALUES (9, 0, 0, 0)"


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ((), ()),
        ((DELETED,), (LACKING,)),
        ((ADDED,), (OTHER,)),
        ((DELETED, ADDED), (LACKING, OTHER)),
    ],
)
def test_rows_and_records_that_have_no_other_are_counted_apart(
    tmp_path: Path, changes: tuple[str, ...], problems: tuple[str, ...]
) -> None:
    filled(tmp_path / "log", 4).close()
    meddle(tmp_path / "log", *((one, ()) for one in changes))
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        listing = Listing(log)
        assert [one.partition(",")[0].partition(":")[0] for one in listing.problems] == [*problems]
        told = [one.row.seq for one in listing.rows(Filters()) if not isinstance(one, Gap)]
        assert told == [seq for seq in (1, 2, 3, 4) if seq != 2 or DELETED not in changes]


def test_a_number_that_no_record_may_have_hides_no_gap(tmp_path: Path) -> None:
    filled(tmp_path / "log", 4).close()
    for table in ("records", "record_index"):
        meddle(tmp_path / "log", (f"UPDATE {table} SET seq = -1 WHERE seq = 1", ()))  # noqa: S608
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        gaps = [one for one in Listing(log).rows(Filters()) if isinstance(one, Gap)]
    assert gaps == [Gap(1, 1)]


def test_the_facts_that_a_turn_is_recorded_with_keep_what_its_end_says() -> None:
    began, unknown = RecordFacts.BEGAN, RecordFacts.UNKNOWN
    for known in (RecordFacts(0), began, unknown, began | unknown):
        turn = TurnRecords((1, 2), known | RecordFacts.FAILED)
        said = turn.as_recorded([int(RecordFacts.ALLOWED | began), int(RecordFacts.RAN)])
        assert said == ((1, 2), RecordFacts.ALLOWED | RecordFacts.RAN | known)


def test_every_filter_is_tried() -> None:
    names, nothing = {*Filters.__slots__}, Filters()
    tried = {
        name
        for asked, _ in ASKED
        for name in names
        if getattr(asked, name) != getattr(nothing, name)
    }
    assert names - tried == {"kind", "fates"}, "those are drawn: see `test_drawn_rows`"
