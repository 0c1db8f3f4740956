"""Executions that begin: on record before the first effect, and an approval is used once."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from critic import Plan, Proposal, Run, digest
from harness.log import LogUnavailable, SqlDecisionLog
from harness.record import (
    AlreadyClaimed,
    Begun,
    BegunRecord,
    DecisionRecord,
    used_approvals,
)
from harness.replay import check_log, replay
from harness.runtime.approving import approve
from harness.runtime.canonical_loop import ExecutionFailed, NotRecorded, Outcome
from harness.runtime.executors import TranscriptExecutor
from harness.runtime.ports import Execution, Recorder
from harness.wire import build
from tests.harness.runtime.world import KeptLog, Scripted, call_of, do_all, turn
from tests.support.examples import good_proposal, good_run, proposal_of, refused_proposal
from tests.support.model.facts import Json
from tests.support.paths import ROOT


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlDecisionLog]:
    with SqlDecisionLog.open(tmp_path / "log") as opened:
        yield opened


def approved(*approvals: Json, **ctx: Any) -> Proposal:
    """Return plan B where its refund needs an approval, with approvals of exactly this plan."""
    wire = good_proposal()
    wire["spec"]["approval_required_from"] = "delegated"
    wire["plan"].pop("trace_id", None)
    named = digest(proposal_of(wire).plan)
    given = [
        {"approval_id": f"a_{place}", "approver": "emma", "plan_digest": named, **one}
        for place, one in enumerate(approvals)
    ]
    wire["ctx"] |= {**({"approvals": given} if given else {}), **ctx}
    return proposal_of(wire)


def decide(executor: Any, log: Any, proposal: Proposal | None = None, **ports: Any) -> Outcome:
    return asyncio.run(turn(executor, log=log, proposal=proposal or approved({}), **ports))


def test_that_an_execution_begins_is_on_record_before_it_does(log: SqlDecisionLog) -> None:
    seen: list[Any] = []

    def act(plan: Plan, record: Recorder) -> Execution:
        seen.extend(log.entries())
        return do_all(plan, record)

    outcome = decide(Scripted(act), log)
    (begun,) = seen
    assert isinstance(begun, BegunRecord)
    assert begun.permit == digest(outcome.proposal)
    assert begun.inputs.plan == digest(outcome.proposal.plan)
    assert [one.approval_id for one in begun.approvals or ()] == ["a_0"]
    assert outcome.record.begun == begun.hash
    assert (begun.seq, outcome.record.seq) == (1, 2)
    assert [one.status for one in replay(log)] == ["same", "same"]
    assert [one.kind for one in replay(log)] == ["begun", None]
    assert check_log(log).text() == ""


@pytest.mark.parametrize("error", [OSError("full"), LogUnavailable("locked")])
def test_what_cannot_be_recorded_does_not_begin(error: Exception) -> None:
    class Failing(KeptLog):
        def begin(self, _begun: Begun) -> BegunRecord:
            raise error

    executor, log = Scripted(do_all), Failing()
    with pytest.raises(NotRecorded) as caught:
        decide(executor, log)
    assert caught.value.__cause__ is error
    assert (executor.asked, log.records) == (0, [])
    assert caught.value.decision.run is None
    assert caught.value.decision.error is not None
    assert caught.value.decision.error.startswith("nothing was executed")


@pytest.mark.parametrize("answer", [None, "record", {}])
def test_a_log_has_to_return_the_record_of_a_beginning(answer: Any) -> None:
    class Odd(KeptLog):
        def begin(self, _begun: Begun) -> Any:
            return answer

    executor = Scripted(do_all)
    with pytest.raises(NotRecorded):
        decide(executor, Odd())
    assert executor.asked == 0


def test_a_log_that_keeps_no_beginnings_is_used_as_before() -> None:
    log = KeptLog()
    assert decide(Scripted(do_all), log).record.begun is None
    assert decide(Scripted(do_all), log).report.status == "completed"


def test_the_same_approval_and_plan_run_once(log: SqlDecisionLog) -> None:
    executor = Scripted(do_all)
    assert decide(executor, log).report.status == "completed"
    again = decide(executor, log)
    assert executor.asked == 1
    assert again.report.refused_at == "verify"
    assert "needs approval" in again.report.rationale
    assert again.proposal.ctx.approvals is None
    assert again.record.begun is None
    said = "approval a_0 was used by record 1: a yes is to one execution, ask for another one"
    assert again.record.error == said
    assert again.reasons == (said, *again.report.verify.reasons)
    assert [one.status for one in replay(log)] == ["same"] * 3
    never_approved = decide(executor, log, again.proposal)
    assert never_approved.reasons == again.report.verify.reasons


def test_a_yes_that_is_written_down_has_an_id_of_its_own(log: SqlDecisionLog) -> None:
    """Each counts once, without a thought of ids."""
    executor, waiting = Scripted(do_all), approved()
    for number in range(1, 4):
        yes = approve(waiting, "emma")
        given = waiting.ctx.model_copy(update={"approvals": (yes,)})
        proposal = waiting.model_copy(update={"ctx": given})
        assert decide(executor, log, proposal).report.status == "completed"
        again = decide(executor, log, proposal)
        assert again.report.refused_at == "verify"
        said = f"approval {yes.approval_id} was used by record"
        assert (again.record.error or "").startswith(said)
        assert executor.asked == number


def test_a_yes_is_as_it_was_said() -> None:
    waiting = approved()
    yes = approve(waiting, "emma", approval_id="a1", steps=[1], expires_at="2026-05-09T12:00:00Z")
    assert (yes.approval_id, yes.approver, yes.steps) == ("a1", "emma", (1,))
    assert yes.plan_digest == digest(waiting.plan)
    other = waiting.model_copy(update={"ctx": waiting.ctx.model_copy(update={"trace_id": "t2"})})
    assert approve(other, "emma").context_digest != yes.context_digest
    assert "expires_at" not in approve(waiting, "emma").wire()


def test_another_trace_cannot_use_it_either(log: SqlDecisionLog) -> None:
    executor = Scripted(do_all)
    decide(executor, log, approved({}))
    other = approved({}, trace_id="trace_other")
    assert other.plan == approved({}).plan
    assert decide(None, KeptLog(), other).report.status == "partial"
    assert decide(executor, log, other).report.refused_at == "verify"
    assert executor.asked == 1


def test_a_second_approval_lets_the_plan_run_again(log: SqlDecisionLog) -> None:
    executor = Scripted(do_all)
    decide(executor, log, approved({}))
    again = decide(executor, log, approved({}, {}))
    assert again.report.status == "completed"
    assert [one.approval_id for one in again.proposal.ctx.approvals or ()] == ["a_1"]
    assert executor.asked == 2


def test_two_loops_at_once_run_the_plan_once(tmp_path: Path) -> None:
    executor = Scripted(do_all)

    async def both() -> list[Outcome]:
        logs = [SqlDecisionLog.open(tmp_path / "log") for _ in range(2)]
        turns = [turn(executor, log=logs[number % 2], proposal=approved({})) for number in range(6)]
        return list(await asyncio.gather(*turns))

    outcomes = asyncio.run(both())
    assert executor.asked == 1
    assert [one.report.status for one in outcomes].count("completed") == 1
    log = SqlDecisionLog.open_for_reading(tmp_path / "log")
    assert {one.status for one in replay(log)} == {"same"}
    assert log.head().seq == 7


def test_a_dry_run_uses_nothing(log: SqlDecisionLog) -> None:
    assert decide(None, log).report.status == "partial"
    assert decide(None, log).report.status == "partial"
    assert decide(Scripted(do_all), log).report.status == "completed"
    # What is asked without effect may be asked for ever.
    assert decide(None, log).report.status == "partial"


def test_a_refused_plan_uses_nothing(log: SqlDecisionLog) -> None:
    refused = refused_proposal()
    decide(Scripted(do_all), log, proposal_of(refused))
    assert list(log.all_claims()) == []


def test_an_approval_that_the_plan_does_not_need_is_not_used(log: SqlDecisionLog) -> None:
    unneeded = {"approval_id": "for_reading", "steps": [0]}
    other_plan = {"approval_id": "other", "plan_digest": "0" * 64}
    expired = {"approval_id": "old", "expires_at": "2001-01-01T00:00:00Z"}
    proposal = approved(unneeded, other_plan, expired, {"approval_id": "used"})
    assert [one.approval_id for one in used_approvals(proposal)] == ["used"]
    decide(Scripted(do_all), log, proposal)
    assert [claim.split()[:2] for claim, _ in log.all_claims()] == [
        ["approval", "used"],
        ["begun", log_begun(log).hash],
    ]
    again = decide(Scripted(do_all), log, proposal)
    assert again.report.refused_at == "verify"
    kept = [one.approval_id for one in again.proposal.ctx.approvals or ()]
    assert kept == ["for_reading", "other", "old"]


def log_begun(log: SqlDecisionLog) -> BegunRecord:
    return next(one for one in log.entries() if isinstance(one, BegunRecord))


def test_without_a_need_no_approval_is_used(log: SqlDecisionLog) -> None:
    wire = approved({}).wire()
    del wire["spec"]["approval_required_from"]
    executor = Scripted(do_all)
    for _ in range(2):
        assert decide(executor, log, proposal_of(wire)).report.status == "completed"
    assert executor.asked == 2


def test_two_approvals_of_one_step_are_both_used() -> None:
    prefixed = {"plan_digest": f"sha256:{digest(approved().plan)}"}
    used = used_approvals(approved({}, prefixed))
    assert [one.approval_id for one in used] == ["a_0", "a_1"]
    assert {one.plan_digest for one in used} == {digest(approved().plan)}


def test_an_execution_that_fails_ends_what_began(log: SqlDecisionLog) -> None:
    def act(plan: Plan, record: Recorder) -> Execution:
        record(call_of(plan, 0))
        raise OSError

    with pytest.raises(ExecutionFailed) as caught:
        decide(Scripted(act), log)
    assert caught.value.outcome.record.begun == log_begun(log).hash
    assert {one.status for one in replay(log)} == {"same"}


def test_a_cancellation_while_it_begins_executes_nothing_and_is_on_record(tmp_path: Path) -> None:
    executor = Scripted(do_all)
    log = SqlDecisionLog.open(tmp_path / "log")
    other = sqlite3.connect(tmp_path / "log", isolation_level=None)

    async def cancelled() -> None:
        other.execute("BEGIN IMMEDIATE")  # so that the beginning waits, and is no sooner over
        running = asyncio.ensure_future(turn(executor, log=log, proposal=approved({})))
        while not log_is_busy(log):
            await asyncio.sleep(0)
        running.cancel()
        other.execute("ROLLBACK")
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert executor.asked == 0
    begun, decision = log.entries()
    assert isinstance(begun, BegunRecord)
    assert isinstance(decision, DecisionRecord)
    assert (decision.begun, decision.error, decision.run) == (begun.hash, "cancelled", None)
    assert {one.status for one in replay(log)} == {"same"}


def log_is_busy(log: SqlDecisionLog) -> bool:
    return log._commits._working


def test_an_append_does_not_block_the_event_loop(tmp_path: Path) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    other = sqlite3.connect(tmp_path / "log", isolation_level=None)

    async def ticking() -> None:
        other.execute("BEGIN IMMEDIATE")
        running = asyncio.ensure_future(turn(Scripted(do_all), log=log, proposal=approved({})))
        for _ in range(1000):  # a blocked loop would wait here for the other writer to end
            await asyncio.sleep(0)
        assert not running.done()
        other.execute("ROLLBACK")
        await running

    asyncio.run(ticking())
    assert [entry.seq for entry in log.entries()] == [1, 2]


KILLED = """
import asyncio, os, signal, sys
from harness.log import SqlDecisionLog
from tests.harness.runtime.test_beginning import approved
from tests.harness.runtime.world import Scripted, turn

