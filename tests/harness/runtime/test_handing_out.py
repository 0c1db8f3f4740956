"""Nothing that the loop hands out is what it decides by, records or returns."""

import asyncio
from typing import Any

import pytest

from critic import Plan, Proposal
from evals.canonical_json import canonical_bytes
from harness.record import Decision, DecisionRecord
from harness.runtime import (
    CallEnded,
    Execution,
    FixedPlanner,
    LoopEvent,
    NotRecorded,
    Outcome,
    Permit,
    Recorder,
)
from tests.harness.runtime.spoiling import spoil
from tests.harness.runtime.world import KeptLog, Scripted, call_of, do_all, shown, still, turn
from tests.support.examples import good_proposal, proposal_of, refused_proposal


class SpoilingPlanner(FixedPlanner):
    """Proposes its plan, and spoils what it was given and what it was made of."""

    def __init__(self, proposal: Proposal) -> None:
        super().__init__(proposal.plan)
        self._held = proposal

    def plan(self, *given: Any) -> Plan:
        plan = proposal_of(self._held.wire()).plan
        spoil(*given, self._held.ctx, self._held.compiled, self._held.spec)
        return plan


class SpoilingExecutor(Scripted):
    """Does all as planned, and spoils everything it holds."""

    def __init__(self, held: Proposal) -> None:
        super().__init__(do_all)
        self._held = held

    def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        plan = permit.redeem(proposal)
        calls = [call_of(plan, at, tokens=100, cost_micros=1) for at in range(len(plan.steps))]
        for call in calls:
            record(call)
        execution = do_all(plan, lambda _call: None)
        spoil(plan, proposal, *calls, self._held)
        return execution


class SpoilingLog(KeptLog):
    """Keeps the decision, then spoils it."""

    def append(self, decision: Decision) -> DecisionRecord:
        record = super().append(decision)
        kept = record.wire()
        spoil(decision)
        return DecisionRecord(**kept)


class SpoilingListener:
    """Spoils every event, then raises."""

    def __init__(self) -> None:
        self.heard = 0

    def __call__(self, event: LoopEvent) -> None:
        self.heard += 1
        detail = event.detail
        for name in type(detail).__dataclass_fields__:
            value = getattr(detail, name)
            spoil(value)
            object.__setattr__(detail, name, None)
        raise SystemExit


def honest(wire: dict[str, Any]) -> Outcome:
    return asyncio.run(turn(Scripted(do_all), proposal=proposal_of(wire), clock=still()))


@pytest.mark.parametrize("wire", [good_proposal(), refused_proposal()], ids=["good", "refused"])
def test_ports_that_spoil_all_they_are_given_change_nothing(wire: dict[str, Any]) -> None:
    expected, listener = honest(wire), SpoilingListener()
    held = proposal_of(wire)
    outcome = asyncio.run(
        turn(
            SpoilingExecutor(held),
            proposal=held,
            planner=SpoilingPlanner(held),
            log=SpoilingLog(),
            clock=still(),
            listener=listener,
        )
    )
    assert shown(outcome) == shown(expected)
    assert canonical_bytes(outcome.record) == canonical_bytes(expected.record)
    assert listener.heard == (7 if outcome.run else 3)


def test_a_log_that_spoils_the_decision_and_fails_does_not_spoil_the_one_in_the_error() -> None:
    class Failing(KeptLog):
        def append(self, decision: Decision) -> DecisionRecord:
            spoil(decision)
            raise OSError("no space left")

    with pytest.raises(NotRecorded) as caught:
        asyncio.run(turn(Scripted(do_all), log=Failing(), clock=still()))
    record = KeptLog().append(caught.value.decision)
    assert canonical_bytes(record) == canonical_bytes(honest(good_proposal()).record)


def test_a_log_that_returns_no_record_has_not_taken_the_decision() -> None:
    class Mute(KeptLog):
        def append(self, _decision: Decision, /) -> Any:
            return None

    with pytest.raises(NotRecorded) as caught:
        asyncio.run(turn(Scripted(do_all), log=Mute()))
    assert str(caught.value.__cause__) == "a log returns a DecisionRecord, not NoneType"


def test_outputs_that_are_changed_after_the_execution_stay_on_record_as_they_were() -> None:
    outputs: dict[str, Any] = {
        "refund_amount_inr": 24500,
        "refund_reason_class": "item_defective",
        "notes": [{"a": 1}],
    }

    def act(plan: Plan, record: Recorder) -> Execution:
        do_all(plan, record)
        return Execution(outputs=outputs)

    class Late(KeptLog):
        def append(self, decision: Decision) -> DecisionRecord:
            outputs["notes"][0]["a"] = 2
            outputs.clear()
            return super().append(decision)

    outcome = asyncio.run(turn(Scripted(act), log=Late()))
    assert outcome.run is not None
    assert outcome.run.outputs["notes"] == [{"a": 1}]
    assert outcome.record.run is not None
    assert outcome.record.run.outputs == outcome.run.outputs


def test_a_call_is_kept_as_it_was_when_it_was_recorded() -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        call = call_of(plan, 0, output={"rows": [1]})
        record(call)
        call.output["rows"].clear()
        call.args.clear()
        object.__setattr__(call, "status", "failed")
        return Execution()

    calls: list[CallEnded] = []

    def listen(event: LoopEvent) -> None:
        if isinstance(event.detail, CallEnded):
            calls.append(event.detail)

    outcome = asyncio.run(turn(Scripted(act), listener=listen))
    assert outcome.run is not None
    (call,) = outcome.run.calls
    assert (call.status, call.output, call.args) == ("completed", {"rows": [1]}, {"id": "ord_881"})
    assert [ended.call for ended in calls] == [call]
