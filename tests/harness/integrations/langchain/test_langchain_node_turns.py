"""A node tells the calls of two messages apart, and makes no call twice."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.integrations.langchain.langchain_node import (
    GuardedToolNode,
    _Execution,
    _keep_result,
    _known_result,
    _NodeRun,
    _take_place,
    _Turn,
)
from harness.integrations.seam.guarded import AskedCall
from harness.integrations.seam.ruling_replies import not_approved

CALL = AskedCall("c", "pay", {"to": "x"})
OTHER = AskedCall("d", "look", {})
BATCHES = [
    [CALL, OTHER],
    [OTHER, CALL],
    [CALL],
    [CALL._replace(args={"to": "y"}), OTHER],
    [CALL._replace(tool="look"), OTHER],
    [CALL, OTHER._replace(args={"n": 1})],
]


class Session:
    """A session that allows all calls, and notes them."""

    def __init__(self) -> None:
        self.waiting: dict[str, AskedCall] = {}
        self.ruled: list[list[AskedCall]] = []

    def rule(self, calls: list[AskedCall]) -> Any:
        self.ruled.append(calls)
        return SimpleNamespace(action="allow")

    def standing(self, _call: str) -> None:
        return None


@pytest.mark.parametrize("first", BATCHES)
def test_only_the_very_calls_are_in_the_turn_of_before(first: list[AskedCall]) -> None:
    node: Any = SimpleNamespace(_tell_words=lambda *_: None)
    for calls in BATCHES:
        session: Any = Session()
        run = _NodeRun("n", session)
        turn, again = (
            GuardedToolNode._turn_of(node, run, [], batch, None) for batch in (first, calls)
        )
        is_same = calls == first
        assert (again is turn) == is_same
        assert session.ruled == ([first] if is_same else [first, calls])
        assert again.calls == {call.id: call for call in calls}


@pytest.mark.parametrize("left", [set(), {"c"}, {"d"}, {"c", "d"}])
@pytest.mark.parametrize("is_refused", [False, True])
def test_a_call_that_was_made_is_not_made_again(left: set[str], is_refused: bool) -> None:
    turn = _Turn({"c": CALL, "d": OTHER}, left=left)
    run: Any = None
    request = SimpleNamespace(tool_call={"id": "c", "name": "pay", "args": {"to": "x"}})
    other = SimpleNamespace(tool_call={"id": "d", "name": "look", "args": {}})
    with _take_place(_Execution(run, turn)):
        assert _known_result(request) is None
        assert _keep_result(request, "made") == "made"
        assert _known_result(request) == "made"
        if is_refused:
            turn.refused["d"] = not_approved("no")
        found = _known_result(other)
        assert (found is not None) == is_refused
        assert found is None or found.tool_call_id == "d"
