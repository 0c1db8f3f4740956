"""A shadow's stops are counted by tool: each session once, each turn once, each reason of it."""

from types import SimpleNamespace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from evals.plan import Plan
from harness.audit.shadow_stops import StoppedTurn, general_reason, stopped_turn, tool_stops

TURNS = st.lists(
    st.builds(
        StoppedTurn,
        st.sampled_from("st"),
        st.booleans(),
        st.dictionaries(st.sampled_from("ab"), st.frozensets(st.sampled_from("xy"), min_size=1)),
    ),
    max_size=5,
)
TWICE = StoppedTurn("s", True, {"a": frozenset("xy")})


@given(TURNS)
@example([TWICE, TWICE, TWICE._replace(trace="t", asked=False, reasons={"a": frozenset("x")})])
@example([TWICE, TWICE._replace(trace="t", reasons={"a": frozenset("x"), "b": frozenset("y")})])
def test_stops_are_counted_by_tool(turns: list[StoppedTurn]) -> None:
    found = tool_stops(turns, {"a": frozenset("stu")})
    for one in found:
        of = [turn for turn in turns if one.tool in turn.reasons]
        assert one.stopped == len({turn.trace for turn in of})
        assert one.sessions == (3 if one.tool == "a" else one.stopped)
        assert one.asked == sum(turn.asked for turn in of)
        assert one.refused == sum(not turn.asked for turn in of)
        counted = {name: sum(name in turn.reasons[one.tool] for turn in of) for name in "xy"}
        assert dict(one.reasons) == {name: many for name, many in counted.items() if many}
    assert {one.tool for one in found} == {tool for turn in turns for tool in turn.reasons}
    assert [one.stopped for one in found] == sorted((one.stopped for one in found), reverse=True)


def test_a_violation_is_about_its_tool_or_about_all_of_a_plan() -> None:
    steps: list[Any] = [
        {"kind": "tool", "adapter_id": "shop", "capability_id": name, "args": {}} for name in "ab"
    ]
    plan = Plan.model_validate({"plan_id": "p", "steps": steps, "declared_outputs": []})
    for at, tools in ((0, "a"), (1, "b"), (None, "ab"), (2, "ab")):
        said = [SimpleNamespace(offending_step=at, reason=f"step 0 {one}") for one in ("x", "y")]
        for asks in (True, False):
            verdict: Any = SimpleNamespace(violations=said, approvable=asks)
            found = stopped_turn("t", verdict, plan)
            both = frozenset(("x", "y"))
            assert found == StoppedTurn("t", asks, {f"shop/{one}": both for one in tools})


def test_the_same_reason_is_one_whatever_it_is_about() -> None:
    told = "step {} args [{}] are of call/{}, not asked"
    first, other = (general_reason(told.format(*of)) for of in ((0, "o-17", 3), (12, "x, y", 40)))
    assert first == other == "args are of a result, not asked"
