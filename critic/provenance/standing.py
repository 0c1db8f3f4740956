"""How a session came to read a source, which is what the source is worth.

Rule 1: the best of the locators of a call counts. A call without one is `ambient`.
Rule 2: it is fixed when the result arrives, and by what was seen before: results of calls of the
        same batch do not count.
Rule 3: the request names a source by a whole value, by a page or folder above it, or by two of its
        words that stand together. One plain word of it names nothing, and no page names its host.
"""

from collections.abc import Iterable
from typing import Final

from critic.provenance.call_values import JudgedValue
from critic.provenance.origins import Limits
from critic.provenance.value_facts import Aim, ValueFacts
from critic.provenance.value_kinds import Sought
from evals.manifest import Standing

_BEST_FIRST: Final[tuple[Standing, ...]] = ("named", "reached", "led", "ambient")
_SHORTEST: Final = 3
"""Characters of a locator that the request may name: a shorter one is in any text."""


def standing_of(locators: Iterable[JudgedValue], facts: ValueFacts) -> Standing:
    """Return the standing of what a call returned that read these: the best of them counts."""
    found = (_by_locator(facts, one.asked, one.sought) for one in locators)
    return min(found, key=_BEST_FIRST.index, default="ambient")


def _by_locator(facts: ValueFacts, asked: Aim, value: Sought) -> Standing:
    spoken = facts.every.in_request(value, Limits(asked.role, asked.nouns, has_depth=True)).origin
    is_phrase = spoken == "words" and " " in value.narrow
    if (spoken == "request" or is_phrase) and len(value.narrow) >= _SHORTEST:
        return "named"
    origin = facts.origin_of_all(asked, value).origin
    if spoken == "host" or origin in ("approved", "own") or facts.every.leads_to(value):
        return "reached"
    # A field of a source that only untrusted text led to is worth no more than its text.
    return "led" if origin in ("untrusted", "led_field") else "ambient"
