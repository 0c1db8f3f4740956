"""How a session came to read a source, which is what the source is worth.

Rule 1: the best of the locators of a call counts. A call without one is `ambient`.
Rule 2: it is fixed when the result arrives, and by what was seen before: results of calls of the
        same batch do not count.
"""

from collections.abc import Collection, Container, Iterable
from typing import Final

from critic.session.session_values import Seen, host_of
from evals.manifest import Standing

_BEST_FIRST: Final[tuple[Standing, ...]] = ("named", "reached", "led", "ambient")
_SHORTEST: Final = 3
"""Characters of a locator that the request may name: a shorter one is in any text."""


def standing_of(
    locators: Iterable[str],
    seen: Seen,
    request_hosts: Collection[str],
    known: Iterable[Container[str]],
) -> Standing:
    """Return the standing of what a call returned.

    Args:
        locators: what the call read, by spelling: one at least.
        seen: what was seen before.
        request_hosts: the hosts that the request names.
        known: the values that a person approved, and those that the session made.
    """
    sets = tuple(known)
    found = (_by_locator(locator, seen, request_hosts, sets) for locator in locators)
    return min(found, key=_BEST_FIRST.index)


def _by_locator(
    locator: str, seen: Seen, request_hosts: Collection[str], known: Iterable[Container[str]]
) -> Standing:
    origin = seen.sighting(locator).origin
    if origin == "request" and len(locator) >= _SHORTEST:
        return "named"
    if (host := host_of(locator)) is not None and host in request_hosts:
        return "named"
    if any(locator in values for values in known) or seen.leads_to(locator):
        return "reached"
    # A field of a source that only untrusted text led to is worth no more than its text.
    return "led" if origin in ("untrusted", "led_field") else "ambient"
