"""The facts about values in one proposal: evidence, acts of the session, and approvals."""

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from critic.prepared import PreparedPlan
from critic.provenance.argument_nouns import NO_NOUNS, Nouns
from critic.provenance.content_values import ContentValue
from critic.provenance.day_forms import Day
from critic.provenance.folding import small
from critic.provenance.mailboxes import read_mailboxes
from critic.provenance.origins import DaySighting, Limits, Sighting
from critic.provenance.seen_sources import Seen
from critic.provenance.value_kinds import Sought, read_value, same_values
from critic.provenance.worth import ALLOW, ASK, GIVEN, worth_of
from critic.provenance.written_lists import elements, leaves
from evals.capability import Role
from evals.context import ApprovedValue, OwnValue
from evals.kinds import MODE_RANK
from evals.manifest import Manifests
from evals.spec import DecisionSpec
from evals.timestamps import is_unexpired

_OWN_ROLES: Final = frozenset({"object", "attribute", "locator"})
_LENIENT_ROLES: Final = frozenset({"attribute", "code"})
_NETWORK: Final = MODE_RANK["network"]

NamePair = tuple[str, str]
YesKey = tuple[Role, NamePair, str, str]
"""Role, tool, and a form of a value."""
OwnKey = tuple[str, str]
"""The kind of a thing and its name, exactly as the call that made it spelled it."""


class KnownValues(NamedTuple):
    """The known facts about values.

    Attributes:
        fresh: what the evidence shows that has not expired.
        every: what all of it shows.
        approved: up to which tier a person approved each value, of approvals that hold.
        own: the things that this session made.
        sent: tells when it sent a value first; None where it never did.
    """

    fresh: Seen
    every: Seen
    approved: dict[YesKey, int]
    own: Container[OwnKey]
    sent: Callable[[Sought], int | None]


class Aim(NamedTuple):
    """What a value is asked for: its role in a call of a tool, and what names it."""

    role: Role
    pair: NamePair
    rank: int
    kind: str | None = None
    nouns: Nouns = NO_NOUNS


@contextmanager
def values_known(case: PreparedPlan, manifests: Manifests | None = None) -> Iterator[KnownValues]:
    """Give what the context of a plan says of values. It holds in the `with` block only.

    Args:
        manifests: those of the evidence, if not those of the plan.
    """
    from critic.provenance.kept_items import seen_in  # noqa: PLC0415 - a session has its own index

    session, as_of = case.ctx.session, case.ctx.as_of
    manifests = manifests or case.surface.manifests
    approved = (session.approved if session else None) or ()
    sent = (session.sent if session else None) or ()
    made = (session.own if session else None) or ()
    with seen_in(manifests, as_of, sent) as looked:
        yield KnownValues(
            looked.fresh,
            looked.every,
            approved=approved_tiers(one for one in approved if is_unexpired(one.expires_at, as_of)),
            own=frozenset(key for one in made for key in own_keys(one)),
            sent=looked.sent.first_seq,
        )


def approved_tiers(values: Iterable[ApprovedValue]) -> dict[YesKey, int]:
    """Return up to which tier each value is approved."""
    tiers: dict[YesKey, int] = {}
    for one in values:
        pair, rank = (one.tool.adapter_id, one.tool.capability_id), MODE_RANK[one.approval_mode]
        for form, spelled in (*narrow_forms(one.value), *_addresses_approved(one)):
            key = (one.role, pair, form, spelled)
            tiers[key] = max(rank, tiers.get(key, rank))
    return tiers


def _addresses_approved(approved: ApprovedValue) -> Iterator[tuple[str, str]]:
    """Yield the addresses that an approved recipient lists."""
    for text in (one for leaf in leaves(approved.value) for one in elements(leaf)):
        listed = read_mailboxes(text, approved.role, None) if isinstance(text, str) else None
        yield from (("address", small(one)) for one in (listed.addresses if listed else ()))


