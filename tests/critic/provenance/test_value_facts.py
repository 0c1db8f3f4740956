"""Which of two sightings counts where evidence has expired, and what is own in which role."""

from typing import Any, Final

import pytest

from critic.prepared import PreparedPlan, prepare_plan
from critic.provenance.content_values import content_values
from critic.provenance.day_forms import Day
from critic.provenance.item_parts import FieldTables
from critic.provenance.origins import DaySighting
from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import both_seen
from critic.provenance.value_facts import (
    Aim,
    KnownValues,
    OwnKey,
    ValueFacts,
    YesKey,
    approved_tiers,
    own_keys,
    values_known,
)
from critic.provenance.value_kinds import read_value
from critic.provenance.worth import ALLOW, ASK, REFUSE
from evals.context import ApprovedValue, OwnValue
from evals.kinds import MODE_RANK
from evals.manifest import EvidenceItem, Manifests
from evals.plan import Proposal
from evals.spec import DecisionSpec
from tests.support.model.facts import Json
from tests.support.sightings import VALUE, answer, item, proposal, reasons, request, yes_to

AS_OF: Final = "2026-05-09T10:00:00Z"
LATE: Final[Json] = {"expires_at": AS_OF}
DAY: Final = "2026-05-09"


def reason_of(role: str, value: str, *items: Json) -> str:
    wire = proposal(*items, tool={"arg_roles": {"x": role}}, args={"x": value}, as_of=AS_OF)
    (reason,) = reasons(wire)
    return reason


def test_of_two_sightings_of_one_worth_the_one_that_has_not_expired_is_named() -> None:
    old, new = (item({"sender": VALUE}, standing="led", **more) for more in (LATE, {}))
    assert "appears only as a field of e/2 (" in reason_of("recipient", VALUE, old, new)
    assert "was seen in e/1 (not requested), which expired at 10:00:00Z: read it again" in (
        reason_of("recipient", VALUE, item(f"see {VALUE}", **LATE))
    )


@pytest.mark.parametrize("content", [DAY, {"sender": DAY}])
def test_of_two_sightings_of_a_day_the_one_that_has_not_expired_is_named(content: object) -> None:
    old, new = (item(content, standing="led", **more) for more in (LATE, {}))
    assert f"day {DAY} appears only in e/2 (" in reason_of("time", DAY, old, new)
    assert f"day {DAY} appears only in e/1 (" in reason_of("time", DAY, old)


@pytest.mark.parametrize(
    ("role", "word"),
    [("object", "allow"), ("attribute", "allow"), ("locator", "allow"), ("recipient", "refuse")],
)
def test_what_the_session_made_is_own_though_untrusted_text_says_it(role: str, word: str) -> None:
    session = {"id": "s", "turn": 1, "own": [{"kind": "text", "value": VALUE}]}
    tool = {"arg_roles": {"x": role}}
    assert answer(proposal(item(f"see {VALUE}"), tool=tool, session=session)) == word
    if role == "attribute":
        assert answer(proposal(item(f"see {VALUE}"), tool=tool)) == "ask"


@pytest.mark.parametrize(("author", "word"), [("user", "allow"), ("operator", "allow")])
def test_a_secret_that_was_given_is_one_though_its_host_is_known(author: str, word: str) -> None:
    given, look = item("take https://vault.example/k-1", author, "named"), request("vault.example/")
    tool = {"arg_roles": {"x": "secret"}}
    for items, expected in (([given, look], word), ([look], "refuse")):
        wire = proposal(*items, tool=tool, args={"x": "https://vault.example/k-1"})
        assert answer(wire) == expected


def test_a_read_beside_a_call_that_acts_is_not_judged() -> None:
    reader = {"adapter_id": "shop", "capability_id": "look", "approval_mode": "read_only"}
    steps = [
        {"kind": "tool", "adapter_id": "shop", "capability_id": name, "args": {"x": value}}
        for name, value in (("transmit", VALUE), ("look", "eta-1"))
    ]
    wire = proposal(request(f"see {VALUE}"), tools=[reader], steps=steps)
    assert answer(wire) == "allow"


PAIR: Final = ("shop", "transmit")
TABLES: Final = FieldTables(
    Manifests.model_validate(
        {
            "tool_manifest": [],
            "evidence_manifest": [],
            "classes": [{"class": "r", "fields": {"sender": "system", "payer": "party"}}],
        }
    )
)
TEXT: Final = f"see {VALUE} there"


def aim(role: Any = "object", mode: Any = "delegated", kind: str | None = None) -> Aim:
    return Aim(role, PAIR, MODE_RANK[mode], kind)


