"""The origins of values and days, in the order in which they count."""

from typing import Literal, NamedTuple

from critic.provenance.argument_nouns import NO_NOUNS, Nouns
from evals.capability import Role
from evals.manifest import EvidenceItem

Origin = Literal[
    "unreadable",
    "approved",
    "request",
    "operator",
    "own",
    "system",
    "words",
    "field",
    "designated",
    "contested",
    "host",
    "party",
    "contested_party",
    "named_member",
    "named_public",
    "named_web",
    "reached_member",
    "reached_public",
    "reached_web",
    "untrusted",
    "led_field",
    "new_link",
    "unseen",
]
"""Where a value comes from, in the order in which it counts. `unreadable`: programs may read it in
two ways. `approved`: a person approved it. `own`: this session made it, or it is a page to read of
a host that the request names. `system`: a system of record. `words`: the request holds the words,
and may mean no value by them. `field`: a field of a record that a system filled; `contested` where
untrusted or linked text says it as well. `host`: another page of a host that the request names, or
what lies below a path that it names. `party`: a field that names whom a record is with.
`designated`: text of a member's record, but for a web page, that the request describes.
`named_...`: text of a source that the request names, by its author (`web`: a web page).
`reached_...`: text of a source that those lead to. `untrusted`: any other text. `led_field`: a
field of a source that only untrusted text led to. `new_link`: a link in content that stands
nowhere."""


class Sighting(NamedTuple):
    """The origin of a value, an item that shows it, and the item whose text contests it."""

    origin: Origin
    item: EvidenceItem | None = None
    rival: EvidenceItem | None = None
    stale: EvidenceItem | None = None
    """An item that shows a value which is seen nowhere else, and has expired."""
    is_unread: bool = False
    """Whether the rival was not read whole, so that it may hold anything."""


class Spoken(NamedTuple):
    """What the request says of a value: it means it, it holds its words, or it names its host."""

    origin: Literal["request", "words", "host", "unseen"]
    item: EvidenceItem | None = None
    is_of_bare_host: bool = False
    """Whether the host is named without a page, and the value is a page of it, without a query."""


DayOrigin = Literal["request", "system", "field", "elsewhere", "untrusted", "unseen"]
"""Where a day was seen: in the request, in a system of record, in a field, in any other text but
untrusted text, only in untrusted text, or nowhere."""


class DaySighting(NamedTuple):
    """The origin of a day, and an item that shows it."""

    origin: DayOrigin
    item: EvidenceItem | None


class Limits(NamedTuple):
    """What a lookup of a value takes into account beside the value.

    Attributes:
        has_depth: whether what lies below a named path is as good as the path.
        first_sent: when the session sent the value itself; what it saw later is an echo.
    """

    role: Role
    nouns: Nouns = NO_NOUNS
    has_depth: bool = False
    first_sent: int | None = None
