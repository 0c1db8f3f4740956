"""A trail, state by state: what it digests, what it has seen, and what it does not see."""

import weakref
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

import pytest

from critic import (
    CompiledContext,
    DecisionSpec,
    EvidenceItem,
    RunContext,
    Source,
    ToolCapability,
    context_digest,
)
from critic.session.session_evidence import Trail
from evals.canonical_json import canonical_bytes
from evals.confinement import ConfinedContent
from evals.manifest import EvidenceClass, Manifests
from evals.plan import Plan, Proposal
from tests.support.seen_values import sighting

NOW: Final = datetime(2026, 5, 9, 12, tzinfo=UTC)
CLASSES: Final = (EvidenceClass(class_="k0", fields={"id": "system"}),)
SPEC: Final = DecisionSpec(id="s", required_outputs=())
TOOL: Final = ToolCapability(adapter_id="a", capability_id="b", approval_mode="read_only")
DESCRIBED: Final = [
    Manifests(tool_manifest=(), evidence_manifest=()),
    Manifests(tool_manifest=(), evidence_manifest=(), classes=CLASSES),
    Manifests(tool_manifest=(), evidence_manifest=(), record_fields=("id",)),
    Manifests(tool_manifest=(), evidence_manifest=(), classes=CLASSES, record_fields=("id",)),
]


def item(number: int, **more: Any) -> EvidenceItem:
    """Return an item of the user that says a value of its own."""
    source = Source(author="user", standing="named")
    fields = {
        "classification": f"k{number % 2}",
        "content": f"pay zeta-{number}0",
        "source": source,
    }
    return EvidenceItem(id=f"e{number}", **{**fields, **more})


ITEMS: Final = [item(number) for number in range(4)]


def seen(trail: Trail, without: tuple[int, ...] = (), as_of: datetime | None = None) -> list[int]:
    """Return the numbers of the items whose values a trail shows to be requested."""
    with trail.seen_sources(as_of, without) as (fresh, _):
        return [at for at in range(6) if sighting(fresh, f"zeta-{at}0").origin == "request"]


@pytest.mark.parametrize("described", DESCRIBED)
def test_each_state_has_the_digest_of_its_context_in_whichever_order_it_is_asked(
    described: Manifests,
) -> None:
    spec = DecisionSpec(id="t", required_outputs=("x",))
    trail = Trail((), described)
    assert trail.digest_state().digest() == Trail((), described).digest_state().digest()
    trail = trail.plus(ITEMS)
    for count in (0, 1, 3, 2, 4, 1, 4, 0):
        part = trail.first_items(count)
        more = {"evidence_manifest": part.items, "tool_manifest": (TOOL,)}
        manifests = described.model_copy(update=more)
        for name, packed, asked in (("t", "p", SPEC), ("u", "q", spec)):
            ctx = RunContext(trace_id=name, safety_mode="network")
            compiled = CompiledContext(manifests=manifests, pack_version=packed)
            expected = context_digest(ctx, compiled, asked)
            assert part.context_digest(ctx, compiled, asked) == expected


@pytest.mark.parametrize("described", DESCRIBED)
def test_its_opening_is_how_a_proposal_begins(described: Manifests) -> None:
    trail = Trail(ITEMS, described)
    manifests = described.model_copy(update={"evidence_manifest": trail.items})
    proposal = Proposal(
        ctx=RunContext(trace_id="t", safety_mode="network"),
        compiled=CompiledContext(manifests=manifests),
        spec=SPEC,
        plan=Plan(steps=(), declared_outputs=()),
    )
    begun = trail.opening + b",".join(map(canonical_bytes, ITEMS)) + b"]"
    assert canonical_bytes(proposal).startswith(begun)


def test_it_sees_what_it_has_and_nothing_that_came_later() -> None:
    trail = Trail().plus(ITEMS)
    assert [seen(trail.first_items(count)) for count in (1, 3, 2, 4, 0, 1)] == [
        *([0], [0, 1, 2], [0, 1], [0, 1, 2, 3], [], [0]),
    ]
    assert seen(trail, (0, 2)) == [1, 3]
    assert seen(trail.first_items(3), (0,)) == [1, 2]
    assert seen(trail) == [0, 1, 2, 3]


def test_what_has_expired_by_then_gives_nothing() -> None:
    later = item(5, expires_at=NOW)
    trail = Trail([item(1), later])
    for as_of, numbers in ((NOW - timedelta(seconds=1), [1, 5]), (NOW, [1]), (None, [1])):
        assert seen(trail, as_of=as_of) == numbers
        assert seen(trail, as_of=NOW - timedelta(seconds=1)) == [1, 5]
        ids = trail.fresh_ids("k1", as_of)
        assert ids == [f"e{number}" for number in numbers]
    assert trail.fresh_ids("k0", NOW) == []