def facts_of(
    *items: Json,
    approved: dict[YesKey, int] | None = None,
    own: frozenset[OwnKey] = frozenset(),
    **spec: Any,
) -> ValueFacts:
    """Return the facts about values that some items and acts of a session make."""
    index = SeenItems(TABLES)
    for at, one in enumerate(items, 1):
        index.add(EvidenceItem.model_validate({**one, "id": f"e/{at}"}))
    index.move_to(None)
    fields: Any = {"id": "s", "required_outputs": (), "provenance": "closed", **spec}
    known = KnownValues(*both_seen(index), approved or {}, own, lambda _value: None)
    return ValueFacts(DecisionSpec(**fields), known)


YES: Final[dict[YesKey, int]] = {("object", PAIR, "text", VALUE): MODE_RANK["delegated"]}
ORIGINS: Final[list[tuple[str, Json | None]]] = [
    *(("approved", None), ("request", request(TEXT)), ("operator", item(TEXT, "operator"))),
    *(("own", None), ("system", item({"x": VALUE}, "system"))),
    *(("field", item({"sender": VALUE})), ("party", item({"payer": VALUE}))),
    *(
        (f"{standing}_{of}", item(TEXT, author, standing, web=of == "web"))
        for standing in ("named", "reached")
        for of, author in (("member", "member"), ("public", "public"), ("web", "public"))
    ),
    *(("untrusted", item(TEXT)), ("led_field", item({"sender": VALUE}, standing="led"))),
    ("unseen", None),
]
CONTESTING: Final = {"reached_member", "reached_public", "reached_web", "untrusted"}
CONTESTED: Final = {"field": "contested", "party": "contested_party"}


def test_of_two_origins_of_a_value_the_first_counts_unless_the_other_contests_it() -> None:
    value = read_value(VALUE, None)
    for first, (one, item_1) in enumerate(ORIGINS):
        for other, item_2 in ORIGINS[first + 1 :]:
            items = [each for each in (item_2, item_1) if each is not None]
            facts = facts_of(
                *items,
                approved=YES if "approved" in (one, other) else None,
                own=frozenset({("text", VALUE)} if "own" in (one, other) else ()),
            )
            seen = facts.origin(aim(), value)
            expected = CONTESTED.get(one, one) if other in CONTESTING else one
            assert seen.origin == expected, (one, other)
            shown = None if item_1 is None else f"e/{len(items)}"
            assert (seen.item and seen.item.id) == shown, (one, other)


def yes(value: object) -> ApprovedValue:
    return ApprovedValue.model_validate(yes_to(value))


def test_a_yes_is_of_a_role_a_tool_and_a_value_up_to_a_tier() -> None:
    given = [yes_to("A-1"), yes_to(["a-1", 7], approval_mode="network"), yes_to("b-2", "object")]
    tiers = approved_tiers(ApprovedValue.model_validate(one) for one in given)
    texts = {
        (role, text): tier for (role, pair, form, text), tier in tiers.items() if form == "text"
    }
    assert texts == {("recipient", "a-1"): 3, ("recipient", "7"): 2, ("object", "b-2"): 3}
    assert {pair for _, pair, _, _ in tiers} == {PAIR}
    assert approved_tiers(reversed([*map(ApprovedValue.model_validate, given)])) == tiers
    facts = facts_of(approved=tiers)
    for role, mode, text, is_approved in (
        *(("recipient", "delegated", "A-1", True), ("recipient", "destructive", "a-1", False)),
        *(("object", "delegated", "a-1", False), ("recipient", "network", "7", True)),
        *(("recipient", "delegated", "7", False), ("recipient", "read_only", "7", True)),
    ):
        asked = aim(role, mode)
        assert facts.is_approved(asked, read_value(text, None)) == is_approved, (role, mode, text)
    tiers = approved_tiers([yes(True), yes(" ")])
    assert {text for _, _, form, text in tiers if form == "text"} == {"true"}
    assert not facts.is_approved(Aim("recipient", ("shop", "x"), 0), read_value("a-1", None))


@pytest.mark.parametrize("role", ["recipient", "object", "attribute", "content", "secret"])
def test_a_yes_to_a_list_of_mailboxes_is_to_its_addresses_where_they_are_sent_to(role: str) -> None:
    for text, listed in (
        ("mia@a.de, ben@b.de", {"mia@a.de", "ben@b.de"}),
        ("Mia <mia@a.de>, Ben <ben@b.de>", set()),
    ):
        tiers = approved_tiers([ApprovedValue.model_validate(yes_to(text, role))])
        named = {spelled for _, _, form, spelled in tiers if form == "address"}
        assert named == (listed if role == "recipient" else set())


