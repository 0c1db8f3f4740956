"""No member of a policy changes unsaid: each is altered alone, and the comparison names it.

Tests of single changes show that what is looser is called so. This is the other direction: that
"equal" is not said of a neighbour.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from harness.policy import Policy
from harness.policy.analysis.policy_diff import diff_policies, overall
from harness.wire import InvalidInput, build
from tests.harness.policy.analysis.test_diff import ROLES
from tests.support.altering import GONE, Path, altered, others_than, paths_in, value_at
from tests.support.effort import examples

Json = dict[str, Any]

GUARD: Json = {"max_questions": 3, "shadow": False, "on_ask": "ask", "on_refusal": "answer"}
BUDGET: Json = {"max_steps": 9, "bucket_tokens": 900, "wall_ms": 90, "cost_micros": 90}


def whole(value: Json) -> Json:
    return {**value, "guard": {**value["guard"], **GUARD, "budget": BUDGET}}


WORDS = "refuse halt open ask network delegated member system locator object"
"""What may stand where only some words may."""

NOT_READ: dict[Path, str] = {
    ("spec", "id"): "the name of the decision",
    ("guard", "budget", "wall_ms"): "what a run took is scored, and refuses no plan",
    ("guard", "budget", "cost_micros"): "the same",
    ("tool", 0, "result"): "anybody writes what a tool returns of which nothing is said",
    ("evidence", 0, "content"): "no tool here demands what it says",
    ("evidence", 0, "content", "eur"): "the same",
}
"""Members that no check reads here, and why: a change of them alone is rightly equal."""


def neighbours(value: Json) -> Iterator[tuple[Path, Policy]]:
    """Yield valid policies that differ from one in one member, each with the place of it."""
    own = build(Policy, value)
    for path in paths_in(value):
        old = value_at(value, path)
        for other in [*(WORDS.split() if isinstance(old, str) else ()), *others_than(old), GONE]:
            if isinstance(old, list) and isinstance(other, list) and _is_reordered(old, other):
                continue
            try:
                policy = build(Policy, altered(value, path, other))
            except (InvalidInput, ValueError):
                continue
            if policy != own:
                yield path, policy
                break


def _is_reordered(old: list[Any], new: list[Any]) -> bool:
    """Return whether a list holds what another does: order and repeats mean nothing here."""
    return {*map(repr, old)} == {*map(repr, new)}


@pytest.mark.slow
def test_no_member_changes_unsaid() -> None:
    value = whole(ROLES)
    old, met = build(Policy, value), [*neighbours(value)]
    assert len(met) >= 60
    assert NOT_READ.keys() <= {path for path, _ in met}
    for path, new in met[:: 1 if examples(100) == 100 else 11]:
        for one, other in ((old, new), (new, old)):
            said = overall(diff_policies(one, other))
            assert (said == "equal") == (path in NOT_READ), (path, value_at(value, path), said)


def test_every_setting_of_the_guard_is_met() -> None:
    met = {path[1] for path, _ in neighbours(whole(ROLES)) if path[0] == "guard" and path[1:]}
    assert met >= {"max_questions", "shadow", "budget", "on_ask", "on_refusal"}
