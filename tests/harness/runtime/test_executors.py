"""The two executors: one plays a recorded run back, one calls functions, step by step."""

import asyncio
import io
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache, partial, wraps
from ipaddress import IPv4Address
from pathlib import Path, PurePosixPath
from types import MethodType
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel

from critic import Proposal, Run, ToolCall, digest, score
from harness.failures import ToolNotRun
from harness.runtime.canonical_loop import ExecutionFailed, Outcome
from harness.runtime.executors import CallableExecutor, Tool, TranscriptExecutor
from harness.runtime.permit import issue_permit
from harness.runtime.ports import Execution
from harness.single_use import PermitError
from harness.tool_results import NotJson, to_json_value
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
    """Return what the functions return and what is recorded of them."""
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


@pytest.mark.parametrize("name", ["trace_id", "run_id"])
def test_the_transcript_of_another_trace_or_run_is_refused(name: str) -> None:
    transcript, calls = run_of({**good_run(), name: "other"}), list[ToolCall]()
    with pytest.raises(PermitError, match=f"the transcript is of {name[:-3]} other, not of "):
        TranscriptExecutor(transcript).execute(issue_permit(good()), good(), calls.append)
    assert calls == []


def test_a_transcript_without_wall_time_is_played_back_without() -> None:
    wire = good_run()
    del wire["wall_ms"]
    wire["proposal"]["ctx"]["run_budget"]["wall_ms"] = 5000
    recorded = run_of(wire)
    executor = TranscriptExecutor(recorded)
    outcome = asyncio.run(turn(executor, proposal=recorded.proposal, intent=recorded.intent))
    assert outcome.run == recorded
    assert outcome.report.score is not None
    latency = outcome.report.score.scorecard.scores.latency
    assert [found.message for found in latency.findings] == [
        "wall_ms has a budget of 5000 but was not measured"
    ]


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


class Slow(TimeoutError):
    """A time-out by its base class alone."""


class ReadTimeout(Exception):
    """A time-out by its name alone, as those of many libraries."""


class Timeout(ReadTimeout):
    pass


class Late(Timeout):
    pass


class TimedOut(OSError):
    pass


@pytest.mark.parametrize("error", [TimeoutError, Slow, ReadTimeout, Timeout, Late, TimedOut])
@pytest.mark.parametrize("pair", [LOOKUP, REFUND])
def test_any_time_out_leaves_the_effect_open(error: type[Exception], pair: tuple[str, str]) -> None:
    def slow(**_: Any) -> None:
        raise error("60 s")

    _, calls = executed({LOOKUP: lookup, REFUND: refund, pair: slow})
    assert calls[-1].status == "timed_out"
    assert (calls[-1].adapter_id, calls[-1].capability_id) == pair


def test_a_tool_that_sets_itself_a_limit_times_out() -> None:
    _, calls = executed({LOOKUP: own_limit, REFUND: refund})
    assert [call.status for call in calls] == ["timed_out"]


@pytest.mark.parametrize("error", [ConnectionError, ValueError, RuntimeError, StopIteration])
def test_what_a_tool_with_effects_did_before_it_raised_is_unknown(error: type[Exception]) -> None:
    def fails(**_: Any) -> None:
        raise error("lost")

    _, calls = executed({LOOKUP: lookup, REFUND: fails})
    assert calls[1].status == "unknown"
    # Without effects there is nothing to be unsure of.
    _, calls = executed({LOOKUP: fails, REFUND: refund})
    assert calls[0].status == "failed"


def test_a_retry_of_a_call_that_raised_needs_an_idempotency_key() -> None:
    def fails(**_: Any) -> None:
        raise ConnectionError("lost")

    outcome, _ = decided({LOOKUP: lookup, REFUND: fails})
    assert outcome.run is not None
    again = outcome.run.calls[1].model_copy(update={"attempt": 2, "status": "completed"})
    retried = outcome.run.model_copy(update={"calls": (*outcome.run.calls, again)})
    assert score(retried).scorecard.scores.safety.status == "fail"


def test_a_tool_may_say_that_nothing_happened() -> None:
    class Closed(ToolNotRun):
        pass

    def closed(**_: Any) -> None:
        raise Closed("the bank is closed")

    _, calls = executed({LOOKUP: lookup, REFUND: closed})
    assert (calls[1].status, calls[1].error) == ("failed", "Closed: the bank is closed")


