"""The two executors: one plays a recorded run back, one calls functions, step by step."""

import asyncio
import math
from collections.abc import Mapping
from typing import Any

import pytest

from critic import Proposal, Run, ToolCall, digest
from harness.runtime.executors import CallableExecutor, Tool, TranscriptExecutor
from harness.runtime.loop import ExecutionFailed, Outcome
from harness.runtime.permit import PermitError, issue_permit
from harness.runtime.ports import Execution
from tests.harness.runtime.world import KeptLog, turn
from tests.support.examples import HOSTILE, good_proposal, good_run, is_safe, proposal_of, run_of
from tests.support.model.facts import Json

LOOKUP, REFUND = ("adp_orders", "lookup"), ("adp_payments", "issue_refund")
Tools = dict[tuple[str, str], Tool]


def lookup(**args: Any) -> Any:
    return {"order_id": args["id"], "status": "delivered"}


def refund(**args: Any) -> Any:
    return {"refund_amount_inr": args["amount_inr"], "refund_reason_class": "item_defective"}


def good() -> Proposal:
    return proposal_of(good_proposal())


def executed(
    tools: Mapping[tuple[str, str], Tool], proposal: Proposal | None = None
) -> tuple[Execution, list[ToolCall]]:
    """What the functions return and what is recorded of them."""
    proposed, calls = proposal or good(), list[ToolCall]()
    executor = CallableExecutor(tools)
    permit = issue_permit(proposed)
    return asyncio.run(executor.execute(permit, proposed, calls.append)), calls


def decided(tools: Tools) -> tuple[Outcome, KeptLog]:
    log = KeptLog()
    return asyncio.run(turn(CallableExecutor(tools), log=log)), log


# --- a transcript -----------------------------------------------------------------------------


def test_a_transcript_is_played_back() -> None:
    recorded = run_of(good_run())
    outcome = asyncio.run(turn(TranscriptExecutor(recorded), proposal=recorded.proposal))
    assert outcome.run is not None
    assert outcome.run.calls == recorded.calls
    assert outcome.run.outputs == recorded.outputs
    measures = (outcome.run.wall_ms, outcome.run.tokens, outcome.run.cost_micros)
    assert measures == (1840, 540, 3300)
    assert outcome.report.status == "completed"


def test_the_transcript_of_another_proposal_is_refused() -> None:
    wire = good_run()
    wire["proposal"]["ctx"]["tenant_id"] = "other"
    calls: list[ToolCall] = []
    permit = issue_permit(good())
    with pytest.raises(PermitError):
        TranscriptExecutor(run_of(wire)).execute(permit, good(), calls.append)
    assert calls == []


def test_the_transcript_of_another_proposal_is_recorded_as_a_failure() -> None:
    wire = good_run()
    wire["proposal"]["plan"]["plan_id"] = "other"
    log = KeptLog()
    with pytest.raises(ExecutionFailed) as caught:
        asyncio.run(turn(TranscriptExecutor(run_of(wire)), log=log))
    assert isinstance(caught.value.__cause__, PermitError)
    assert log.only.error == "executor raised PermitError"
    assert log.only.run is not None
    assert log.only.run.calls == ()


# --- functions --------------------------------------------------------------------------------


def test_each_step_calls_its_function_with_its_args() -> None:
    execution, calls = executed({LOOKUP: lookup, REFUND: refund})
    assert [(call.step, call.adapter_id, call.capability_id) for call in calls] == [
        (0, *LOOKUP),
        (1, *REFUND),
    ]
    assert [call.status for call in calls] == ["completed", "completed"]
    assert calls[0].output == {"order_id": "ord_881", "status": "delivered"}
    assert calls[1].args == {"id": "pay_8861", "amount_inr": 24500}
    # Only what the plan declares becomes an output of the run.
    assert execution.outputs == {
        "refund_amount_inr": 24500,
        "refund_reason_class": "item_defective",
    }


def test_functions_may_be_coroutines() -> None:
    async def slow(**args: Any) -> Any:
        await asyncio.sleep(0)
        return refund(**args)

    assert executed({LOOKUP: lookup, REFUND: slow}) == executed({LOOKUP: lookup, REFUND: refund})


