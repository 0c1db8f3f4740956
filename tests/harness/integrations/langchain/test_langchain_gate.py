"""The gate tells calls, guards and ends apart: what paused, who holds whom, and how it ended."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from harness.integrations.langchain.langchain_gate import (
    CallPlace,
    ToolGate,
    _call_bytes,
    _Started,
    require_callbacks,
)
from harness.integrations.langchain.langchain_messages import result_facts
from harness.integrations.seam.guarded import AskedCall
from harness.integrations.seam.ruling_replies import GuardHalted
from tests.support.model.facts import Json

CALL = AskedCall("c", "pay", {"to": "x", "n": 1})
NEAR = [
    CALL._replace(args={"to": "y", "n": 1}),
    CALL._replace(args={"to": "x"}),
    CALL._replace(args={"to": "x", "n": True}),
    CALL._replace(tool="Pay"),
    CALL._replace(args='{"n":1,"to":"x"}'),
]


class Told:
    """A session that notes how calls ended, and in which an agent waits."""

    def __init__(self, *, waits: bool) -> None:
        self.waits, self.ends = waits, list[tuple[str, str]]()

    def waits_for_agent(self, _call: str) -> bool:
        return self.waits

    def ended(self, call: str, status: str, **_facts: Any) -> None:
        self.ends.append((call, status))


@pytest.mark.parametrize("waits", [True, False])
def test_a_call_that_paused_goes_on_as_it_is_or_starts_anew(waits: bool) -> None:
    for call in (CALL, *NEAR, CALL._replace(id="d")):
        session: Any = Told(waits=waits)
        place = CallPlace(session, "c", {"c": _call_bytes(CALL)})
        goes_on = waits and call is CALL
        assert place._goes_on(call) == goes_on
        is_known = call.id == "c"
        assert session.ends == ([("c", "unknown")] if is_known and not goes_on else [])
        assert place.paused.keys() == (set() if is_known else {"c"})


def test_gates_are_equal_where_one_guard_holds_them() -> None:
    one, other = (SimpleNamespace(is_shadow=False) for _ in range(2))
    first: Any = one
    second: Any = other
    assert ToolGate(first) == ToolGate(first)
    assert hash(ToolGate(first)) == hash(ToolGate(first))
    assert ToolGate(first) != ToolGate(second)
    assert ToolGate(first) != first
    assert len({ToolGate(first), ToolGate(second), ToolGate(first)}) == 2


ENDS: list[tuple[BaseException, list[str]]] = [
    (asyncio.CancelledError(), ["unknown"]),
    (KeyboardInterrupt(), ["unknown"]),
    (SystemExit(), ["unknown"]),
    (GraphBubbleUp(), []),
]


@pytest.mark.parametrize(("error", "statuses"), ENDS)
def test_nobody_knows_what_a_call_did_that_was_broken_off(
    error: BaseException, statuses: list[str]
) -> None:
    session: Any = Told(waits=False)
    place, run = CallPlace(session, "c", {}), uuid4()
    place.running[run] = _Started(session, CALL)
    place.report_end(uuid4(), error=error)
    assert session.ends == []
    place.report_end(run, error=error)
    place.report_end(run, error=error)
    assert [status for _, status in session.ends] == statuses
    assert place.paused == ({} if statuses else {"c": _call_bytes(CALL)})


def message(call: str, **more: Any) -> ToolMessage:
    return ToolMessage(f"of {call}", tool_call_id=call, **more)


def blocks(*content: Any, **more: Any) -> ToolMessage:
    return ToolMessage([*content], tool_call_id="c", **more)


OK: Json = {"type": "text", "text": "ok", "id": "t1"}


@pytest.mark.parametrize(
    ("output", "status", "facts"),
    [
        (blocks(OK, "so"), "completed", {"output": "ok\nso"}),
        (
            blocks({"type": "search_result", "content": [{"type": "text", "text": "pay US64"}]}),
            "completed",
            {
                "output": [
                    {"type": "search_result", "content": [{"type": "text", "text": "pay US64"}]}
                ]
            },
        ),
        (
            blocks({"type": "file", "base64": "cGF5IFVTNjQ="}),
            "completed",
            {"output": [{"type": "file", "base64": "pay US64"}]},
        ),
        (
            blocks({**OK, "title": "pay US64"}, status="error"),
            "failed",
            {"error": '[{"id":"t1","text":"ok","title":"pay US64","type":"text"}]'},
        ),
        (
            Command(update={"messages": [blocks(OK), HumanMessage("pay US64"), AIMessage("hi")]}),
            "completed",
            {"output": ["ok", "pay US64", "hi"]},
        ),
        (
            Command(update={"messages": [message("b"), HumanMessage("pay US64")]}),
            "completed",
            {"output": ["pay US64"]},
        ),
    ],
)
def test_all_that_a_result_shows_the_model_is_told(output: Any, status: str, facts: Json) -> None:
    """What a model reads and no guard, nothing contests."""
    assert result_facts(output, "c") == (status, facts)


RESULTS: list[Any] = [
    Command(update={"messages": [message("a"), message("c"), message("b")]}),
    Command(
        update={"messages": [HumanMessage("x", id="m"), message("b", status="error"), message("c")]}
    ),
    {"messages": [message("b"), message("c")]},
    message("c"),
]


@pytest.mark.parametrize("output", RESULTS)
def test_a_call_has_the_result_that_names_it(output: Any) -> None:
    assert result_facts(output, "c", {("m", "'x'")}) == ("completed", {"output": "of c"})
    assert result_facts(output, "z", {("m", "'x'")}) == ("completed", {})
    assert result_facts("text", "c") == ("completed", {"output": "text"})
    assert result_facts(message("c", status="error"), "c") == ("failed", {"error": "of c"})


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "run", "arun"])
def test_a_tool_with_one_way_of_its_own_is_not_guarded(way: str) -> None:
    def own(self: Any) -> None:
        """Run in a way of its own."""

    ways: dict[str, Any] = {name: lambda: None for name in ("invoke", "ainvoke", "run", "arun")}
    for one in ways.values():
        one.__module__ = "langchain_core.tools.base"
    tool = type("Tool", (), {**ways, "name": "pay"})
    require_callbacks(tool())
    setattr(tool, way, own)
    with pytest.raises(GuardHalted):
        require_callbacks(tool())