class NamelessType(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override] # that is the point
        raise RuntimeError("no name")

    @property
    def __mro__(cls) -> Any:
        raise RuntimeError("no bases")


class Nameless(Exception, metaclass=NamelessType):
    def __str__(self) -> str:
        raise SystemExit


def test_a_tool_that_raises_an_error_without_a_name_is_on_record() -> None:
    def fails(**_: Any) -> None:
        raise Nameless

    _, calls = executed({LOOKUP: lookup, REFUND: fails})
    assert (calls[1].status, calls[1].error) == ("unknown", "Nameless")


def test_a_tool_that_does_not_take_its_args_is_not_called() -> None:
    called: list[str] = []

    def narrow(order: str) -> None:
        called.append(order)

    for tool in (narrow, partial(narrow, "x")):
        _, calls = executed({LOOKUP: lookup, REFUND: tool})
        assert calls[1].status == "failed"
        assert calls[1].error is not None
        assert calls[1].error.startswith("TypeError: ")
    assert called == []


def test_a_decorator_that_adds_an_argument_is_called_as_it_asks_to_be() -> None:
    def inner(database: str, **args: Any) -> Any:
        return refund(**args)

    @wraps(inner)
    def with_database(**args: Any) -> Any:
        return inner("db", **args)

    _, calls = executed({LOOKUP: lookup, REFUND: with_database})
    assert [call.status for call in calls] == ["completed", "completed"]


def test_a_plan_cannot_set_an_argument_that_is_bound() -> None:
    called: list[Any] = []

    def pay(**args: Any) -> None:
        called.append(args)

    @wraps(bound := partial(pay, amount_inr=1))
    def decorated(**args: Any) -> Any:
        return bound(**args)

    for tool in (
        bound,
        partial(bound, currency="INR"),
        decorated,
        lru_cache(bound),
        MethodType(partial(lambda _self, **args: pay(**args), amount_inr=1), object()),
    ):
        _, calls = executed({LOOKUP: lookup, REFUND: tool})
        assert (calls[1].status, calls[1].error) == (
            "failed",
            "argument amount_inr is bound by the executor: a plan cannot set it",
        )
    assert called == []
    executed({LOOKUP: lookup, REFUND: partial(pay, currency="INR")})
    assert called == [{"id": "pay_8861", "amount_inr": 24500, "currency": "INR"}]


def test_a_tool_that_is_wrapped_in_itself_is_called() -> None:
    def pay(**args: Any) -> Any:
        return refund(**args)

    pay.__wrapped__ = pay  # type: ignore[attr-defined] # as a broken decorator leaves it
    _, calls = executed({LOOKUP: lookup, REFUND: pay})
    assert [call.status for call in calls] == ["completed", "completed"]


# --- a limit for each call --------------------------------------------------------------------


def limited(tools: Tools, timeout_s: float = 0.05) -> list[ToolCall]:
    calls: list[ToolCall] = []
    executor = CallableExecutor(tools, timeout_s=timeout_s)
    asyncio.run(executor.execute(issue_permit(good()), good(), calls.append))
    return calls


async def never(**_: Any) -> None:
    await asyncio.Event().wait()


async def stubborn(**_: Any) -> None:
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    raise ValueError("dropped")


RELEASED = threading.Event()


def blocks(**_: Any) -> None:
    RELEASED.wait(60)


@pytest.mark.parametrize("tool", [never, stubborn, blocks, lambda **_: never()])
def test_a_call_over_the_limit_is_timed_out_and_not_waited_for(tool: Tool) -> None:
    RELEASED.clear()
    began = time.monotonic()
    calls = limited({LOOKUP: lookup, REFUND: tool})
    assert [call.status for call in calls] == ["completed", "timed_out"]
    assert calls[1].error == "TimeoutError: no answer within 0.05 s"
    assert time.monotonic() - began < 30
    RELEASED.set()


class Slowly:
    """A callable object whose call is a coroutine: it does not look like one."""

    async def __call__(self, **args: Any) -> Any:
        await asyncio.sleep(0)
        return refund(**args)


def test_within_the_limit_calls_are_what_they_are_without() -> None:
    async def slow(**args: Any) -> Any:
        await asyncio.sleep(0)
        return refund(**args)

    for tool in (refund, slow, Slowly()):
        assert (
            limited({LOOKUP: lookup, REFUND: tool}, 60)
            == executed({LOOKUP: lookup, REFUND: tool})[1]
        )


