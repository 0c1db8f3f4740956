"""The effects of what a policy says of results: who writes them, what they make, when they end.

No plan shows them, for a plan has its evidence already. Their direction is known by order: who is
believed more lets more pass, and so does what counts for longer.
"""

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from evals.capability import Author, ToolResult
from harness.policy.envelopes import Policy, PolicyTool

_TRUST: Final = ("public", "member", "system", "operator")
"""Authors, each believed more than those before. What the user says also names other days."""
_UNKNOWN: Final = ToolResult(author="public")
"""What a result is of which the policy says nothing."""


class Effect(NamedTuple):
    """A change, and whether a plan may pass or be refused because of it.

    `in_sessions` says that no single plan can show it, and `by_order` that it has its direction
    by definition.
    """

    what: str
    looser: bool
    tighter: bool
    in_sessions: bool = False
    by_order: bool = False


def effects_of_results(
    before: PolicyTool, after: PolicyTool, limits: tuple[int | None, int | None]
) -> Iterator[Effect]:
    """Yield what may change for the sessions in which a tool returned something.

    Args:
        limits: how many seconds its results were and are fresh; None for without end.
    """
    yield _of_freshness(before, after, limits)
    one, other = before.result or _UNKNOWN, after.result or _UNKNOWN
    yield _of_authors(one.author, other.author)
    web = bool(other.web) - bool(one.web)
    yield _in_order("result.web", web < 0, web > 0)
    made = {*(one.makes or {}).items()}, {*(other.makes or {}).items()}
    yield _in_order("result.makes", bool(made[1] - made[0]), bool(made[0] - made[1]))
    records = (one.format == "json") != (other.format == "json")
    yield Effect("result.format", records, records, in_sessions=True)


def _of_authors(one: Author, other: Author) -> Effect:
    if one == other or "user" in (one, other):
        return Effect("result.author", one != other, one != other, in_sessions=True)
    trust = _TRUST.index(other) - _TRUST.index(one)
    return _in_order("result.author", trust > 0, trust < 0)


def _in_order(what: str, looser: bool, tighter: bool) -> Effect:
    return Effect(what, looser, tighter, in_sessions=True, by_order=True)


def _of_freshness(
    before: PolicyTool, after: PolicyTool, limits: tuple[int | None, int | None]
) -> Effect:
    """Return the effect of how long results are fresh, by the tool or by its class."""
    seconds = [math.inf if one is None else one for one in limits]
    is_own = before.expires_after_s != after.expires_after_s or after.yields is None
    what = "expires_after_s" if is_own else f"fresh_s of class {after.yields}"
    return _in_order(what, seconds[1] > seconds[0], seconds[1] < seconds[0])


def changed_classes(old: Policy, new: Policy) -> Iterator[str]:
    """Yield what changed of each class that says what evidence is, by its name."""
    sides = [{one.name: one for one in policy.class_} for policy in (old, new)]
    for name in sorted({*sides[0], *sides[1]}):
        one, other = (side.get(name) for side in sides)
        before, after = (each.fields if each else None for each in (one, other))
        if (before or {}) != (after or {}) or (one is None) != (other is None):
            yield f"fields of class {name}"
        if (one.schema_ if one else None) != (other.schema_ if other else None):
            yield f"schema of class {name}"
