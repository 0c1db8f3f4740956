"""A trail is only added to, and answers as if it had been made at once."""

from collections import Counter
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic import CompiledContext, DecisionSpec, EvidenceItem, RunContext, Source, context_digest
from critic.provenance.day_forms import Day
from critic.provenance.seen_sources import Seen
from critic.provenance.value_kinds import read_value
from critic.session.session_evidence import Trail
from critic.session.session_values import SeenItems
from evals.canonical_json import canonical_bytes
from evals.confinement import ConfinedContent
from evals.manifest import EvidenceClass, Manifests
from evals.timestamps import is_unexpired
from tests.support.seen_values import seen_anew, sighting

TIMES = [datetime(2026, 5, 9, hour, tzinfo=UTC) for hour in (10, 11, 12)]
VALUES = ["alpha-1", "beta-2", "may 9", "x.example/a"]
SOURCES = [
    Source(author="user", standing="named"),
    Source(author="operator", standing="named"),
    Source(author="system", standing="reached"),
    Source(author="public", standing="ambient"),
    Source(author="member", standing="named"),
    Source(author="public", standing="led"),
]

PREFIXES = st.sampled_from(["call", "call", "handbook", "a"])
"""How ids begin: by number, they are in another order than the items."""

DESCRIBED = Manifests(
    tool_manifest=(),
    evidence_manifest=(),
    classes=(EvidenceClass(class_="a", fields={"id": "system"}),),
    record_fields=("id",),
)
unhurried = settings(deadline=None)


@st.composite
def evidence(draw: st.DrawFn, start: int = 1) -> list[EvidenceItem]:
    """Draw evidence of few values, sources and times, so that they meet."""
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from(SOURCES),
                st.sampled_from([*VALUES, " and ".join(VALUES[:2]), {"id": "alpha-1"}, None]),
                st.sampled_from([None, None, *TIMES]),
                st.sampled_from(["a", "b"]),
            ),
            max_size=8,
        )
    )
    return [
        item_of(f"{draw(PREFIXES)}/{number}", source, content, expiry, kind)
        for number, (source, content, expiry, kind) in enumerate(drawn, start)
    ]


def item_of(
    ref: str, source: Source, content: Any, expiry: datetime | None, kind: str
) -> EvidenceItem:
    times: dict[str, Any] = {} if expiry is None else {"expires_at": expiry}
    return EvidenceItem(id=ref, classification=kind, content=content, source=source, **times)


def built(
    items: list[EvidenceItem], as_of: datetime | None, without: set[int]
) -> tuple[Seen, Seen]:
    counting = tuple(item for at, item in enumerate(items) if at not in without)
    manifests = DESCRIBED.model_copy(update={"evidence_manifest": counting})
    return seen_anew(manifests, as_of)


def origins(both: tuple[Seen, Seen]) -> list[Any]:
    """Return all that is known of the values, with the items that show them."""
    return [
        (
            *(sighting(seen, value) for value in VALUES),
            *(seen.leads_to(read_value(value, None)) for value in VALUES),
            *days(seen),
        )
        for seen in both
    ]


def days(seen: Seen) -> list[Any]:
    found = [seen.days.find(Day(2026, 5, day)) for day in (8, 9)]
    return [*found, seen.days.are_requested, seen.request_words]


@unhurried
@given(evidence(), st.data())
def test_it_has_seen_what_an_index_made_anew_has(
    items: list[EvidenceItem], data: st.DataObject
) -> None:
    """It grows by pieces, is asked in between, and is asked about its earlier states as well."""
    trail, trails = Trail((), DESCRIBED), []
    for item in items:
        trail = trail.plus([item])
        trails.append(trail)
    for _ in range(6):
        if not trails:
            return
        asked = data.draw(st.sampled_from(trails))
        as_of = data.draw(st.sampled_from([None, *TIMES]))
        without = data.draw(st.sets(st.integers(0, len(asked) - 1), max_size=3))
        with asked.seen_sources(as_of, without) as seen:
            assert origins(seen) == origins(built(items[: len(asked)], as_of, without))


