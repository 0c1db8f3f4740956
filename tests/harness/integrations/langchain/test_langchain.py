"""Agents of LangChain keep the contract of integrations, and their page says what they can."""

import pytest

from harness.testing.seams import check_seam, seam_laws, undocumented
from tests.support.contracts import contract_laws
from tests.support.effort import sampled
from tests.support.langchain_agents import play, play_async
from tests.support.paths import ROOT

PAGE = ROOT / ".github" / "docs" / "langchain.md"

CANNOT = {
    "unreadable arguments": "LangChain reads them first, and keeps one of two equal keys",
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("law", contract_laws(CANNOT))
def test_the_contract_holds(law: str) -> None:
    check_seam(play, law)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("law", sampled(seam_laws(CANNOT), one_in=6))
def test_the_contract_holds_in_an_event_loop(law: str) -> None:
    check_seam(play_async, law)


def test_the_page_says_what_it_can_and_cannot() -> None:
    assert not undocumented(PAGE.read_text("utf-8"), CANNOT)
