"""The permit: good for exactly the bytes that were verified, once, and for nothing else."""

import asyncio
import copy
import math
import pickle
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from critic import Plan, Proposal, ToolCall, digest
from harness.record.inputs import HeldInputs
from harness.runtime.executors import CallableExecutor, TranscriptExecutor
from harness.runtime.permit import Permit, issue_permit
from harness.single_use import PermitError
from tests.support.examples import good_proposal, good_run, proposal_of, refused_proposal, run_of

LOOKUP, REFUND = ("adp_orders", "lookup"), ("adp_payments", "issue_refund")


class Spy:
    """A table of tools that remembers what was called, and a recorder that remembers what ended."""

    def __init__(self) -> None:
        self.called: list[dict[str, Any]] = []
        self.recorded: list[ToolCall] = []
        self.executor = CallableExecutor({LOOKUP: self.tool, REFUND: self.tool})

    def tool(self, **args: Any) -> None:
        self.called.append(args)

    def execute(self, permit: Any, proposal: Proposal) -> None:
        asyncio.run(self.executor.execute(permit, proposal, self.recorded.append))

    def refuses(self, permit: Any, proposal: Proposal) -> None:
        with pytest.raises(PermitError):
            self.execute(permit, proposal)
        assert (self.called, self.recorded) == ([], [])


def good() -> Proposal:
    return proposal_of(good_proposal())


def other() -> Proposal:
    wire = good_proposal()
    wire["plan"]["steps"][0]["args"]["id"] = "ord_882"
    return proposal_of(wire)


def test_a_permit_gives_the_plan_that_was_verified() -> None:
    proposal = good()
    permit = issue_permit(proposal)
    assert permit.digest == digest(proposal)
    plan = permit.redeem(proposal)
    assert plan == proposal.plan
    assert plan is not proposal.plan


def test_an_equal_proposal_is_the_same_proposal() -> None:
    spy = Spy()
    spy.execute(issue_permit(good()), good())
    assert [len(args) for args in spy.called] == [1, 2]


def test_nothing_that_is_changed_later_reaches_the_plan() -> None:
    proposal = good()
    plan = issue_permit(proposal).redeem(proposal)
    proposal.plan.steps[1].args["amount_inr"] = 1  # type: ignore[union-attr] # it is a tool step
    assert plan == good().plan


def test_a_late_plan_is_never_redeemed_whole() -> None:
    """An executor that does not open steps sends nothing, not even what is early in the plan."""
    wire = good_proposal()
    wire["spec"]["late"] = "sources"
    wire["plan"]["steps"][1]["evidence_steps"] = [wire["plan"]["steps"][0]["id"]]
    proposal, spy = proposal_of(wire), Spy()
    permit = issue_permit(proposal)
    spy.refuses(permit, proposal)
    assert not permit.redeemed


def test_a_permit_works_once() -> None:
    spy, permit = Spy(), issue_permit(good())
    permit.redeem(good())
    with pytest.raises(PermitError, match="used before: a plan runs once per verdict"):
        permit.redeem(good())
    spy.refuses(permit, good())


def test_a_failed_redemption_uses_the_permit_up() -> None:
    permit = issue_permit(good())
    with pytest.raises(PermitError, match=r"not the one that was verified \(digest differs\)"):
        permit.redeem(other())
    Spy().refuses(permit, good())
    assert not permit.redeemed


def test_a_withdrawn_permit_cannot_be_redeemed() -> None:
    permit = issue_permit(good())
    permit.withdraw()
    Spy().refuses(permit, good())
    assert not permit.redeemed


def test_a_permit_says_that_it_was_redeemed() -> None:
    permit = issue_permit(good())
    assert not permit.redeemed
    permit.redeem(good())
    permit.withdraw()
    assert permit.redeemed