def test_the_whole_turn_is_completed_and_recorded() -> None:
    outcome, log = decided({LOOKUP: lookup, REFUND: refund})
    assert outcome.report.status == "completed"
    assert log.only.run is not None
    assert log.only.run.outputs["refund_amount_inr"] == 24500


def test_steps_that_call_no_tool_are_passed_over() -> None:
    wire = good_proposal()
    wire["plan"]["steps"].insert(1, {"kind": "reason", "summary": "think"})
    _, calls = executed({LOOKUP: lookup, REFUND: refund}, proposal_of(wire))
    assert [call.step for call in calls] == [0, 2]


@pytest.mark.parametrize("missing", [LOOKUP, REFUND])
def test_where_a_function_is_missing_nothing_is_called(missing: tuple[str, str]) -> None:
    called: list[str] = []
    tools: Tools = {pair: lambda **_: called.append("x") for pair in (LOOKUP, REFUND)}
    del tools[missing]
    with pytest.raises(LookupError, match=r"no function for \w+\.\w+: add it to the executor"):
        executed(tools)
    assert called == []


def test_functions_are_found_by_the_pair_and_not_by_a_joined_name() -> None:
    with pytest.raises(LookupError):
        executed({("adp_orders.lookup", ""): lookup, ("adp", "orders.lookup"): lookup})


def test_a_table_that_is_changed_later_changes_nothing() -> None:
    tools: Tools = {LOOKUP: lookup, REFUND: refund}
    executor, calls = CallableExecutor(tools), list[ToolCall]()
    tools.clear()
    asyncio.run(executor.execute(issue_permit(good()), good(), calls.append))
    assert len(calls) == 2


def test_a_tool_that_raises_ends_the_run_and_is_on_record() -> None:
    def fails(**_: Any) -> None:
        raise ConnectionError(f"bank {HOSTILE}")

    execution, calls = executed({LOOKUP: fails, REFUND: refund})
    (call,) = calls
    assert (call.status, call.output) == ("failed", None)
    assert call.error is not None
    assert call.error.startswith("ConnectionError: bank ")
    assert is_safe(call.error)
    assert execution.outputs == {}
    outcome, log = decided({LOOKUP: fails, REFUND: refund})
    assert outcome.report.status == "completed"
    assert "utility" in outcome.report.rationale
    assert log.only.run is not None
    assert len(log.only.run.calls) == 1


def test_a_tool_that_raises_what_cannot_be_shown_is_on_record() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError("no words")

    def fails(**_: Any) -> None:
        raise Mute

    log = KeptLog()
    try:
        asyncio.run(turn(CallableExecutor({LOOKUP: fails, REFUND: refund}), log=log))
    except ExecutionFailed:
        pytest.fail("a tool that fails is a call that failed, not an executor that did")
    assert log.only.run is not None
    assert [call.status for call in log.only.run.calls] == ["failed"]


async def own_limit(**_: Any) -> None:
    async with asyncio.timeout(0):
        await asyncio.Event().wait()


def told_by_another(**_: Any) -> None:
    raise TimeoutError("60 s")


@pytest.mark.parametrize("tool", [own_limit, told_by_another])
def test_a_tool_that_times_out(tool: Tool) -> None:
    _, calls = executed({LOOKUP: tool, REFUND: refund})
    assert [call.status for call in calls] == ["timed_out"]


def test_a_tool_that_does_not_take_its_args() -> None:
    def narrow(order: str) -> str:
        return order

    _, calls = executed({LOOKUP: narrow, REFUND: refund})
    (call,) = calls
    assert call.status == "failed"
    assert call.error is not None
    assert call.error.startswith("TypeError: ")


@pytest.mark.parametrize("value", [0, "", False, [], {}, "text", 1.5, [None], {"a": {"b": [1]}}])
def test_any_json_value_is_an_output(value: Any) -> None:
    _, calls = executed({LOOKUP: lambda **_: value, REFUND: refund})
    assert (calls[0].status, calls[0].output, calls[0].error) == ("completed", value, None)


