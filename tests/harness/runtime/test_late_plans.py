"""Late plans in the loop: each step is opened before it is sent, and a refusal ends the plan."""

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from critic import Proposal, Refused, Run, ToolCall, ToolStep, digest, score
from evals.run import refused_opening
from harness.audit.report.late_details import place_late_facts
from harness.log import SqlDecisionLog
from harness.record import DecisionRecord
from harness.record.fates import RecordFacts
from harness.record.index_row import index_row
from harness.record.record_facts import facts_of_record
from harness.replay import check_log, replay
from harness.runtime import opening_desk
from harness.runtime.approving import approve
from harness.runtime.canonical_loop import ExecutionFailed, Outcome
from harness.runtime.executors import CallableExecutor, TranscriptExecutor
from harness.runtime.loop_events import CallEnded, CallStarted, LoopEvent, StepOpened
from harness.runtime.permit import Permit, issue_permit
from harness.runtime.ports import Execution, Recorder
from harness.runtime.step_permits import StepPermit, StepRefused, issue_step_permit
from harness.single_use import PermitError
from harness.wire import build
from tests.harness.console import Critic
from tests.harness.replay.forging import forged
from tests.harness.runtime.world import KeptLog, Scripted, Ticking, turn
from tests.support.late_refund import ORDER, REFUNDED, SENT, WINDOW, late_refund, pay_step
from tests.support.model.facts import Json

TIER: Json = {"approval_required_from": "destructive"}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlDecisionLog]:
    with SqlDecisionLog.open(tmp_path / "log") as opened:
        yield opened


class Shop:
    """The tools of the refund, and what they were sent."""

    def __init__(self, order: Any = ORDER, window: Any = WINDOW) -> None:
        self.sent: list[tuple[str, Json]] = []
        self._outputs = {"lookup": order, "refund_window": window, "issue_refund": REFUNDED}

    def _tool(self, name: str) -> Callable[..., Any]:
        def act(**args: Any) -> Any:
            self.sent.append((name, args))
            return self._outputs[name]

        return act

    @property
    def executor(self) -> CallableExecutor:
        named = {"lookup": "adp_orders", "refund_window": "adp_orders"}
        tools = {
            (named.get(name, "adp_payments"), name): self._tool(name) for name in self._outputs
        }
        return CallableExecutor(tools)

    @property
    def refunds(self) -> list[Json]:
        return [args for name, args in self.sent if name == "issue_refund"]


class Opens:
    """An executor that opens steps, and does with their permits what the function says."""

    opens_steps = True

    def __init__(self, act: Callable[[Permit, Recorder], Any]) -> None:
        self._act = act

    async def execute(self, permit: Permit, _proposal: Proposal, record: Recorder) -> Execution:
        await self._act(permit, record)
        return Execution(outputs=dict(REFUNDED))


class Says:
    """An approver with one answer, who keeps what was asked."""

    def __init__(self, answer: str | None) -> None:
        self.asked: list[tuple[int, Proposal, Refused]] = []
        self._answer = answer

    async def approve(self, step: int, settled: Proposal, refused: Refused) -> str | None:
        self.asked.append((step, settled, refused))
        return self._answer


def decide(
    executor: Any, log: Any = None, proposal: Proposal | None = None, **ports: Any
) -> Outcome:
    return asyncio.run(turn(executor, log=log, proposal=proposal or late_refund(), **ports))


async def send(permit: Permit, record: Recorder, step: int, output: Any, **changes: Any) -> None:
    """Open a step, and report its call as it was opened, unless it is changed."""
    sent = (await permit.step(step)).redeem()
    record(call_of(sent, step, output, **changes))


def call_of(sent: ToolStep, step: int, output: Any, **changes: Any) -> ToolCall:
    named = {"adapter_id": sent.adapter_id, "capability_id": sent.capability_id}
    facts: Json = {"step": step, **named, "args": sent.args, "status": "completed"}
    return ToolCall(**{**facts, "output": output, **changes})


