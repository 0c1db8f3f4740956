"""The index of what was seen, as it grows, moves from moment to moment, and leaves items out."""

from datetime import UTC, datetime
from itertools import permutations, product
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic.provenance.day_forms import Day
from critic.provenance.holders import Holders, ItemText, Shown
from critic.provenance.item_parts import FieldTables
from critic.provenance.origins import Limits, Sighting
from critic.provenance.seen_items import MEMBER_RECORDS, SeenItems
from critic.provenance.seen_sources import Seen, both_seen
from critic.provenance.texts import NARROW
from critic.provenance.value_kinds import read_value
from evals.manifest import EvidenceItem, Manifests
from tests.support.seen_values import sighting
from tests.support.sightings import item, request

MOMENTS: Final = [*(datetime(2026, 5, 9, hour, tzinfo=UTC) for hour in (9, 10, 11)), None]
NINE, TEN, ELEVEN, _ = MOMENTS
UNSEEN: Final = Sighting("unseen")
TABLES: Final = FieldTables(
    Manifests(tool_manifest=(), evidence_manifest=(), record_fields=("sender",))
)


def numbered(*wire: Any) -> list[EvidenceItem]:
    return [EvidenceItem.model_validate({**one, "id": f"e/{at}"}) for at, one in enumerate(wire, 1)]


def until(moment: datetime | None) -> Any:
    return {} if moment is None else {"expires_at": moment.isoformat()}


def index_of(items: list[EvidenceItem], as_of: datetime | None) -> SeenItems:
    index = SeenItems(TABLES)
    for one in items:
        index.add(one)
    index.move_to(as_of)
    return index


def assert_shown(index: SeenItems, said: dict[str, EvidenceItem], as_of: datetime | None) -> None:
    """Each value is said by one item, as the text of a public source that the request names."""
    index.move_to(as_of)
    fresh, every = both_seen(index)
    for value, one in said.items():
        has_expired = as_of is None or one.expires_at is None or one.expires_at <= as_of
        alive = Sighting("named_public", one)
        assert sighting(fresh, value) == (UNSEEN if has_expired else alive)
        assert sighting(every, value) == (Sighting("untrusted", one) if has_expired else alive)


@pytest.mark.parametrize("moments", [*product(MOMENTS, repeat=2)])
def test_an_index_shows_what_has_not_expired_wherever_it_grew_and_moved(
    moments: tuple[datetime | None, ...],
) -> None:
    values = ["alpha-1", "beta-2"]
    expiries = zip(values, [TEN, ELEVEN], strict=True)
    items = numbered(*(item(value, standing="named", **until(end)) for value, end in expiries))
    said = dict(zip(values, items, strict=True))
    for order, first in product(permutations(items), MOMENTS):
        index = SeenItems()
        for as_of, one in zip(moments, order, strict=True):
            index.move_to(as_of)
            index.add(one)
        for as_of in (first, NINE, None, TEN, ELEVEN, TEN, NINE):
            assert_shown(index, said, as_of)


@pytest.mark.parametrize("order", [*permutations(["alpha-1", "beta-2", "gamma-3"])])
def test_what_is_added_late_leaves_what_expires_next_in_its_place(order: tuple[str, ...]) -> None:
    ends = dict(zip(["alpha-1", "beta-2", "gamma-3"], [NINE, TEN, ELEVEN], strict=True))
    items = numbered(*(item(one, standing="named", **until(ends[one])) for one in order))
    for moment in (NINE, TEN):
        index = SeenItems()
        for one in items:
            index.move_to(moment)
            index.add(one)
        for as_of in (ELEVEN, TEN, NINE):
            assert_shown(index, dict(zip(order, items, strict=True)), as_of)


@pytest.mark.parametrize("order", [*permutations(range(1, 5))])
def test_holders_of_one_key_come_by_their_numbers_however_they_were_added(
    order: tuple[int, ...],
) -> None:
    items = {int(one.id[2:]): one for one in numbered(*[item("alpha-1", **until(TEN))] * 4)}
    entries = {number: ItemText(one) for number, one in items.items()}
    holders = Holders[str]()
    for number in order:
        holders.add(["alpha", f"only {number}"], entries[number])
    for gone in range(1, 5):
        left = [number for number in range(1, 5) if number > gone]
        entries[gone].mark(has_expired=True)
        assert [one.number[1] for one in holders.entries_of("alpha", None)] == [
            f"e/{number}" for number in left
        ]
        expired = Shown(expired=True)
        assert holders.first("alpha", expired) is entries[1]
        assert holders.first(f"only {gone}", expired) is entries[gone]
        assert holders.first(f"only {gone}", None) is None


