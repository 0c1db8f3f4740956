"""The days that a text names: each spelling, and what is near one."""

from typing import Final

import pytest

from critic.provenance.day_forms import (
    Day,
    counted_from,
    days_in,
    keys_of,
    relative_days,
    sought_days,
)
from critic.provenance.folding import wide

MAY_9: Final = Day(2026, 5, 9)
"""A Saturday."""
MONTHS: Final = (
    "january february march april may june july august september october november december"
)
WEEK: Final = "monday tuesday wednesday thursday friday saturday sunday"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 2026-05-09T10:00", [Day(2026, 5, 9)]),
        ("12026-05-091", []),
        ("5/9/2026", [Day(2026, 5, 9), Day(2026, 9, 5)]),
        (
            "2026/05/09, 20260509, 9.5.2026",
            [*[Day(2026, 5, 9)] * 2, Day(2026, 9, 5), Day(2026, 5, 9)],
        ),
        ("1/5/9/2026", []),
        ("May 9th, and Dec. 24", [Day(None, 5, 9), Day(None, 12, 24)]),
        ("the 9th of May", [Day(None, 5, 9)]),
        ("3 June 2026", [Day(2026, 6, 3)]),
        ("June, 3; June ,3; June3", [Day(None, 6, 3)]),
        ("maybe 9, 9 mayors", []),
        ("may 123", []),
    ],
)
def test_days_are_read_in_the_usual_forms(text: str, days: list[Day]) -> None:
    assert list(days_in(wide(text))) == days


@pytest.mark.parametrize("digit", "0123456789")
def test_a_day_has_no_further_digit_beside_it(digit: str) -> None:
    for text in (f"{digit}2026-05-09", f"2026-05-09{digit}", f"5/9/2026{digit}"):
        assert list(days_in(text)) == []
    assert list(days_in(f"{digit}11/9/2026")) == []
    assert list(days_in(f"2026-05-1{digit}")) == [Day(2026, 5, int(f"1{digit}"))]


NO_DAYS = [
    *("123/4/2026", "1/234/2026", "/9/2026", "x /9/2026", "5//2026", "5/9/2026/1", "5/9/026"),
    *("1234/5/2026", "a/9/2026", "5/9/2026/", "5/9/2026-", "/5/9/2026", ".5/9/2026", "-5/9/2026"),
    *("115/9/2026", "012/9/2026", "5/012/2026", "5/9/20261", "5-9/2026", "5/9-2026"),
    *("2026-012-09", "2026-05-009", "2026--09", "2026-05-", "2026-05/09", "2026/05-09"),
    *("2026-05-0910", "02026-05-09", "226-05-09", "2026-13-09", "2026-05-32", "2026-00-09"),
    *("2026-05-00", "0000-05-09", "2026,05,09", "1990509", "9990509", "2260509", "0260509"),
    *("18990509", "21000509", "20261309", "2026050", "202605091", "120260509", "20260532"),
    *("may 32", "32 may", "may 0", "0 may", "may 091", "091 may", "xmay 9", "9 mays", "x9 may"),
    *("may 9x", "may9", "9may", "9  may", "may.,9", "may 9nth", "9 on may", "ma 9", "mayt9"),
]


def test_what_looks_like_a_day_is_none() -> None:
    for text in NO_DAYS:
        assert list(days_in(text)) == [], text


def test_each_month_is_read_whole_and_short() -> None:
    for month, name in enumerate(MONTHS.split(), 1):
        for spelled in (name, name[:3], name[:3] + "t"):
            texts = f"{spelled} 9, 2026", f"9 {spelled} 2026", f"x {spelled}. 9 2026 x"
            assert [*map(list, map(days_in, texts))] == [[Day(2026, month, 9)]] * 3
        assert not list(days_in(f"{name[:2]} 9"))


DAYS = [
    *("2026-05-09", "2026/05/09", "2026.05.09", "2026-5-9", "20260509", "9-may 2026"),
    *("may 9, 2026", "may 9 2026", "may 9 of 2026", "may 9, of 2026", "may 09 2026"),
    *("may, 9 2026", "may 9th, 2026", "may 9st 2026", "may 9nd 2026", "may 9rd 2026"),
    *("9 may 2026", "09 may 2026", "9th may, 2026", "9th of may. 2026", "9 of may of 2026"),
    *("9st may 2026", "9nd may 2026", "9rd may 2026"),
]


def test_a_day_has_many_spellings() -> None:
    for text in DAYS:
        assert list(days_in(f"on {text}.")) == [MAY_9], text


def test_years_have_four_digits() -> None:
    near = "may 9, 20261", "may 9,2026", "may 9  2026", "9 may 202", "9 may 20260", "may 9 of"
    for text in near:
        assert list(days_in(text)) == [Day(None, 5, 9)], text
    assert list(days_in("19990509")) == [Day(1999, 5, 9)]


def test_the_first_and_the_last_days_are_days() -> None:
    found = list(days_in("2026-01-01, 2026-12-31, 31.1.0001"))
    assert found == [Day(2026, 1, 1), Day(2026, 12, 31), Day(1, 1, 31)]


def test_a_day_and_its_year_are_looked_up_with_and_without() -> None:
    no_year, any_year = Day(None, 5, 9), Day(0, 5, 9)
    assert list(keys_of(iter([MAY_9, no_year]))) == [MAY_9, any_year, no_year]
    assert sought_days(MAY_9) == (MAY_9, no_year)
    assert sought_days(no_year) == (no_year, any_year)


def test_words_that_count_from_today_are_whole_words() -> None:
    for word in f"today tonight tomorrow {WEEK}".split():
        assert relative_days(f"or {word}!") == {word}
        assert relative_days(f"x{word} {word}x {word}s") == frozenset()


def test_words_count_to_a_day_from_some_days_before_it() -> None:
    for words, counted in (
        *(({"today"}, [9]), ({"tonight"}, [9]), ({"tomorrow"}, [8]), (set[str](), [])),
        *(({"saturday"}, [9, 8, 7, 6, 5, 4, 3, 2]), ({"sunday"}, []), ({"friday"}, [])),
        *(({"today", "tomorrow"}, [9, 8]),),
    ):
        expected = [Day(2026, 5, at) for at in counted]
        assert list(counted_from(MAY_9, frozenset(words))) == expected
    for at, word in enumerate(WEEK.split(), 4):
        assert len([*counted_from(Day(2026, 5, at), frozenset({word}))]) == 8
    assert list(counted_from(Day(2026, 5, 1), frozenset({"tomorrow"}))) == [Day(2026, 4, 30)]


def test_nothing_counts_to_a_day_of_no_year_nor_to_none_of_the_calendar() -> None:
    words = frozenset({"today", "tomorrow", *WEEK.split()})
    for day in (Day(None, 5, 9), Day(0, 5, 9), Day(2026, 2, 30)):
        assert list(counted_from(day, words)) == []
    first = Day(1, 1, 1)
    assert list(counted_from(first, words)) == [first, first]
    assert list(counted_from(Day(1, 1, 2), words)) == [Day(1, 1, 2), Day(1, 1, 2), first]