@pytest.mark.parametrize("threads", [2, 64])
def test_of_many_threads_exactly_one_redeems_a_permit(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The digest of a large proposal takes long: time enough for every thread to ask.
    permits = [issue_permit(good()) for _ in range(10)]
    monkeypatch.setattr("harness.runtime.permit.digest", _slow_digest)

    def redeem_all(together: threading.Barrier, plans: list[Plan]) -> None:
        for permit in permits:
            together.wait()
            with suppress(PermitError):
                plans.append(permit.redeem(good()))

    together, plans = threading.Barrier(threads), list[Plan]()
    workers = [threading.Thread(target=redeem_all, args=(together, plans)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert plans == [good().plan] * len(permits)


def _slow_digest(proposal: Proposal) -> str:
    time.sleep(0.01)
    return digest(proposal)


def test_a_permit_for_another_proposal_is_refused() -> None:
    Spy().refuses(issue_permit(good()), other())
    Spy().refuses(issue_permit(other()), good())


# Each of the four inputs is covered, down to what may be lowered or raised later.
CHANGES: dict[str, Callable[[Any], object]] = {
    "safety_mode": lambda wire: wire["ctx"].update(safety_mode="delegated"),
    "as_of": lambda wire: wire["ctx"].update(as_of="2026-05-09T09:45:01Z"),
    "trace": lambda wire: (wire["ctx"].update(trace_id="t"), wire["plan"].update(trace_id="t")),
    "tier": lambda wire: wire["compiled"]["manifests"]["tool_manifest"][0].update(
        approval_mode="local_write"
    ),
    "evidence": lambda wire: wire["compiled"]["manifests"]["evidence_manifest"][1].update(
        content={"id": "pay_8861", "amount_inr": 24500}
    ),
    "spec": lambda wire: wire["spec"].update(required_outputs=["refund_amount_inr"]),
    "args": lambda wire: wire["plan"]["steps"][0]["args"].update(id="ord_882"),
    "order": lambda wire: wire["plan"]["steps"].reverse(),
}


@pytest.mark.parametrize("what", CHANGES)
def test_any_change_needs_a_permit_of_its_own(what: str) -> None:
    wire = good_proposal()
    CHANGES[what](wire)
    Spy().refuses(issue_permit(good()), proposal_of(wire))


def _lower_mode(proposal: Proposal) -> None:
    object.__setattr__(proposal.ctx, "safety_mode", "read_only")


def _other_plan(proposal: Proposal) -> None:
    object.__setattr__(proposal, "plan", other().plan)


def _no_steps(proposal: Proposal) -> None:
    proposal.plan.__dict__["steps"] = ()


def _tier(proposal: Proposal) -> None:
    tool = proposal.compiled.manifests.tool_manifest[0]
    object.__setattr__(tool, "approval_mode", "destructive")


def _args(key: Any, value: Any) -> Callable[[Proposal], None]:
    def change(proposal: Proposal) -> None:
        args: Any = proposal.plan.steps[1].args  # type: ignore[union-attr] # it is a tool step
        args[key] = value

    return change


IN_PLACE: dict[str, Callable[[Proposal], None]] = {
    "args": _args("amount_inr", 1),
    "args_of_another_type": _args("amount_inr", True),
    "more_args": _args("note", "x"),
    "args_not_finite": _args("amount_inr", math.nan),
    "args_no_json": _args("amount_inr", object()),
    "args_surrogate": _args("amount_inr", "\ud800"),
    "args_no_key": _args(5, 1),
    "mode": _lower_mode,
    "plan": _other_plan,
    "steps": _no_steps,
    "tier": _tier,
}


@pytest.mark.parametrize("what", IN_PLACE)
def test_a_proposal_changed_in_place_after_its_verdict(what: str) -> None:
    proposal = good()
    permit = issue_permit(proposal)
    IN_PLACE[what](proposal)
    Spy().refuses(permit, proposal)
    recorded: list[ToolCall] = []
    with pytest.raises(PermitError):
        TranscriptExecutor(run_of(good_run())).execute(permit, proposal, recorded.append)
    assert recorded == []


# --- permits that the loop did not issue ------------------------------------------------------


@pytest.mark.parametrize("issuer", [None, object(), "loop", Permit, True])
def test_a_permit_made_by_hand_is_refused(issuer: object) -> None:
    with pytest.raises(PermitError, match="issued by the canonical loop, not made by hand"):
        Permit(issuer, HeldInputs.of(good()))


def test_a_permit_for_a_plan_that_verify_refuses() -> None:
    with pytest.raises(PermitError):
        issue_permit(proposal_of(refused_proposal()))


class AnyPermit:
    """Looks like a permit, and lets everything pass."""

    digest = "0" * 64

    def redeem(self, proposal: Proposal) -> Any:
        return proposal.plan


class SlyPermit(Permit):
    """A permit that lets everything pass, made past its own constructor."""

    def redeem(self, proposal: Proposal) -> Any:
        return proposal.plan


FORGED: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "namespace": lambda: SimpleNamespace(redeem=lambda proposal: proposal.plan),
    "look-alike": AnyPermit,
    "subclass": lambda: SlyPermit.__new__(SlyPermit),
    "never made": lambda: Permit.__new__(Permit),
}


@pytest.mark.parametrize("how", FORGED)
def test_what_only_looks_like_a_permit_executes_nothing(how: str) -> None:
    Spy().refuses(FORGED[how](), good())
    recorded: list[ToolCall] = []
    with pytest.raises(PermitError):
        TranscriptExecutor(run_of(good_run())).execute(FORGED[how](), good(), recorded.append)
    assert recorded == []


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))],  # noqa: S301
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_of_a_permit_is_not_a_second_permit(copied: Callable[[Permit], Permit]) -> None:
    permit = issue_permit(good())
    try:
        twin = copied(permit)
    except (TypeError, PermitError):
        return
    permit.redeem(good())
    Spy().refuses(twin, good())
