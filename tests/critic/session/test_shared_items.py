"""The items that trails share: a branch stands behind those of the trail before it."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from critic import EvidenceItem, Source
from critic.session.session_evidence import Trail
from evals.confinement import ConfinedContent
from tests.critic.session.test_trails import DESCRIBED, ITEMS, NOW, item, seen


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
        beyond = trail.plus([item(9 + at, source=later, content="pay zeta-50")])
        assert 5 in seen(beyond)  # which indexes it
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
