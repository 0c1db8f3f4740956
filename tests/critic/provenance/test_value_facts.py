"""Which of two sightings counts where evidence has expired, and what is own in which role."""

from typing import Final

import pytest

from tests.support.model.facts import Json
from tests.support.sightings import VALUE, answer, item, proposal, reasons, request

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