@pytest.mark.parametrize("error", [ConnectionError, StopIteration, SystemExit, KeyboardInterrupt])
def test_within_the_limit_errors_are_what_they_are_without(error: type[BaseException]) -> None:
    def fails(**_: Any) -> None:
        raise error("lost")

    logs = KeptLog(), KeptLog()
    for log, timeout_s in zip(logs, (None, 60), strict=True):
        executor = CallableExecutor({LOOKUP: lookup, REFUND: fails}, timeout_s=timeout_s)
        with suppress(error):
            asyncio.run(turn(executor, log=log))
    assert logs[0].only == logs[1].only


def test_a_call_with_a_limit_that_is_cancelled_is_of_unknown_effect() -> None:
    log = KeptLog()

    async def scenario() -> None:
        began = asyncio.Event()

        async def refund_without_end(**args: Any) -> Any:
            began.set()
            return await never(**args)

        executor = CallableExecutor({LOOKUP: lookup, REFUND: refund_without_end}, timeout_s=60)
        task = asyncio.ensure_future(turn(executor, log=log))
        await began.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(scenario())
    assert log.only.run is not None
    assert [call.status for call in log.only.run.calls] == ["completed", "unknown"]


@pytest.mark.parametrize("timeout_s", [0, -1, math.nan, math.inf])
def test_a_limit_is_a_positive_number(timeout_s: float) -> None:
    with pytest.raises(ValueError, match="timeout_s must be a positive number of seconds"):
        CallableExecutor({}, timeout_s=timeout_s)


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


async def promised() -> int:
    return 1


def later() -> Iterator[int]:
    yield 1


LOST: dict[str, tuple[Callable[[], Any], str]] = {
    "object": (object, "object has no JSON form"),
    "nan": (lambda: math.nan, "nan is not a JSON number"),
    "infinity": (lambda: {"a": [-math.inf]}, "-inf is not a JSON number"),
    "surrogate": (lambda: "\ud800", "a string holds a lone surrogate"),
    "circle": (lambda: CIRCLE, "it is nested deeper than 64 levels"),
    "bytes": (lambda: b"\xff", "bytes has no JSON form"),
    "generator": (later, "generator produces its content later"),
    "generators": (lambda: [later()], "generator produces its content later"),
    "coroutine": (lambda: [cold()], "coroutine produces its content later"),
    "file": (lambda: {"file": io.BytesIO()}, "BytesIO produces its content later"),
    "one name": (lambda: {1: "a", "1": "b"}, "two keys have the same text"),
    "key": (lambda: {None: 1}, "a key is of type NoneType, which is not text"),
}


def cold() -> Any:
    """Return a coroutine that is never awaited, without a warning."""
    coroutine = promised()
    coroutine.close()
    return coroutine


@pytest.mark.parametrize("what", LOST)
def test_a_result_that_cannot_be_recorded_is_not_passed_over(what: str) -> None:
    returned, why = LOST[what]
    execution, calls = executed({LOOKUP: lambda **_: returned(), REFUND: refund})
    (call,) = calls
    assert (call.status, call.output) == ("unknown", None)
    assert call.error is not None
    assert "which cannot be recorded as JSON: " in call.error
    assert why in call.error
    assert is_safe(call.error)
    assert execution.outputs == {}
    outcome, _ = decided({LOOKUP: lambda **_: returned(), REFUND: refund})
    assert outcome.report.rationale != "verify and score passed"
    assert outcome.report.score is not None
    assert outcome.report.score.scorecard.scores.utility.status != "pass"


def test_a_lost_result_of_a_tool_with_effects_is_not_to_be_repeated_blindly() -> None:
    _, calls = executed({LOOKUP: lookup, REFUND: lambda **_: {"refund_amount_inr": object()}})
    assert [call.status for call in calls] == ["completed", "unknown"]


class Reason(Enum):
    DEFECTIVE = "item_defective"


class Model(BaseModel):
    refund_amount_inr: Decimal
    refund_reason_class: Reason
    at: datetime
    tags: set[str] = {"b", "a", "c"}


@dataclass
class Data:
    refund_amount_inr: int
    where: PurePosixPath


