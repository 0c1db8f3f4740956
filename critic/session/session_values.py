"""The values in calls that a session keeps or looks up, each in its one spelling.

It is the one door of the session to how provenance reads values, roles and texts.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from critic.doubts import Doubts
from critic.prepared import PreparedPlan, prepare_plan
from critic.provenance import doubts_of
from critic.provenance.origin_judge import needs_judging
from critic.provenance.roles import Placed, RoleTree, placed_values
from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import Seen, Sighting, both_seen
from critic.provenance.texts import hosts_in
from critic.provenance.value_facts import KnownValues, hosts_of, spellings
from critic.provenance.value_facts import ValueFacts as Facts
from critic.provenance.value_forms import (
    addresses_in,
    canonical,
    elements,
    host_of,
    iso_days,
    spelling,
)
from critic.provenance.worth import ASK
from evals.canonical_json import canonical_json
from evals.capability import Role, ToolCapability
from evals.escaping import pointer
from evals.kinds import MODE_RANK
from evals.plan import Proposal

__all__ = [
    "Doubts",
    "JudgedValue",
    "KnownValues",
    "RoleTree",
    "Seen",
    "SeenItems",
    "Sighting",
    "asked_values",
    "both_seen",
    "call_hosts",
    "doubts_about",
    "doubts_of",
    "files_made",
    "host_of",
    "hosts_of",
    "judged_values",
    "locators_of",
    "needs_judging",
    "request_hosts",
    "roles_of",
    "spelling",
    "spellings",
    "values_in",
    "values_made",
]

_GOES_TO: Final = frozenset[Role]({"recipient", "locator"})
_MADE: Final = frozenset[Role]({"object", "attribute"})
_LOCATOR: Final = frozenset[Role]({"locator"})
_FILE: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9]{1,8}")
_HEAD: Final = 200
"""Characters of a result in which the file names count that a call made."""


def roles_of(capability: ToolCapability) -> RoleTree | None:
    """Return the roles of a tool; None for one that only reads and says of no argument what it is.

    All other tools have roles: where none are written, every value is a recipient.
    """
    if capability.approval_mode == "read_only" and not capability.arg_roles:
        return None
    return role_tree(capability.arg_roles)


def values_in(
    roles: RoleTree | None, args: Mapping[str, Any], wanted: frozenset[Role]
) -> Iterator[str]:
    """Yield the spellings of the values that have one of these roles."""
    for place in placed_values(roles, args) if roles else ():
        if not wanted.isdisjoint(place.roles):
            yield from filter(None, map(spelling, elements(place.value)))


def locators_of(roles: RoleTree | None, args: Mapping[str, Any]) -> list[str]:
    """Return what a call reads, by its spelling."""
    return list(dict.fromkeys(values_in(roles, args, _LOCATOR)))


def call_hosts(roles: RoleTree | None, args: Mapping[str, Any]) -> Iterator[str]:
    """Yield the hosts that a call goes to."""
    yield from filter(None, map(host_of, values_in(roles, args, _GOES_TO)))


def values_made(roles: RoleTree | None, args: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values that a call of a tool that makes things makes."""
    yield from values_in(roles, args, _MADE)


def files_made(output: Any) -> Iterator[str]:
    """Yield the file names at the head of what such a call returned."""
    text = output if type(output) is str else canonical_json(output).decode()
    yield from map(spelling, _FILE.findall(text[:_HEAD]))


def request_hosts(text: str) -> frozenset[str]:
    """Return the hosts that a text of the user names."""
    return frozenset(hosts_in(canonical(text)))


def doubts_about(proposal: Proposal) -> tuple[PreparedPlan, Doubts]:
    """Return what provenance doubts about a proposal."""
    case = prepare_plan(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
    return case, doubts_of(case)


def asked_values(
    case: PreparedPlan, doubts: Doubts, known: KnownValues | None = None
) -> list[str | int | float]:
    """Return the values that a person is asked about: those of content are its addresses.

    Args:
        known: what is known of values, if it is at hand. It is what the context says.
    """
    paths = {(doubt.step, doubt.path) for doubt in doubts.asks}
    facts, found = Facts(case, known), list[str | int | float]()
    for index, entry, fields in case.steps:
        if entry.capability is None or not any(step == index for step, _ in paths):
            continue
        for place in placed_values(role_tree(entry.capability.arg_roles), fields["args"]):
            if (index, pointer("steps", index, "args", *place.path)) in paths:
                found += (one for role, one in _judged_at(place) if _asks(facts, role, one))
    return list(dict.fromkeys(found))


def _judged_at(place: Placed) -> Iterator[tuple[Role, str | int | float]]:
    for role in dict.fromkeys(place.roles):
        if role != "content":
            yield from ((role, value) for value in elements(place.value))
        elif type(place.value) is str:
            yield from ((role, address) for address in dict.fromkeys(addresses_in(place.value)))


def _asks(facts: Facts, role: Role, value: str | int | float) -> bool:
    spelled = spelling(value)
    if role == "time":
        return any(facts.judge_day(day, spelled)[0] == ASK for day in iso_days(spelled))
    return facts.judge_value(role, spelled)[0] == ASK


class JudgedValue(NamedTuple):
    """A value that is judged: its step, its place in the args, its role, where it comes from.

    A day has no such origin.
    """

    step: int
    path: str
    role: Role
    value: str
    seen: Sighting | None


def judged_values(case: PreparedPlan) -> Iterator[JudgedValue]:
    """Yield each value of a plan that is judged by its role."""
    facts = Facts(case)
    for index, entry, fields in case.steps:
        if entry.capability is None or entry.rank <= MODE_RANK["read_only"]:
            continue
        for place in placed_values(role_tree(entry.capability.arg_roles), fields["args"]):
            where = pointer(*place.path)
            for role, value in _judged_at(place):
                seen = None if role == "time" else facts.judge_value(role, spelling(value))[1]
                yield JudgedValue(index, where, role, str(value), seen)