@unhurried
@given(evidence(), evidence(start=10), evidence(start=10))
def test_two_that_go_on_from_one_place_do_not_see_each_other(
    first: list[EvidenceItem], one: list[EvidenceItem], other: list[EvidenceItem]
) -> None:
    trail = Trail(first, DESCRIBED)
    branches = [(trail.plus(added), added) for added in (one, other)]
    for branch, added in branches:
        assert branch.items == (*first, *added)
        with branch.seen_sources(None) as seen:
            assert origins(seen) == origins(built([*first, *added], None, set()))
    assert trail.items == tuple(first)


def branched(items: list[EvidenceItem], cuts: list[int]) -> Trail:
    """Return a trail of the items that branches off at some of them, seen by none of the others."""
    trail = Trail((), DESCRIBED)
    for at, item in enumerate(items):
        if at in cuts:
            trail, before = trail.branch(), trail
            hidden = Source(author="system", standing="named")
            before.plus([item_of(f"later/{at}", hidden, VALUES[0], None, "a")]).read()
        trail = trail.plus([item])
    return trail


@unhurried
@given(evidence(), st.lists(st.integers(0, 7), max_size=2), st.data())
def test_a_branch_answers_as_a_trail_of_all_its_items(
    items: list[EvidenceItem], cuts: list[int], data: st.DataObject
) -> None:
    whole, branch = Trail((), DESCRIBED).plus(items), branched(items, cuts)
    for _ in range(4):
        count = data.draw(st.integers(0, len(items)))
        one, other = whole.first_items(count), branch.first_items(count)
        as_of = data.draw(st.sampled_from([None, *TIMES]))
        with one.seen_sources(as_of) as seen:
            expected = origins(seen)
        with other.seen_sources(as_of) as seen:
            assert origins(seen) == expected
        assert (other.items, other.last_seq, len(other)) == (one.items, one.last_seq, count)
        assert other.digest_state().digest() == one.digest_state().digest()
        assert [item.id in other for item in items] == [item.id in one for item in items]
        confined = [trail.confined_content("ba") for trail in (one, other)]
        texts = [{"x": f"{value} alpha-1 and beta-2"} for value in VALUES]
        assert confined[0].found_in(texts) == confined[1].found_in(texts)
        for kind in "abc":
            assert other.of_class(kind) == one.of_class(kind)


@unhurried
@given(evidence(), st.sampled_from([None, *TIMES]))
def test_it_finds_the_fresh_items_of_a_class(
    items: list[EvidenceItem], as_of: datetime | None
) -> None:
    trail = Trail().plus(items)
    for count, kind in product(range(len(items) + 1), "abc"):
        expected = [
            item.id
            for item in items[:count]
            if item.classification == kind and is_unexpired(item.expires_at, as_of)
        ]
        assert trail.first_items(count).fresh_ids(kind, as_of) == expected


@unhurried
@given(evidence(), st.lists(st.integers(0, 8)), st.booleans())
def test_its_digest_is_that_of_the_context(
    items: list[EvidenceItem], asked: list[int], with_fields: bool
) -> None:
    described = DESCRIBED if with_fields else Manifests(tool_manifest=(), evidence_manifest=())
    trail = Trail((), described)
    for item in items:
        trail = trail.plus([item])
    ctx = RunContext(trace_id="t", safety_mode="network")
    spec = DecisionSpec(id="s", required_outputs=())
    for count in [*asked, len(items)]:
        part = trail.first_items(count)
        manifests = described.model_copy(update={"evidence_manifest": part.items})
        compiled = CompiledContext(manifests=manifests, pack_version="p")
        assert part.context_digest(ctx, compiled, spec) == context_digest(ctx, compiled, spec)


