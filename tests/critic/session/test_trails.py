"""A trail, state by state: what it digests, what it has seen, and what it does not see."""

import weakref
from datetime import UTC, datetime, timedelta
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


def test_the_last_number_is_the_highest_of_what_it_has() -> None:
    """In whichever order they came; what came later is none of its items, and a branch adds."""
    numbers = [None, 5, 2, None, 9, 3]
    made = Source(author="user", standing="named")
    sources = [made.model_copy(update={"seq": seq}) if seq else made for seq in numbers]
    items = [item(at, source=source) for at, source in enumerate(sources)]
    whole = Trail().plus(items[:2]).plus(items[2:])
    for count in range(len(items) + 1):
        highest = max((seq for seq in numbers[:count] if seq is not None), default=-1)
        first = whole.first_items(count)
        assert first.last_seq == highest
        assert first.branch().last_seq == highest
        for seq in (1, 99):
            more = item(7, source=made.model_copy(update={"seq": seq}))
            assert first.branch().plus([more]).last_seq == max(seq, highest)
