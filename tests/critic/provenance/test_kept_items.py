"""The index of what items say is kept, and answers as one made anew: whatever was done between."""

import copy
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic.provenance import kept_items
from critic.provenance.day_forms import Day
from critic.provenance.kept_items import seen_in
from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import Seen
from critic.provenance.sent_values import SentIndex
from critic.provenance.value_kinds import read_value
from evals.context import SentValues
from evals.manifest import EvidenceItem, Manifests
from tests.support.effort import examples
from tests.support.model.facts import Json
from tests.support.seen_values import seen_anew, sighting
from tests.support.sightings import item

HOURS: Final = [None, *(datetime(2026, 5, 9, hour, tzinfo=UTC) for hour in (9, 11))]
LATE: Final[Json] = {"expires_at": "2026-05-09T10:00:00Z"}
VALUES: Final = ["alpha-1", "beta-2", "may 9", "1"]
SENT: Final[list[Any]] = ["alpha-1", "to beta-2", "1", 1, 1.0, "other"]
CONTENTS: Final[list[Any]] = [
    *("alpha-1 and beta-2", "seen alpha-1 on may 9", {"id": "alpha-1"}, {"id": "beta-2", "x": 1}),
    *([{"id": "alpha-1"}, {"x": "beta-2"}], {"id": ["beta-2"], "x": True}, ["alpha-1"], 1, [None]),
]
CLASSES: Final[list[Json]] = [
    {"class": "a", "fields": {"id": "system"}},
    {"class": "a", "fields": {"id": "party"}, "schema": {"type": "object"}},
]


@pytest.fixture(autouse=True)
def _nothing_was_kept_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_items, "_RECENT", kept_items._Recent())


def items() -> st.SearchStrategy[Json]:
    return st.builds(
        lambda kind, content, author, standing, late: {
            "classification": kind,
            "content": content,
            **(LATE if late else {}),
            "source": {"author": author, "standing": standing},
        },
        st.sampled_from("ab"),
        st.sampled_from(CONTENTS).map(copy.deepcopy),
        st.sampled_from(["user", "operator", "system", "member", "public"]),
        st.sampled_from(["named", "reached", "led", "ambient"]),
        st.sampled_from([False, False, True]),
    )


def numbered(wire: list[Json], start: int = 0) -> tuple[EvidenceItem, ...]:
    return tuple(
        EvidenceItem.model_validate({**one, "id": f"e/{at}"}) for at, one in enumerate(wire, start)
    )


def known(both: Sequence[Seen]) -> list[Any]:
    """Return all that is known of the values, with the ids of the items that show them."""
    return [
        (
            *(named(sighting(seen, value)) for value in VALUES),
            *(seen.leads_to(read_value(value, None)) for value in VALUES),
            seen.days.find(Day(2026, 5, 9)).origin,
            seen.days.are_requested,
            sorted(seen.request_words.stems),
        )
        for seen in both
    ]


def named(one: Any) -> Any:
    return one.origin, *(found and found.id for found in (one.item, one.rival))