def test_an_empty_trail_has_seen_nothing() -> None:
    with Trail().seen_sources(None) as seen:
        assert all(sighting(one, value).origin == "unseen" for one in seen for value in VALUES)
    assert len(Trail()) == 0


def test_no_two_items_have_one_id() -> None:
    item = EvidenceItem(id="a", classification="x")
    with pytest.raises(ValueError, match="same id"):
        Trail([item, item])
    with pytest.raises(ValueError, match="same id"):
        Trail([item]).plus([item])


def test_a_trail_has_the_classes_that_it_saw() -> None:
    trail = Trail([EvidenceItem(id=f"e{kind}", classification=kind) for kind in "xyx"[:2]])
    trail = trail.plus([EvidenceItem(id="third", classification="x")])
    assert {name: len(trail.of_class(name)) for name in "xyz"} == {"x": 2, "y": 1, "z": 0}
    assert [len(trail.first_items(1).of_class(name)) for name in "xy"] == [1, 0]


def test_what_must_not_leave_is_named_by_its_class_first() -> None:
    contents = {"a1": "first secret", "b1": "second secret", "a2": "third secret", "b2": None}
    trail = Trail(
        [
            EvidenceItem(id=name, classification=name[0], content=content)
            for name, content in contents.items()
        ]
    )
    values = ["first secret, second secret", "third and second secret", "third secret", "none"]
    confined = trail.confined_content(["b", "a", "b"])
    assert confined.found_in(values) == ["b1", "b1", "a2", None]
    assert trail.confined_content(["a", "b"]).found_in(values) == ["a1", "b1", "a2", None]
    assert trail.confined_content([]).found_in(values) == [None] * 4
    assert trail.first_items(2).confined_content(["a", "b"]).found_in(values) == [
        "a1",
        "b1",
        None,
        None,
    ]
    assert (
        confined.without_text(),
        trail.first_items(3).confined_content(["b"]).without_text(),
    ) == (["b2"], [])


def test_adding_nothing_changes_nothing() -> None:
    trail = Trail()
    assert trail.plus([]) is trail


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_first_items_are_at_most_those_that_there_are(count: int) -> None:
    item = EvidenceItem(id="a", classification="x")
    assert len(Trail([item]).first_items(count)) == min(count, 1)


def test_what_it_keeps_of_an_item_is_made_once_however_often_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    for place, name in ((SeenItems, "add"), (ConfinedContent, "add")):
        monkeypatch.setattr(place, name, counting(made, name, getattr(place, name)))
    monkeypatch.setattr(
        "critic.session.session_evidence.canonical_bytes", counting(made, "bytes", canonical_bytes)
    )
    trail = first = Trail()
    for number in range(5):
        trail = trail.plus([EvidenceItem(id=f"k{number}", classification="k", content="secret x")])
        assert trail.root is first.root
        for _ in range(2):
            trail.digest_state()
            trail.confined_content(["k"]).found_in(["none"])
            with trail.seen_sources(None):
                pass
    assert Counter(made) == {"add": 5 + 5, "bytes": 5}
    assert first.plus([EvidenceItem(id="k0", classification="k")]).root is not first.root


def counting(made: list[str], name: str, work: Any) -> Any:
    def counted(*args: Any) -> Any:
        made.append(name)
        return work(*args)

    return counted


def test_items_are_picked_in_their_order_from_what_the_trail_had() -> None:
    trail = Trail([EvidenceItem(id=f"e{at}", classification="xy"[at % 2]) for at in range(9)])
    for refs, classes, places in (
        (["e8", "e1"], [], [1, 8]),
        (["e7"], ["x"], [0, 2, 4, 6, 7, 8]),
        ([], ["y", "z"], [1, 3, 5, 7]),
    ):
        for count in (8, 9):
            found = trail.first_items(count).pick_items(refs, classes)
            assert [item.id for item in found] == [f"e{at}" for at in places if at < count]
