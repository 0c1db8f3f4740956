"""Where a value beside other signs is looked for, which no number of places makes dear."""

import pytest

from critic.provenance.adjoining import find_adjoining
from critic.provenance.holders import ItemText
from critic.provenance.place import Place
from critic.provenance.value_kinds import read_value
from evals.manifest import EvidenceItem


def place_of(*texts: str) -> Place:
    place = Place()
    for at, text in enumerate(texts):
        place.add(ItemText(EvidenceItem(id=f"e/{at}", classification="r"), [text]))
    return place


def test_of_many_places_in_all_texts_the_first_ones_are_looked_at() -> None:
    value = read_value("ORD-7", "order")
    for count, is_meant in ((19, True), (20, False)):
        others = "x.ORD-7.y ORD-71 " * count
        for place in (place_of(f"{others} order:ORD-7"), place_of(others, "order:ORD-7")):
            found, means_it = find_adjoining(place, value, frozenset({"order"}), None)
            assert (found is not None, means_it) == (is_meant, is_meant), count


def test_no_text_is_read_for_a_value_whose_words_do_not_all_stand_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> str:
        raise AssertionError

    place = place_of("ORD-1.ORD-2 取消旧订单.x " * 50)
    for one in (read_value("x", "order"), read_value("a/b", "path")):
        find_adjoining(place, one, frozenset(), None)
    monkeypatch.setattr(ItemText, "text", fail)
    for text, kind in (
        ("ORD-3", "order"),
        ("1-2-4", "order"),
        ("旧订新", "order"),
        ("a/b", "path"),
    ):
        assert find_adjoining(place, read_value(text, kind), frozenset(), None) == (None, False)
    assert find_adjoining(place, read_value("", "order"), frozenset(), None) == (None, False)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("order", "ORD-7", "order:ORD-7"),
        ("order", "ORD-7", "id=ORD-7"),
        ("path", "a/b.py", "./a/b.py"),
        ("path", "b.py", "@b.py"),
        ("path", "b.py", "b.py:12"),
    ],
)
def test_a_value_beside_a_mark_is_meant_unless_it_is_but_a_part_of_a_quoted_name(
    kind: str, value: str, text: str
) -> None:
    for shape, is_meant in (
        ("{}", True),
        ('see "{}", please', True),
        ('"{} copy"', False),
        ('"my {}"', False),
        ("\u201c{} and more\u201d", False),
        ("'{} express'", False),
    ):
        place = place_of(shape.format(text))
        found, means_it = find_adjoining(place, read_value(value, kind), frozenset({"order"}), None)
        assert (found is not None, means_it) == (True, is_meant), shape
