"""Where a value stands in texts: the index against a plain search, and the forms of an id."""

import re
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from critic.provenance import windows
from critic.provenance.holders import ItemText, Shown
from critic.provenance.texts import NARROW, PATHS, Reading, Texts
from critic.provenance.value_kinds import text_form
from evals.manifest import EvidenceItem
from tests.support.model.parting import parted

SMALL = st.text("ab1-./:@ #_?\xe9", max_size=12) | st.text(
    "ab1n.-_ \xe9\xba\u306b\u6f22", max_size=9
)
BEGINS = {
    NARROW: r"(?<![\w])(?<!\w(?:[./:@?-]|(?<=[0-9])#))",
    PATHS: r"(?<!\S)",
}
ENDS = {
    NARROW: r"(?![\w]|(?:[./:@?-]|(?<=[0-9])#)\w)",
    PATHS: r"(?:/[.:?]?|[.:?]{0,3})(?!\S)",
}
READINGS = st.sampled_from([NARROW, PATHS])


def item(name: str) -> EvidenceItem:
    return EvidenceItem(id=name, classification="r")


class Index:
    """The index of some texts, to which more can be added."""

    def __init__(self, reading: Reading) -> None:
        self.entries: list[ItemText] = []
        self.texts = Texts(reading, self.entries)

    def add(self, item: EvidenceItem, text: str) -> None:
        self.entries.append(ItemText(item, [text]))
        self.texts._read_new()

    def find(self, value: str) -> EvidenceItem | None:
        return self.texts.find(value)

    def tire(self, *, often: bool = True) -> None:
        """Go on as after many lookups; `often`: of one shape, so that tables answer."""
        self.texts._tries_left = 0
        self.texts._windows._often = EveryShape() if often else set()


class EveryShape(set[Any]):
    """The shapes of which more values were asked for than a table is worth: all."""

    def __contains__(self, _shape: Any) -> bool:
        return True


def index(texts: Iterable[str], reading: Reading = NARROW, *, tried_out: bool = False) -> Index:
    """Return the index of some texts; `tried_out`: after so many lookups that tables answer."""
    found = Index(reading)
    for at, text in enumerate(texts):
        found.add(item(f"e{at}"), text)
    if tried_out:
        found.tire()
    return found


def stands(value: str, text: str, reading: Reading = NARROW) -> bool:
    """Return what a search of the whole text finds: the definition, without an index."""
    text = reading.form(text)
    if reading is NARROW:
        value, text = parted(value), parted(text)
    pattern = BEGINS[reading] + re.escape(value) + ENDS[reading]
    return re.search(pattern, text) is not None


@given(st.lists(SMALL, max_size=3), SMALL, READINGS)
@example(["a a a a b"], "a a b", NARROW)
@example(["x-a", "a-a"], "a-a", NARROW)
@example(["x-a b", "a b"], "a b", NARROW)
@example(["a b-x", "a b"], "a b", NARROW)
@example(["x-?a b", "?a b"], "?a b", NARROW)
@example(["b ?? a"], "??", NARROW)
@example(["?", "a?"], "?", PATHS)
@example(["a???"], "??", NARROW)
@example(["a???"], "??", PATHS)
@example(["x?a b"], "?a b", NARROW)
@example(["a b?x"], "a b?", NARROW)
@example(["x?a b?x", "?a b?"], "?a b?", PATHS)
def test_the_index_finds_what_a_search_of_the_texts_finds(
    texts: list[str], value: str, reading: Reading
) -> None:
    value = reading.form(value).strip(" ")
    if not value:
        return
    expected = [at for at, text in enumerate(texts) if stands(value, text, reading)]
    for how in ("fresh", "read", "tables"):
        indexed = index(texts, reading)
        if how != "fresh":
            indexed.tire(often=how == "tables")
        found = indexed.find(value)
        assert (found and found.id) == (f"e{expected[0]}" if expected else None)


WORDS = st.text("ab", min_size=1, max_size=2)
PHRASES = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)