def test_what_is_fresh_and_what_was_ever_seen_are_one_while_nothing_has_expired() -> None:
    index = SeenItems()
    assert is_one(index)
    index.move_to(NINE)
    index.add(*numbered(item("alpha-1", **until(TEN))))
    assert is_one(index)
    for as_of, one in ((NINE, True), (TEN, False), (NINE, True), (None, False)):
        index.move_to(as_of)
        assert is_one(index) == one


def is_one(index: SeenItems) -> bool:
    fresh, every = both_seen(index)
    return fresh is every


@pytest.mark.parametrize(
    ("ends", "as_of", "hidden", "hosts"),
    [
        ([None, None], NINE, [], ["a.example", "b.example"]),
        ([None, None], NINE, ["e/1"], ["b.example"]),
        ([None, None], NINE, ["e/1", "e/2"], []),
        ([None, TEN], NINE, [], ["a.example", "b.example"]),
        ([None, TEN], NINE, ["e/1"], ["b.example"]),
        ([None, TEN], NINE, ["e/2"], ["a.example"]),
        ([None, TEN], TEN, [], ["a.example"]),
        ([None, TEN], TEN, ["e/1"], []),
        ([TEN, TEN], NINE, [], ["a.example", "b.example"]),
        ([TEN, TEN], TEN, [], []),
    ],
)
def test_the_words_of_the_requests_that_count_are_those_of_the_request(
    ends: list[datetime | None], as_of: datetime, hidden: list[str], hosts: list[str]
) -> None:
    said = zip(["a.example", "b.example"], ends, strict=True)
    items = numbered(*(request(f"open {host}") | until(end) for host, end in said))
    for seen in both_seen(index_of(items, as_of), frozenset(hidden)):
        named = [host for host in ("a.example", "b.example") if sighting(seen, host) != UNSEEN]
        assert [name for name in named if sighting(seen, name).origin == "request"] == hosts
        assert ("open" in seen.request_words.stems) == bool(hosts)


def what_is_known(seen: Seen, values: list[str]) -> list[Any]:
    days = [seen.days.find(Day(2026, 5, 9)).origin, seen.days.are_requested]
    return [*(sighting(seen, value).origin for value in values), *days]


@pytest.mark.parametrize("end", [None, TEN, ELEVEN])
@pytest.mark.parametrize("author", ["user", "operator", "system", "public"])
def test_a_hidden_item_says_nothing_whether_it_has_expired_or_not(
    author: str, end: datetime | None
) -> None:
    said = item({"sender": ["alpha-1"], "x": "beta-2 on may 9"}, author, "named", **until(end))
    items = numbered(said, item("gamma-3", **until(TEN)))
    for seen in both_seen(index_of(items, TEN), frozenset(["e/1"])):
        assert what_is_known(seen, ["alpha-1", "beta-2"]) == ["unseen"] * 3 + [False]


@pytest.mark.parametrize("more", [[], [item("gamma-3", **until(TEN))]])
def test_a_hidden_item_gives_nothing_as_a_designated_record_or_before_an_echo(
    more: list[Any],
) -> None:
    fields = Manifests(tool_manifest=(), evidence_manifest=(), record_fields=("sender", "about"))
    record = item([{"sender": "Bob", "about": "rent-7", "x": "pay alpha-1"}], "member")
    record["source"]["seq"] = 0
    shown = item("of beta-2", "system")
    shown["source"]["seq"] = 1
    index = SeenItems(FieldTables(fields))
    for one in numbered(request("see that from Bob about rent-7"), record, shown, *more):
        index.add(one)
    index.move_to(TEN)
    for hidden in (frozenset[str](), frozenset({"e/2", "e/3"})):
        for seen in both_seen(index, hidden):
            limits = Limits("recipient", first_sent=2)
            designated = [one.origin for one in seen.in_fields(read_value("alpha-1", None), limits)]
            assert designated == ([] if hidden else ["designated"])
            assert (seen.in_record(read_value("beta-2", None), limits) is None) == bool(hidden)