def narrow_forms(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the narrow forms of all values in a JSON value."""
    found = (one for leaf in leaves(value) for one in elements(leaf))
    for one in (value,) if type(value) is bool else found:
        yield from (pair for pair in same_values(one) if pair[1])


def own_keys(own: OwnValue) -> Iterator[OwnKey]:
    """Yield by what a thing that a session made is found."""
    for leaf in leaves(own.value):
        yield own.kind, read_value(leaf, own.kind).exact


class ValueFacts:
    """Judges values. What was asked before is remembered."""

    def __init__(self, spec: DecisionSpec, known: KnownValues) -> None:
        """Judge by what is known."""
        self._spec = spec
        self._known = known
        self.fresh: Final[Seen] = known.fresh
        self.every: Final[Seen] = known.every
        self._judged: dict[tuple[Aim, Sought], tuple[int, Sighting]] = {}

    def judge_value(self, asked: Aim, value: Sought) -> tuple[int, Sighting]:
        """Return what a value is worth in a role other than `time`, and where it comes from."""
        found = self._judged.get((asked, value))
        if found is None:
            found = self._judged[asked, value] = self._worse(asked, value)
        return found

    def _worse(self, asked: Aim, value: Sought) -> tuple[int, Sighting]:
        seen = self.origin(asked, value)
        found = self._worth(asked, seen), seen
        if self.every is self.fresh:
            return found
        contested = self._origin(asked, value, self.every)
        worse = max(found, (self._worth(asked, contested), contested), key=_level)
        if seen.origin == "unseen":
            return worse[0], seen._replace(stale=contested.item)
        return worse

    def _worth(self, asked: Aim, seen: Sighting) -> int:
        return worth_of(asked.role, seen.origin, self._spec)

    def origin(self, asked: Aim, value: Sought) -> Sighting:
        """Return where a value comes from, by the evidence that has not expired."""
        return self._origin(asked, value, self.fresh)

    def origin_of_all(self, asked: Aim, value: Sought) -> Sighting:
        """Return where a value comes from, by all evidence."""
        return self._origin(asked, value, self.every)

    def _origin(self, asked: Aim, value: Sought, seen: Seen) -> Sighting:
        return next(self._origins(asked, value, seen), Sighting("unseen"))

    def _origins(self, asked: Aim, value: Sought, seen: Seen) -> Iterator[Sighting]:
        """Yield the origins of a value, the one that counts first."""
        if not value.is_readable and asked.role not in _LENIENT_ROLES:
            yield Sighting("unreadable")
        if self.is_approved(asked, value):
            yield Sighting("approved")
        limits = self._limits(asked, value)
        spoken = seen.in_request(value, limits)
        if spoken.origin == "request":
            yield Sighting("request", spoken.item)
        operator, is_meant = seen.by_operator(value, limits)
        if is_meant:
            yield Sighting("operator", operator)
        if self._is_own(asked, value) or (asked.role == "locator" and spoken.is_of_bare_host):
            yield Sighting("own", spoken.item)
        if item := seen.in_record(value, limits):
            yield Sighting("system", item)
        if operator or spoken.origin == "words":
            yield Sighting("words", spoken.item or operator)
        if item := seen.part_in_record(value, limits):
            yield Sighting("words", item)
        yield from seen.in_fields(value, limits)
        if spoken.origin == "host":
            yield Sighting("host", spoken.item)
        yield from seen.in_other_text(value, limits)

    def _limits(self, asked: Aim, value: Sought) -> Limits:
        has_depth = asked.role == "locator" or asked.rank <= _NETWORK
        # Without the word of the policy, what looks like a link may be a path.
        is_link = asked.kind == "url"
        first_sent = self._known.sent(value)
        return Limits(asked.role, asked.nouns, has_depth or is_link, first_sent)

    def is_approved(self, asked: Aim, value: Sought) -> bool:
        """Return whether a person approved a value, as it is asked for."""
        key = (asked.role, asked.pair, value.form, value.narrow)
        return self._known.approved.get(key, -1) >= asked.rank

    def _is_own(self, asked: Aim, value: Sought) -> bool:
        key = asked.kind or value.form, value.exact
        return asked.role in _OWN_ROLES and key in self._known.own

    def judge_content(self, asked: Aim, value: ContentValue) -> tuple[int, Sighting]:
        """Return what an address, a link or an account number in content is worth.

        Of an address or account the longest part that was seen counts: a shorter one that stands
        in it is another's.
        """
        if value.link is not None:
            links = (self._judge_link(asked, value, part) for part in value.parts)
            return self._beside_unread(max(links, key=_level))
        found = [self.judge_value(asked, part) for part in value.parts]
        seen = (one for one in found if one[0] > ALLOW or one[1].origin != "unseen")
        return next(seen, found[0])

    def _beside_unread(self, found: tuple[int, Sighting]) -> tuple[int, Sighting]:
        """Judge a link where an item was not read whole: it asks, unless it was given."""
        level, seen = found
        unread = self.fresh.unread or self.every.unread
        if unread is None or level > ALLOW or seen.origin in GIVEN:
            return found
        return ASK, seen._replace(rival=unread, is_unread=True)

    def _judge_link(self, asked: Aim, value: ContentValue, part: Sought) -> tuple[int, Sighting]:
        """Judge a link by the whole of it; one that stands nowhere is judged by its host."""
        level, seen = self.judge_value(asked, part)
        has_query = value.link is not None and value.link.rest != ""
        # Text that has expired may hold the whole of a link that nothing else shows.
        is_seen = level > ALLOW or seen.origin not in ("unseen", "host")
        if is_seen or (seen.origin == "host" and not has_query):
            return level, seen
        host = value.host
        by_host = [one.host_in_text(host) for one in (self.fresh, self.every)]
        others = [(self._worth(asked, one), one) for one in by_host if one.origin != "unseen"]
        if not others and seen.origin == "unseen" and not value.is_link_alone:
            return ALLOW, seen
        new = Sighting("new_link", seen.item)
        return max([(self._worth(asked, new), new), *others], key=_level)

    def judge_day(self, asked: Aim, day: Day, value: Sought) -> tuple[int, DaySighting]:
        """Return what a day is worth, and where it was seen. `value` is what it stands in."""
        if self.is_approved(asked, value):
            return ALLOW, DaySighting("unseen", None)
        both = [_day_worth(day, seen) for seen in (self.fresh, self.every)]
        return max(both, key=lambda one: one[0])


def _level(one: tuple[int, Sighting]) -> int:
    return one[0]


def _day_worth(day: Day, seen: Seen) -> tuple[int, DaySighting]:
    found = seen.days.find(day)
    other = found.origin == "elsewhere" and seen.days.are_requested
    return ASK if other or found.origin == "untrusted" else ALLOW, found
