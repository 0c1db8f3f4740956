"""The effects of labels of results: who writes them, what they make, when they expire.

No plan shows them, because a plan has its evidence already. Their direction is known by order: more
trust lets more pass, and so does a longer time.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from evals.capability import Author, FieldWriter, ToolResult
from harness.policy.envelopes import Policy, PolicyTool

_TRUST: Final = ("public", "member", "system", "operator")
"""Authors, each believed more than those before. What the user says also names other days."""
_AUTHORS: Final = ("public", "member", "system")
"""Authors whose records have fields."""
_PARTY: Final[FieldWriter] = "party"
_UNKNOWN: Final = ToolResult(author="public")
"""What a result is of which the policy says nothing."""


Fields = Mapping[str, FieldWriter]
"""Who fills which field of a record, by its name."""


class Effect(NamedTuple):
    """A change, and whether it may let a plan pass or refuse it.

    `in_sessions`: no single plan can show it. `by_order`: its direction follows from its order.
    """

    what: str
    looser: bool
    tighter: bool
    in_sessions: bool = False
    by_order: bool = False


def effects_of_results(
    before: PolicyTool, after: PolicyTool, limits: tuple[int | None, int | None]
) -> Iterator[Effect]:
    """Yield the possible effects on sessions with a result of a tool.

    Args:
        limits: the seconds for which its results were and are fresh; None without a limit.
    """
    yield _of_freshness(before, after, limits)
    one, other = before.result or _UNKNOWN, after.result or _UNKNOWN
    yield _of_authors(one.author, other.author)
    web = bool(other.web) - bool(one.web)
    yield _in_order("result.web", web < 0, web > 0)
    # What is nobody's word neither vouches for a value nor makes one doubtful.
    derived = bool(one.derived) != bool(other.derived)
    yield Effect("result.derived", derived, derived, in_sessions=True)
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
    """Return the effect of the freshness of results, by the tool or by its class."""
    seconds = [math.inf if one is None else one for one in limits]
    is_own = before.expires_after_s != after.expires_after_s or after.yields is None
    what = "expires_after_s" if is_own else f"fresh_s of class {after.yields}"
    return _in_order(what, seconds[1] > seconds[0], seconds[1] < seconds[0])


_OF_FIELDS: Final = ("public", "party", "member", "system")
"""Who fills a field, each believed more than those before. What nobody fills is the author's."""


def effects_of_classes(old: Policy, new: Policy) -> Iterator[Effect]:
    """Yield the possible effects of changed trust in records, class by class."""
    sides = [{one.name: one for one in policy.class_} for policy in (old, new)]
    for name in sorted({*sides[0], *sides[1]}):
        one, other = (side.get(name) for side in sides)
        what, authors = f"fields of class {name}", _authors_of(name, old, new)
        before, after = (each.fields or {} if each else {} for each in (one, other))
        if (one is None) != (other is None):
            looser, tighter = _rank_fields(before, after, authors)
            # What a class more says of records is said of none without it.
            yield Effect(what, looser or one is None, tighter or other is None, by_order=True)
        elif before != after:
            yield _in_fields(what, before, after, authors)
        if one and other and one.schema_ != other.schema_:
            yield Effect(f"schema of class {name}", True, True)
    keys = [dict.fromkeys(policy.record_fields or (), _PARTY) for policy in (old, new)]
    if keys[0] != keys[1]:
        authors = {_author_of(tool) for policy in (old, new) for tool in policy.tool}
        yield _in_fields("record_fields", keys[0], keys[1], authors or {*_AUTHORS})


def _in_fields(what: str, before: Fields, after: Fields, authors: Collection[str]) -> Effect:
    """Return the effect of changed fields: by order, for records of these authors, else of any."""
    looser, tighter = _rank_fields(before, after, authors)
    if not (looser or tighter):
        looser, tighter = _rank_fields(before, after, _AUTHORS)
    if looser or tighter:
        return Effect(what, looser, tighter, by_order=True)
    return Effect(what, True, True)


def _rank_fields(before: Fields, after: Fields, authors: Collection[str]) -> tuple[bool, bool]:
    """Return whether some field of records by these authors is trusted more, and some less."""
    steps = {
        _OF_FIELDS.index(after.get(name, author)) - _OF_FIELDS.index(before.get(name, author))
        for name in {*before, *after}
        for author in authors
    }
    return max(steps, default=0) > 0, min(steps, default=0) < 0


def _authors_of(name: str, old: Policy, new: Policy) -> set[str]:
    """Return the authors of the records of a class; all, if no tool yields it."""
    found = set[str]()
    for policy in (old, new):
        found |= {_author_of(tool) for tool in policy.tool if tool.yields == name}
        found |= {
            item.source.author
            for item in policy.evidence
            if item.classification == name and item.source is not None
        }
    return found & {*_AUTHORS} or {*_AUTHORS}


def _author_of(tool: PolicyTool) -> str:
    """Return the author of a tool's results; the user's words have no fields."""
    author = (tool.result or _UNKNOWN).author
    return author if author in _AUTHORS else "public"
