"""`critic demo`: refunds that are refused, run, and planned late; all recorded and replayed."""

import argparse
import asyncio
import sys
from pathlib import Path

from critic import Proposal, Refused, Run, ToolStep, Verified
from evals.run import refused_opening
from evals.timestamps import parse_time
from harness.clock import FixedClock
from harness.commands.demo.shop_files import write_shop
from harness.commands.judge.pipeline import example, take_decision
from harness.errors import escape_text
from harness.log.passwords import without_passwords
from harness.log.sql import SqlDecisionLog
from harness.replay.engine import replay
from harness.runtime.canonical_loop import Outcome
from harness.wire import parse

# The example is dated: its evidence is fresh on this day.
_DECIDED_AT = parse_time("2026-05-09T09:35:00Z")


def run(args: argparse.Namespace) -> int:
    """Print each step as it happens. Return 0 if every step went as expected, else 1."""
    if args.shop is not None:
        return write_shop(Path(args.shop))
    shown = escape_text(without_passwords(args.log))
    with SqlDecisionLog.open(args.log) as log:
        _say("A customer asks for a refund of 24,500 rupees. Two plans are proposed for it.\n\n")
        outcomes = asyncio.run(_decide(log))
        first, paid, *_, last = (outcome.record.seq for outcome in outcomes)
        _say(f"5. The record: decisions {first} to {last} are in {shown}, ")
        _say("each chained to the one before.\n\n")
    with SqlDecisionLog.open(args.log, create=False) as log:
        results = list(replay(log))
    same = sum(result.status == "same" for result in results)
    _say("6. Replay: every verdict was derived again from the record alone, without any tool.\n")
    _say(f"   {same} of {len(results)} records are the same, byte for byte.\n\n")
    _say(f"Look at it yourself:  critic log show {shown} {paid}\n")
    _say(f"                      critic replay {shown}\n")
    refused, done = "refused_by_critic", "completed"
    statuses = [outcome.report.status for outcome in outcomes]
    went_well = statuses == [refused, done, refused, done, refused]
    return 0 if went_well and same == len(results) else 1


async def _decide(log: SqlDecisionLog) -> list[Outcome]:
    clock = FixedClock(_DECIDED_AT)
    plan_a, plan_c = (parse(Proposal, example(f"plan_{name}.json")) for name in "ac")
    transcript = parse(Run, example("plan_b_run.json"))
    _print_plan("1. Plan A pins no evidence.", plan_a)
    unbacked = await take_decision(plan_a, clock, log)
    _print_refusal(unbacked)
    _print_plan("2. Plan B pins the order, and its refund window.", transcript.proposal)
    completed = await take_decision(transcript, clock, log)
    _say(f"   verify: ok, {'; '.join(completed.report.verify.reasons)}\n")
    _print_run(completed)
    _say("A second customer asks for a refund of order 882. Its refund window is closed.\n\n")
    _print_plan("3. Plan C pins the window and the amount of order 881 instead.", plan_c)
    other_order = await take_decision(plan_c, clock, log)
    _print_refusal(other_order)
    return [unbacked, completed, other_order, *await _decide_late(clock, log)]


async def _decide_late(clock: FixedClock, log: SqlDecisionLog) -> list[Outcome]:
    """Open the same plan twice: what its lookups return decides what is sent."""
    transcript = parse(Run, example("plan_d_run.json"))
    title = "4. Plan D looks both up itself. Nobody has the amount yet: the refund takes it."
    _print_plan(title, transcript.proposal)
    opened = await take_decision(transcript, clock, log)
    verify = opened.report.verify
    _say(f"   verify: ok, {'; '.join(verify.reasons)}\n")
    if isinstance(verify, Verified):
        kinds = dict.fromkeys(one.kind for one in verify.conditions or ())
        _say(f"   left to the opening of step 2, which has its values: {', '.join(kinds)}\n")
    _print_run(opened)
    _say("The same plan is opened once more. By now the refund window has closed.\n\n")
    closed = await take_decision(_with_closed_window(transcript), clock, log)
    _print_run(closed)
    return [opened, closed]


def _with_closed_window(transcript: Run) -> Run:
    """Return the calls before the refund, as they end once its window has closed."""
    look, window, _ = transcript.calls
    now = window.model_copy(update={"output": {"payment_id": "pay_8861", "window_open": False}})
    return transcript.model_copy(update={"calls": (look, now), "outputs": {}})


def _print_plan(title: str, proposal: Proposal) -> None:
    _say(f"{title}\n")
    for index, step in enumerate(proposal.plan.steps):
        if not isinstance(step, ToolStep):
            continue
        taken = [f"{one.arg} taken from {one.step}{one.at}" for one in step.takes or ()]
        pinned = [*(step.evidence_refs or ()), *(step.evidence_steps or ())]
        told = [*taken, f"evidence pinned: {', '.join(pinned) or 'none'}"]
        _say(f"   step {index}: {step.adapter_id}.{step.capability_id}, {', '.join(told)}\n")


def _print_refusal(outcome: Outcome) -> None:
    _say("   verify: REFUSED before anything ran\n")
    verdict = outcome.report.verify
    if isinstance(verdict, Refused):
        for violation in verdict.violations:
            _say(f"   {violation.kind}: {violation.reason}\n")
    _say("\n")


def _print_run(outcome: Outcome) -> None:
    if outcome.run is None or outcome.report.score is None:
        return
    refused = refused_opening(outcome.run.openings)
    for call in outcome.run.calls:
        _say(f"   executed: {call.adapter_id}.{call.capability_id}: {call.status}\n")
    if refused is not None:
        _say(f"   opening of step {refused.step}: REFUSED before it ran\n")
    scores = outcome.report.score.scorecard.scores
    line = "  ".join(f"{name} {verdict.score:.2f} {verdict.status}" for name, verdict in scores)
    _say(f"   score: {line}\n   report: {outcome.report.status}: {outcome.report.rationale}\n\n")


def _say(text: str) -> None:
    sys.stdout.write(text)
