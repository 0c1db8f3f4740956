"""Where a day was seen, by who wrote it, how it was come by, and whether a field holds it."""

from datetime import UTC, datetime
from itertools import product
from typing import Any, Final

import pytest

from critic import EvidenceItem, Source
from critic.provenance.day_forms import Day
from critic.provenance.seen_sources import Seen
from evals.manifest import EvidenceClass, Manifests
from tests.support.seen_values import seen_anew

DAY: Final = Day(2026, 5, 8)
CLASS: Final = EvidenceClass(class_="a", fields={"when": "party"})
CONTENTS: Final[dict[str, Any]] = {
    "text": "on 2026-05-08",
    "field": [{"when": "2026-05-08"}],
    "rest of a record": [{"note": "on 2026-05-08"}],
}


def seen_in(*items: EvidenceItem) -> Seen:
    manifests = Manifests(tool_manifest=(), evidence_manifest=items, classes=(CLASS,))
    return seen_anew(manifests, None)[0]


def item(content: Any, author: Any, standing: Any = "named", ref: str = "e") -> EvidenceItem:
    source = Source(author=author, standing=standing)
    return EvidenceItem(id=ref, classification="a", content=content, source=source)


def origin_of(author: str, standing: str, *, in_field: bool) -> str:
    if author == "user":
        return "request"
    if author == "operator":
        return "elsewhere"
    if in_field:
        return "untrusted" if standing == "led" else "field"
    if author == "system":
        return "system"
    return "elsewhere" if standing in ("named", "reached") else "untrusted"


@pytest.mark.parametrize(
    ("author", "standing"),
    [
        *product(
            ("user", "operator", "system", "member", "public"),
            ("named", "reached", "ambient", "led"),
        )
    ],
)
def test_a_day_is_worth_what_the_place_is_that_holds_it(author: str, standing: str) -> None:
    for form, content in CONTENTS.items():
        found = seen_in(item(content, author, standing)).days.find(DAY)
        assert found.origin == origin_of(author, standing, in_field=form == "field"), form


def test_a_day_that_the_request_counts_from_a_system_s_day_is_requested() -> None:
    """No other author's day is counted from, and the words alone name a day already."""
    asked = item("book it for tomorrow", "user", ref="r")
    for author, origin in (("system", "request"), ("member", "unseen"), ("public", "unseen")):
        days = seen_in(asked, item("today is 2026-05-07", author)).days
        assert days.find(DAY).origin == origin
        assert days.are_requested
    assert not seen_in(
        item("book it", "user", ref="r"), item("2026-05-07", "system")
    ).days.are_requested


def test_a_request_names_a_day_after_it_has_expired_too_if_what_has_expired_counts() -> None:
    late = {"expires_at": datetime(2026, 5, 9, tzinfo=UTC)}
    for said, named in (("on May 10", True), ("book it", False)):
        asked = item(said, "user", ref="r")
        for request in (asked, asked.model_copy(update=late)):
            manifests = Manifests(tool_manifest=(), evidence_manifest=(request,))
            unexpired, every = seen_anew(manifests, None)
            assert every.days.are_requested is named
            assert unexpired.days.are_requested is (named and request is asked)
