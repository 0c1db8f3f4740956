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
from critic.provenance.texts import GAP, Texts, hosts_in
from critic.provenance.value_forms import canonical, is_short_number, spelling
from evals.manifest import EvidenceItem

SMALL = st.text("ab1-./:@ #_?\xe9", max_size=12)
BEGINS = {False: r"(?<![\w])(?<!\w[./:@-])", True: r"(?<![\w])"}
ENDS = {False: r"(?![\w]|[./:@-]\w)", True: r"(?![\w])"}


def item(name: str) -> EvidenceItem:
    return EvidenceItem(id=name, classification="r")


def index(texts: Iterable[str], *, generous: bool = False, tried_out: bool = False) -> Texts:
    """Return the index of some texts; `tried_out`: after so many lookups that tables answer."""
    found = Texts(generous=generous)
    for at, text in enumerate(texts):
        found.add(item(f"e{at}"), canonical(text))
    if tried_out:
        found._tries_left = 0
    return found


def stands(value: str, text: str, *, generous: bool = False) -> bool:
    """Return what a search of the whole text finds: the definition, without an index."""
    pattern = BEGINS[generous] + re.escape(value) + ENDS[generous]
    return re.search(pattern, canonical(text)) is not None


@given(st.lists(SMALL, max_size=3), SMALL, st.booleans())
@example(["a a a a b"], "a a b", False)
@example(["x-a", "a-a"], "a-a", False)
@example(["b ?? a"], "??", False)
@example(["?", "a?"], "?", True)
@example(["a???"], "??", False)
@example(["a???"], "??", True)
@example(["x?a b"], "?a b", False)
@example(["a b?x"], "a b?", False)
@example(["x?a b?x", "?a b?"], "?a b?", True)
def test_the_index_finds_what_a_search_of_the_texts_finds(
    texts: list[str], value: str, generous: bool
) -> None:
    value = spelling(value)
    if not value or is_short_number(value):
        return
    expected = [at for at, text in enumerate(texts) if stands(value, text, generous=generous)]
    for tried_out in (False, True):
        found = index(texts, generous=generous, tried_out=tried_out).find(value)
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


def test_a_text_that_is_added_later_is_found_by_tables_too() -> None:
    texts = index(["a b c"], tried_out=True)
    assert texts.find("b a") is None
    texts.add(item("e1"), "c b a")
    texts._tries_left = 0
    found = texts.find("b a")
    assert found is not None
    assert found.id == "e1"


FEW = st.text("ab  ?-", max_size=8) | PHRASES
TEXTS = st.dictionaries(st.integers(0, 9), FEW, max_size=6)
SOME = st.frozensets(st.integers(0, 9), max_size=3)


@given(TEXTS, st.lists(FEW, max_size=4), SOME, SOME, st.booleans())
def test_texts_with_lookups_between_them_answer_what_texts_at_once_answer(
    texts: dict[int, str],
    values: list[str],
    expired: frozenset[int],
    hidden: frozenset[int],
    generous: bool,
) -> None:
    growing, said = Texts(generous=generous), list[ItemText]()
    names = frozenset(f"e{at}" for at in hidden)
    shown = [None, *(Shown(has_expired, names) for has_expired in (False, True))]
    for at, text in texts.items():
        said.append(ItemText(item(f"e{at}"), canonical(text)))
        said[-1].mark(has_expired=at in expired)
        growing.add_entry(said[-1])
        growing._tries_left = 0
        at_once = Texts(generous=generous)
        for one in reversed(said):
            at_once.add_entry(one)
        for value, which in product(map(spelling, (*values, *texts.values())), shown):
            assert growing.entry(value, which) is at_once.entry(value, which)


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
            texts._tries_left = 0
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
        assert len(texts._windows._tables) >= 30
        texts.add(item(f"f{turn}"), "aa")
        texts._tries_left = 0
        assert len(texts._windows._tables) == windows._KEPT


def test_an_item_that_expires_remembers_no_table_that_is_not_kept() -> None:
    texts, expires = Texts(), datetime(2026, 5, 9, tzinfo=UTC)
    expiring = item("e0").model_copy(update={"expires_at": expires})
    entry = ItemText(expiring, "bb " + "aa " * 50 + "bb")
    texts.add_entry(entry)
    for turn in range(40):
        texts._tries_left = 0
        assert texts.find("bb " + "aa " * (turn + 2) + "bb") is None
        texts.add(item(f"f{turn}"), "aa")
    assert len(entry._held_by) <= windows._KEPT + 2


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
    assert index([text], generous=True).find("a b") is not None
    assert index([text + "a b"]).find("a b") is not None


@pytest.mark.parametrize("generous", [False, True])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cancel id 7", True),
        ("cancel id: '7'", True),
        ("ID:7", True),
        ("ids 7 and 8", True),
        ("id #7.", True),
        ("we meet 7 people", False),
        ("id7", False),
        ("paid 7", False),
        ("idea 7", False),
        ("id 78", False),
        ("id      7", True),
        ("id (((7", True),
        ("id ((((7", False),
        ("id ((((( 7", False),
        (f"id{GAP}7", True),
        ("7", False),
        ("id 7a", False),
    ],
)
def test_a_short_number_stands_only_where_it_is_called_an_id(
    text: str, found: bool, generous: bool
) -> None:
    assert (index([text], generous=generous).find("7") is not None) == found


def test_no_id_and_no_value_reaches_from_one_text_of_an_item_into_the_next() -> None:
    texts = Texts()
    texts.add(item("e"), GAP.join(["an id", "7 bob", "smith"]))
    assert texts.find("7") is None
    assert texts.find("bob smith") is None
    assert texts.find("bob") is not None


def test_an_id_in_a_result_ends_at_a_token() -> None:
    assert index(["id 7-x"]).find("7") is None
    assert index(["id 7-x"], generous=True).find("7") is not None


def test_a_value_is_no_part_of_an_address_unless_the_index_is_generous() -> None:
    for texts, found in ((Texts(), False), (Texts(generous=True), True)):
        texts.add(item("e"), "zeta-9914-b")
        assert (texts.find("zeta-9914") is not None) == found


@pytest.mark.parametrize("joint", "./:@-")
def test_a_word_beside_a_joint_is_no_token_of_a_result(joint: str) -> None:
    for text in (f"zeta{joint}9914", f"x{joint}zeta", f"9914{joint}x"):
        for value in ("zeta", "9914"):
            assert index([text]).find(value) is None
        assert index([text]).find(canonical(text)) is not None
    for text in (f"zeta{joint} 9914", f"zeta {joint}9914", f"zeta{joint}{joint}9914"):
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
    assert list(index(["a"])) == [("a", item("e0"))]


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("see https://Shop.example/x, www.b.example.", ["shop.example", "www.b.example"]),
        ("(shop.example)?x=1", ["shop.example"]),
        ("mia@shop.example or mia!@shop.example", []),
        ("user:pass@shop.example", []),
        ("nothing here", []),
        ("read plan.md, plan.md?", []),
        ("read https://plan.md/", ["plan.md"]),
        ("read clip.mov, setup.py, all.zip or all.rs", ["all.rs"]),
        ("read https://plan.md/x or www.plan.md", ["plan.md", "www.plan.md"]),
    ],
)
def test_hosts_that_a_text_names(text: str, hosts: list[str]) -> None:
    assert list(hosts_in(canonical(text))) == hosts