class World:
    """Some manifests, of which later ones go on from earlier ones."""

    def __init__(self, data: st.DataObject) -> None:
        self._data, self._sent = data, list[SentValues]()
        self.all = [self._described(numbered(data.draw(st.lists(items(), max_size=4))))]

    def _described(self, evidence: tuple[EvidenceItem, ...]) -> Manifests:
        wire: Any = {"classes": [copy.deepcopy(self._data.draw(st.sampled_from(CLASSES)))]}
        fields = ["id"] if self._data.draw(st.booleans()) else []
        return Manifests(tool_manifest=(), evidence_manifest=evidence, record_fields=fields, **wire)

    def _any(self) -> Manifests:
        found: Manifests = self._data.draw(st.sampled_from(self.all))
        return found

    def grow(self) -> None:
        """Make manifests with more items behind those of others, the very same or equal ones."""
        one = self._any()
        before = one.evidence_manifest
        if self._data.draw(st.booleans()):
            before = tuple(copy.deepcopy(item) for item in before)
        more = numbered(self._data.draw(st.lists(items(), max_size=2)), len(before))
        self.all.append(one.model_copy(update={"evidence_manifest": (*before, *more)}))

    def change(self) -> None:
        """Make manifests with other items or classes, which begin as those of others do."""
        evidence = list(self._any().evidence_manifest)
        if self._data.draw(st.booleans()) and evidence:
            at = self._data.draw(st.integers(0, len(evidence) - 1))
            [other] = numbered([self._data.draw(items())], at)
            evidence[at] = other.model_copy(update={"id": evidence[at].id})
        else:
            evidence = self._data.draw(st.sampled_from([evidence, evidence[::-1]]))
        self.all.append(self._described(tuple(evidence)))

    def edit(self) -> None:
        """Edit JSON in place, which manifests that share an item share as well."""
        one = self._any()
        contents = [item.content for item in one.evidence_manifest if type(item.content) is dict]
        fields = [each.fields for each in one.classes or ()]
        edited = self._data.draw(st.sampled_from([*contents, *fields]))
        key = self._data.draw(st.sampled_from(["id", "x"]))
        if any(edited is each for each in fields):
            edited[key] = self._data.draw(st.sampled_from(["system", "party", "public"]))
        elif self._data.draw(st.booleans()):
            edited[key] = self._data.draw(st.sampled_from(["alpha-1", 1, True, 1.0, ["beta-2"]]))
        else:
            edited.pop(key, None)

    def drop(self) -> None:
        """Forget manifests."""
        if len(self.all) > 1:
            self.all.pop(self._data.draw(st.integers(0, len(self.all) - 1)))

    def send(self) -> None:
        """Send more, or say that other values were sent."""
        kept = self._data.draw(st.integers(0, len(self._sent)))
        more = self._data.draw(st.lists(st.sampled_from(SENT), max_size=2))
        values = [*(one.values for one in self._sent[:kept]), *([one] for one in more)]
        self._sent = [SentValues(seq=at, values=[*one]) for at, one in enumerate(values)]

    def look(self) -> None:
        """Compare what is kept with an index made anew."""
        one, as_of = self._any(), self._data.draw(st.sampled_from(HOURS))
        with seen_in(one, as_of, self._sent[::-1]) as looked:
            both, sent = (looked.fresh, looked.every), SentIndex()
            assert known(both) == known(seen_anew(one, as_of))
            assert (looked.fresh is looked.every) == (not looked.fresh._items.any_expired)
            for each in self._sent:
                sent.add(each)
            assert first_sent(looked.sent) == first_sent(sent)


ACTS: Final = [
    *(World.look, World.look, World.grow, World.change, World.edit, World.drop, World.send)
]


def first_sent(sent: SentIndex) -> list[int | None]:
    return [sent.first_seq(read_value(value, None)) for value in (*VALUES, "other")]


@settings(deadline=None, max_examples=examples(240))
@given(st.data())
def test_what_is_kept_answers_as_what_is_made_anew(data: st.DataObject) -> None:
    world = World(data)
    for act in data.draw(st.lists(st.sampled_from(ACTS), max_size=10)):
        act(world)
    world.look()


@pytest.mark.parametrize("other", [{"record_fields": ["y"]}, {"classes": CLASSES[:1]}])
def test_items_are_read_anew_where_they_are_described_otherwise(other: Json) -> None:
    one = manifests_of({"x": "alpha-1", "y": "beta-2", "id": "may 9"})
    for each in (one, one.model_copy(update=other), one):
        with seen_in(each, None) as (*both, _):
            assert known(both) == known(seen_anew(each, None))