@given(st.lists(PHRASES, max_size=3), st.lists(PHRASES, max_size=9), st.booleans())
@example(["b a b", "a a b"], ["a a b"], True)
@example(["b", "ba a b"], ["a a b"], True)
def test_tables_of_runs_find_what_a_search_finds_though_numbers_collide(
    texts: list[str], values: list[str], collide: bool
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        if collide:
            patched.setattr(windows, "_BASE", 0)
        found = index(texts, tried_out=True)
        for value in values:
            expected = [f"e{at}" for at, text in enumerate(texts) if stands(value, text)]
            one = found.find(value)
            assert (one and one.id) == (expected[0] if expected else None)


def test_values_of_different_shapes_make_no_tables() -> None:
    """Planted: a table for each shape. 200 values over a note of 80 kB took 5.4 seconds."""
    texts = index(["a b " * 1_000])
    texts.tire(often=False)
    assert not any(texts.find("-" * count + "a") for count in range(1, 100))
    assert texts.texts._windows._tables == {}


def test_many_values_of_one_shape_make_a_table() -> None:
    texts = index(["a b " * 1_000])
    texts.tire(often=False)
    for _ in range(windows._WORTH):
        assert texts.find("b b") is None
    assert texts.texts._windows._tables == {}
    assert texts.find("b b") is None
    assert texts.texts._windows._tables


def test_a_text_that_is_added_later_is_found_by_tables_too() -> None:
    texts = index(["a b c"], tried_out=True)
    assert texts.find("b a") is None
    texts.add(item("e1"), "c b a")
    texts.tire()
    found = texts.find("b a")
    assert found is not None
    assert found.id == "e1"


FEW = st.text("ab  ?-", max_size=8) | PHRASES
TEXTS = st.dictionaries(st.integers(0, 9), FEW, max_size=6)
SOME = st.frozensets(st.integers(0, 9), max_size=3)


@given(TEXTS, st.lists(FEW, max_size=4), SOME, SOME, READINGS)
def test_texts_with_lookups_between_them_answer_what_texts_at_once_answer(
    texts: dict[int, str],
    values: list[str],
    expired: frozenset[int],
    hidden: frozenset[int],
    reading: Reading,
) -> None:
    growing, said = Index(reading), list[ItemText]()
    names = frozenset(f"e{at}" for at in hidden)
    shown = [None, *(Shown(has_expired, names) for has_expired in (False, True))]
    for at, text in texts.items():
        said.append(ItemText(item(f"e{at}"), [text]))
        said[-1].mark(has_expired=at in expired)
        growing.entries.append(said[-1])
        growing.texts._read_new()
        growing.tire()
        at_once = Texts(reading, said[::-1])
        spelled = (reading.form(value).strip(" ") for value in (*values, *texts.values()))
        for value, which in product(spelled, shown):
            assert growing.texts.entry(value, which) is at_once.entry(value, which)


def windows_of_a_session(text: str, turns: Iterable[tuple[str, str]]) -> int:
    """Return how many windows are read in turns: each brings a text, and looks for a value."""
    texts, read = index([text], tried_out=True), []
    windows_in = windows._windows

    def counted(*line_and_shape: Any) -> Iterator[Any]:
        for window in windows_in(*line_and_shape):
            read.append(window)
            yield window

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(windows, "_windows", counted)
        for turn, (more, value) in enumerate(turns):
            texts.add(item(f"f{turn:03}"), more)
            texts.tire()
            assert texts.find(value) is None
            assert texts.find(more) is not None
    return len(read)


def test_a_turn_reads_what_it_brings_and_not_what_came_before() -> None:
    turns = [(f"bb cc{turn}", "bb bb") for turn in range(50)]
    few, many = (windows_of_a_session("aa bb " * 1000, turns[:count]) for count in (1, 50))
    assert 2000 <= few <= 2100
    assert many - few <= 50 * 10


def test_values_of_many_lengths_share_tables() -> None:
    text, *values = (" ".join(f"{3**power:b}") for power in (1262, *range(8, 40)))
    values = [*values[13:], *(text[:64] + value for value in values[:11])]
    assert len(set(map(len, values))) > 20
    assert len(text.split()) > 2000
    assert windows_of_a_session(text, [("bb cc", value) for value in values]) <= 3 * 2000


def test_few_tables_are_kept_and_those_that_are_not_are_made_anew() -> None:
    texts = index(["bb " + "aa " * 50 + "bb"], tried_out=True)
    for turn in range(2):
        for count in range(2, 40):
            assert texts.find("aa " * count + "aa") is not None
            assert texts.find("bb " + "aa " * count + "bb") is None
        assert len(texts.texts._windows._tables) >= 30
        texts.add(item(f"f{turn}"), "aa")
        texts.tire()
        assert len(texts.texts._windows._tables) == windows._KEPT


def test_an_item_that_expires_remembers_no_table_that_is_not_kept() -> None:
    texts, expires = Index(NARROW), datetime(2026, 5, 9, tzinfo=UTC)
    expiring = item("e0").model_copy(update={"expires_at": expires})
    entry = ItemText(expiring, ["bb " + "aa " * 50 + "bb"])
    texts.entries.append(entry)
    for turn in range(40):
        texts.texts._read_new()
        texts.tire()
        assert texts.find("bb " + "aa " * (turn + 2) + "bb") is None
        texts.add(item(f"f{turn}"), "aa")
    assert len(entry._held_by) <= windows._KEPT + 2


@pytest.mark.slow
def test_many_values_of_frequent_words_are_found_in_linear_time() -> None:
    phrases = [" ".join(words) for words in product(["aa", "bb"], repeat=12)]
    texts = index(phrases[::2])
    started = time.process_time()
    found = [texts.find(phrase) for phrase in phrases]
    assert all(found[::2])
    assert not any(found[1::2])
    assert time.process_time() - started < 10


@pytest.mark.parametrize("text", ["a b " * 2000 + "a c", "a b " * 2000 + "xa c"])
def test_tokens_that_are_everywhere_are_searched_for(text: str) -> None:
    found = index([text])
    assert found.find("a b a b") is not None
    assert found.find("b a a") is None
    assert found.find("b b") is None
    assert (found.find("a c") is None) == ("xa c" in text)


def test_the_ends_of_a_frequent_value_count() -> None:
    text = "a b-x, b, " * 2000
    assert index([text]).find("a b") is None
    assert index([text + "a b"]).find("a b") is not None


def test_no_value_reaches_from_one_text_of_an_item_into_the_next() -> None:
    texts = Index(NARROW)
    texts.entries.append(ItemText(item("e"), ["an id", "7 bob", "smith"]))
    assert texts.find("bob smith") is None
    assert texts.find("bob") is not None


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("delete /srv/data/old", True),
        ("delete /srv/data/old/", True),
        ("delete /srv/data/old.", True),
        ("delete /srv/data/old/.", True),
        ("delete '/srv/data/old', now", True),
        ("path: /srv/data/old", True),
        ("/srv/data/old/sub", False),
        ("/srv/data/old/..", False),
        ("/srv/data/old-", False),
        ("/srv/data/older", False),
        ("/srv/data/old.txt", False),
        ("/srv/data/OLD", False),
        ("/mnt/srv/data/old", False),
        ("//srv/data/old", False),
        ("~/srv/data/old", False),
        ("./srv/data/old", False),
    ],
)
def test_a_path_ends_where_no_further_part_follows(text: str, stands: bool) -> None:
    assert (index([text], PATHS).find("/srv/data/old") is not None) == stands


