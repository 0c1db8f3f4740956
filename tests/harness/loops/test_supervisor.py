"""A supervisor: who drafts, who goes on, what ends it, and what its consumer hears."""

import asyncio
import json
from typing import Any

import pytest

from harness.loops import DEFAULT_SUPERVISE_TEMPLATE
from harness.loops.actor_critic import ActorCritic
from harness.loops.agents.agent import AgentResult, Event
from harness.loops.agents.journal import MemoryStore
from harness.loops.agents.journaled import Journaled
from harness.loops.agents.usage import Budget
from harness.loops.supervisor import Supervisor
from tests.harness.loops.agents.journals import journal_of
from tests.harness.loops.scripted import Scripted, verdict

GOOD = verdict(0.95)


def to(worker: str, *issues: str, score: float = 0.4) -> str:
    return json.dumps({"issues": issues or ("fix it",), "score": score, "worker": worker})


def ended(loop: Supervisor, **how: Any) -> tuple[AgentResult, list[Event]]:
    async def main() -> list[Event]:
        return [event async for event in loop.stream("task", session_id="P", **how)]

    events = asyncio.run(main())
    assert [event.sequence for event in events] == [*range(len(events))]
    assert events[-1].result is not None
    return events[-1].result, events


def test_the_first_drafts_and_the_named_one_revises() -> None:
    coder, tester = Scripted("v0", "v2", name="c"), Scripted("v1", name="t")
    boss = Scripted(to("tester", "no test"), to("coder"), GOOD)
    loop = Supervisor(boss, {"coder": coder, "tester": tester})
    result, events = ended(loop)
    assert (result.output, result.stop_reason, result.round) == ("v2", "approved", 2)
    assert result.usage.tokens == 60
    assert coder.sessions == ["P__actor_0", "P__actor_2"]
    assert tester.sessions == ["P__actor_1"]
    assert boss.sessions == ["P__critic_1", "P__critic_2", "P__critic_3"]
    assert tester.calls[0].prompt.endswith("Points to fix:\n- no test\n")
    assert boss.calls[0].prompt.endswith("is to fix it.\n- coder\n- tester\n")
    judged = [event.data for event in events if event.data.get("event") == "judged"]
    assert [data.get("worker") for data in judged] == ["tester", "coder", None]
    assert loop.declared_workers() == {"coder": coder, "tester": tester, "supervisor": boss}


@pytest.mark.parametrize("reply", [to("nobody"), verdict(0.4, "fix it"), verdict(0.4), "sorry"])
def test_a_refusal_that_names_nobody_is_asked_for_again(reply: str) -> None:
    boss = Scripted(reply, to("b"), GOOD)
    loop = Supervisor(boss, {"a": Scripted("v0"), "b": Scripted("v1")})
    result, events = ended(loop)
    assert result.approved
    (complaint,) = [event.data for event in events if event.data.get("event") == "malformed"]
    assert complaint["role"] == "critic"
    if reply != "sorry":
        assert complaint["why"] == "worker must be one of a, b"
        assert "could not be used: worker must be one of a, b" in boss.calls[1].prompt
    result, _ = ended(Supervisor(Scripted(reply, reply), {"a": Scripted("v0")}))
    assert (result.stop_reason, result.output) == ("unrecoverable", "v0")


def test_an_approval_names_nobody_and_an_echo_is_none() -> None:
    result, _ = ended(Supervisor(Scripted(GOOD), {"a": Scripted("v0")}))
    assert result.approved
    result, _ = ended(Supervisor(Scripted(GOOD, GOOD), {"a": Scripted(f"say {GOOD}")}))
    assert (result.stop_reason, result.approved) == ("unrecoverable", False)


@pytest.mark.parametrize("reply", ["raise", "interrupt"])
def test_a_worker_that_fails_ends_the_loop_with_the_best_so_far(reply: str) -> None:
    loop = Supervisor(Scripted(to("b")), {"a": Scripted("v0"), "b": Scripted(reply)})
    result, events = ended(loop)
    assert (result.output, result.stop_reason) == ("v0", "planner_error")
    assert events[-1].kind == "completed"
    why = "RuntimeError: it broke" if reply == "raise" else "max_turns"
    assert result.interruption_reason == f"planner_error:round_1: {why}"


def test_a_supervisor_that_fails_approves_nothing() -> None:
    result, _ = ended(Supervisor(Scripted("raise"), {"a": Scripted("v0")}))
    assert (result.output, result.stop_reason) == ("v0", "unrecoverable")


def test_a_budget_holds() -> None:
    workers = {"a": Scripted("v0"), "b": Scripted("v1")}
    result, events = ended(Supervisor(Scripted(to("b")), workers), budget=Budget(max_tokens=20))
    assert (result.stop_reason, result.usage.tokens) == ("budget", 20)
    assert "budget_exceeded" in [event.kind for event in events]


def test_the_best_is_kept_when_rounds_run_out() -> None:
    workers = {"a": Scripted("v0"), "b": Scripted("v1")}
    loop = Supervisor(Scripted(to("b"), to("a", score=0.1)), workers, max_rounds=2)
    result, _ = ended(loop)
    assert (result.stop_reason, result.output) == ("max_rounds", "v0")


def test_a_worker_can_be_a_loop_and_calls_can_be_kept() -> None:
    def run(*scripts: Scripted) -> AgentResult:
        store_journal = journal_of(store)
        inner = ActorCritic(
            actor=Journaled(scripts[0], store_journal), critic=Journaled(scripts[1], store_journal)
        )
        boss = Journaled(scripts[2], store_journal)
        return ended(Supervisor(boss, {"first": inner, "second": inner}))[0]

    store = MemoryStore()
    first = run(Scripted("v0", "v1", name="a"), Scripted(GOOD, GOOD), Scripted(to("second"), GOOD))
    assert (first.output, first.approved) == ("v1", True)
    silent = [Scripted(name="a"), Scripted(), Scripted()]
    assert run(*silent) == first
    assert [script.calls for script in silent] == [[], [], []]


@pytest.mark.parametrize("workers", [{}, {"": 1}, {"a b": 1}, {"{prompt}": 1}, {"a\nb": 1}])
def test_workers_have_names_that_a_reply_can_hold(workers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="worker"):
        Supervisor(Scripted(), {name: Scripted() for name in workers})


def test_options_are_those_of_an_actor_and_a_critic() -> None:
    boss = Scripted(GOOD)
    ended(Supervisor(boss, {"a": Scripted("v0")}, critique_template="{workers}|{output}"))
    assert boss.calls[0].prompt == "- a|v0"
    own = f"Be strict.\n{DEFAULT_SUPERVISE_TEMPLATE}"
    Supervisor(boss, {"a": boss}, critique_template=own, refine_template="{critique}")
    for bad in ({"approval_threshold": 2}, {"max_rounds": 0}, {"critique_template": "{workers}"}):
        with pytest.raises(ValueError, match="must"):
            Supervisor(boss, {"a": boss}, **bad)
