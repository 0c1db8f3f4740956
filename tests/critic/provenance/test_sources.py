"""What single items add to what was seen: days, links, and what says nothing."""

from collections.abc import Iterable
from itertools import product
from typing import Final

import pytest

from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import DaySighting, Seen, Sighting
from critic.provenance.value_forms import Day
from evals.manifest import EvidenceItem
from tests.support.model.facts import Json
from tests.support.sightings import VALUE, answer, item, proposal, request

DAY: Final = "2026-05-09"
LATE: Final[Json] = {"expires_at": "2026-05-09T10:00:00Z"}
TIME: Final[Json] = {"arg_roles": {"x": "time"}}


def evidence(wire: Json) -> EvidenceItem:
    return EvidenceItem.model_validate(wire)


def seen_in(*items: Json, record_fields: Iterable[str] = ()) -> Seen:
    seen = SeenItems(record_fields)
    for one in items:
        seen.add(evidence(one))
    return Seen(seen, with_expired=False)


def test_an_item_without_a_source_says_nothing() -> None:
    content = {"sender": VALUE, "x": DAY}
    one = {"id": "e", "classification": "r", "content": content}
    seen = seen_in(one, record_fields=["sender"])
    assert seen.sighting(VALUE) == Sighting("unseen")
    assert seen.day(Day(2026, 5, 9)) == DaySighting("unseen", None)
    assert not seen.is_linked(VALUE)


@pytest.mark.parametrize(
    ("author", "standing", "origin"),
    [
        ("user", "named", "request"),
        ("system", "ambient", "system"),
        ("system", "named", "system"),
        ("operator", "ambient", "elsewhere"),
        ("public", "named", "elsewhere"),
        ("member", "reached", "elsewhere"),
        ("public", "ambient", "untrusted"),
        ("member", "led", "untrusted"),
    ],
)
def test_a_day_is_seen_where_its_item_is(author: str, standing: str, origin: str) -> None:
    one = item(f"on {DAY}", author, standing)
    seen = seen_in(one)
    assert seen.day(Day(2026, 5, 9)) == (origin, evidence(one))
    assert seen.names_a_day == (origin == "request")


def test_what_the_request_says_is_linked() -> None:
    seen = seen_in(request(f"see {VALUE}"))
    assert seen.is_linked(VALUE)
    assert not seen.leads_to(VALUE)


def test_a_day_with_a_slash_after_it_is_none_in_the_request() -> None:
    assert not seen_in(request("5/9/2026/")).names_a_day
    day = item(f"on {DAY}", standing="named")
    for late, (said, word) in product(({}, LATE), (("5/9/2026/", "allow"), ("5/10/2026", "ask"))):
        wire = proposal(day, request(said) | late, tool=TIME, args={"x": DAY})
        assert answer(wire) == word


def test_only_what_the_user_said_names_another_day_after_it_has_expired() -> None:
    for author, word in (("user", "ask"), ("public", "allow"), ("operator", "allow")):
        other = item("on May 10", author, "named", **LATE)
        wire = proposal(item(f"on {DAY}", standing="named"), other, tool=TIME, args={"x": DAY})
        assert answer(wire) == word


@pytest.mark.parametrize("more", [[], [item("x", **LATE)]])
def test_without_record_fields_only_elements_of_lists_are_fields(more: list[Json]) -> None:
    for content, word in (({"sender": VALUE}, "refuse"), ([VALUE], "allow")):
        wire = proposal(item(content), *more)
        del wire["compiled"]["manifests"]["record_fields"]
        assert answer(wire) == word
