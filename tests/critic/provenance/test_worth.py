"""What each origin is worth in each role: the whole table, in both modes."""

from itertools import product
from typing import Any, Final, get_args

import pytest

import critic.provenance
from critic.provenance.origins import Origin
from critic.provenance.worth import ALLOW, ASK, REFUSE, worth_of
from evals.spec import DecisionSpec
from tests.support.paths import ROOT

PAGE: Final = ROOT / ".github" / "docs" / "provenance.md"
CODES: Final = "Z A U S O T W F M C H P CP Dm Dp Dw Rm Rp Rw X L K N"
LETTERS: Final = dict(zip(get_args(Origin), CODES.split(), strict=True))
"""Unreadable, approved, request, operator, own, system, words, field, designated, contested, page
of a host, party, contested party; text of a source that the request names, or that those
lead to, by member, public or web; other text, a field that it led to, a new link, unseen.
"""
KNOWN: Final = "A U S O T F M"
IN_ORDER: Final[list[Any]] = [
    *("approved", "request", "operator", "own", "system", "words", "field", "designated"),
    *("contested", "host", "party", "contested_party", "named_member", "named_public"),
    *("named_web", "reached_member", "reached_public", "reached_web", "untrusted", "led_field"),
    *("unseen", "new_link"),
]
"""The origins as the page for users has them, but for what cannot be read in one way."""
ONLY_IN: Final = {"own": ("object", "attribute", "locator"), "new_link": ("content",)}
TABLE: Final = {
    "recipient": (KNOWN, "Dm Dp Dw C L W H P CP", "Rm Rp Rw X"),
    "object": (KNOWN, "Dm Dp Dw C L W H P CP", "Rm Rp Rw X N"),
    "attribute": (f"{KNOWN} Dm Dp Dw Rm Rp Rw N W H P", "C CP X L", ""),
    "locator": (f"{KNOWN} C W Dm Rm", "Dp Dw Rp L P H CP", "Rw X"),
    "secret": ("A U S T", "Dm Dp Dw W", "Rm Rp Rw X"),
    "code": (f"{KNOWN} C CP W H P Dm Dp Dw Rm Rp Rw X L K", "", ""),
    "content": (f"{KNOWN} W H P Dm Dp Rm C N L", "Dw K", "Rp Rw X CP"),
}
"""By role, what allows, what asks, and what asks where `closed` refuses it; all else refuses."""


def expected(role: str, letter: str, mode: str) -> int:
    allows, asks, softened = (letters.split() for letters in TABLE[role])
    if mode == "open" and (role, letter) == ("locator", "C"):
        return ASK
    if letter in allows:
        return ALLOW
    return ASK if letter in asks or (mode == "open" and letter in softened) else REFUSE


@pytest.mark.parametrize("mode", ["closed", "open"])
@pytest.mark.parametrize("role", TABLE)
def test_an_origin_is_worth_what_the_table_says(role: Any, mode: Any) -> None:
    ways: list[Any] = ["allow", "ask"]
    for way, (origin, letter) in product(ways, LETTERS.items()):
        spec = DecisionSpec(id="s", required_outputs=(), provenance=mode, party_recipients=way)
        level = expected(role, letter, mode)
        if (role, letter, way) == ("recipient", "P", "allow"):
            level = ALLOW
        assert worth_of(role, origin, spec) == level, (origin, way)


def test_the_theory_of_operation_shows_the_whole_table() -> None:
    lines = [line.split() for line in (critic.provenance.__doc__ or "").splitlines()]
    start, roles = next((at, line[1:]) for at, line in enumerate(lines) if line[:1] == ["origin"])
    assert set(roles) == set(TABLE)
    spec = DecisionSpec(id="s", required_outputs=(), provenance="closed")
    words = {ALLOW: "allow", ASK: "ask", REFUSE: "refuse"}
    never = {("unreadable", "attribute"), ("unreadable", "code"), ("unreadable", "content")}
    never |= {("new_link", role) for role in roles if role != "content"}
    shown = {line[0]: line[1 : len(roles) + 1] for line in lines[start + 1 :][: len(LETTERS)]}
    rows: list[Any] = [*LETTERS]
    columns: list[Any] = roles
    assert shown == {
        origin: [
            "-" if (origin, role) in never else words[worth_of(role, origin, spec)]
            for role in columns
        ]
        for origin in rows
    }


def test_the_page_that_users_read_shows_the_whole_table() -> None:
    """A dash stands where a value has no such origin in a role: `own` is of three roles alone."""
    _, _, rest = PAGE.read_text("utf-8").partition("\n| seen | ")
    rows = [line.strip("| ").split(" | ") for line in rest.partition("\n\n")[0].splitlines()]
    roles: list[Any] = [one.strip("`") for one in rows[0]]
    assert set(roles) == set(TABLE)
    spec = DecisionSpec(id="s", required_outputs=(), provenance="closed")
    words = {ALLOW: "allow", ASK: "ask", REFUSE: "refuse"}
    shown = dict(zip(IN_ORDER, rows[2:], strict=True))
    for origin, (_, *cells) in shown.items():
        for role, cell in zip(roles, cells, strict=True):
            none = role not in ONLY_IN.get(origin, roles)
            assert cell == ("\N{EN DASH}" if none else words[worth_of(role, origin, spec)]), origin
