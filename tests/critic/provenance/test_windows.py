"""Values of many tokens, found by tables of windows: where they stand, and what tables are kept."""

import re
from datetime import UTC, datetime
from itertools import product
from typing import Final

import pytest

from critic.provenance.holders import ItemText, Shown
from critic.provenance.texts import NARROW, PATHS, Reading
from critic.provenance.windows import Windows
from evals.manifest import EvidenceItem

TEXTS: Final = [
    *("a b a b a a b", "b (a b) a-b a", "a b? a b", "?a b a", "bb a b b aa b", "b a", ""),
    *(" ".join(words) for words in product("ab", repeat=4)),
    *("a  b".join(words) for words in product(["", "x-", "b "], repeat=3)),
]

FILES: Final = [
    *("see /a/b-c/d e", "/a/b/c-d/e and /a/b", "~/a/b /a/b/a/b/", "a/b c/d. a/b/c", "b/c/d/e.f g"),
    *("/".join(words) for words in product(("a", "b-c", "d"), repeat=3)),
]


def entry(number: int, text: str) -> ItemText:
    return ItemText(EvidenceItem(id=f"e{number:02}", classification="r"), [text])


def windows_of(*entries: ItemText, reading: Reading = NARROW) -> Windows:
    made = Windows(*reading)
    for one in entries:
        made.add(one)
    return made


def first_standing(
    entries: list[ItemText], value: str, reading: Reading
) -> tuple[ItemText, int] | None:
    """Return what a search of all texts finds: the definition, without tables."""
    begins, ends = (one.of("\xe9").pattern for one in (reading.begins, reading.ends))
    whole = re.compile(begins + re.escape(value) + ends)
    for one in entries:
        if match := whole.search(one.text(reading.form)):
            return one, match.start()
    return None


def values_of(texts: list[str], reading: Reading) -> list[str]:
    """Return all that stands between two characters of some texts, of two tokens or more."""
    cut = {
        text[at:end] for text in texts for at in range(len(text)) for end in range(at, len(text))
    }
    return sorted(value for value in cut if len(reading.token.of(value).findall(value)) > 1)


@pytest.mark.slow
@pytest.mark.parametrize("reading", [NARROW, PATHS])
def test_a_value_is_found_where_it_first_stands_as_a_whole(reading: Reading) -> None:
    texts = TEXTS if reading is NARROW else FILES
    entries = [entry(at, text) for at, text in enumerate(texts)]
    made = windows_of(*entries, reading=reading)
    values = values_of(texts[:3], reading)[::2]
    assert len(values) > 40
    for value in values:
        assert made.find(value, None) == first_standing(entries, value, reading), value
    for value in ("a b a b a b", "b b b b b b", "aa bb", "c a", "a b a c", "(a b a"):
        assert made.find(value, None) is None, value


def test_texts_are_read_as_they_come_and_the_first_that_counts_is_found() -> None:
    entries = [entry(at, text) for at, text in enumerate(("b a b", "a b b", "a b b", "b b a b"))]
    made = windows_of(entries[2])
    assert made.find("a b b", None) == (entries[2], 0)
    assert made.find("b a b", None) is None
    for at in (1, 3, 0):
        made.add(entries[at])
    assert made.find("a b b", None) == (entries[1], 0)
    assert made.find("b a b", None) == (entries[0], 0)
    assert made.find("b b a b", None) == (entries[3], 0)
    hidden = Shown(expired=False, hidden=frozenset(("e00", "e01")))
    assert made.find("a b b", hidden) == (entries[2], 0)
    assert made.find("b a b", hidden) == (entries[3], 2)


def spans(value: str) -> list[tuple[str, int]]:
    return [(match[0], match.start()) for match in NARROW.token.of(value).finditer(value)]


def asked(made: Windows, value: str, times: int) -> list[bool]:
    return [made.is_worth_a_table(value, spans(value)) for _ in range(times)]


def test_tables_are_worth_it_for_two_shapes_that_were_asked_for_a_thousand_times() -> None:
    made = Windows(*NARROW)
    assert asked(made, "a b", 1_000) == [False] * 1_000
    assert asked(made, "ccc dd", 1) == [True]
    # Values of other lengths, or with other signs around them, are of another shape.
    for other in ("a b c", "?a b", "a b?", "a b??"):
        assert asked(made, other, 999) == [False] * 999
    assert asked(made, "(a b", 2) == [False, True]
    assert asked(made, "a b!", 2) == [False, False]
    assert asked(made, "x y z", 9) == [False] * 9
    three = Windows(*NARROW)
    assert asked(three, "a b c", 1_000) == [False] * 1_000
    assert asked(three, "aa bbb cccc", 1) == [True]
    assert asked(made, "x y", 1) == asked(made, "!x y", 1) == [True]


def test_the_tables_that_were_asked_for_last_are_kept_when_a_text_is_added() -> None:
    expires = datetime(2026, 5, 9, tzinfo=UTC)
    item = EvidenceItem(id="e0", classification="r", expires_at=expires)
    long = ItemText(item, ["bb " + "aa " * 50 + "bb"])
    made = windows_of(long)
    # Both ends of these stand there, and they as a whole do not: each asks for a table of its own.
    absent = ["bb " + "aa " * count + "bb" for count in (*range(2, 24), 3, 2)]
    for value in absent:
        assert made.find(value, None) is None
    assert made.find("aa aa bb", None) == (long, 147)
    assert len(made._tables) > 20
    last = [*made._tables][-8:]
    made.add(entry(1, "a"))
    assert [*made._tables] == last
    assert {table.held for table in made._tables.values()} == {*long._held_by}
    assert [made.find(value, None) for value in absent] == [None] * len(absent)
    assert made.find("aa aa bb", None) == (long, 147)


def test_what_expires_stands_in_no_table_of_what_has_not() -> None:
    item = EvidenceItem(id="e0", classification="r", expires_at=datetime(2026, 5, 9, tzinfo=UTC))
    late = ItemText(item, ["a b c"])
    made = windows_of(late)
    for _ in range(2):
        assert made.find("a b c", Shown(expired=False)) == (late, 0)
        assert made.find("a b c", Shown(expired=True)) is None
    late.mark(has_expired=True)
    for _ in range(2):
        assert made.find("a b c", Shown(expired=False)) is made.find("a b c", None) is None
        assert made.find("a b c", Shown(expired=True)) == (late, 0)
    late.mark(has_expired=False)
    assert made.find("a b c", Shown(expired=False)) == (late, 0)
    assert made.find("a b c", Shown(expired=True)) is None


def test_parts_of_a_value_are_looked_for_first_and_only_as_far_as_is_needed() -> None:
    """Of as many tokens as a power of two: values of many lengths ask for the same tables."""

    def shapes(value: str) -> list[tuple[int, bool]]:
        made = windows_of(entry(0, "a b c d e a b c x b c d e"))
        made.find(value, None)
        return [(shape.tokens, shape.is_whole) for shape in made._tables]

    assert shapes("a b c d") == [(4, True)]
    for value in ("a b c d e", "a b c d y", "a b c x y"):
        assert shapes(value) == [(4, False)]
    assert shapes("b c d e a b c x b") == shapes("a b c x b c d e a") == [(8, False)]
    assert shapes("e a b") == shapes("a b a") == [(2, False)]
    # Both ends stand there, and not as one.
    assert shapes("b c x") == [(2, False), (3, True)]
    assert shapes("c d e a b c d") == [(4, False), (7, True)]
