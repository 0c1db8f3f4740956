"""The guard of the OpenAI Agents SDK keeps the contract of all integrations."""

import pytest

from harness.testing.seams import check_seam, undocumented
from tests.support.contracts import contract_laws
from tests.support.openai_scenes import play
from tests.support.paths import ROOT

PAGE = ROOT / ".github" / "docs" / "openai-agents.md"
CANNOT = {
    "edits by a person": "the SDK resumes a call with the arguments that the model gave",
    "ids that come again": "the SDK makes no later call with an id that it has seen",
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("law", contract_laws(CANNOT))
def test_the_contract_holds(law: str) -> None:
    check_seam(play, law)


def test_the_page_says_what_it_can_and_cannot() -> None:
    assert undocumented(PAGE.read_text("utf-8"), CANNOT) == []