def act(plan, record):
    os.kill(os.getpid(), signal.SIGKILL)

log = SqlDecisionLog.open(sys.argv[1])
asyncio.run(turn(Scripted(act), log=log, proposal=approved({})))
"""


def test_after_a_kill_the_log_shows_what_may_have_run(tmp_path: Path) -> None:
    path = tmp_path / "log"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    log = SqlDecisionLog.open(path)
    (answer,) = replay(log)
    assert not answer
    assert (answer.seq, answer.status, answer.kind) == (1, "open", "begun")
    assert "may have run" in answer.text()
    plan = log.input(log_begun(log).inputs.plan)
    assert plan is not None
    assert b"refund" in plan
    # And its approval is used up.
    executor = Scripted(do_all)
    assert decide(executor, log).report.refused_at == "verify"
    assert executor.asked == 0


def test_a_transcript_begins_nothing_and_uses_nothing(log: SqlDecisionLog) -> None:
    run = build(Run, {**good_run(), "proposal": approved({}).wire()})
    for _ in range(2):
        outcome = decide(TranscriptExecutor(run), log, run.proposal)
        assert outcome.report.status == "completed"
    assert log.head().seq == 2
    assert list(log.all_claims()) == []


def _refused_run() -> Run:
    return build(Run, {**good_run(), "proposal": refused_proposal()})


def test_a_refused_run_that_was_handed_in_keeps_its_calls(log: SqlDecisionLog) -> None:
    run = _refused_run()
    outcome = decide(TranscriptExecutor(run), log, run.proposal)
    assert outcome.report.refused_at == "verify"
    assert outcome.report.score is None
    (record,) = log.records()
    assert record.run is not None
    assert [call.wire() for call in record.run.calls] == [call.wire() for call in run.calls]
    assert record.run.outputs == run.outputs
    assert record.run.wall_ms == run.wall_ms
    (answer,) = replay(log)
    assert answer
    assert answer.notes == ("a plan that was not allowed has a run",)


def test_a_transcript_of_another_proposal_is_not_recorded_with_a_refusal() -> None:
    log = KeptLog()
    other = refused_proposal()
    other["plan"]["plan_id"] = "other"
    decide(TranscriptExecutor(_refused_run()), log, proposal_of(other))
    assert log.only.run is None


def test_a_claim_that_is_no_approval_of_the_plan_stops_the_execution() -> None:
    class Odd(KeptLog):
        def begin(self, _begun: Begun) -> BegunRecord:
            raise AlreadyClaimed(["approval other 0"])

    executor = Scripted(do_all)
    with pytest.raises(NotRecorded):
        decide(executor, Odd())
    assert executor.asked == 0


# --- late plans ---------------------------------------------------------------------------------


def late(*approvals: Json) -> Proposal:
    """Return an approved plan whose refund is backed by what its lookup returns."""
    wire = approved().wire()
    wire["spec"]["late"] = "sources"
    wire["plan"]["steps"][1]["evidence_steps"] = [wire["plan"]["steps"][0]["id"]]
    named = digest(proposal_of(wire).plan)
    given = {"approval_id": "a_0", "approver": "emma", "plan_digest": named}
    wire["ctx"]["approvals"] = [{**given, **one} for one in approvals or ({},)]
    return proposal_of(wire)


def test_a_late_plan_that_nobody_opens_uses_no_approval(
    log: SqlDecisionLog,
) -> None:
    """Nothing begins and nothing is sent: the plan can still run with its approval."""

    def act(_plan: Plan, _record: Recorder) -> Execution:
        raise AssertionError("nothing is executed")

    for seq in (1, 2):
        with pytest.raises(ExecutionFailed) as caught:
            decide(Scripted(act), log, late())
        record = caught.value.outcome.record
        assert (record.seq, record.run, record.begun) == (seq, None, None)
        assert record.error is not None
        assert "does not open the steps of a late plan" in record.error
        assert record.report.verify.ok
    assert [one.status for one in replay(log)] == ["same", "same"]
    assert check_log(log).text() == ""


def test_a_run_of_a_late_plan_that_was_not_opened_fails_policy(log: SqlDecisionLog) -> None:
    wire = good_run()
    wire["proposal"] = late().wire()
    run = build(Run, wire)
    outcome = decide(TranscriptExecutor(run), log, run.proposal)
    assert (outcome.report.status, outcome.report.refused_at) == ("refused_by_critic", "score")
    assert "was not opened" in outcome.report.rationale
    assert [one.status for one in replay(log)] == ["same"]