def test_what_a_context_says_of_values_is_what_holds_now() -> None:
    session = {
        "id": "s",
        "turn": 2,
        "approved": [yes_to("a-1"), yes_to("b-2", expires_at=AS_OF)],
        "own": [{"kind": "note", "value": ["N-1", {"x": "N-2"}]}],
        "sent": [{"seq": 3, "values": ["c-3"]}],
    }
    sought = read_value("c-3", None)
    with values_known(prepared(proposal(item(TEXT), session=session, as_of=AS_OF))) as known:
        assert {text for _, _, form, text in known.approved if form == "text"} == {"a-1"}
        assert known.own == {("note", "N-1"), ("note", "N-2")}
        assert (known.sent(sought), known.sent(read_value("d-4", None))) == (3, None)
        assert known.fresh is known.every
    with values_known(prepared(proposal(item(TEXT, **LATE), as_of=AS_OF))) as known:
        assert (known.approved, known.own, known.sent(sought)) == ({}, frozenset(), None)
        assert known.fresh is not known.every


def prepared(wire: Json) -> PreparedPlan:
    one = Proposal(**wire)
    return prepare_plan(one.ctx, one.compiled, one.spec, one.plan)


def test_what_lies_below_a_named_page_is_named_for_mild_effects_and_for_pages() -> None:
    facts, below = facts_of(request("see https://a.de/x")), read_value("https://a.de/x/y", None)
    for role, mode, kind, origin in (
        *(("object", "network", None, "request"), ("object", "delegated", None, "host")),
        *(("object", "local_write", None, "request"), ("object", "delegated", "url", "request")),
        *(("object", "destructive", "page", "host"), ("locator", "destructive", None, "request")),
    ):
        asked = aim(role, mode, kind)
        assert facts.origin(asked, below).origin == origin, (role, mode, kind)
    other = read_value("https://a.de/z", None)
    assert facts.origin(aim("locator"), other).origin == "host"
    bare = facts_of(request("see a.de"))
    assert bare.origin(aim("locator"), below).origin == "own"
    assert bare.origin(aim("object"), below).origin == "host"


def test_what_was_made_is_known_by_its_kind_and_its_spelling() -> None:
    own = own_keys(OwnValue(kind="file", value=["Plan-1", {"x": "b"}]))
    facts = facts_of(own=frozenset(own))
    for text, kind, role, origin in (
        *(("Plan-1", "file", "object", "own"), ("plan-1", "file", "object", "unseen")),
        *(("Plan-1", None, "object", "unseen"), ("Plan-1", "file", "recipient", "unseen")),
        *(("b", "file", "attribute", "own"), ("b", "file", "locator", "own")),
        *(("Plan-1", "file", "secret", "unseen"), ("Plan-1", "file", "code", "unseen")),
    ):
        asked = aim(role, kind=kind)
        assert facts.origin(asked, read_value(text, kind)).origin == origin, (text, kind, role)


def test_what_can_be_read_in_two_ways_is_so_only_where_it_decides() -> None:
    facts, twice = facts_of(request("use /a/../b")), read_value("/a/../b", "path")
    for role in ("recipient", "object", "locator", "secret", "content"):
        asked = aim(role)
        assert facts.origin(asked, twice).origin == "unreadable"
    for role in ("attribute", "code"):
        asked = aim(role)
        assert facts.origin(asked, twice).origin == "request"


def test_what_has_expired_counts_where_it_makes_a_value_worth_less() -> None:
    value, field = read_value(VALUE, None), item({"sender": VALUE})
    for items, role, level, origin, stale in (
        *(([field], "object", ALLOW, "field", None), ([field, LATE_TEXT], "object", ASK, "", None)),
        *(
            ([LATE_TEXT], "attribute", ASK, "unseen", "e/1"),
            ([], "attribute", ALLOW, "unseen", None),
        ),
        ([request(TEXT), LATE_TEXT], "object", ALLOW, "request", None),
    ):
        facts = facts_of(*items)
        found, seen = facts.judge_value(aim(role), value)
        assert (found, seen.origin) == (level, origin or "contested"), (items, role)
        assert (seen.stale and seen.stale.id) == stale
        assert facts.judge_value(aim(role), value) == (found, seen)
    late = facts_of(LATE_TEXT)
    assert late.origin(aim(), value).origin == "unseen"
    assert late.origin_of_all(aim(), value).origin == "untrusted"