def test_an_index_that_is_used_by_nobody_is_a_new_one_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever was half done when a use failed is not used again."""
    one = manifests_of("see alpha-1")
    added = noted_adds(monkeypatch)
    for fails in (False, True, False, False):
        with suppress(KeyError), seen_in(one, None):
            if fails:
                raise KeyError
    assert added == ["e/0", "e/0"]


def manifests_of(*contents: Any) -> Manifests:
    wire = [{**item(content), "classification": "a"} for content in contents]
    return Manifests(tool_manifest=(), evidence_manifest=numbered(wire))


def noted_adds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    added, add = list[str](), SeenItems.add

    def noting(index: SeenItems, one: EvidenceItem) -> None:
        added.append(one.id)
        add(index, one)

    monkeypatch.setattr(SeenItems, "add", noting)
    return added


@pytest.mark.parametrize("same", [True, False], ids=["the same items", "equal items"])
def test_each_item_is_read_once_however_many_plans_and_contexts_follow(
    same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    added, one = noted_adds(monkeypatch), manifests_of("alpha-1", {"x": ["beta-2"]})
    for at in range(2, 9):
        for _ in range(3):
            with seen_in(one, None):
                pass
        assert added == [f"e/{number}" for number in range(at)]
        before = one.evidence_manifest if same else copy.deepcopy(one.evidence_manifest)
        more = numbered([item({"x": at})], at)
        one = one.model_copy(update={"evidence_manifest": (*before, *more)})


def test_an_index_is_of_one_context_at_a_time_the_last_that_went_on_from_it() -> None:
    one = manifests_of("alpha-1")
    more = numbered([item("beta-2"), item("gamma-3")], 1)
    grown = [
        one.model_copy(update={"evidence_manifest": (*one.evidence_manifest, *more[:count])})
        for count in range(3)
    ]
    for each in grown:
        with seen_in(each, None):
            pass
    kept = [kept_items._KEPT.get(each) for each in grown]
    assert [one is not None and one.index is not None for one in kept] == [False, False, True]


def test_the_longest_of_several_is_gone_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [f"alpha-{at}" for at in range(4)]
    whole = manifests_of(*said)
    for count in (1, 3, 2):
        with seen_in(manifests_of(*said[:count]), None):
            pass
    added = noted_adds(monkeypatch)
    with seen_in(whole, None):
        pass
    assert added == ["e/3"]


def test_manifests_that_another_went_on_from_still_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    one = manifests_of("alpha-1")
    more = (*one.evidence_manifest, *numbered([item("beta-2")], 1))
    longer = one.model_copy(update={"evidence_manifest": more})
    added = noted_adds(monkeypatch)
    for _ in range(5):
        for each in (one, longer):
            with seen_in(each, None) as (*both, _):
                assert known(both) == known(seen_anew(each, None))
    own = [name for name in added if name == "e/1"]
    assert len(own) == 1 + 5, "the longer one is read once by itself"


def test_what_is_held_for_later_contexts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_items, "_MOST_SIZE", 100)
    recent = kept_items._RECENT
    for at in range(40):
        with seen_in(manifests_of(f"alpha-{at} " * 3), None):
            pass
    assert 0 < sum(map(kept_items._size, recent._kept)) <= 100
    with seen_in(manifests_of("alpha-1 " * 30), None):
        pass
    assert not recent._kept
    for at in range(40):
        with seen_in(manifests_of(f"{at}"), None):
            pass
    assert len(recent._kept) == kept_items._MOST_RECENT


def kept_of(manifests: Manifests) -> Any:
    """Return the index that is kept beside manifests."""
    with seen_in(manifests, None):
        pass
    kept = kept_items._KEPT.get(manifests)
    assert kept is not None
    return kept


def test_at_most_sixteen_indexes_of_eight_mebibytes_are_held() -> None:
    assert (kept_items._MOST_RECENT, kept_items._MOST_SIZE) == (16, 8 << 20)


def test_an_index_is_as_large_as_what_was_read_and_what_was_sent() -> None:
    one, sent = manifests_of("alpha-1", {"x": 1}), [SentValues(seq=1, values=[{"y": 2}])]
    with seen_in(one, None, sent):
        pass
    assert kept_of(one).index.size == len("alpha-1" + '[{"x":1}]' + "[]")
    with seen_in(one, None, sent):
        content, value = one.evidence_manifest[1].content, sent[0].values[0]
    size = kept_items._KEPT.get(one).index.size  # type: ignore[union-attr]
    assert size == len("alpha-1" + '[{"x":1}]' + '[[1,[{"y":2}]]]')
    for edited in (content, value):
        edited["z"] = object()
    for _ in range(2):  # what is no JSON counts nothing
        with seen_in(one, None, sent):
            pass
    size = kept_items._KEPT.get(one).index.size  # type: ignore[union-attr]
    assert size == len("alpha-1")
    assert kept_items._size(kept_items._Kept()) == 0


def test_what_only_looks_like_json_is_not_spelled() -> None:
    """An edit may have left it, and it may change without a trace."""

    class Text(str):
        __slots__ = ()

    for value in (datetime(2026, 5, 9, tzinfo=UTC), Text("x"), object()):
        assert kept_items._spell({"x": value}) is None
    assert kept_items._spell({"x": "y"}) == b'{"x":"y"}'


def test_what_was_sent_is_read_once_unless_it_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    one, added = manifests_of("alpha-1"), list[int]()
    monkeypatch.setattr(SentIndex, "add", noting_seq(SentIndex.add, added))
    sent = [SentValues(seq=at, values=[{"x": f"beta-{at}"}]) for at in range(4)]
    for count in (0, 1, 1, 2, 4, 4):
        with seen_in(one, None, sent[:count][::-1]) as looked:
            assert first_of(looked.sent) == [0, 1, 2, 3][:count] + [None] * (4 - count)
    assert added == [0, 1, 2, 3]
    later = [SentValues(seq=at + 5, values=each.values) for at, each in enumerate(sent)]
    with seen_in(one, None, later) as looked:
        assert first_of(looked.sent) == [5, 6, 7, 8]
    with seen_in(one, None, later[:2]) as looked:
        assert first_of(looked.sent) == [5, 6, None, None]
    value: Any = later[0].values[0]
    for text in ("beta-3", "beta-2"):
        value |= {"x": text, "no JSON": object()}
        with seen_in(one, None, later[:1]) as looked:
            assert first_of(looked.sent).index(5) == int(text[-1])


def noting_seq(add: Callable[[SentIndex, SentValues], None], added: list[int]) -> Any:
    def noting(index: SentIndex, sent: SentValues) -> None:
        added.append(sent.seq)
        add(index, sent)

    return noting


def first_of(sent: SentIndex) -> list[int | None]:
    return [sent.first_seq(read_value(f"beta-{at}", None)) for at in range(4)]


def test_items_are_read_anew_where_their_class_has_another_name_or_is_no_json() -> None:
    one = manifests_of({"id": "alpha-1"}).model_copy(update=described("a", "system"))
    other = one.model_copy(update=described("b", "system"))
    for each in (one, other, one):
        with seen_in(each, None) as (*both, _):
            assert known(both) == known(seen_anew(each, None))
    classes: Any = one.classes
    classes[0].fields["no JSON"] = object()
    for writer in ("public", "system", "party"):
        classes[0].fields["id"] = writer
        with seen_in(one, None) as (*both, _):
            assert known(both) == known(seen_anew(one, None))


def described(name: str, writer: str) -> Json:
    table = {"class": name, "fields": {"id": writer}}
    wire: Any = {"tool_manifest": [], "evidence_manifest": [], "classes": [table]}
    return {"classes": Manifests(**wire).classes}


def test_equal_items_and_edits_of_what_says_nothing_are_not_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent = {"id": "e/1", "classification": "a", "content": {"x": 1}}
    items = *manifests_of("alpha-1").evidence_manifest, EvidenceItem.model_validate(silent)
    one = manifests_of().model_copy(update={"evidence_manifest": items})
    added = noted_adds(monkeypatch)
    kept_of(one)
    content: Any = items[1].content
    content["x"] = 2
    kept_of(one)
    kept_of(copy.deepcopy(one))
    assert added == ["e/0", "e/1"]


def test_each_index_is_held_once_and_the_first_that_came_goes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_items, "_MOST_RECENT", 2)
    recent, one = kept_items._RECENT, manifests_of({"x": "alpha-1"})
    content: Any = one.evidence_manifest[0].content
    for at in range(3):  # an edit makes it a new one, in its place
        content["x"] = f"alpha-{at}"
        kept = kept_of(one)
        assert recent._kept == [kept]
    more = numbered([item("beta-2")], 1)
    longer = one.model_copy(update={"evidence_manifest": (*one.evidence_manifest, *more)})
    last = kept_of(longer)  # it went on from the other, which has none now
    assert recent._kept == [last]
    others = [kept_of(manifests := manifests_of(name)) and manifests for name in "abc"]
    first, second, third = (kept_items._KEPT.get(each) for each in others)
    assert recent._kept == [second, third]
    assert kept_of(others[1]) is second
    assert recent._kept == [second, third]
    assert first is not second


def test_what_is_as_large_as_may_be_held_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    size = len("alpha-1" + "[]" + "[]")
    for most, count in ((size, 1), (size - 1, 0)):
        monkeypatch.setattr(kept_items, "_RECENT", kept_items._Recent())
        monkeypatch.setattr(kept_items, "_MOST_SIZE", most)
        one = manifests_of("alpha-1")
        assert kept_of(one).index.size == size
        assert len(kept_items._RECENT._kept) == count


def test_the_longest_is_gone_on_from_whichever_was_used_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = [f"alpha-{at}" for at in range(4)]
    several = [manifests_of(*said[:count]) for count in (3, 2)]
    for each in several:
        kept_of(each)
    kept_items._RECENT._kept.reverse()
    added = noted_adds(monkeypatch)
    kept_of(manifests_of(*said))
    assert added == ["e/3"]


def test_an_index_in_use_is_not_waited_for_and_a_place_without_one_gives_none() -> None:
    one = manifests_of("alpha-1")
    kept, given = kept_of(one), list[Any]()
    assert kept_items._Kept().give_up(one) is None
    taker = threading.Thread(target=lambda: given.append(kept.give_up(one)), daemon=True)
    with kept.lock:
        taker.start()
        taker.join(2)
        assert given == [None]
    index = kept.index
    assert (kept.give_up(one), kept.index) == (index, None)
    assert not kept.lock.locked()
