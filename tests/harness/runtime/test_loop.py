"""The canonical loop: nothing runs without a verdict, and everything that happened is recorded."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from critic import Approval, Plan, digest
from evals.canonical_json import canonical_bytes, canonical_json
from evals.unread import UnreadContext
from harness.record import GENESIS
from harness.runtime.canonical_loop import ExecutionFailed, Outcome
from harness.runtime.planners import FixedPlanner
from harness.runtime.ports import Execution, Recorder
from harness.runtime.recorder import ExecutionEnded
from harness.single_use import PermitError
from harness.wire import parse
from tests.harness.runtime.world import (
    OUTPUTS,
    AsyncLog,
    AsyncPlanner,
    KeptLog,
    Scripted,
    call_of,
    do_all,
    turn,
)
from tests.support.examples import (
    HOSTILE,
    good_proposal,
    long_proposal,
    proposal_of,
    refused_proposal,
)


def decided(executor: Any, **ports: Any) -> tuple[Outcome, KeptLog]:
    log = ports.pop("log", None) or KeptLog()
    return asyncio.run(turn(executor, log=log, **ports)), log


class AsyncScripted(Scripted):
    async def execute(self, *given: Any) -> Execution:  # type: ignore[override] # a port may be either
        await asyncio.sleep(0)
        return super().execute(*given)


def test_a_good_plan_is_executed_scored_and_recorded() -> None:
    executor = Scripted(do_all)
    outcome, log = decided(executor, intent="refund order ord_881")
    assert executor.asked == 1
    assert (outcome.report.status, outcome.report.refused_at) == ("completed", None)
    assert outcome.report.rationale == "verify and score passed"
    assert outcome.record is log.only
    assert (outcome.record.seq, outcome.record.prev_hash) == (1, GENESIS)
    assert outcome.record.report == outcome.report
    assert outcome.record.inputs.plan == digest(proposal_of(good_proposal()).plan)
    assert outcome.run is not None
    assert outcome.run.outputs == OUTPUTS
    assert (outcome.run.run_id, outcome.run.trace_id) == ("run_refund_881", "trace_refund_881")
    assert (outcome.run.intent, outcome.run.pack_version) == (
        "refund order ord_881",
        "support-pack@2026.05",
    )
    assert outcome.record.run is not None
    assert outcome.record.run.run_of(outcome.run.proposal) == outcome.run


def test_every_port_may_be_synchronous_or_asynchronous() -> None:
    plan = proposal_of(good_proposal()).plan
    reports = set()
    for planner, executor, log in product(
        (FixedPlanner, AsyncPlanner), (Scripted, AsyncScripted), (KeptLog, AsyncLog)
    ):
        outcome, kept = decided(executor(do_all), planner=planner(plan), log=log())
        assert kept.only == outcome.record
        reports.add(canonical_bytes(outcome.record))
    assert len(reports) == 1


@pytest.mark.parametrize("kind", [Scripted, AsyncScripted])
def test_a_refused_plan_is_never_executed(kind: type[Scripted]) -> None:
    executor = kind(do_all)
    outcome, log = decided(executor, proposal=proposal_of(refused_proposal()))
    assert executor.asked == 0
    assert outcome.run is None
    assert (outcome.report.status, outcome.report.refused_at) == ("refused_by_critic", "verify")
    assert log.only.run is None
    assert log.only.report.verify.ok is False


def test_without_an_executor_it_is_a_dry_run() -> None:
    outcome, log = decided(None)
    assert (outcome.report.status, outcome.run) == ("partial", None)
    assert log.only.report.rationale == "verify passed; no score (no execution)"


# --- executors that fail ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Scripted, AsyncScripted])
def test_an_executor_that_raises_after_an_effect(kind: type[Scripted]) -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        record(call_of(plan, 0))
        raise ConnectionError(f"lost {HOSTILE}")

    log = KeptLog()
    with pytest.raises(ExecutionFailed) as caught:
        asyncio.run(turn(kind(act), log=log))
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert caught.value.outcome.record is log.only
    assert log.only.error == "executor raised ConnectionError"
    assert log.only.run is not None
    assert [call.step for call in log.only.run.calls] == [0]
    assert str(caught.value) == "executor raised ConnectionError; recorded as decision 1"
    scored = log.only.report.score
    assert scored is not None
    assert scored.scorecard.scores.utility.status == "fail"


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (None, "AttributeError"),
        ({"outputs": {}}, "AttributeError"),
        (Execution(outputs={"x": object()}), "ValidationError"),
        (Execution(outputs={"bad name": 1}), "ValidationError"),
        (Execution(outputs={"x": float("nan")}), "ValidationError"),
        (Execution(wall_ms=-1), "ValidationError"),
        (Execution(tokens=-5), "ValidationError"),
        (Execution(cost_micros=2**53), "ValidationError"),
    ],
)
def test_an_executor_must_return_an_execution(result: Any, kind: str) -> None:
    def act(plan: Plan, record: Recorder) -> Any:
        record(call_of(plan, 0))
        record(call_of(plan, 1))
        return result

    log = KeptLog()
    with pytest.raises(ExecutionFailed, match=f"executor raised {kind}; recorded as decision 1"):
        asyncio.run(turn(Scripted(act), log=log))
    assert log.only.run is not None
    assert len(log.only.run.calls) == 2
    assert log.only.run.outputs == {}


@pytest.mark.parametrize("call", [None, {"step": 0}, "call"])
def test_only_calls_are_recorded(call: Any) -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        record(call_of(plan, 0))
        record(call)
        return Execution()

    log = KeptLog()
    with pytest.raises(ExecutionFailed) as caught:
        asyncio.run(turn(Scripted(act), log=log))
    assert str(caught.value.__cause__) == (
        f"an executor records ToolCall, not {type(call).__name__}"
    )
    assert log.only.run is not None
    assert len(log.only.run.calls) == 1


@pytest.mark.parametrize("interrupt", [SystemExit, KeyboardInterrupt])
def test_an_interpreter_that_has_to_end_records_first(
    interrupt: type[BaseException],
) -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        record(call_of(plan, 0))
        raise interrupt

    log = KeptLog()
    with pytest.raises(interrupt):
        asyncio.run(turn(Scripted(act), log=log))
    assert log.only.run is not None
    assert [call.step for call in log.only.run.calls] == [0]
    assert log.only.error is not None


# What an executor does beside the plan is a policy failure (and still on record).
ASTRAY = {
    "another tool": lambda plan: [call_of(plan, 0, capability_id="delete")],
    "a step beyond the plan": lambda plan: [call_of(plan, 0), call_of(plan, 1, step=2)],
    "out of order": lambda plan: [call_of(plan, 1), call_of(plan, 0)],
    "a step twice": lambda plan: [call_of(plan, 0), call_of(plan, 0), call_of(plan, 1)],
    "other args": lambda plan: [call_of(plan, 0, args={"id": "ord_882"})],
}


@pytest.mark.parametrize("way", ASTRAY)
def test_an_executor_that_goes_astray_is_refused_afterwards(way: str) -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        for call in ASTRAY[way](plan):
            record(call)
        return Execution(outputs=dict(OUTPUTS))

    outcome, log = decided(Scripted(act))
    assert (outcome.report.status, outcome.report.refused_at) == ("refused_by_critic", "score")
    assert outcome.report.score is not None
    assert outcome.report.score.scorecard.scores.policy.status == "fail"
    assert log.only.report == outcome.report


def test_an_executor_that_skips_a_step_is_noticed() -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        record(call_of(plan, 0))
        return Execution(outputs=dict(OUTPUTS))

    outcome, _ = decided(Scripted(act))
    assert outcome.report.score is not None
    utility = outcome.report.score.scorecard.scores.utility
    assert [found.message for found in utility.findings][-1] == "step 1 was planned but not called"


def test_an_executor_that_redeems_nothing_has_failed_and_its_calls_are_on_record() -> None:
    log = KeptLog()
    with pytest.raises(ExecutionFailed) as caught:
        asyncio.run(turn(Scripted(do_all, redeems=False), log=log))
    assert log.only.error == "the executor did not redeem its permit"
    assert caught.value.outcome.record is log.only
    assert log.only.run is not None
    assert len(log.only.run.calls) == 2
    assert log.only.run.outputs == {}
    # They are judged, as all calls are.
    assert log.only.report.score is not None


@pytest.mark.parametrize("how", ["returns", "raises"])
def test_an_executor_that_redeems_nothing_and_does_nothing_completes_nothing(how: str) -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        if how == "raises":
            raise OSError("offline")
        return Execution(outputs=dict(OUTPUTS))

    log = KeptLog()
    with pytest.raises(ExecutionFailed):
        asyncio.run(turn(Scripted(act, redeems=False), log=log))
    assert log.only.report.status == "partial"
    assert log.only.report.rationale == "verify passed; no score (no execution)"
    assert log.only.run is None
    assert log.only.error is not None


def test_a_failed_redemption_completes_nothing() -> None:
    class Careless(Scripted):
        def execute(self, permit: Any, *_given: Any) -> Execution:
            with suppress(PermitError):
                permit.redeem(proposal_of(refused_proposal()))
            return Execution(outputs=dict(OUTPUTS))

    log = KeptLog()
    with pytest.raises(ExecutionFailed, match="the executor did not redeem its permit"):
        asyncio.run(turn(Careless(do_all), log=log))
    assert log.only.report.status == "partial"


@pytest.mark.parametrize("ends", [None, OSError("offline")], ids=["returned", "raised"])
def test_a_call_that_is_reported_after_the_execution_raises(ends: Exception | None) -> None:
    recorders: list[Any] = []

    def act(plan: Plan, record: Recorder) -> Execution:
        recorders.append((plan, record))
        record(call_of(plan, 0))
        if ends is not None:
            raise ends
        return Execution()

    log = KeptLog()
    with suppress(ExecutionFailed):
        asyncio.run(turn(Scripted(act), log=log))
    plan, record = recorders[0]
    with pytest.raises(ExecutionEnded, match="the execution ended"):
        record(call_of(plan, 1))
    with pytest.raises(ExecutionEnded, match="the execution ended"):
        record.begin(1)
    assert log.only.run is not None
    assert len(log.only.run.calls) == 1


def test_a_permit_cannot_be_redeemed_after_the_execution() -> None:
    kept: list[Any] = []

    class Hoarder(Scripted):
        def execute(self, permit: Any, proposal: Any, _record: Any) -> Execution:
            kept.append((permit, proposal))
            return Execution()

    with pytest.raises(ExecutionFailed):
        asyncio.run(turn(Hoarder(do_all)))
    permit, proposal = kept[0]
    with pytest.raises(PermitError, match="used before"):
        permit.redeem(proposal)


def test_calls_that_many_threads_report_are_all_on_record_or_raise() -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        def work() -> None:
            together.wait()
            for _ in range(20):
                try:
                    record(call_of(plan, 0))
                    taken.append(1)
                except ExecutionEnded:
                    return

        workers.extend(threading.Thread(target=work) for _ in range(8))
        for worker in workers:
            worker.start()
        together.wait()
        return Execution()

    together, workers, taken = threading.Barrier(9), list[threading.Thread](), list[int]()
    outcome, _ = decided(Scripted(act))
    for worker in workers:
        worker.join()
    assert outcome.run is not None
    assert len(outcome.run.calls) == len(taken)


class NamelessType(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override] # that is the point
        raise RuntimeError("no name")


class Nameless(Exception, metaclass=NamelessType):
    def __str__(self) -> str:
        raise SystemExit


def test_an_executor_that_raises_an_error_without_a_name_is_on_record() -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        record(call_of(plan, 0))
        raise Nameless

    log = KeptLog()
    with pytest.raises(ExecutionFailed):
        asyncio.run(turn(Scripted(act), log=log))
    assert log.only.error == "executor raised Nameless"
    assert log.only.run is not None
    assert len(log.only.run.calls) == 1


def test_a_played_back_execution_has_no_wall_time_unless_it_says_one() -> None:
    def act(wall_ms: int | None) -> Callable[[Plan, Recorder], Execution]:
        execution = Execution(outputs=dict(OUTPUTS), wall_ms=wall_ms, played_back=True)
        return lambda _plan, _record: execution

    for wall_ms in (None, 0, 1840):
        outcome, _ = decided(Scripted(act(wall_ms)))
        assert outcome.run is not None
        assert outcome.run.wall_ms == wall_ms


def _unbind(compiled: Any) -> None:
    for tool in compiled.manifests.tool_manifest:
        (tool.bound_args or {}).clear()


def _forge(compiled: Any) -> None:
    for item in compiled.manifests.evidence_manifest:
        if isinstance(item.content, dict):
            item.content["forged"] = 99_999


@pytest.mark.parametrize("tamper", [_unbind, _forge])
def test_a_planner_cannot_change_what_it_is_judged_by(tamper: Callable[[Any], None]) -> None:
    proposal = proposal_of(good_proposal())
    forged = good_proposal()["plan"]
    forged["steps"][1]["args"]["amount_inr"] = 99_999

    class Tampering:
        def plan(self, _ctx: Any, compiled: Any, _spec: Any) -> Plan:
            tamper(compiled)
            return parse(Plan, canonical_json(forged))

    executor, given = Scripted(do_all), canonical_bytes(proposal)
    outcome, _ = decided(executor, planner=Tampering(), proposal=proposal)
    assert outcome.report.refused_at == "verify"
    assert executor.asked == 0
    assert canonical_bytes(proposal) == given


def test_an_executor_cannot_change_what_it_is_scored_by() -> None:
    proposal = proposal_of(good_proposal())

    class Tampering(Scripted):
        def execute(self, permit: Any, proposal: Any, record: Any) -> Execution:
            done = super().execute(permit, proposal, record)
            _unbind(proposal.compiled)
            _forge(proposal.compiled)
            return done

    given = canonical_bytes(proposal)
    _, log = decided(Tampering(do_all), proposal=proposal)
    assert canonical_bytes(log.decisions[0].proposal) == given


def test_a_proposal_that_was_changed_after_its_verdict_is_not_executed() -> None:
    proposal = proposal_of(good_proposal())
    verified = digest(proposal.plan)
    called: list[str] = []

    class Hasty(Scripted):
        def execute(self, permit: Any, proposal: Any, record: Any) -> Execution:
            proposal.plan.steps[1].args["amount_inr"] = 50_000
            return super().execute(permit, proposal, record)

    def act(plan: Plan, record: Recorder) -> Execution:
        called.append("refund")
        return Execution()

    log = KeptLog()
    with pytest.raises(ExecutionFailed) as caught:
        asyncio.run(turn(Hasty(act), log=log, proposal=proposal))
    assert isinstance(caught.value.__cause__, PermitError)
    assert not called
    # The record holds what was verified: the verdict can be derived from it again.
    assert log.only.inputs.plan == verified


def test_a_plan_that_waited_for_an_approval_goes_on_without_its_planner() -> None:
    wire, asked = good_proposal(), list[int]()
    wire["spec"]["approval_required_from"] = "destructive"
    plan = proposal_of(wire).plan

    class Creative:
        def plan(self, *_given: object) -> Plan:
            asked.append(1)
            return plan

    executor, log = Scripted(do_all), KeptLog()
    waiting, _ = decided(executor, planner=Creative(), proposal=proposal_of(wire), log=log)
    assert waiting.report.refused_at == "verify"
    assert (executor.asked, len(asked)) == (0, 1)

    approval = Approval(
        approval_id="a1", plan_digest=digest(waiting.proposal.plan), approver="emma"
    )
    approved = waiting.proposal.model_copy(
        update={"ctx": waiting.proposal.ctx.model_copy(update={"approvals": (approval,)})}
    )
    planner = FixedPlanner(waiting.proposal.plan)
    outcome, _ = decided(executor, planner=planner, proposal=approved, log=log)
    assert outcome.report.status == "completed"
    assert (executor.asked, len(asked), len(log.records)) == (1, 1, 2)


def test_a_result_is_printed_without_a_look_at_each_tool() -> None:
    """`asyncio.run` prints the result of what it runs, though nobody reads that."""
    outcome = asyncio.run(turn(Scripted(do_all), proposal=long_proposal(10_000, 1_000)))
    printed = repr(outcome)
    assert outcome.run is not None
    assert printed.count("CompiledContext(10,000 tools, 1,000 evidence items)") == 2
    assert len(printed) < 10_000
    for proposal in (outcome.proposal, outcome.run.proposal):
        assert type(proposal.compiled) is UnreadContext