@pytest.mark.parametrize(
    ("sender", "about", "is_designated"),
    [
        *(("Bob", "rent-7", True), ("rent-7", "rent-7", False), ("Bob", "Bob", False)),
        *(("Bob", "rent-8", False), ("Eve", "rent-7", False), ("Eve", "rent-8", False)),
    ],
)
def test_a_record_is_designated_by_two_values_and_gives_what_its_member_wrote(
    sender: str, about: str, is_designated: bool
) -> None:
    """What outsiders filled in beside them is in no record of the member."""
    names = ("sender", "about", "cc")
    index = SeenItems(
        FieldTables(Manifests(tool_manifest=(), evidence_manifest=(), record_fields=names))
    )
    record = {"sender": sender, "about": about, "cc": "beta-2", "x": "pay alpha-1"}
    for one in numbered(request("see that from Bob about rent-7"), item([record], "member")):
        index.add(one)
    for seen in both_seen(index):
        for value, is_written in (("alpha-1", True), ("beta-2", False)):
            found = seen.in_fields(read_value(value, None), Limits("recipient"))
            is_given = "designated" in [one.origin for one in found]
            assert is_given == (is_designated and is_written)


@pytest.mark.parametrize("standing", ["named", "reached", "ambient"])
def test_a_party_is_one_of_a_system_or_an_outsider_and_a_member_s_field_is_the_system_s(
    standing: str,
) -> None:
    for author, origin in (("member", "field"), ("system", "party"), ("public", "party")):
        index = index_of(numbered(item({"sender": "alpha-1"}, author, standing)), NINE)
        for seen in both_seen(index):
            assert sighting(seen, "alpha-1").origin == origin


def test_a_field_of_one_mailbox_is_its_address_and_one_of_two_is_nobody_s() -> None:
    for field, is_known in (
        *(("Mia <mia@a.de>", True), ("mia@a.de", True)),
        *(("Mia <mia@a.de>, ben@b.de", False), ("ben@b.de; mia@a.de", False)),
    ):
        index = index_of(numbered(item({"sender": field}, "member")), NINE)
        for seen in both_seen(index):
            found = sighting(seen, "mia@a.de").origin
            assert (found == "field") == is_known


def test_a_request_that_has_expired_is_read_as_any_other_text() -> None:
    [said] = items = numbered(request("see zeta-9914-b") | until(TEN))
    fresh, every = both_seen(index_of(items, NINE))
    assert sighting(fresh, "zeta-9914-b") == Sighting("request", said)
    fresh, every = both_seen(index_of(items, TEN))
    assert sighting(fresh, "zeta-9914-b") == UNSEEN
    assert sighting(every, "zeta-9914-b") == Sighting("untrusted", said)
    assert sighting(every, "zeta-9914") == UNSEEN


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_of_what_is_linked_and_what_has_expired_the_first_item_is_named(
    order: tuple[int, ...],
) -> None:
    kinds = [
        item("alpha-1", standing="led"),
        item("alpha-1 and beta-2", "system", "named", **until(TEN)),
        item("alpha-1", "member", "reached", **until(TEN)),
    ]
    items = numbered(*(kinds[at] for at in order))
    _, every = both_seen(index_of(items, TEN))
    assert sighting(every, "alpha-1") == Sighting("untrusted", items[0])
    assert sighting(every, "beta-2") == Sighting("untrusted", items[order.index(1)])


def test_what_is_linked_is_seen_where_only_something_else_has_expired() -> None:
    linked, _ = items = numbered(item("alpha-1", standing="led"), item("beta-2", **until(TEN)))
    for seen in both_seen(index_of(items, TEN)):
        assert sighting(seen, "alpha-1") == Sighting("untrusted", linked)


def test_tables_of_runs_are_as_of_the_moment_too() -> None:
    value, ends = "alpha beta", [TEN, ELEVEN, None]
    items = numbered(*(item(f"x {value}", standing="named", **until(end)) for end in ends))
    index = index_of(items, NINE)
    for as_of, first in ((TEN, 1), (ELEVEN, 2), (TEN, 1), (NINE, 0)):
        index.move_to(as_of)
        index.places["named_public"].texts(NARROW)._tries_left = 0
        fresh, _ = both_seen(index)
        assert sighting(fresh, value) == Sighting("named_public", items[first])


EVENTS = st.lists(
    st.tuples(
        st.integers(1, 9),
        st.sampled_from(["alpha-1", "alpha beta on may 9", "beta alpha", "id 7"]),
        st.sampled_from(["user", "operator", "system", "public", "member"]),
        st.sampled_from(["named", "reached", "ambient", "led"]),
        st.sampled_from(MOMENTS),
        st.sampled_from(MOMENTS),
    ),
    max_size=6,
    unique_by=lambda event: event[0],
)
SOUGHT: Final = ["alpha-1", "alpha beta", "beta alpha", "7"]


