"""Where single values were seen, asked of the evidence alone: by place, by writer, by moment."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from critic.provenance.item_parts import FieldTables
from critic.provenance.origins import Limits, Sighting
from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import Seen
from critic.provenance.value_kinds import read_value
from evals.manifest import EvidenceClass, EvidenceItem, Manifests, Source
from tests.support.model.facts import Json

VALUE: Final = "zeta-9914"
CLASS: Final = EvidenceClass(class_="r", fields={"sender": "system", "payer": "party"})
SOON: Final = datetime(2026, 5, 9, tzinfo=UTC)
TARGET: Final = Limits("recipient")


def item(
    content: Any, author: Any = "public", standing: Any = "ambient", **more: Any
) -> EvidenceItem:
    """Return an item; `id` and `expires_at` go to it, all else that holds to its source."""
    named = {"id": "e", "classification": "r", "content": content}
    named |= {key: more.pop(key) for key in ("id", "expires_at") if key in more}
    more = {key: value for key, value in more.items() if value}
    return EvidenceItem(**named, source=Source(author=author, standing=standing, **more))


def seen_in(*items: EvidenceItem, with_expired: bool = False) -> Seen:
    described = Manifests(tool_manifest=(), evidence_manifest=(), classes=(CLASS,))
    index = SeenItems(FieldTables(described))
    for one in items:
        index.add(one)
    index.move_to(SOON)
    return Seen(index, with_expired=with_expired)


def other_text(seen: Seen, value: str, limits: Limits = TARGET) -> list[Sighting]:
    return [*seen.in_other_text(read_value(value, None), limits)]


def origins(found: Sequence[Sighting]) -> list[str]:
    return [one.origin for one in found]


TEXTS: Final = [
    *(("member", standing, False, f"{standing}_member") for standing in ("named", "reached")),
    *(("public", standing, False, f"{standing}_public") for standing in ("named", "reached")),
    *(("member", standing, True, f"{standing}_web") for standing in ("named", "reached")),
    *(("public", standing, True, f"{standing}_web") for standing in ("named", "reached")),
    *(("public", standing, False, "untrusted") for standing in ("ambient", "led")),
]


@pytest.mark.parametrize(("author", "standing", "web", "origin"), TEXTS)
def test_a_text_is_worth_what_its_author_and_its_standing_are(
    author: str, standing: str, web: bool, origin: Any
) -> None:
    one = item(f"see {VALUE} at https://a.example/x", author, standing, web=web)
    seen = seen_in(one)
    assert other_text(seen, VALUE)[0] == Sighting(origin, one)
    assert seen.host_in_text("a.example") == Sighting(origin, one)
    assert seen.host_in_text("b.example") == Sighting("unseen")


@pytest.mark.parametrize(("author", "standing", "web", "origin"), TEXTS)
def test_an_echo_of_a_locator_is_no_text_of_a_member(
    author: str, standing: str, web: bool, origin: Any
) -> None:
    """What a source shows after the session sent it may be repeated by anybody."""
    one = item(f"see {VALUE}", author, standing, web=web, seq=5)
    seen = seen_in(one)
    echoed = {"named_member": "named_public", "reached_member": "reached_public"}
    for sent in (None, 5, 6):
        limits = Limits("locator", first_sent=sent)
        expected = echoed.get(origin, origin) if sent == 5 else origin
        assert origins(other_text(seen, VALUE, limits))[0] == expected
        target = Limits("recipient", first_sent=sent)
        assert origins(other_text(seen, VALUE, target))[0] == origin


def test_what_is_written_in_other_characters_is_untrusted_wherever_it_stands() -> None:
    for author, standing, web, _ in TEXTS:
        one = item("see \uff3aeta-9914", author, standing, web=web)
        assert other_text(seen_in(one), VALUE) == [Sighting("untrusted", one)]


def test_a_party_is_contested_by_text_that_says_it_too_or_was_not_read_whole() -> None:
    party = item({"payer": VALUE}, "system", id="p")
    text = item(f"see {VALUE}", id="t")
    cut = item("see", id="c", cut=True)
    assert other_text(seen_in(party), VALUE) == [Sighting("party", party)]
    contested = other_text(seen_in(party, text), VALUE)[0]
    assert contested == Sighting("contested_party", party, text, is_unread=False)
    unread = other_text(seen_in(party, cut), VALUE)
    assert unread == [Sighting("contested_party", party, cut, is_unread=True)]


FILLED: Final[list[tuple[Any, Json]]] = [("field", {"sender": VALUE}), ("party", {"payer": VALUE})]


@pytest.mark.parametrize(("author", "standing", "web", "origin"), TEXTS)
def test_what_is_filled_in_is_contested_by_each_text_that_the_request_does_not_name(
    author: str, standing: str, web: bool, origin: Any
) -> None:
    text = item(f"see {VALUE}", author, standing, web=web, id="t")
    for name, content in FILLED:
        filled = item(content, id="f")
        seen = seen_in(filled, text)
        found = next(
            iter([*seen.in_fields(read_value(VALUE, None), TARGET), *other_text(seen, VALUE)])
        )
        contested: Any = {"field": "contested", "party": "contested_party"}[name]
        is_named = standing == "named"
        assert found == (Sighting(name, filled) if is_named else Sighting(contested, filled, text))


def all_origins(seen: Seen, limits: Limits) -> set[str]:
    """Return all that is said of the value: by a record, in a field, and by others."""
    value = read_value(VALUE, None)
    recorded = {"system"} if seen.in_record(value, limits) else set[str]()
    return recorded | {
        *origins([*seen.in_fields(value, limits), *seen.in_other_text(value, limits)])
    }


@pytest.mark.parametrize("sent", [None, 4, 5, 6])
@pytest.mark.parametrize("standing", ["named", "reached", "ambient", "led"])
def test_what_is_filled_in_after_the_session_sent_it_is_no_word_of_a_system(
    standing: str, sent: int | None
) -> None:
    limits, is_known = Limits("recipient", first_sent=sent), sent in (None, 6)
    for name, content in FILLED:
        filled = all_origins(seen_in(item(content, "public", standing, seq=5)), limits)
        assert filled == ({"led_field" if standing == "led" else name} if is_known else set())
    record = seen_in(item(f"pay {VALUE}", "system", standing, seq=5))
    assert ("system" in all_origins(record, limits)) == is_known


@pytest.mark.parametrize("standing", ["named", "reached", "ambient", "led"])
def test_what_has_expired_is_as_what_only_untrusted_text_led_to(standing: str) -> None:
    text, late = f"see {VALUE}", {"expires_at": SOON}
    for content, authors, origin in (
        *((content, ("public", "member"), "led_field") for _, content in FILLED),
        (text, ("public", "member", "system"), "untrusted"),
    ):
        for author in authors:
            one = item(content, author, standing, **late)
            assert all_origins(seen_in(one, with_expired=True), TARGET) == {origin}
            assert all_origins(seen_in(one), TARGET) == set()


def test_a_word_or_a_short_number_is_of_a_record_only_as_a_whole_leaf() -> None:
    for value in ("bob smith", "bob", "7"):
        for whole in ([value], {"k": value}, f"a\n{value}", f"['x', '{value}']"):
            record = item(whole, "system")
            assert seen_in(record).in_record(read_value(value, None), TARGET) == record
        part = item(f"paid {value} dollars", "system")
        assert seen_in(part).in_record(read_value(value, None), TARGET) is None
    part = item(f"paid {VALUE} dollars", "system")
    assert seen_in(part).in_record(read_value(VALUE, None), TARGET) == part


def spoken(text: str, value: str, kind: str | None = None, **more: Any) -> str:
    """Return what a request says of a value."""
    found = seen_in(item(text, "user", "named"))
    return found.in_request(read_value(value, kind), Limits("locator", **more)).origin


def test_what_lies_below_a_named_folder_is_named_but_by_no_way_up() -> None:
    for folder, below in (
        ("/srv/data", "/srv/data/a/b"),
        ("/srv/data/", "/srv/data/a"),
        ("docs/", "docs/plan.md"),
        ("docs/2026", "docs/2026/plan.md"),
        ("~/x-1", "~/x-1/b"),
    ):
        assert spoken(f"read {folder} now", below, "path", has_depth=True) == "request"
        assert spoken(f"read {folder} now", below, "path") == "host"
    for other in ("/srv/data/%2e%2e/x", "/srv/data/a%2fb", "/srv/other/x", "/srv/dataset/x"):
        assert spoken("read /srv/data now", other, "path", has_depth=True) == "unseen"
    assert spoken("read /srv/DATA now", "/srv/data/a", "path", has_depth=True) == "unseen"
    assert spoken("read docs now", "docs/plan.md", "path", has_depth=True) == "unseen"
    for said in ("yes / no", "say / now", "/", "read / now"):
        assert spoken(said, "/srv/data", "path", has_depth=True) == "unseen"


def test_what_was_not_read_whole_is_the_first_that_counts_or_else_that_has_expired() -> None:
    late = {"expires_at": SOON, "cut": True}
    expired, other = item("a", id="a", **late), item("b", id="b", **late)
    fresh, later = item("c", id="c", cut=True), item("d", id="d", cut=True)
    for items, without, with_all in (
        ((), None, None),
        ((item("x"),), None, None),
        ((expired, other), None, expired),
        ((expired, fresh, later), fresh, fresh),
        ((fresh, later), fresh, fresh),
    ):
        assert seen_in(*items).unread == without
        assert seen_in(*items, with_expired=True).unread == with_all
