"""What sources of one kind show, asked entry by entry: fields, texts in each form, links, days."""

from typing import Any, Final

import pytest

from critic.provenance.day_forms import Day
from critic.provenance.holders import ItemText, Shown
from critic.provenance.links import all_links_in
from critic.provenance.place import Place
from critic.provenance.texts import NARROW, WIDE
from critic.provenance.value_kinds import read_value
from evals.manifest import EvidenceItem

DAY: Final = Day(2026, 5, 9)


def entry(*texts: str, ref: str = "e", **more: Any) -> ItemText:
    return ItemText(EvidenceItem(id=ref, classification="r"), texts, **more)


def place_of(*entries: ItemText) -> Place:
    place = Place()
    for one in entries:
        place.add(one)
    return place


def says(text: str, value: str, kind: str | None = None) -> tuple[bool, bool]:
    """Return whether a text says a value in its narrow form, and whether in its wide one."""
    place, sought = place_of(entry(text)), read_value(value, kind)
    return place.says(sought, None) is not None, place.mentions(sought, None) is not None


def test_fields_and_parties_are_values_of_their_own_by_every_way_to_compare_them() -> None:
    one = entry("zeta-1", fields=["Zeta-2", "https://a.example/B"], parties=["GB29 NWBK 6016", "c"])
    place = place_of(one)
    for value, kind, in_field, is_party in (
        ("zeta-2", None, True, False),
        ("http://a.example/B/", "url", True, False),
        ("https://a.example/b", "url", False, False),
        ("gb29nwbk6016", "account", False, True),
        ("C", "note", False, True),
        ("zeta-1", None, False, False),
        ("zeta", None, False, False),
        ("", None, False, False),
    ):
        sought = read_value(value, kind)
        assert (place.field(sought, None) is one) == in_field, value
        assert (place.party(sought, None) is one) == is_party, value


def test_a_leaf_is_a_text_a_line_or_an_element_as_a_whole() -> None:
    place = place_of(entry("#Bob Smith\nAnn\ndocs/A", "['x y', 7, {'k': 'z'}]"))
    for leaf in ("bob smith", "ANN", "x y", "z", "7", "['x y', 7, {'k': 'z'}]"):
        assert place.leaf(read_value(leaf, "note"), None), leaf
    assert place.leaf(read_value("docs/A", "path"), None)
    for part in ("bob", "smith", "x", "y", "k", "bob smith ann"):
        assert not place.leaf(read_value(part, "note"), None), part
    assert not place.leaf(read_value("docs/a", "path"), None)
    lines = place_of(entry("Bob\n\nSmith"))
    assert lines.leaf(read_value("bob smith", "note"), None)
    assert not lines.leaf(read_value("", "note"), None)


SAID: Final = [
    ("see zeta-9914 now", "ZETA-9914", None, (True, True)),
    ("see ZETA-9914 now", "zeta-9914", None, (True, True)),
    ("see \uff3aeta-9914", "zeta-9914", None, (False, True)),
    ("see /srv/data/x now", "/srv/data/x", "path", (True, True)),
    ("see /srv/DATA/x now", "/srv/data/x", "path", (False, True)),
    ("at https://a.example/B", "http://a.example/B", "url", (True, True)),
    ("at https://a.example/b", "http://a.example/B", "url", (False, True)),
    ("at ftp://a.example/B", "http://a.example/B", "url", (False, True)),
    ("at (a.example/B)?x", "http://a.example/B", "url", (True, True)),
    ("see notes.md", "notes.md", "url", (True, True)),
    ("see notes.md", "https://notes.md", "url", (False, True)),
    ("see https://notes.md", "https://notes.md", "url", (True, True)),
    ("mail Ada@x.example.", "ada@X.example", "address", (True, True)),
    ("mail \uff21da@x.example", "ada@x.example", "address", (False, True)),
    ("pay GB29 NWBK 6016", "gb29nwbk6016", "account", (True, True)),
    ("pay \uff27B29 NWBK 6016", "gb29nwbk6016", "account", (False, True)),
    ("pay \xb4GB29NWBK6016", "gb29nwbk6016", "account", (False, True)),
    ("at ftp://a.example/b#", "http://a.example/b#", "url", (False, True)),
    ("at ftp://intranet/b#", "intranet/b", "url", (False, True)),
    ("pay zeta", "", None, (False, False)),
    ("", "zeta", None, (False, False)),
]


@pytest.mark.parametrize(("text", "value", "kind", "found"), SAID)
def test_a_text_says_a_value_by_its_kind_in_one_form_or_in_both(
    text: str, value: str, kind: str | None, found: tuple[bool, bool]
) -> None:
    assert says(text, value, kind) == found