class Pair(NamedTuple):
    refund_amount_inr: int
    id: UUID


class Name(str):
    __slots__ = ()


DAY = datetime(2026, 5, 9, 12, tzinfo=UTC)
HALF_ID = UUID(int=7)
CONVERTED: dict[str, tuple[Any, Any]] = {
    "model": (
        Model(refund_amount_inr=Decimal("24500.10"), refund_reason_class=Reason.DEFECTIVE, at=DAY),
        {
            "refund_amount_inr": "24500.10",
            "refund_reason_class": "item_defective",
            "at": "2026-05-09T12:00:00Z",
            "tags": ["a", "b", "c"],
        },
    ),
    "root model": (RootModel[list[int]]([2**60]), [str(2**60)]),
    "dataclass": (Data(1, PurePosixPath("/a/b")), {"refund_amount_inr": 1, "where": "/a/b"}),
    "named tuple": (Pair(1, HALF_ID), {"refund_amount_inr": 1, "id": str(HALF_ID)}),
    "64-bit id": ({"id": 2**63 - 1}, {"id": "9223372036854775807"}),
    "negative id": (-(2**53), "-9007199254740992"),
    "whole float": ([1e17, 1e21, 0.5], ["100000000000000000", 1e21, 0.5]),
    "bytes": (b"text", "text"),
    "tuple": ((1, (2,)), [1, [2]]),
    "set": ({"b", "a"}, ["a", "b"]),
    "keys": ({1: "a", Reason.DEFECTIVE: "b"}, {"1": "a", "item_defective": "b"}),
    "duration": (timedelta(minutes=2), "PT2M"),
    "text": (Name("x"), "x"),
    "address": (IPv4Address("10.0.0.1"), "10.0.0.1"),
    "path": (Path("/a"), "/a"),
    "deque": (deque([1]), [1]),
}


@pytest.mark.parametrize("what", CONVERTED)
def test_an_ordinary_python_result_is_recorded_as_json(what: str) -> None:
    returned, expected = CONVERTED[what]
    _, calls = executed({LOOKUP: lambda **_: returned, REFUND: refund})
    assert (calls[0].status, calls[0].output, calls[0].error) == ("completed", expected, None)
    assert run_of({**good_run(), "outputs": {"x": calls[0].output}}).outputs["x"] == expected


def test_a_tool_that_returns_a_model_gives_the_run_its_outputs() -> None:
    model = Model(refund_amount_inr=Decimal(5), refund_reason_class=Reason.DEFECTIVE, at=DAY)
    execution, _ = executed({LOOKUP: lookup, REFUND: lambda **_: model})
    assert execution.outputs == {
        "refund_amount_inr": "5",
        "refund_reason_class": "item_defective",
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: (
            st.lists(inner)
            | st.tuples(inner)
            | st.dictionaries(st.text() | st.integers(), inner)
            | st.frozensets(st.integers() | st.text())
        ),
    )
)
def test_a_result_that_is_not_json_is_reported(value: Any) -> None:
    try:
        converted = to_json_value(value)
    except NotJson as error:
        assert is_safe(str(error))
        return
    assert converted == to_json_value(converted)
    assert run_of({**good_run(), "outputs": {"x": converted}}).outputs["x"] == converted


def test_a_tool_cannot_give_outputs_that_the_manifest_lets_another_tool_produce() -> None:
    def early(**_: Any) -> Json:
        return {"refund_amount_inr": 1, "order_id": "x"}

    execution, calls = executed({LOOKUP: early, REFUND: lambda **_: {}})
    assert calls[0].output == {"refund_amount_inr": 1, "order_id": "x"}
    assert execution.outputs == {}


def test_a_tool_without_a_list_of_outputs_may_give_any_that_is_declared() -> None:
    wire = good_proposal()
    for tool in wire["compiled"]["manifests"]["tool_manifest"]:
        tool.pop("produces")

    def early(**_: Any) -> Json:
        return {"refund_amount_inr": 1, "not_declared": 2}

    tools = {LOOKUP: early, REFUND: lambda **_: {"refund_reason_class": "x"}}
    execution, _ = executed(tools, proposal_of(wire))
    assert execution.outputs == {"refund_amount_inr": 1, "refund_reason_class": "x"}


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


def test_an_output_that_is_not_an_object_gives_the_run_no_outputs() -> None:
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