@given(EVENTS, st.sampled_from(MOMENTS), st.frozensets(st.sampled_from(["e/1", "e/2", "e/3"])))
def test_an_index_that_grew_and_moved_answers_as_one_made_at_once(
    events: list[Any], last: datetime | None, hidden: frozenset[str]
) -> None:
    growing, items = SeenItems(TABLES), list[EvidenceItem]()
    for number, said, author, standing, end, as_of in events:
        wire = item({"sender": [said], "x": said + "."}, author, standing, **until(end))
        items.append(EvidenceItem.model_validate({**wire, "id": f"e/{number}"}))
        growing.add(items[-1])
        for moment in (as_of, last):
            growing.move_to(moment)
            for place in growing.places.values():
                place.texts(NARROW)._tries_left = 0
            at_once = index_of(sorted(items, key=lambda one: one.id, reverse=True), moment)
            pairs = zip(both_seen(growing, hidden), both_seen(at_once, hidden), strict=True)
            for one, other in pairs:
                assert [sighting(one, value) for value in SOUGHT] == [
                    sighting(other, value) for value in SOUGHT
                ]
                assert what_is_known(one, []) == what_is_known(other, [])


@given(
    EVENTS,
    st.integers(0, 6),
    st.sampled_from(MOMENTS),
    st.frozensets(st.sampled_from(["e/1", "e/2", "e/3"])),
)
def test_an_index_that_goes_on_from_another_answers_as_one_of_all_items(
    events: list[Any], count: int, as_of: datetime | None, hidden: frozenset[str]
) -> None:
    items = []
    for number, said, author, standing, end, _ in sorted(events, key=lambda event: event[0]):
        wire = item({"sender": [said], "x": said + "."}, author, standing, **until(end))
        items.append(EvidenceItem.model_validate({**wire, "id": f"e/{number}"}))
    first = index_of(items[:count], as_of)
    after = SeenItems(TABLES, first)
    for added in items[count:]:
        after.add(added)
    after.move_to(as_of)
    at_once = index_of(items, as_of)
    assert (after.any_expired, is_one(after)) == (at_once.any_expired, is_one(at_once))
    pairs = zip(both_seen(after, hidden), both_seen(at_once, hidden), strict=True)
    for one, other in pairs:
        assert [sighting(one, value) for value in SOUGHT] == [
            sighting(other, value) for value in SOUGHT
        ]
        assert what_is_known(one, []) == what_is_known(other, [])
        assert one.request_words == other.request_words


@pytest.mark.parametrize("value", ["order-1", "order-1 is"])
def test_a_lookup_does_not_go_through_what_has_expired_nor_through_what_has_not(value: str) -> None:
    ends = [TEN] * 100 + [ELEVEN] * 100
    items = numbered(*(item("the order-1 is fine", standing="named", **until(end)) for end in ends))
    index, asked = index_of(items, TEN), list[str]()
    index.places["named_public"].texts(NARROW)._tries_left = 0
    shows = Shown.shows

    def asked_for(shown: Shown, entry: ItemText) -> bool:
        asked.append(entry.item.id)
        return shows(shown, entry)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Shown, "shows", asked_for)
        fresh, every = both_seen(index)
        assert sighting(fresh, value) == Sighting("named_public", items[100])
        assert sighting(every, value) == Sighting("named_public", items[100])
        index.move_to(NINE)
        index.move_to(None)
        fresh, every = both_seen(index)
        assert sighting(fresh, value) == UNSEEN
        assert sighting(every, value) == Sighting("untrusted", items[0])
    assert len(asked) < 20


@pytest.mark.parametrize("count", [1, 200])
def test_a_sign_for_many_letters_is_read_where_there_are_few_in_records_as_in_texts(
    count: int,
) -> None:
    text = "see " + "\ufdfa" * count
    record = {"sender": "Bob", "about": "rent-7", "x": text}
    fields = Manifests(tool_manifest=(), evidence_manifest=(), record_fields=("sender", "about"))
    index = SeenItems(FieldTables(fields))
    for one in numbered(item(text, "member", "named"), item([record], "member")):
        index.add(one)
    for name in ("named_member", MEMBER_RECORDS):
        (entry,) = index.places[name].shown_entries(None)
        assert any("\ufdfa" in said for said in entry.texts) == (count == 1)
