"""`critic explain`: the tables are those that decide, and the page on policies has them."""

from harness.policy.analysis.guessing.guess_tables import (
    GUESSED_TIER_OF,
    PARTY_FIELD,
    ROLE_PATTERNS,
    TIER_ROWS,
)
from tests.harness.console import Critic
from tests.support.paths import ROOT


def test_the_tiers_are_printed_and_stand_on_the_page(critic: Critic) -> None:
    said = critic("explain", "tiers")
    assert (said.status, said.err) == (0, "")
    page = (ROOT / ".github" / "docs" / "policy.md").read_text("utf-8")
    for row in TIER_ROWS:
        assert said.out.index(f"{row.tier}\n  {row.means}\n") >= 0
        assert f"| `{row.tier}` | {row.means} | {row.examples} | {row.by_itself} |" in page


def test_every_word_that_is_guessed_by_is_printed(critic: Critic) -> None:
    said = critic("explain", "guesses")
    assert (said.status, said.err) == (0, "")
    words = set(said.out.split())
    assert words >= GUESSED_TIER_OF.keys()
    assert words >= ROLE_PATTERNS.keys()
    assert {"payee", "sender", "invoice"} <= words
    assert PARTY_FIELD.fullmatch("payee")
    assert max(map(len, said.lines)) <= 100


def test_an_unknown_topic_is_refused(critic: Critic) -> None:
    said = critic("explain", "nothing")
    assert (said.status, said.out) == (2, "")
