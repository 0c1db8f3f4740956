"""The facts about values in one proposal: evidence, acts of the session, and approvals."""

from collections.abc import Container, Iterable
from typing import Any, Final, NamedTuple

from critic.prepared import PreparedPlan
from critic.provenance.seen_sources import DaySighting, Seen, Sighting, seen_in
from critic.provenance.value_forms import Day, elements, host_of, leaves, spelling
from critic.provenance.worth import ALLOW, ASK, worth_of
from evals.capability import Role
from evals.timestamps import is_unexpired

_OWN_ROLES: Final = frozenset({"object", "attribute", "locator"})


class KnownValues(NamedTuple):
    """The known facts about values, by their spelling.

    Attributes:
        fresh: what the evidence shows that has not expired.
        every: what all of it shows.
        approved: the values that a person approved, and that approval has not expired.
        own: the values that this session made.
        hosts: the hosts that it went to.
    """

    fresh: Seen
    every: Seen
    approved: Container[str]
    own: Container[str]
    hosts: Container[str]


def known_of(case: PreparedPlan) -> KnownValues:
    """Return what the context of a plan says of values."""
    session, as_of = case.ctx.session, case.ctx.as_of
    fresh, every = seen_in(case.surface.manifests, as_of)
    approved = (session.approved if session else None) or ()
    unexpired_ones = (one.value for one in approved if is_unexpired(one.expires_at, as_of))
    return KnownValues(
        fresh,
        every,
        approved=spellings(unexpired_ones),
        own=spellings(one.value for one in (session.own if session else None) or ()),
        hosts=(),
    )


class ValueFacts:
    """Judges values by their spelling. What was asked before is remembered."""

    def __init__(self, case: PreparedPlan, known: KnownValues | None = None) -> None:
        """Judge by what is known, or by what the context says."""
        known = known_of(case) if known is None else known
        self._spec = case.spec
        self.fresh: Final[Seen] = known.fresh
        self._every = known.every
        self._approved, self._own, self._hosts = known.approved, known.own, known.hosts
        self._judged: dict[tuple[Role, str], tuple[int, Sighting]] = {}

    def judge_value(self, role: Role, value: str) -> tuple[int, Sighting]:
        """Return what a value is worth in a role other than `time`, and where it comes from."""
        found = self._judged.get((role, value))
        if found is None:
            found = self._judged[role, value] = self._worse(role, value)
        return found

    def _worse(self, role: Role, value: str) -> tuple[int, Sighting]:
        seen = self.origin(role, value)
        found = worth_of(role, seen.origin, self._spec), seen
        if self._every is self.fresh:
            return found
        contested = self._origin(role, value, self._every)
        return max(
            found, (worth_of(role, contested.origin, self._spec), contested), key=lambda one: one[0]
        )

    def origin(self, role: Role, value: str) -> Sighting:
        """Return where a value comes from, by the evidence that has not expired."""
        return self._origin(role, value, self.fresh)

    def _origin(self, role: Role, value: str, seen: Seen) -> Sighting:
        if value in self._approved:
            return Sighting("approved")
        found = seen.sighting(value)
        if found.origin not in ("request", "operator") and self._is_own(role, value, seen):
            return Sighting("own")
        return found

    def _is_own(self, role: Role, value: str, seen: Seen) -> bool:
        host = host_of(value)
        if host is not None and (host in seen.hosts or (role == "locator" and host in self._hosts)):
            return True
        return role in _OWN_ROLES and value in self._own

    def judge_day(self, day: Day, value: str) -> tuple[int, DaySighting]:
        """Return what a day is worth, and where it was seen. `value` is what it stands in."""
        if value in self._approved:
            return ALLOW, DaySighting("unseen", None)
        both = [_day_worth(day, seen) for seen in (self.fresh, self._every)]
        return max(both, key=lambda one: one[0])


def _day_worth(day: Day, seen: Seen) -> tuple[int, DaySighting]:
    found = seen.day(day)
    other = found.origin == "elsewhere" and seen.names_a_day
    return ASK if other or found.origin == "untrusted" else ALLOW, found


def spellings(values: Iterable[Any]) -> frozenset[str]:
    """Return the spellings of all values in JSON values."""
    scalars = (one for value in values for leaf in leaves(value) for one in elements(leaf))
    return frozenset(filter(None, map(spelling, scalars)))


def hosts_of(values: Iterable[str]) -> frozenset[str]:
    """Return the hosts that values begin with, or the values themselves."""
    return frozenset(host_of(value) or value for value in spellings(values))
