"""The worth of each origin of a value in each role: allow, ask or refuse."""

from collections.abc import Mapping
from typing import Final

from critic.provenance.seen_sources import Origin
from evals.capability import Role
from evals.spec import DecisionSpec

ALLOW, ASK, REFUSE = range(3)

_KNOWN: Final[tuple[Origin, ...]] = ("approved", "request", "operator", "own", "system", "field")
_NAMED: Final[tuple[Origin, ...]] = ("named_member", "named_public", "named_web")
_REACHED: Final[tuple[Origin, ...]] = ("reached_member", "reached_public", "reached_web")
_UNTRUSTED: Final[tuple[Origin, ...]] = (*_REACHED, "untrusted")

_Worth = tuple[frozenset[Origin], frozenset[Origin]]


def _worth(allow: tuple[Origin, ...], ask: tuple[Origin, ...] = ()) -> _Worth:
    return frozenset(allow), frozenset(ask)


_TARGET: Final = _worth(_KNOWN, (*_NAMED, "contested", "led_field"))
_CLOSED: Final[Mapping[Role, _Worth]] = {
    "recipient": _TARGET,
    "object": _TARGET,
    "attribute": _worth(
        (*_KNOWN, *_NAMED, *_REACHED, "unseen"), ("contested", "untrusted", "led_field")
    ),
    "locator": _worth(
        (*_KNOWN, "contested", "named_member", "reached_member"),
        ("named_public", "named_web", "reached_public", "led_field"),
    ),
    "secret": _worth(("approved", "request", "operator", "system"), _NAMED),
    "code": _worth((*_KNOWN, "contested", *_NAMED, *_UNTRUSTED, "led_field")),
    "content": _worth(
        (*_KNOWN, "contested", *_NAMED[:2], "reached_member", "led_field", "unseen"),
        ("named_web",),
    ),
}
"""By role, the origins that allow and those that ask; all others refuse."""


def worth_of(role: Role, origin: Origin, spec: DecisionSpec) -> int:
    """Return what a value of this origin is worth in a role other than `time`."""
    allow, ask = _CLOSED[role]
    level = ALLOW if origin in allow else ASK if origin in ask else REFUSE
    return level if spec.provenance == "closed" else _soften_level(role, origin, level)


def _soften_level(role: Role, origin: Origin, level: int) -> int:
    """Return what `open` makes of a level: it softens, but asks about contested locators."""
    if (role, origin) == ("locator", "contested"):
        return ASK
    if level == REFUSE and origin in _UNTRUSTED:
        return ASK
    return ASK if (role, origin) == ("object", "unseen") else level
