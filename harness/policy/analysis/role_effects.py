"""The effects of changed roles on the calls of a tool, by the table of roles and origins.

Rule 1: a value is judged in each of its roles, so each argument with a changed role counts alone.
Rule 2: a thing that the session made is its own in some roles only, and a page of a host in the
        request in one: the same value may have another origin in another role. This holds for a
        yes too, which is not an effect of a plan.
Rule 3: roles also tie a call to the request, and show that a tool only fetches.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, get_args

from critic import DecisionSpec
from critic.provenance.origins import Origin
from critic.provenance.worth import worth_of
from evals.capability import Role

_ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
_BEFORE_OWN: Final = ("approved", "request", "operator")
_OWN_ROLES: Final = ("object", "attribute", "locator")
_ACTED_ON: Final = frozenset({"recipient", "object", "attribute", "secret"})
_IN_TEXT: Final = ("content", "time")
"""Roles that are for what stands in a value, an address or a day, and tie nothing to a request."""

Roles = Mapping[str, Role]


class RoleChange(NamedTuple):
    """The roles of one argument or place in two policies; None without one."""

    before: Role | None
    after: Role | None


def role_changes(before: Roles, after: Roles) -> Iterator[tuple[str, RoleChange]]:
    """Yield the names with a changed role, and both roles."""
    for name in dict.fromkeys((*before, *after)):
        change = RoleChange(before.get(name), after.get(name))
        if change.before != change.after:
            yield name, change


def may_tighten(before: Roles, after: Roles, spec: DecisionSpec, *, sends: bool) -> bool:
    """Return whether a call that passes with the first roles may be refused with the second.

    Args:
        spec: the provenance mode of both policies.
        sends: whether the tool has the tier `network`: its recipients alone may make it requested.
    """
    changes = [change for _, change in role_changes(before, after)]
    if not changes:
        return False
    if not before or not after or (_is_fetch(before) and not _is_fetch(after)):
        return True
    return any(_may_tighten(change, spec, sends=sends) for change in changes)


def _is_fetch(roles: Roles) -> bool:
    return "locator" in roles.values() and _ACTED_ON.isdisjoint(roles.values())


def _may_tighten(change: RoleChange, spec: DecisionSpec, *, sends: bool) -> bool:
    before, after = change
    if after is None:  # not judged any more; it may have tied the call to the request
        return before not in _IN_TEXT
    if (
        before is None
        or before in _IN_TEXT
        or after in _IN_TEXT
        or (sends and "recipient" in change)
    ):
        return True
    if _has_own(before) > _has_own(after):
        return True
    return any(
        worth_of(after, origin, spec) > worth_of(before, other, spec)
        for other, origin in _origins_in(before, after)
    )


def _origins_in(before: Role, after: Role) -> Iterator[tuple[Origin, Origin]]:
    """Yield the origins that a value may have in two roles."""
    for origin in _ORIGINS:
        yield origin, origin
        if origin not in _BEFORE_OWN and _has_own(after) > _has_own(before):
            yield origin, "own"
        if origin not in _BEFORE_OWN and _has_own(before) > _has_own(after):
            yield "own", origin


def _has_own(role: Role) -> int:
    """Return how much may be the session's own in a role: things made, pages of named hosts."""
    return (role in _OWN_ROLES) + (role == "locator")
