"""Two agents in a loop: what is approved, what is kept, when it ends, what its consumer hears."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops import DEFAULT_CRITIQUE_TEMPLATE, DEFAULT_REFINE_TEMPLATE
from harness.loops.actor_critic import ActorCritic
from harness.loops.agents.agent import AgentResult, Event
from harness.loops.agents.usage import UNLIMITED, Budget, Usage
from tests.harness.loops.agents.journals import Ticking
from tests.harness.loops.scripted import Scripted, cases, verdict

GOOD, BAD = verdict(0.95), verdict(0.4, "fix it")


def events_of(loop: Any, **how: Any) -> list[Event]:
    async def main() -> list[Event]:
        return [event async for event in loop.stream("task", **{"session_id": "P", **how})]

    return asyncio.run(main())


def told(events: list[Event]) -> list[tuple[str, Any]]:
    """Return the kinds of the events; those of the loop itself with their subjects."""
    return [(event.kind, event.data.get("event")) for event in events]


def final(events: list[Event]) -> AgentResult:
    assert [event.kind for event in events].count("completed") == 1
    assert events[-1].result is not None
    return events[-1].result


@pytest.mark.parametrize("case", cases("loop"))
def test_a_case_ends_as_expected(case: dict[str, Any]) -> None:
    spent = {"tokens": case.get("tokens", 10), "cost": case.get("cost", 2)}
    actor, critic = Scripted(*case["actor"], **spent), Scripted(*case["critic"], **spent)
    loop = ActorCritic(actor=actor, critic=critic, max_rounds=case.get("max_rounds", 3))
    result = final(events_of(loop, budget=Budget(**case.get("budget", {}))))
    counted = {"actor_calls": len(actor.calls), "critic_calls": len(critic.calls)}
    seen = {**counted, "tokens": result.usage.tokens}
    expected = {"interrupted": case["expect"]["stop_reason"] not in ("approved", "max_rounds")}
    for name, value in {**expected, **case["expect"]}.items():
        assert (seen[name] if name in seen else getattr(result, name)) == value, name
    assert actor.closed == len(actor.calls)
    assert critic.closed == len(critic.calls)


@pytest.mark.parametrize("case", cases("constructor"))
def test_a_constructor_refuses(case: dict[str, Any]) -> None:
    given = {"actor": Scripted(), "critic": Scripted(), **case["arguments"]}
    if given.get("approval_threshold") == "NaN":  # JSON has none
        given["approval_threshold"] = float("nan")
    with pytest.raises(ValueError, match=next(iter(case["arguments"]))[:8] + "|placeholder|brace"):
        ActorCritic(**given)


@pytest.mark.parametrize(("threshold", "score"), [(0, 0), (1, 1), (0.5, 0.5)])
def test_a_score_at_the_threshold_approves(threshold: float, score: float) -> None:
    loop = ActorCritic(
        actor=Scripted("v0"), critic=Scripted(verdict(score)), approval_threshold=threshold
    )
    assert final(events_of(loop)).approved


def test_each_call_has_its_own_session_id() -> None:
    actor, critic = Scripted("v0", "v1"), Scripted(BAD, GOOD)
    loop = ActorCritic(actor=actor, critic=critic)
    events_of(loop)
    assert loop.declared_workers() == {"actor": actor, "critic": critic}
    assert actor.sessions == ["P__actor_0", "P__actor_1"]
    assert critic.sessions == ["P__critic_1", "P__critic_2"]
    assert not any(call.text_only for call in (*actor.calls, *critic.calls))


def test_a_malformed_reply_is_asked_for_again_with_its_error_named() -> None:
    actor, critic = Scripted("v0"), Scripted('{"issues": [], "score": 7}', GOOD)
    events = events_of(ActorCritic(actor=actor, critic=critic))
    assert critic.sessions == ["P__critic_1", "P__critic_1__again"]
    first, again = critic.calls
    assert again.prompt.startswith(first.prompt)
    assert "/score: input should be less than or equal to 1" in again.prompt
    assert ("architecture_event", "malformed") in told(events)
    assert final(events).approved
    assert events[-2].data["why"] is None


NESTED = [
    "P__actor_0__actor_0",
    "P__actor_0__critic_1",
    "P__actor_0__actor_1",
    "P__actor_0__critic_2",
    "P__critic_1",
    "P__actor_1__actor_0",
    "P__actor_1__critic_1",
    "P__critic_2",
]


def test_nested_loops_have_ids_of_their_own_and_their_usage_adds_up() -> None:
    heard: list[str] = []
    actor, inner_critic = Scripted("a", "b", "c"), Scripted(BAD, GOOD, GOOD)
    outer_critic = Scripted(BAD, GOOD)
    inner = ActorCritic(actor=actor, critic=inner_critic)
    events = events_of(ActorCritic(actor=inner, critic=outer_critic))
    heard = [event.session_id for event in events if event.kind == "model_chunk"]
    assert heard == NESTED
    result = final(events)
    assert result.output == "c"
    assert result.turns == 8
    assert result.usage == Usage(tokens_in=72, tokens_out=8, cost_micros=16)
    # No frame but the outermost one.
    assert [event.session_id for event in events if event.kind in ("started", "completed")] == [
        "P",
        "P",
    ]


def test_a_nested_loop_is_held_to_what_is_left() -> None:
    inner_critic, outer_critic = Scripted(BAD, BAD, tokens=300), Scripted()
    inner = ActorCritic(actor=Scripted("a", "b", tokens=300), critic=inner_critic)
    events = events_of(
        ActorCritic(actor=inner, critic=outer_critic), budget=Budget(max_tokens=1000)
    )
    result = final(events)
    assert (result.stop_reason, result.interruption_reason) == ("budget", "budget:max_tokens")
    assert result.output == "a"  # what the inner loop had when its money ran out
    assert result.usage.tokens == 1200
    assert outer_critic.calls == []
    kinds = [event.kind for event in events]
    assert kinds.index("budget_exceeded") < kinds.index("completed")


def test_every_call_is_given_what_is_left() -> None:
    actor, critic = Scripted("a", "b"), Scripted(BAD, GOOD)
    events = events_of(
        ActorCritic(actor=actor, critic=critic), budget=Budget(max_tokens=45, max_cost_micros=100)
    )
    left = [call.budget.max_tokens for call in (*actor.calls, *critic.calls)]
    assert left == [45, 25, 35, 15]
    assert actor.calls[1].budget.max_cost_micros == 96
    assert [event.kind for event in events].count("budget_warning") == 1
    assert final(events).approved


def test_without_a_budget_there_is_none_for_the_calls() -> None:
    actor = Scripted("a")
    events_of(ActorCritic(actor=actor, critic=Scripted(GOOD)))
    assert actor.calls[0].budget == UNLIMITED


def test_what_nobody_measured_exceeds_a_budget() -> None:
    loop = ActorCritic(actor=Scripted("a", cost=None), critic=Scripted(GOOD))
    result = final(events_of(loop, budget=Budget(max_cost_micros=10**6)))
    assert result.interruption_reason == "budget:max_cost_micros"
    assert result.usage.cost_micros is None
    assert final(events_of(ActorCritic(actor=Scripted("a"), critic=Scripted(GOOD)))).approved


def test_two_rounds_are_reported_event_by_event() -> None:
    events = events_of(ActorCritic(actor=Scripted("v0", "v1"), critic=Scripted(BAD, GOOD)))
    rounds = [
        ("architecture_event", "round_started"),
        ("model_chunk", None),
        ("model_chunk", None),
        ("architecture_event", "judged"),
    ]
    assert told(events) == [
        ("started", None),
        *rounds,
        *rounds,
        ("architecture_event", "stopped"),
        ("completed", None),
    ]
    first, second = (event.data for event in events if event.data.get("event") == "judged")
    assert first["round"] == 0
    assert (first["ruling"], first["issues"], first["score"]) == ("refused", ["fix it"], 0.4)
    assert (second["round"], second["ruling"]) == (1, "approved")
    assert events[-2].data == {"event": "stopped", "reason": "approved", "round": 1, "why": None}


@pytest.mark.parametrize(("role", "session"), [("actor", "P__actor_0"), ("critic", "P__critic_1")])
def test_an_agent_that_raises_is_named(role: str, session: str) -> None:
    agents: dict[str, Any] = {"actor": Scripted("v0"), "critic": Scripted(GOOD)}
    agents[role] = Scripted("raise")
    (error,) = (e for e in events_of(ActorCritic(**agents)) if e.kind == "error")
    assert error.session_id == session
    assert error.data == {"role": role, "round": 0, "message": "RuntimeError: it broke"}


def test_the_budget_is_exceeded_before_it_is_completed() -> None:
    loop = ActorCritic(actor=Scripted(), critic=Scripted())
    kinds = [event.kind for event in events_of(loop, budget=Budget(max_tokens=0))]
    assert kinds == ["started", "budget_exceeded", "architecture_event", "completed"]


def test_a_revision_is_asked_for_with_the_issues() -> None:
    actor = Scripted("first {prompt}", "second")
    critic = Scripted(verdict(0.4, "too\nlong", "wrong"), GOOD)
    events_of(ActorCritic(actor=actor, critic=critic))
    assert actor.calls[0].prompt == "task"
    asked = actor.calls[1].prompt
    assert "first {prompt}" in asked
    assert "- too\n  long\n- wrong" in asked
    assert "first {prompt}" in critic.calls[0].prompt
    assert '{"issues": ["..."], "score": 0.0, "summary": "..."}' in critic.calls[0].prompt


def test_a_low_score_without_issues_is_reported_as_it_is() -> None:
    actor = Scripted("a", "b")
    events_of(ActorCritic(actor=actor, critic=Scripted(verdict(0.5), GOOD)))
    assert "- no issue was named (score 0.5)" in actor.calls[1].prompt


@given(st.text(), st.text(min_size=1).filter(str.strip))
def test_what_is_filled_in_is_never_looked_at_again(task: str, output: str) -> None:
    actor, critic = Scripted(output, "z" + output), Scripted(verdict(0, "{output}"), GOOD)
    loop = ActorCritic(
        actor=actor,
        critic=critic,
        critique_template="{{{prompt}}}|{output}",
        refine_template="{output}{issues_bulleted}{prompt}",
    )
    asyncio.run(loop.run(task))
    assert critic.calls[0].prompt == "{" + task + "}|" + output
    assert actor.calls[1].prompt == output + "- {output}" + task


def test_the_default_prompts_are_a_base_for_ones_own() -> None:
    prompts = []
    for first in ("", "Write German.\n"):
        actor, critic = Scripted("v0", "v1"), Scripted(BAD, GOOD)
        loop = ActorCritic(
            actor=actor,
            critic=critic,
            critique_template=first + DEFAULT_CRITIQUE_TEMPLATE,
            refine_template=first + DEFAULT_REFINE_TEMPLATE,
        )
        assert final(events_of(loop)).approved
        prompts.append([actor.calls[1].prompt, critic.calls[0].prompt])
    assert prompts[1] == [f"Write German.\n{prompt}" for prompt in prompts[0]]
    revise, review = prompts[0]
    assert '{"issues": ["..."], "score": 0.0, "summary": "..."}' in review
    assert review.endswith("\nTask:\ntask\n\nOutput:\nv0\n")
    assert revise.endswith("\nYour output:\nv0\n\nPoints to fix:\n- fix it\n")


def test_a_template_can_show_the_whole_critique() -> None:
    actor = Scripted("a", "b")
    loop = ActorCritic(actor=actor, critic=Scripted(BAD, GOOD), refine_template="{critique}")
    events_of(loop)
    assert actor.calls[1].prompt == '{"issues":["fix it"],"score":0.4,"summary":""}'


SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=6)


@given(SCORES)
def test_the_output_is_the_approved_one_or_the_best(scores: list[float]) -> None:
    drafts = [f"v{round_}" for round_ in range(len(scores))]
    critic = Scripted(*(verdict(score) for score in scores))
    actor = Scripted(*drafts)
    loop = ActorCritic(actor=actor, critic=critic, max_rounds=len(scores))
    result = asyncio.run(loop.run("task"))
    good = next((n for n, score in enumerate(scores) if score >= 0.9), None)
    best = scores.index(max(scores)) if good is None else good
    assert result.output == drafts[best]
    assert result.approved == (good is not None)
    calls = len(scores) if good is None else good + 1
    assert len(actor.calls) == len(critic.calls) == calls
    assert result.usage.tokens == calls * 20
    assert len({*actor.sessions, *critic.sessions}) == calls * 2


MANY = st.lists(st.floats(0, 1).filter(lambda score: score != 0.95), min_size=9, max_size=9)


@given(MANY, MANY, st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_ids_are_unique_and_usage_adds_up_however_loops_nest(
    inner_scores: list[float],
    outer_scores: list[float],
    inner_rounds: int,
    outer_rounds: int,
    judged_by_a_loop: bool,
) -> None:
    actor = Scripted(*(f"v{number}" for number in range(9)))
    judge = Scripted(*(verdict(score) for score in inner_scores))
    outer = Scripted(*(verdict(score) for score in outer_scores))
    writer = ActorCritic(actor=actor, critic=judge, max_rounds=inner_rounds)
    second = Scripted(*[GOOD] * 9)
    reviewer = ActorCritic(actor=outer, critic=second, max_rounds=1) if judged_by_a_loop else outer
    loop = ActorCritic(actor=writer, critic=reviewer, max_rounds=outer_rounds)
    result = asyncio.run(loop.run("task", session_id="P"))
    sessions = [*actor.sessions, *judge.sessions, *outer.sessions, *second.sessions]
    assert len({*sessions}) == len(sessions)
    assert all(session.startswith("P__") for session in sessions)
    assert result.usage.tokens == 10 * len(sessions)
    assert result.usage.cost_micros == 2 * len(sessions)
    assert result.turns == len(sessions)


def test_a_loop_can_be_run_again() -> None:
    loop = ActorCritic(actor=Scripted("a", "b"), critic=Scripted(GOOD, GOOD))
    assert [final(events_of(loop)).output for _ in range(2)] == ["a", "b"]


def test_a_review_that_was_itself_refused_approves_nothing() -> None:
    reviewer = Scripted(verdict(1.0), verdict(1.0))
    critic = ActorCritic(actor=reviewer, critic=Scripted(BAD, BAD), max_rounds=1)
    result = asyncio.run(ActorCritic(actor=Scripted("v0"), critic=critic).run("task"))
    assert (result.output, result.stop_reason) == ("v0", "unrecoverable")
    assert "did not approve it: max_rounds" in str(result.interruption_reason)
    assert "max_rounds" in reviewer.calls[1].prompt  # it was asked again


def test_a_review_that_was_itself_refused_can_refuse() -> None:
    critic = ActorCritic(actor=Scripted(BAD), critic=Scripted(BAD), max_rounds=1)
    loop = ActorCritic(actor=Scripted("v0"), critic=critic, max_rounds=1)
    assert asyncio.run(loop.run("task")).stop_reason == "max_rounds"


def test_the_reason_of_an_interruption_is_safe_to_print() -> None:
    class Rude(Scripted):
        def result(self, reply: str) -> AgentResult:
            why = "\x1b[2J<b>\n" + reply
            return AgentResult(
                output="", usage=self.usage, interrupted=True, interruption_reason=why
            )

    result = asyncio.run(ActorCritic(actor=Rude("v0"), critic=Scripted()).run("task"))
    reason = str(result.interruption_reason)
    assert reason.isascii()
    assert reason.isprintable()
    assert "<" not in reason


def test_every_event_has_its_number_and_its_time_also_of_nested_loops() -> None:
    inner = ActorCritic(actor=Scripted("a", "b", "c"), critic=Scripted(BAD, GOOD, GOOD))
    outer = ActorCritic(actor=inner, critic=Scripted(BAD, GOOD), clock=Ticking())
    events = events_of(outer)
    assert [event.sequence for event in events] == [*range(len(events))]
    times = [event.at for event in events]
    assert None not in times
    assert times == sorted({*times}, key=str)


def test_the_time_of_a_budget_is_checked_between_calls() -> None:
    actor, critic = Scripted("v0", "v1", "v2"), Scripted(BAD, BAD)
    loop = ActorCritic(actor=actor, critic=critic, clock=Ticking())
    events = events_of(loop, budget=Budget(max_seconds=15))
    result = final(events)
    assert (result.stop_reason, result.interruption_reason) == ("budget", "budget:max_seconds")
    assert "budget_warning" in [event.kind for event in events]
    left = [call.budget.max_seconds or 0 for call in (actor.calls[0], critic.calls[0])]
    assert 15 > left[0] > left[1] > 0
