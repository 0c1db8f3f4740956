"""A guarded Pydantic AI agent keeps the contract, however it is run."""

import asyncio

import pytest

from harness.testing.seams import Scene, SeamBroken, Trace, check_seam, seam_laws, undocumented
from tests.support.contracts import contract_laws
from tests.support.effort import sampled
from tests.support.paths import ROOT
from tests.support.pydantic_ai_agent import (
    Running,
    ScenePlayer,
    events,
    handled,
    iterated,
    play_pydantic_ai,
    run_stream,
)

CANNOT_ASK = (
    "approval",
    "approval of some calls",
    "edits by a person",
    "answer in another process",
)
STREAMED = [law for law in seam_laws(CANNOT_ASK) if law.endswith(" streamed")]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("law", contract_laws())
def test_the_contract_holds(law: str) -> None:
    check_seam(play_pydantic_ai, law)


def play_run_stream(scene: Scene) -> Trace:
    return asyncio.run(ScenePlayer(scene, run_stream).play())


@pytest.mark.one_in(4)
@pytest.mark.parametrize("law", sampled(STREAMED, one_in=2))
def test_the_contract_holds_where_tools_run_before_the_response_is_at_its_end(law: str) -> None:
    check_seam(play_run_stream, law)


def test_nothing_runs_where_the_framework_drops_the_question() -> None:
    with pytest.raises(SeamBroken, match=r"it asked 0 times, not 1. What happened: \['recorded'\]"):
        check_seam(play_run_stream, "nothing_runs_before_the_answer streamed")


@pytest.mark.parametrize("running", [iterated, handled, events], ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    "law",
    ["an_allowed_batch_runs_once", "a_refused_batch_runs_nothing", "a_no_runs_nothing"],
)
def test_every_way_to_run_an_agent_is_guarded(law: str, running: Running) -> None:
    check_seam(lambda scene: asyncio.run(ScenePlayer(scene, running).play()), f"{law} streamed")


def test_the_page_says_what_it_can_and_cannot() -> None:
    page = ROOT / ".github" / "docs" / "pydantic-ai.md"
    assert undocumented(page.read_text("utf-8"), {}) == []