def test_a_short_number_is_mentioned_only_as_the_number_of_something() -> None:
    signs = (
        "#7",
        "# 7",
        "id 7",
        "ids: 7",
        "number 7",
        "Numbers 7",
        "no. 7",
        "no :: 7",
        "#7, ok",
        "#7.",
    )
    for text in (*signs, "id\uff1a 7", "#\n7", "(#7)", "#7/ x", "#7-", "#...# 7"):
        assert says(f"see {text}", "7") == (False, True), text
    for text in ("7", "room 7", "idea 7", "nid 7", "note 7", "no ::: 7", "numberses 7", "x#"):
        assert says(f"see {text}", "7") == (False, False), text
    for behind in ("8", "a", "_", ".5", "/5", ":5", "@x", "-x"):
        assert says(f"see #7{behind}", "7") == (False, False), behind
    assert says("see #777", "777") == (False, True)
    assert says("see #7777", "777") == (False, False)
    assert says("see #7777", "7777") == (True, True)


def test_a_link_in_a_text_shows_its_page_and_its_host() -> None:
    one = entry("see https://a.example:80/B?x, b.example, notes.md, 3.5 and ftp://c.example/d")
    place = place_of(one)
    for key, host, wide_host in (
        ("a.example:80/B?x", "a.example:80", "a.example"),
        ("b.example", "b.example", "b.example"),
    ):
        assert place.says_link(key, None) is place.says_host(host, None) is one
        assert place.mentions_host(wide_host, None) is one
    for key in ("notes.md", "3.5", "c.example/d", "a.example", "a.example:80/b?x", ""):
        assert place.says_link(key, None) is None, key
    for host in ("notes.md", "3.5", "c.example", "a.example", ""):
        assert place.says_host(host, None) is None, host
    for host in ("notes.md", "c.example"):
        assert place.mentions_host(host, None) is one
    assert place.mentions_host("a.example:80", None) is None
    # An accent goes on with a word in the wide form alone.
    assert place_of(entry("\xb4a.example:80/b")).mentions_host("a.example", None)


def test_a_day_stands_in_a_field_or_in_a_text() -> None:
    holding: list[dict[str, Any]] = [{"fields": ["\uff12026-05-09"]}, {"parties": ["2026-05-09"]}]
    for more in holding:
        place = place_of(entry("on May 10", **more))
        assert place.day(DAY, None, in_fields=True)
        assert not place.day(DAY, None, in_fields=False)
        assert place.names_any_day(None)
    place = place_of(entry("on 2026&#45;05&#x2d;08", "2026-05-09", fields=["x"]))
    assert place.day(DAY, None, in_fields=False)
    assert not place.day(DAY, None, in_fields=True)
    assert place.names_any_day(None)
    assert place_of(entry("2026-05-09")).names_any_day(None)
    assert place_of(entry(fields=["2026-05-09"])).names_any_day(None)
    assert not place_of(entry("x", fields=["x"], parties=["y"])).names_any_day(None)
    assert not place_of().names_any_day(None)


def test_what_is_added_after_a_lookup_is_found_too_and_the_first_that_counts_is_named() -> None:
    first, second = (
        entry("zeta-1", ref="a", fields=["v-1"]),
        entry("zeta-1", ref="b", fields=["v-1"]),
    )
    place = place_of(second)
    value, field = read_value("zeta-1", None), read_value("v-1", None)
    assert place.says(value, None) is place.field(field, None) is second
    place.add(first)
    assert place.says(value, None) is place.field(field, None) is first
    assert place_of(first, entry("x", ref="c")).says(value, None) is first
    assert place_of(first, entry("x", ref="c")).field(field, None) is first
    hidden = Shown(expired=False, hidden=frozenset("a"))
    assert place.says(value, hidden) is place.field(field, hidden) is second
    assert [*place.shown_entries(None)] == [second, first]
    assert [*place.shown_entries(hidden)] == [second]
    assert (len(place), len(place_of())) == (2, 0)
    assert place.texts(NARROW) is place.texts(NARROW) is not place.texts(WIDE)


def test_an_index_reads_each_entry_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> Any:
        read.append(text)
        return all_links_in(text)

    monkeypatch.setattr("critic.provenance.place.all_links_in", counted)
    place = Place()
    for at in range(3):
        place.add(entry(f"see a{at}.example", ref=f"e{at}"))
        for _ in range(3):
            assert place.says_host(f"a{at}.example", None)
    assert len(read) == 3