LATE_TEXT: Final = item(TEXT, **LATE)
CUT: Final = item("see more", standing="named") | {
    "source": {"author": "public", "standing": "named", "cut": True}
}
PAGE: Final = "https://a.de/x"
CONTENT: Final[list[tuple[str, list[Json], int, str]]] = [
    *((f"see {PAGE}", [], ASK, "new_link"), (f"see {PAGE}", [request(PAGE)], ALLOW, "request")),
    *((f"see {PAGE}", [item(f"{PAGE}y")], REFUSE, "untrusted"),),
    *((f"see {PAGE}", [item(f"{PAGE}y") | LATE], REFUSE, "untrusted"),),
    *((f"see {PAGE}", [item(PAGE) | LATE], REFUSE, "unseen"), (PAGE, [CUT], ASK, "new_link")),
    *((f"see {PAGE}", [request("see a.de")], ALLOW, "host"),),
    *((f"see {PAGE}?y", [request("see a.de")], ASK, "new_link"),),
    *((f"see {PAGE}?y", [request(f"see {PAGE}?y")], ALLOW, "request"),),
    *((f"see {PAGE}", [item(PAGE, standing="named")], ALLOW, "named_public"),),
    *((f"see {PAGE}", [item(PAGE, standing="named"), CUT], ASK, "named_public"),),
    *((f"see {PAGE}", [item(PAGE, standing="named"), CUT | LATE], ASK, "named_public"),),
    *((f"see {PAGE}", [request(PAGE), CUT], ALLOW, "request"), ("new.de", [], ALLOW, "unseen")),
    *((f"see {PAGE}", [item(PAGE), CUT], REFUSE, "untrusted"),),
    *(("ask mia@a.de.x", [item("mia@a.de")], REFUSE, "untrusted"),),
    *(
        ("ask mia@a.de.x", [], ALLOW, "unseen"),
        ("mia@a.de", [request("mia@a.de")], ALLOW, "request"),
    ),
    *(("mia@a.de.x", [request("mia@a.de.x"), item("mia@a.de")], ALLOW, "request"),),
    *(
        ("mia@a.de.x", [item("mia@a.de.x") | LATE, request("mia@a.de")], REFUSE, "unseen"),
        ("mia@a.de.x", [request("mia@a.de")], ALLOW, "request"),
    ),
    ("new.de", [item("https://new.de/x")], REFUSE, "untrusted"),
    ("see new.de#y", [request("see new.de")], ASK, "new_link"),
    ("new.de/B?x new.de/b?x", [request("see new.de/B?x")], ASK, "new_link"),
]


def test_content_is_judged_by_the_whole_of_what_it_names_then_by_less() -> None:
    for text, items, level, origin in CONTENT:
        (value, *_) = content_values(text)
        found, seen = facts_of(*items).judge_content(aim("content"), value)
        assert (found, seen.origin) == (level, origin), (text, items)
        assert seen.is_unread == (level == ASK and origin == "named_public")


def test_a_day_is_judged_by_who_names_it() -> None:
    day, text = Day(2026, 5, 9), read_value(DAY, None)
    named = item(DAY, standing="named")
    for items, level, origin in (
        *(([], ALLOW, "unseen"), ([item(DAY)], ASK, "untrusted"), ([named], ALLOW, "elsewhere")),
        *(([named, request("on May 10")], ASK, "elsewhere"), ([request(DAY)], ALLOW, "request")),
        *(([item(DAY) | LATE], ASK, "untrusted"), ([named, request("soon")], ALLOW, "elsewhere")),
        *(([item(DAY, "system") | LATE, item(DAY)], ASK, "untrusted"),),
        *(([named, request("May 10") | LATE], ASK, "elsewhere"),),
    ):
        found, seen = facts_of(*items).judge_day(aim("time"), day, text)
        assert (found, seen.origin) == (level, origin), items
    given = approved_tiers([ApprovedValue.model_validate(yes_to(DAY, "time"))])
    facts = facts_of(item(DAY), approved=given)
    assert facts.judge_day(aim("time"), day, text) == (ALLOW, DaySighting("unseen", None))
    assert facts.judge_day(aim("time"), day, read_value(f"{DAY} 9:00", None))[0] == ASK


def test_words_are_those_of_the_request_or_of_the_operator() -> None:
    for author in ("user", "operator"):
        said, team = item("the team", author, "named"), read_value("team", None)
        seen = facts_of(said, item({"payer": "team"})).origin(aim(), team)
        assert (seen.origin, seen.item and seen.item.id) == ("words", "e/1")
        meant = facts_of(item('the "team"', author, "named")).origin(aim(), team)
        assert meant.origin == ("request" if author == "user" else "operator")
    assert facts_of(item({"payer": "team"})).origin(aim(), team).origin == "party"
