"""What single items add to what was seen: days, links, and what says nothing."""

from collections.abc import Iterable
from itertools import product
from typing import Final

import pytest

from critic.provenance.day_forms import Day
from critic.provenance.item_parts import FieldTables
from critic.provenance.origins import DaySighting, Sighting
from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import Seen
from critic.provenance.value_kinds import read_value
from evals.manifest import EvidenceItem, Manifests
from tests.support.model.facts import Json
from tests.support.seen_values import sighting
from tests.support.sightings import VALUE, answer, item, proposal, request

DAY: Final = "2026-05-09"
LATE: Final[Json] = {"expires_at": "2026-05-09T10:00:00Z"}
TIME: Final[Json] = {"arg_roles": {"x": "time"}}


def evidence(wire: Json) -> EvidenceItem:
    return EvidenceItem.model_validate(wire)


def seen_in(*items: Json, record_fields: Iterable[str] = ()) -> Seen:
    described = Manifests(
        tool_manifest=(), evidence_manifest=(), record_fields=tuple(record_fields)
    )
    seen = SeenItems(FieldTables(described))
    for one in items:
        seen.add(evidence(one))
    return Seen(seen, with_expired=False)


def test_an_item_without_a_source_says_nothing() -> None:
    content = {"sender": VALUE, "x": DAY}
    one = {"id": "e", "classification": "r", "content": content}
    seen = seen_in(one, record_fields=["sender"])
    assert sighting(seen, VALUE) == Sighting("unseen")
    assert seen.days.find(Day(2026, 5, 9)) == DaySighting("unseen", None)
    assert not seen.is_linked(read_value(VALUE, None))


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
    assert seen.days.find(Day(2026, 5, 9)) == (origin, evidence(one))
    assert seen.days.are_requested == (origin == "request")


@pytest.mark.parametrize(("author", "said"), [("system", "allow"), ("public", "ask")])
def test_a_record_is_passed_on_whole(author: str, said: str) -> None:
    record = {"sender": VALUE}  # a declared field: its name is text of the record's author, too
    recorded = item(record, author, "named"), item(VALUE, "system", "named")
    assert answer(proposal(*recorded, args={"x": record})) == said


def test_what_the_request_says_is_linked() -> None:
    seen = seen_in(request(f"see {VALUE}"))
    assert seen.is_linked(read_value(VALUE, None))
    assert not seen.leads_to(read_value(VALUE, None))


def test_a_day_with_a_slash_after_it_is_none_in_the_request() -> None:
    assert not seen_in(request("5/9/2026/")).days.are_requested
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
def test_without_fields_nothing_is_a_field(more: list[Json]) -> None:
    for content in ({"sender": VALUE}, [VALUE], {VALUE: 1}):
        wire = proposal(item(content), *more)
        del wire["compiled"]["manifests"]["classes"]
        assert answer(wire) == "refuse"
