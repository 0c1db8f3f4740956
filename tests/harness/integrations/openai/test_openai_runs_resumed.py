"""A run goes on with what a person said to its calls, and with nothing else."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from agents import Agent, handoff

from harness.integrations.openai import guarded
from harness.integrations.openai.openai_guard import Unguardable, _Call
from harness.integrations.openai.openai_run import RUN, GuardedSdkRun, Unanswered
from harness.integrations.seam.guarded import AskedCall
from harness.integrations.seam.ruling_replies import GuardHalted, SeamRuling, not_approved

CALLS = {"c": AskedCall("c", "pay", "{}"), "d": AskedCall("d", "look", "{}")}


class Session:
    """A session that waits for a person, refuses what starts, and notes what it is told."""

    def __init__(self) -> None:
        self.waiting, self.guard = dict(CALLS), None
        self.question = SimpleNamespace(doubted=frozenset())
        self.answers: list[dict[str, bool]] = []
        self.started: list[AskedCall] = []
        self.ended_calls: list[tuple[str, str]] = []
        self.refused: SeamRuling | None = None

    def answer(self, replies: Any, **_facts: Any) -> None:
        self.answers.append({name: one.yes for name, one in replies.items()})

    def wait_turn(self, _call: str) -> None:
        """No call has to wait."""

    def standing(self, _call: str) -> SeamRuling | None:
        return self.refused

    def rule(self, calls: list[AskedCall]) -> SeamRuling:  # noqa: ARG002
        return SeamRuling("allow", "ok")

    def ended(self, call: str, status: str, **_facts: Any) -> None:
        self.ended_calls.append((call, status))

    def start(self, call: AskedCall) -> SeamRuling:
        self.started.append(call)
        return not_approved("no")


def settled(said: dict[str, bool], tools: dict[str, bool]) -> list[dict[str, bool]]:
    """Return what a session is told, where calls and tools have these decisions."""
    session: Any = Session()
    run = GuardedSdkRun(session, "user")
    run.memory.asked = [*CALLS.values()]

    def decision(tool: str, call: str) -> bool | None:
        return said.get(call, tools.get(tool))

    try:
        asyncio.run(run.settle(SimpleNamespace(is_tool_approved=decision), ()))
    except Unanswered:
        assert session.answers == []
        assert run.memory.asked == [*CALLS.values()]
        raise
    answers: list[dict[str, bool]] = session.answers
    return answers


@pytest.mark.parametrize("is_yes", [True, False])
@pytest.mark.parametrize("call", ["c", "d"])
def test_a_turn_goes_on_once_all_of_its_calls_are_answered(call: str, is_yes: bool) -> None:
    with pytest.raises(Unanswered):
        settled({call: is_yes}, {})
    other = "d" if call == "c" else "c"
    assert settled({call: is_yes, other: True}, {}) == [{call: is_yes, other: True}]
    assert settled({}, {}) == []


@pytest.mark.parametrize("is_yes", [True, False])
def test_a_decision_about_a_tool_answers_none_of_its_calls(is_yes: bool) -> None:
    assert settled({}, {"pay": is_yes, "look": is_yes}) == []
    assert settled({}, {"pay": is_yes}) == []
    assert settled({"d": True}, {"pay": is_yes}) == [{"d": True}]


WRITTEN = [
    ("c", '{"n":1}', True),
    ("c", '{"n":2}', False),
    ("c", "", False),
    ("d", '{"n":1}', False),
]


@pytest.mark.parametrize(("name", "text", "goes_on"), WRITTEN)
def test_an_agent_that_waited_goes_on_with_the_arguments_of_before(
    name: str, text: str, goes_on: bool
) -> None:
    session, within, made = Session(), Session(), list[Any]()

    async def invoke(_context: Any, given: str) -> Any:
        run = RUN.get()
        made.append((given, None if run is None else run.session))
        raise GuardHalted(not_approved("asked once more"))

    tool = SimpleNamespace(name="ask", _tool_namespace=None, on_invoke_tool=invoke)
    outer: Any = session
    inner: Any = within
    run = GuardedSdkRun(outer, "user")
    run.memory.nested["c"] = (AskedCall("c", "ask", '{"n":1}'), inner)
    token = RUN.set(run)
    try:
        call = _Call(tool)(SimpleNamespace(tool_call_id=name), text)
        if goes_on:
            with pytest.raises(GuardHalted):
                asyncio.run(call)
        else:
            asyncio.run(call)
    finally:
        RUN.reset(token)
    assert made == ([(text, within)] if goes_on else [])
    assert len(session.started) == (not goes_on)


def waiting_run(session: Session) -> tuple[GuardedSdkRun, AskedCall, Any]:
    """Return a run in which an agent waits, the call that runs it, and its session."""
    outer: Any = session
    within: Any = Session()
    run, call = GuardedSdkRun(outer, "user"), AskedCall("c", "ask", '{"n":1}')
    run.memory.nested["c"] = (call, within)
    return run, call, within


def test_an_agent_that_waited_does_not_go_on_in_a_call_that_was_refused() -> None:
    session = Session()
    run, call, within = waiting_run(session)
    assert asyncio.run(run.take_waiting(call)) is within
    run, call, _ = waiting_run(session)
    session.refused = not_approved("no")
    assert asyncio.run(run.take_waiting(call)) is None


def test_an_agent_that_waits_is_left_once_its_model_answers_without_it() -> None:
    session = Session()
    run, call, _ = waiting_run(session)
    asyncio.run(run.rule([call]))
    assert session.ended_calls == [("c", "unknown")]
    assert asyncio.run(run.take_waiting(call)) is None


@pytest.mark.parametrize("first", [0, 1])
def test_an_agent_is_guarded_whose_handoffs_all_are(first: int) -> None:
    held = guarded(Agent("desk", handoffs=[Agent("b")]))
    guarded(Agent("top", tools=[held.as_tool("t", "d")]))
    held.handoffs.insert(first, handoff(Agent("c")))
    with pytest.raises(Unguardable):
        guarded(Agent("top", tools=[held.as_tool("t", "d")]))