def test_the_places_of_a_value_come_entry_by_entry() -> None:
    texts = index(["a b c a b", "b a", "x a-b a b"])
    found = [(entry.item.id, at) for entry, at in texts.texts.occurrences("a b")]
    assert found == [("e0", 0), ("e0", 6), ("e2", 6)]
    many = index(["a " * 1000])
    assert sum(1 for _ in many.texts.occurrences("a")) == 200
    assert not list(texts.texts.occurrences("?"))


@pytest.mark.parametrize("joint", "./:@-+%~\\")
def test_a_word_beside_a_joint_is_no_token_of_a_result(joint: str) -> None:
    for text in (f"zeta{joint}9914", f"x{joint}zeta", f"9914{joint}x"):
        for value in ("zeta", "9914"):
            assert index([text]).find(value) is None
        assert index([text]).find(text_form(text)) is not None
    for text in (f"zeta{joint} 9914", f"zeta {joint}9914", f"zeta{joint}{joint}gone"):
        assert index([text]).find("zeta") is not None


def test_a_value_without_a_word_is_found_however_often_it_is_looked_for() -> None:
    texts = index(["a ++ b", "c ## d"])
    for value, at in (("++", "e0"), ("##", "e1"), ("!!", None), ("a ++ b", "e0")) * 3:
        found = texts.find(value)
        assert (found and found.id) == at


def test_the_first_item_is_named() -> None:
    texts = index(["bob", "bob smith", "bob smith"])
    assert [found and found.id for found in map(texts.find, ["bob", "bob smith", "ann"])] == [
        *("e0", "e1"),
        None,
    ]


def test_nothing_stands_in_nothing() -> None:
    assert index([]).find("a") is None
    assert index(["a"]).find("") is None