def test_a_late_refund_runs_with_the_amount_that_was_found(log: SqlDecisionLog) -> None:
    shop = Shop()
    outcome = decide(shop.executor, log)
    assert (outcome.report.status, outcome.report.refused_at) == ("completed", None)
    assert shop.refunds == [SENT]
    assert outcome.run is not None
    assert [(one.step, one.after, one.verdict.ok) for one in outcome.run.openings or ()] == [
        (0, 0, True),
        (1, 1, True),
        (2, 2, True),
    ]
    assert [one.status for one in replay(log)] == ["same", "same"]
    assert check_log(log).text() == ""
    assert score(outcome.run) == outcome.report.score
    facts = facts_of_record(outcome.record, outcome.proposal.ctx, outcome.proposal.plan)
    assert facts == RecordFacts.ALLOWED | RecordFacts.RAN


class Pretends:
    """What opens any step, and is no permit that a loop issued."""

    def redeem(self) -> ToolStep:
        sent = {"id": "pay_1", "amount_inr": 99}
        return ToolStep(adapter_id="adp_payments", capability_id="issue_refund", args=sent)

    async def step(self, _step: int) -> "Pretends":
        return self

    def capability(self, *_: str) -> None:
        return None


def test_only_a_permit_that_was_issued_runs_the_plan_that_it_covers() -> None:
    other = late_refund(pay_step(args={"id": "pay_1"}))
    for permit in (Pretends(), issue_permit(late_refund())):
        shop, calls = Shop(), list[ToolCall]()
        with pytest.raises(PermitError):
            asyncio.run(shop.executor.execute(permit, other, calls.append))  # type: ignore[arg-type]
        assert (shop.sent, calls) == ([], [])


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "no amount": ({"payment": {"id": "pay_8861"}}, WINDOW, "where /payment/amount_inr is nothing"),
    "null": ({"payment": {"id": "pay_8861", "amount_inr": None}}, WINDOW, "is null"),
    "too much": ({"payment": {"id": "pay_8861", "amount_inr": 50001}}, WINDOW, "args_schema"),
    "another payment": ({"payment": {"id": "pay_1", "amount_inr": 5}}, WINDOW, "argument"),
    "a closed window": (ORDER, {**WINDOW, "window_open": False}, "refund_window_evidence"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_opening_ends_the_plan_and_nothing_is_sent(
    case: str, log: SqlDecisionLog
) -> None:
    order, window, reason = REFUSED[case]
    shop, asked = Shop(order, window), Says("emma")
    outcome = decide(shop.executor, log, approver=asked)
    report = outcome.report
    assert (report.status, report.refused_at) == ("refused_by_critic", "open")
    assert report.rationale.startswith("opening of step 2 failed: ")
    assert reason in report.rationale
    assert outcome.reasons
    assert report.score is not None
    assert report.score.scorecard.scores.policy.status == "pass"
    assert shop.refunds == []
    assert asked.asked == []  # no yes would clear it
    row = index_row(outcome.record, outcome.proposal.ctx, outcome.proposal.plan)
    refused = refused_opening(outcome.run.openings) if outcome.run else None
    assert refused is not None
    assert isinstance(refused.verdict, Refused)
    assert (row.kind, row.tool) == (refused.verdict.kind, "adp_payments/issue_refund")
    assert [one.status for one in replay(log)] == ["same", "same"]


def test_an_opening_that_needs_a_person_is_asked_once_with_its_values(log: SqlDecisionLog) -> None:
    shop, says = Shop(), Says("emma")
    proposal = late_refund(spec={**TIER, "late": "values"})
    outcome = decide(shop.executor, log, proposal, approver=says)
    assert outcome.report.status == "completed"
    assert shop.refunds == [SENT]
    ((step, settled, refused),) = says.asked
    assert (step, refused.kind, refused.approvable) == (2, "approval_mode_mismatch", True)
    assert settled.plan.steps[-1].wire()["args"] == SENT
    assert outcome.run is not None
    openings = outcome.run.openings or ()
    assert [(one.step, one.verdict.ok) for one in openings[-2:]] == [(2, False), (2, True)]
    (given,) = openings[-1].approvals or ()
    assert (given.approver, given.plan_digest) == ("emma", digest(settled.plan))
    assert [one.status for one in replay(log)] == ["same", "same"]


@pytest.mark.parametrize("approver", [None, Says(None)], ids=["nobody", "a no"])
def test_without_a_yes_the_value_is_not_sent(approver: Says | None, log: SqlDecisionLog) -> None:
    shop = Shop()
    proposal = late_refund(spec={**TIER, "late": "values"})
    outcome = decide(shop.executor, log, proposal, approver=approver)
    assert outcome.report.refused_at == "open"
    assert shop.refunds == []
    assert [one.status for one in replay(log)] == ["same", "same"]


def test_an_approval_with_late_is_used_up_by_one_execution(log: SqlDecisionLog) -> None:
    shop = Shop()
    plain = late_refund(spec=TIER)
    late = approve(plain, "emma", late=True)
    proposal = plain.model_copy(update={"ctx": plain.ctx.model_copy(update={"approvals": (late,)})})
    assert decide(shop.executor, log, proposal).report.status == "completed"
    assert decide(shop.executor, log, proposal).report.refused_at == "verify"
    assert shop.refunds == [SENT]


def test_an_executor_that_does_not_open_steps_sends_nothing() -> None:
    def act(*_given: Any) -> Execution:
        raise AssertionError("nothing is executed")

    with pytest.raises(ExecutionFailed, match="does not open the steps of a late plan"):
        decide(Scripted(act))
    claims = Scripted(act)
    claims.opens_steps = False  # type: ignore[attr-defined] # it says so of itself
    with pytest.raises(ExecutionFailed, match="does not open the steps of a late plan"):
        decide(claims)


# --- executors that do what they should not -----------------------------------------------------


def failed(act: Callable[[Permit, Recorder], Any], log: Any, **ports: Any) -> DecisionRecord:
    with pytest.raises(ExecutionFailed) as caught:
        decide(Opens(act), log, **ports)
    return caught.value.outcome.record


def test_a_call_with_other_args_than_were_opened_ends_the_plan(log: SqlDecisionLog) -> None:
    async def act(permit: Permit, record: Recorder) -> None:
        await send(permit, record, 0, ORDER, args={"id": "ord_1"})
        await permit.step(1)

    record = failed(act, log)
    assert record.run is not None
    assert [one.step for one in record.run.openings or ()] == [0]
    assert record.report.refused_at == "score"
    assert "other args than its step was opened with" in record.report.rationale
    assert [one.status for one in replay(log)] == ["same", "same"]


def test_a_refund_with_another_amount_fails_policy(log: SqlDecisionLog) -> None:
    async def act(permit: Permit, record: Recorder) -> None:
        await send(permit, record, 0, ORDER)
        await send(permit, record, 1, WINDOW)
        await send(permit, record, 2, REFUNDED, args={**SENT, "amount_inr": 50000})

    outcome = decide(Opens(act), log)
    facts = facts_of_record(outcome.record, outcome.proposal.ctx, outcome.proposal.plan)
    assert facts & RecordFacts.RAN
    assert outcome.report.refused_at == "score"
    assert "call 2 of step 2 has other args than its step was opened with" in (
        outcome.report.rationale
    )
    assert [one.status for one in replay(log)] == ["same", "same"]


def test_a_call_of_a_step_that_was_not_opened_ends_the_plan(log: SqlDecisionLog) -> None:
    async def act(permit: Permit, record: Recorder) -> None:
        await send(permit, record, 0, ORDER)
        sent = late_refund().plan.steps[1]
        assert isinstance(sent, ToolStep)
        record(call_of(sent, 1, WINDOW))
        await permit.step(2)

    record = failed(act, log)
    assert record.report.refused_at == "score"
    assert "call 1 of step 1 is of a late plan, and was not opened" in record.report.rationale
    assert [one.status for one in replay(log)] == ["same", "same"]


@pytest.mark.parametrize("swallow", [False, True])
def test_a_call_after_a_refusal_fails_policy(swallow: bool, log: SqlDecisionLog) -> None:
    async def act(permit: Permit, record: Recorder) -> None:
        await send(permit, record, 0, {"payment": {}})
        await send(permit, record, 1, WINDOW)
        with pytest.raises(StepRefused) as caught:
            await permit.step(2)
        for step in (2, 3, 0):
            with pytest.raises(PermitError):
                await permit.step(step)
        if not swallow:
            raise caught.value
        sent = late_refund().plan.steps[2]
        assert isinstance(sent, ToolStep)
        record(call_of(sent, 2, REFUNDED, args=SENT))

    outcome = decide(Opens(act), log)
    assert outcome.report.refused_at == "open"
    assert outcome.report.score is not None
    assert outcome.report.score.ok is not swallow
    assert [one.status for one in replay(log)] == ["same", "same"]


def test_a_permit_of_a_step_is_for_one_attempt_and_not_for_later(log: SqlDecisionLog) -> None:
    kept: list[Any] = []

    async def act(permit: Permit, record: Recorder) -> None:
        with pytest.raises(PermitError, match="which has not ended"):
            await permit.step(2)  # its sources have not run
        first = await permit.step(0)
        with pytest.raises(PermitError, match="its last attempt has not ended"):
            await permit.step(0)
        sent = first.redeem()
        with pytest.raises(PermitError, match="used before"):
            first.redeem()
        record(call_of(sent, 0, None, status="failed", error="busy"))
        await send(permit, record, 0, ORDER, attempt=2)
        with pytest.raises(PermitError, match="never repeated"):
            await permit.step(0)
        for step in (-1, 7, True):
            with pytest.raises(PermitError):
                await permit.step(step)
        await send(permit, record, 1, WINDOW)
        await send(permit, record, 2, REFUNDED)
        kept.extend([permit, first])

    outcome = decide(Opens(act), log)
    assert outcome.report.status == "completed"
    assert outcome.run is not None
    assert [one.step for one in outcome.run.openings or ()] == [0, 1, 2]
    with pytest.raises(PermitError, match="the execution ended"):
        asyncio.run(kept[0].step(0))
    assert [one.status for one in replay(log)] == ["same", "same"]


def test_what_several_calls_returned_counts_together(
    log: SqlDecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening_desk, "MOST_RETURNED", 3000)

    async def act(permit: Permit, record: Recorder) -> None:
        for step, output in ((0, ORDER), (1, WINDOW)):
            await send(permit, record, step, {**output, "more": "x" * 2000})
        with pytest.raises(PermitError, match="over 3000 bytes"):
            await permit.step(2)

    outcome = decide(Opens(act), log)
    assert outcome.run is not None
    assert {call.step for call in outcome.run.calls} == {0, 1}


@pytest.mark.parametrize("fault", ["a call twice", "more than a record holds"])
def test_nothing_more_is_sent_after_what_no_permit_was_for_or_no_record_holds(
    fault: str, log: SqlDecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening_desk, "MOST_RETURNED", 3000)
    why = "more often than there were permits" if fault == "a call twice" else "over 3000 bytes"

    async def act(permit: Permit, record: Recorder) -> None:
        first = (await permit.step(0)).redeem()
        output = ORDER if fault == "a call twice" else {**ORDER, "more": "x" * 3000}
        for _ in range(2 if fault == "a call twice" else 1):
            record(call_of(first, 0, output))
        for step in (1, 2):
            with pytest.raises(PermitError, match=why):
                await permit.step(step)

    outcome = decide(Opens(act), log)
    assert outcome.run is not None
    assert [one.step for one in outcome.run.openings or ()] == [0]
    assert {call.step for call in outcome.run.calls} == {0}


def test_a_permit_that_was_kept_is_withdrawn_with_the_execution() -> None:
    kept: list[StepPermit] = []

    async def act(permit: Permit, record: Recorder) -> None:
        await send(permit, record, 0, ORDER)
        kept.append(await permit.step(1))

    decide(Opens(act))
    with pytest.raises(PermitError, match="used before"):
        kept[0].redeem()


def test_steps_are_opened_once_from_many_tasks() -> None:
    async def act(permit: Permit, record: Recorder) -> None:
        asked = await asyncio.gather(*(permit.step(0) for _ in range(5)), return_exceptions=True)
        assert [type(one) for one in asked] == [StepPermit, *[PermitError] * 4]
        assert isinstance(asked[0], StepPermit)
        record(call_of(asked[0].redeem(), 0, ORDER))

    outcome = decide(Opens(act))
    assert outcome.run is not None
    assert [one.step for one in outcome.run.openings or ()] == [0]


def test_an_executor_that_opens_nothing_has_failed() -> None:
    async def act(_permit: Permit, _record: Recorder) -> None:
        return None

    log = KeptLog()
    assert failed(act, log).run is None
    assert log.only.error == "the executor did not redeem its permit"


def test_the_permit_of_a_plain_plan_and_one_made_by_hand_open_nothing() -> None:
    permit = issue_permit(late_refund())
    with pytest.raises(PermitError, match="are not opened"):
        asyncio.run(permit.step(0))
    with pytest.raises(PermitError, match="made by hand"):
        StepPermit(object(), 0, ToolStep(adapter_id="a", capability_id="b"), lambda: None)
    sent = ToolStep(adapter_id="a", capability_id="b")
    assert issue_step_permit(0, sent, lambda: None).redeem() == sent


def test_an_approver_that_raises_ends_the_execution(log: SqlDecisionLog) -> None:
    class Broken:
        def approve(self, *_given: Any) -> str | None:
            raise OSError("nobody is there")

    shop = Shop()
    with pytest.raises(ExecutionFailed) as caught:
        decide(shop.executor, log, late_refund(spec={**TIER, "late": "values"}), approver=Broken())
    assert caught.value.outcome.report.refused_at == "open"
    assert shop.refunds == []


def test_a_clock_that_fails_lets_what_expires_expire() -> None:
    class Stops(Ticking):
        def now(self) -> Any:
            if self.asked > 1:
                raise OSError("no clock")
            return super().now()

    shop = Shop()
    outcome = decide(shop.executor, proposal=late_refund(), clock=Stops())
    assert outcome.report.refused_at == "open"
    assert shop.refunds == []


def test_a_listener_is_told_of_openings() -> None:
    told: list[LoopEvent] = []
    decide(Shop().executor, listener=told.append)
    kinds = [type(one.detail) for one in told if type(one.detail) in (StepOpened, CallStarted)]
    assert kinds == [StepOpened, CallStarted] * 3
    assert sum(type(one.detail) is CallEnded for one in told) == 3


# --- the record ---------------------------------------------------------------------------------


def recorded(log: SqlDecisionLog) -> Outcome:
    proposal = late_refund(spec={**TIER, "late": "values"})
    return decide(Shop().executor, log, proposal, approver=Says("emma"))


def _flip(one: Json) -> None:
    one["verdict"] = {"ok": True, "reasons": [f"step {one['step']} opened"], "caveats": []}


ALTERED: dict[str, tuple[Callable[[Json], Any], str]] = {
    "a refusal that passed": (lambda run: _flip(run["openings"][2]), "tampered"),
    "an opening that is gone": (lambda run: run["openings"].pop(1), "tampered"),
    "no openings": (lambda run: run.pop("openings"), "tampered"),
    "no approval": (lambda run: run["openings"][3].pop("approvals"), "tampered"),
    "another approver": (
        lambda run: run["openings"][3]["approvals"][0].update(plan_digest="0" * 64),
        "tampered",
    ),
    "another order": (lambda run: run["openings"].reverse(), "tampered"),
    "opened twice": (lambda run: run["openings"].append(run["openings"][3]), "tampered"),
    "another time": (
        lambda run: run["openings"][3].update(as_of="2027-01-01T00:00:00Z"),
        "tampered",
    ),
    "no time": (lambda run: run["openings"][3].pop("as_of"), "tampered"),
    "another output": (
        lambda run: run["calls"][0]["output"]["payment"].update(amount_inr=1),
        "tampered",
    ),
    "other args": (lambda run: run["calls"][2]["args"].update(amount_inr=1), "tampered"),
    "a call that is gone": (lambda run: run["calls"].pop(), "tampered"),
    "no calls": (lambda run: run["calls"].clear(), "incomplete"),
}


@pytest.mark.parametrize("case", ALTERED)
def test_what_was_altered_is_noticed_though_all_hashes_are_right(
    case: str, log: SqlDecisionLog, tmp_path: Path
) -> None:
    edit, status = ALTERED[case]
    recorded(log)
    forged(tmp_path / "log", 2, lambda document: edit(document["run"]))
    answers = list(replay(log))
    assert answers[1].status in ("tampered", status), answers[1]
    if status == "incomplete":
        assert any("of which there are" in reason for reason in answers[1].reasons)


def test_a_transcript_of_an_opened_run_is_played_back_with_its_openings(
    log: SqlDecisionLog,
) -> None:
    ran = decide(Shop().executor).run
    assert ran is not None
    outcome = decide(TranscriptExecutor(ran), log, ran.proposal)
    assert outcome.report.status == "completed"
    assert outcome.run == ran
    wire = ran.wire()
    wire["calls"][0]["output"]["payment"]["amount_inr"] = 50001
    lied = build(Run, wire)
    outcome = decide(TranscriptExecutor(lied), log, lied.proposal)
    assert outcome.report.refused_at == "open"
    assert outcome.run is not None
    refused = refused_opening(outcome.run.openings)
    assert refused is not None
    assert refused.step == 2
    assert [one.status for one in replay(log)] == ["same", "same"]


def test_a_score_believes_no_opening_that_does_not_follow() -> None:
    ran = decide(Shop({"payment": {"id": "pay_8861", "amount_inr": 50001}}).executor).run
    assert ran is not None
    wire = ran.wire()
    _flip(wire["openings"][-1])
    sent = {**SENT, "amount_inr": 50001}
    named = {"adapter_id": "adp_payments", "capability_id": "issue_refund"}
    wire["calls"].append({"step": 2, **named, "args": sent, "status": "completed"})
    verdict = score(build(Run, wire))
    assert not verdict.ok
    (found,) = verdict.scorecard.scores.policy.findings
    assert found.message == "call 2 of step 2 is of a late plan, and was not opened"


def test_nothing_counts_as_opened_after_a_refusal() -> None:
    read = late_refund().plan.steps[0].wire()
    proposal = late_refund({**read, "id": "again"})
    shop = Shop({"payment": {"id": "pay_8861", "amount_inr": 50001}})
    ran = decide(shop.executor, proposal=proposal).run
    assert ran is not None
    wire = ran.wire()
    wire["openings"].append({**wire["openings"][2], "step": 3})
    _flip(wire["openings"][3])
    named = {"adapter_id": "adp_orders", "capability_id": "lookup"}
    wire["calls"].append({"step": 3, **named, "args": read["args"], "status": "completed"})
    (found,) = score(build(Run, wire)).scorecard.scores.policy.findings
    assert found.message == "call 2 of step 3 is of a late plan, and was not opened"


def test_openings_of_a_plain_plan_fail_policy() -> None:
    ran = decide(Shop().executor).run
    assert ran is not None
    wire = ran.wire()
    for step in wire["proposal"]["plan"]["steps"]:
        step.pop("takes", None)
        step.pop("evidence_steps", None)
    verdict = score(build(Run, wire))
    assert verdict.scorecard.scores.policy.score == 0


def test_two_refunds_through_two_takes_are_a_repeat() -> None:
    second = pay_step(id="again", takes=[{"arg": "/amount_inr", "step": "window", "at": "/amount"}])
    shop = Shop(window={**WINDOW, "amount": 24500})
    outcome = decide(shop.executor, proposal=late_refund(second))
    assert outcome.report.refused_at == "open"
    assert "opening of step 3 failed" in outcome.report.rationale
    assert shop.refunds == [SENT]


def test_a_record_shows_conditions_and_openings_beside_their_steps(
    log: SqlDecisionLog, tmp_path: Path, critic: Critic
) -> None:
    recorded(log)
    shown = critic("log", "show", tmp_path / "log", "2", "--format", "text").out
    assert "takes /amount_inr from step look: /payment/amount_inr" in shown
    assert "condition value at /takes/0: step 2: step look completes" in shown
    assert re.search(r"not opened after 2 calls, as of 2026-05-09T\S+: approval_mode_mism", shown)
    assert re.search(r" opened after 2 calls, as of 2026-05-09T\S+, approved by emma", shown)
    assert "amount_inr taken: 24500" in shown
    (record,) = [one for one in log.records() if one.run is not None]
    steps: list[Json] = [{}, {}, {}]
    place_late_facts({"plan": {"steps": steps}}, record, late_refund().plan.steps)
    assert [one["ok"] for one in steps[2]["openings"]] == [False, True]
    assert steps[2]["openings"][1]["by"] == ["emma"]
    assert steps[2]["takes"] == ["/amount_inr: /payment/amount_inr of look"]
    assert any("one value for" in one for one in steps[2]["conditions"])
