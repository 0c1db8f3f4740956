"""The standing of a source: what each locator gives, and that the best of several counts."""

from itertools import permutations
from typing import Final

import pytest

from critic.provenance.call_values import JudgedValue
from critic.provenance.standing import standing_of
from critic.provenance.value_kinds import read_value
from critic.session import Call
from critic.session.session_values import KnownValues, ValueFacts
from evals.manifest import Manifests
from tests.critic.provenance.test_value_facts import ORIGINS, YES, aim, facts_of
from tests.critic.session.building import after, last, opened, read, rules, tool
from tests.support.model.facts import Json
from tests.support.seen_values import seen_anew
from tests.support.sightings import VALUE

TOOLS = {
    "read": tool("read", arg_roles={"name": "locator"}, result={"author": "public"}),
    "mail": tool("mail", result={"author": "public"}),
    "both": tool(
        "both", arg_roles={"one": "locator", "other": "locator"}, result={"author": "public"}
    ),
}


@pytest.mark.parametrize(
    ("name", "standing"),
    [
        *(("a-1", "named"), ("a1", "ambient"), ("cold fusion", "ambient"), ("b-1 b-2", "named")),
        *(("travel plans", "named"), ("travel", "ambient"), ("plans travel", "ambient")),
        ("https://x.example/docs/a", "named"),
        ("https://x.example/docs/a?q=1", "reached"),
        ("https://x.example/team", "reached"),
    ],
)
def test_a_source_is_named_by_a_name_a_phrase_or_a_page_above_it(name: str, standing: str) -> None:
    said = "Read a-1, a1 and b-1 b-2, our travel plans and https://x.example/docs"
    source = last(after(opened(said), read(name), "x")).source
    assert source is not None
    assert source.standing == standing


@pytest.mark.parametrize(
    ("names", "standing"),
    [
        (("plan.md", "annex.md"), "named"),
        (("plan.md", "trap.md"), "named"),
        (("plan.md", "other.md"), "named"),
        (("annex.md", "trap.md"), "reached"),
        (("annex.md", "other.md"), "reached"),
        (("trap.md", "other.md"), "led"),
    ],
)
def test_the_best_of_two_locators_counts_in_either_order(
    names: tuple[str, str], standing: str
) -> None:
    session = after(
        opened("Read plan.md", tools=TOOLS, scope=list(TOOLS)), read("plan.md"), "see annex.md"
    )
    session = after(session, Call("m", "mail", {}), "see trap.md")
    for one, other in permutations(names):
        source = last(after(session, Call("b", "both", {"one": one, "other": other}), "x")).source
        assert source is not None
        assert source.standing == standing


STANDINGS: Final = {
    "request": "named",
    "approved": "reached",
    "own": "reached",
    **dict.fromkeys(("untrusted", "led_field"), "led"),
    **{f"named_{of}": "reached" for of in ("member", "public", "web")},
    **{f"reached_{of}": "reached" for of in ("member", "public", "web")},
}


@pytest.mark.parametrize(("origin", "seen"), ORIGINS)
def test_a_source_is_worth_what_its_locator_came_from(origin: str, seen: Json | None) -> None:
    """What a person gave or a source of the request says leads there; all else asks for nothing."""
    facts = facts_of(
        *([seen] if seen is not None else []),
        approved={("locator", *one[1:]): tier for one, tier in YES.items()}
        if origin == "approved"
        else None,
        own=frozenset({("text", VALUE)} if origin == "own" else ()),
    )
    found = standing_of([JudgedValue(aim("locator"), (), VALUE, read_value(VALUE, None))], facts)
    assert found == STANDINGS.get(origin, "ambient")


def test_what_is_read_by_no_locator_is_ambient() -> None:
    nothing = Manifests(tool_manifest=(), evidence_manifest=())
    known = KnownValues(*seen_anew(nothing, None), {}, (), lambda _value: None)
    assert standing_of([], ValueFacts(rules().spec, known)) == "ambient"


def test_what_the_session_made_itself_is_reached() -> None:
    session = after(opened("Make me a draft"), Call("c", "make", {"name": "draft-771"}), "ok")
    for name, standing in (("draft-771", "reached"), ("draft-772", "ambient")):
        source = last(after(session, read(name), "x")).source
        assert source is not None
        assert source.standing == standing