def test_two_that_go_on_from_one_place_have_what_came_before_and_their_own() -> None:
    first = Trail(ITEMS[:1], DESCRIBED[1])
    one, other = first.plus([ITEMS[1]]), first.plus([ITEMS[2], ITEMS[3]])
    assert (one.root is first.root, other.root is first.root) == (True, False)
    assert [trail.items for trail in (first, one, other)] == [
        *((ITEMS[0],), (ITEMS[0], ITEMS[1]), (ITEMS[0], ITEMS[2], ITEMS[3])),
    ]
    assert [seen(trail) for trail in (first, one, other)] == [[0], [0, 1], [0, 2, 3]]
    assert {trail.opening for trail in (first, one, other)} == {Trail((), DESCRIBED[1]).opening}
    assert len(other.first_items(2).plus([item(5)])) == 3
    # What is kept beside it is to go when it goes.
    assert weakref.ref(first.root)() is one.root
    with pytest.raises(ValueError, match="same id"):
        one.plus([ITEMS[0]])


def test_its_items_are_found_by_id_and_by_class_with_when_they_expire() -> None:
    late = item(5, expires_at=NOW)
    trail = Trail([item(0), item(1)]).plus([late])
    assert trail.by_id == {"e0": item(0), "e1": item(1), "e5": late}
    assert trail.classes == {"e0": "k0", "e1": "k1", "e5": "k1"}
    assert trail.expiries == {"e5": NOW}
    assert [one.id for one in trail.of_class("k1")] == ["e1", "e5"]
    assert [one.id for one in trail.added_since(1)] == ["e1", "e5"]
    assert trail.first_items(2).added_since(1) == [item(1)]
    assert trail.added_since(3) == []


def numbered() -> list[EvidenceItem]:
    """Return items of which some expire, and one has no source and so no number."""
    items = list[EvidenceItem]()
    for at in range(6):
        source = Source(author="user", standing="named", seq=(at * 5) % 7)
        more: dict[str, Any] = {"expires_at": NOW + timedelta(seconds=at)} if at % 3 == 1 else {}
        items.append(item(at, source=source, **more))
    return [*items[:3], EvidenceItem(id="e3", classification="k1", content="x"), *items[4:]]


@pytest.mark.parametrize("cuts", [(0,), (2,), (6,), (0, 3), (2, 2), (2, 5), (6, 6), (1, 3, 4)])
def test_a_branch_answers_as_a_trail_of_all_its_items(cuts: tuple[int, ...]) -> None:
    """Those that the trails before it were given later are none of its own."""
    items, ids = numbered(), [f"e{at}" for at in range(6)]
    trail = Trail(items[: cuts[0]], DESCRIBED[1])
    for at, (begin, end) in enumerate(pairwise((*cuts, 6))):
        branch = trail.branch()
        later = Source(author="user", standing="named", seq=99 + at)
        trail.plus([item(9 + at, source=later, content="pay zeta-50", expires_at=NOW)])
        trail = branch
        for new in items[begin:end]:
            trail = trail.plus([new])
    whole = Trail(items, DESCRIBED[1])
    for count in (6, 0, 3, 5, 1, 4, 2, 6):
        mine, its = trail.first_items(count), whole.first_items(count)
        known = items[:count]
        seqs = [one.source.seq for one in known if one.source is not None]
        for one in (mine, its):
            assert ([*one.items], len(one)) == (known, count)
            assert one.last_seq == max((seq for seq in seqs if seq is not None), default=-1)
            assert [name for name in (*ids, "e9") if name in one] == ids[:count]
        for as_of in (None, NOW, NOW + timedelta(seconds=2)):
            assert seen(mine, as_of=as_of) == seen(its, as_of=as_of)
            for name in ("k0", "k1"):
                assert mine.fresh_ids(name, as_of) == its.fresh_ids(name, as_of)
        assert mine.digest_state().digest() == its.digest_state().digest()
        mine_content, its_content = (one.confined_content(("k1", "k0")) for one in (mine, its))
        texts = ["say pay zeta-00", "pay zeta-50", "nothing"]
        assert mine_content.found_in(texts) == its_content.found_in(texts)
        assert sorted(mine_content.without_text()) == sorted(its_content.without_text())
    for name in ids:
        assert trail.by_id[name] == whole.by_id[name]
        assert trail.classes[name] == whole.classes[name]
        assert trail.expiries.get(name) == whole.expiries.get(name)
    for count in range(cuts[-1], 7):
        assert trail.added_since(count) == items[count:]


def test_what_has_no_source_has_no_number() -> None:
    silent = EvidenceItem(id="e", classification="k", content="x")
    assert (Trail().last_seq, Trail([silent]).last_seq) == (-1, -1)


def test_what_a_branch_is_read_from_is_read_too() -> None:
    trail = Trail(ITEMS[:2])
    branch = trail.branch().plus(ITEMS[2:])
    branch.read()
    assert (trail.root.indexed, branch.root.indexed) == (2, 2)  # type: ignore[attr-defined]


def test_confined_content_is_looked_through_by_one_thread_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trail = Trail(ITEMS[:2]).branch().plus(ITEMS[2:])
    confined = trail.confined_content(("k0",))
    locks = [shared.confined_lock for shared, _ in trail._layers]

    def looked(_: Any, values: list[Any], _count: int) -> list[None]:
        assert [lock.locked() for lock in locks] == [True, True]
        return [None for _ in values]

    monkeypatch.setattr(ConfinedContent, "found_in", looked)
    assert confined.found_in(["x"]) == [None]
    assert [lock.locked() for lock in locks] == [False, False]