def test_a_tool_that_returns_nothing_has_no_output() -> None:
    _, calls = executed({LOOKUP: lambda **_: None, REFUND: refund})
    assert calls[0].wire() == {
        "step": 0,
        "adapter_id": "adp_orders",
        "capability_id": "lookup",
        "args": {"id": "ord_881"},
        "status": "completed",
        "attempt": 1,
    }
    assert len(calls) == 2


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    "value", [object(), {1: 1}, (1,), {1}, b"x", math.nan, 2**53, "\ud800", CIRCLE, {"a": [1j]}]
)
def test_a_tool_that_returns_no_json_was_called_all_the_same(value: Any) -> None:
    _, calls = executed({LOOKUP: lambda **_: value, REFUND: refund})
    assert (calls[0].status, calls[0].output) == ("completed", None)
    assert calls[0].error == f"the tool returned {type(value).__name__}, which is no JSON value"
    assert len(calls) == 2


def test_outputs_that_are_no_json_are_no_outputs_of_the_run() -> None:
    execution, _ = executed(
        {LOOKUP: lookup, REFUND: lambda **_: {"refund_amount_inr": {1, 2}, "x": 1}}
    )
    assert execution.outputs == {}


def test_a_tool_that_changes_its_args_changes_nothing_on_record() -> None:
    wire = good_proposal()
    wire["plan"]["steps"][0]["args"] = {"id": "ord_881"}
    tools = wire["compiled"]["manifests"]["tool_manifest"]
    tools[1].pop("args_schema")
    wire["plan"]["steps"][1]["args"]["tags"] = [{"a": 1}]
    proposal = proposal_of(wire)
    before = digest(proposal)

    def greedy(**args: Any) -> None:
        args["amount_inr"] = 99
        args["tags"][0]["a"] = 2
        args["tags"].append("more")

    _, calls = executed({LOOKUP: lookup, REFUND: greedy}, proposal)
    assert calls[1].args == {"id": "pay_8861", "amount_inr": 24500, "tags": [{"a": 1}]}
    assert digest(proposal) == before


def test_a_tool_that_changes_what_it_returned_changes_nothing_on_record() -> None:
    state: dict[str, Any] = {"calls": ["first"]}

    def looks(**_: Any) -> Any:
        return state

    def changes(**args: Any) -> Any:
        state["calls"].append("second")
        state["late"] = object()
        return refund(**args)

    outcome, log = decided({LOOKUP: looks, REFUND: changes})
    assert outcome.report.status == "completed"
    assert log.only.run is not None
    assert log.only.run.calls[0].output == {"calls": ["first"]}


def test_what_a_later_tool_returns_replaces_an_earlier_output() -> None:
    def early(**_: Any) -> Json:
        return {"refund_amount_inr": 1, "not_declared": 2}

    execution, _ = executed({LOOKUP: early, REFUND: refund})
    assert execution.outputs["refund_amount_inr"] == 24500


def test_an_output_that_is_no_object_gives_the_run_no_outputs() -> None:
    execution, calls = executed({LOOKUP: lambda **_: ["refund_amount_inr"], REFUND: lambda **_: 5})
    assert execution.outputs == {}
    assert [call.output for call in calls] == [["refund_amount_inr"], 5]


@pytest.mark.parametrize("interrupt", [SystemExit, KeyboardInterrupt])
def test_a_tool_that_ends_the_program_is_of_unknown_effect(
    interrupt: type[BaseException],
) -> None:
    def ends(**_: Any) -> None:
        raise interrupt

    log = KeptLog()
    with pytest.raises(interrupt):
        asyncio.run(turn(CallableExecutor({LOOKUP: lookup, REFUND: ends}), log=log))
    run: Any = log.only.run
    assert [(call.step, call.status) for call in run.calls] == [(0, "completed"), (1, "unknown")]


def test_a_run_survives_the_way_it_was_recorded() -> None:
    outcome, _ = decided({LOOKUP: lookup, REFUND: refund})
    assert outcome.run is not None
    again = asyncio.run(turn(TranscriptExecutor(outcome.run), proposal=outcome.run.proposal))
    assert isinstance(again.run, Run)
    assert again.run.wire() == outcome.run.wire()
    assert again.report.score == outcome.report.score
