"""One agent that writes, reviews and rewrites."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops import DEFAULT_CRITIC_PROMPT, DEFAULT_REFINER_PROMPT
from harness.loops.agents.agent import AgentResult
from harness.loops.agents.journal import MemoryStore
from harness.loops.agents.model import Dependencies, Message, Reply
from harness.loops.agents.usage import Usage
from harness.loops.self_refine import SelfRefine
from tests.harness.loops.agents.journals import journal_of
from tests.harness.loops.scripted import Scripted, cases


def run(base: Scripted, **how: Any) -> AgentResult:
    return asyncio.run(SelfRefine(base=base, **how).run("task", session_id="P"))


@pytest.mark.parametrize("case", cases("stop_phrase"))
def test_a_review_approves_refuses_or_is_malformed(case: dict[str, Any]) -> None:
    base = Scripted("v0", case["reply"], case["reply"])
    result = run(base, max_rounds=1)
    reasons = {"approved": "approved", "refused": "max_rounds", "malformed": "unrecoverable"}
    assert result.stop_reason == reasons[case["expect"]]
    assert result.output == "v0"


def test_a_refused_draft_is_rewritten_once() -> None:
    base = Scripted("v0", "- too long\n* and wrong", "v1", "No Issues")
    result = run(base)
    assert (result.output, result.stop_reason, result.round) == ("v1", "approved", 1)
    assert base.sessions == ["P__actor_0", "P__critic_1", "P__actor_1", "P__critic_2"]
    assert result.usage.tokens == 40
    write, review, rewrite, _ = base.calls
    assert write.prompt == "task"
    assert "no issues" in review.prompt
    assert review.prompt.endswith("\n\nTask:\ntask\n\nOutput:\nv0\n")
    assert rewrite.prompt.endswith("Output:\nv0\n\nCritique:\n- too long\n* and wrong\n")


def test_only_the_first_draft_has_tools() -> None:
    base = Scripted("v0", "wrong", "v1", "no issues")
    run(base)
    assert [call.text_only for call in base.calls] == [False, True, True, True]


def test_without_scores_the_latest_reviewed_output_is_the_best() -> None:
    result = run(Scripted("v0", "wrong", "v1", "still wrong"), max_rounds=2)
    assert (result.output, result.stop_reason) == ("v1", "max_rounds")
    result = run(Scripted("v0", "wrong", "v1", "raise"), max_rounds=2)
    assert (result.output, result.stop_reason) == ("v0", "unrecoverable")


def test_an_empty_review_is_asked_for_again() -> None:
    base = Scripted("v0", "  ", "no issues")
    assert run(base).approved
    assert base.sessions[-1] == "P__critic_1__again"


def test_prompts_of_ones_own() -> None:
    base = Scripted("v0", "- a\n\n2. b", "v1", "fine {as} is")
    result = run(
        base,
        critic_prompt="Is {output} right? Say: fine {{as}} is",
        refiner_prompt="{output}\n{issues_bulleted}",
        stop_phrase="Fine {as} is",
    )
    assert result.approved
    assert base.calls[1].prompt == "Is v0 right? Say: fine {as} is"
    assert base.calls[2].prompt == "v0\n- a\n- 2. b"


def test_an_instruction_without_places_is_given_the_material() -> None:
    base = Scripted("v0", "wrong", "v1", "no issues")
    run(base, critic_prompt="Find problems.", refiner_prompt="Fix them.")
    assert base.calls[1].prompt == "Find problems.\n\nTask:\ntask\n\nOutput:\nv0\n"
    assert base.calls[2].prompt.startswith("Fix them.\n\nTask:\ntask\n\nOutput:\nv0\n\nCritique:")


def test_the_default_prompts_are_a_base_for_ones_own() -> None:
    given, ones_own = Scripted("v0", "wrong", "v1", "Fine."), Scripted("v0", "wrong", "v1", "Fine.")
    run(given, stop_phrase="fine.")
    run(
        ones_own,
        critic_prompt=f"Write German.\n{DEFAULT_CRITIC_PROMPT}",
        refiner_prompt=f"Write German.\n{DEFAULT_REFINER_PROMPT}",
        stop_phrase="fine.",
    )
    prompts = [call.prompt for call in given.calls]
    assert "nothing else: fine.\n\nTask:\ntask\n" in prompts[1]
    assert [call.prompt for call in ones_own.calls] == [
        prompts[0],
        *(f"Write German.\n{prompt}" for prompt in prompts[1:]),
    ]


def test_only_the_prompt_of_the_critic_has_the_stop_phrase() -> None:
    with pytest.raises(ValueError, match=r"unknown placeholder \{stop_phrase\}"):
        SelfRefine(base=Scripted(), refiner_prompt="{critique} {stop_phrase}")


def test_without_a_base_a_model_is_it() -> None:
    asked, replies = list[str](), iter(["v0", "wrong", "v1", "no issues"])

    async def model(messages: Sequence[Message]) -> Reply:
        asked.append(messages[-1].content)
        return Reply(text=next(replies), usage=Usage(tokens_in=9, tokens_out=1))

    store = MemoryStore()
    journal = journal_of(store)
    loop = SelfRefine(deps=Dependencies(model, "P", journal))
    first = asyncio.run(loop.run("task"))
    assert (first.output, first.stop_reason, first.usage.tokens) == ("v1", "approved", 40)
    given = Scripted("v0", "wrong", "v1", "no issues")
    run(given)
    assert asked == [call.prompt for call in given.calls]
    kept = b"".join(store.lines()).decode()
    assert all(f'"session":"{session}"' in kept for session in given.sessions)
    assert asyncio.run(loop.run("task")) == first  # of the journal: the script is at its end
    journaled = asyncio.run(SelfRefine(deps=Dependencies(model, "Q", journal)).run("task"))
    assert journaled.stop_reason == "planner_error"  # another session asks the model


@pytest.mark.parametrize("given", ["both", "neither"])
def test_the_base_is_an_agent_or_a_model(given: str) -> None:
    async def model(_messages: Sequence[Message]) -> Reply:
        raise AssertionError("it is never asked")

    both: dict[str, Any] = {"base": Scripted(), "deps": Dependencies(model, "P")}
    with pytest.raises(ValueError, match="give either a base, or deps with a model"):
        SelfRefine(**(both if given == "both" else {}))


def test_a_stop_phrase_with_braces_is_shown_as_it_is() -> None:
    base = Scripted("v0", "{DONE}")
    assert run(base, stop_phrase="{done}").approved
    assert "nothing else: {done}" in base.calls[1].prompt


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_rounds": 0},
        {"max_rounds": True},
        {"stop_phrase": ""},
        {"stop_phrase": " \n"},
        {"critic_prompt": "{prompt} only"},
        {"refiner_prompt": "{output} only"},
        {"critic_prompt": "{task}"},
        {"refiner_prompt": "{"},
    ],
)
def test_a_constructor_refuses(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must|unknown|brace"):
        SelfRefine(base=Scripted(), **arguments)


@given(st.text())
def test_only_the_phrase_itself_converges(review: str) -> None:
    result = run(Scripted("v0", review, review), max_rounds=1)
    assert result.approved == (review.strip().casefold() == "no issues")
