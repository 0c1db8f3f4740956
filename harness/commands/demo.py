"""`critic demo`: one refund refused, one refund run; both recorded, both replayed."""

import argparse
import asyncio
import sys

from critic import Proposal, Run, ToolStep
from evals.timestamps import parse_time
from harness.clock import FixedClock
from harness.commands.pipeline import example, take_decision
from harness.errors import escape_text
from harness.log.sql import SqlDecisionLog
from harness.replay.engine import replay
from harness.runtime.loop import Outcome
from harness.wire import parse

# The example is dated: its evidence is fresh on this day.
_DECIDED_AT = parse_time("2026-05-09T09:35:00Z")


def run(args: argparse.Namespace) -> int:
    """Print each step as it happens. Return 0 if every step went as expected, else 1."""
    _say("A customer asks for a refund of 24,500 rupees. Two plans are proposed for it.\n")
    with SqlDecisionLog.open(args.log) as log:
        refused, completed = asyncio.run(_decide(log))
        _say(f"3. The record: decisions {refused.record.seq} and {completed.record.seq} ")
        _say(f"are in {escape_text(args.log)}, each chained to the one before.\n\n")
    with SqlDecisionLog.open(args.log, create=False) as log:
        results = list(replay(log))
    same = sum(result.status == "same" for result in results)
    _say("4. Replay: every verdict was derived again from the record alone, without any tool.\n")
    _say(f"   {same} of {len(results)} records are the same, byte for byte.\n\n")
    _say(f"Look at it yourself:  critic log show {escape_text(args.log)} {completed.record.seq}\n")
    _say(f"                      critic replay {escape_text(args.log)}\n")
    went_well = (refused.report.status, completed.report.status) == (
        "refused_by_critic",
        "completed",
    )
    return 0 if went_well and same == len(results) else 1


async def _decide(log: SqlDecisionLog) -> tuple[Outcome, Outcome]:
    clock = FixedClock(_DECIDED_AT)
    plan_a = parse(Proposal, example("plan_a.json"))
    transcript = parse(Run, example("plan_b_run.json"))
    _print_plan("1. Plan A", plan_a)
    refused = await take_decision(plan_a, clock, log)
    _say(f"   verify: REFUSED before anything ran\n   {refused.report.rationale}\n\n")
    _print_plan("2. Plan B", transcript.proposal)
    completed = await take_decision(transcript, clock, log)
    _say(f"   verify: ok, {'; '.join(completed.report.verify.reasons)}\n")
    _print_run(completed)
    return refused, completed


def _print_plan(title: str, proposal: Proposal) -> None:
    _say(f"{title}\n")
    for index, step in enumerate(proposal.plan.steps):
        if not isinstance(step, ToolStep):
            continue
        pinned = ", ".join(step.evidence_refs or ()) or "none"
        _say(
            f"   step {index}: {step.adapter_id}.{step.capability_id}, evidence pinned: {pinned}\n"
        )


def _print_run(outcome: Outcome) -> None:
    if outcome.run is None or outcome.report.score is None:
        return
    for call in outcome.run.calls:
        _say(f"   executed: {call.adapter_id}.{call.capability_id}: {call.status}\n")
    scores = outcome.report.score.scorecard.scores
    line = "  ".join(f"{name} {verdict.score:.2f} {verdict.status}" for name, verdict in scores)
    _say(f"   score: {line}\n   report: {outcome.report.status}: {outcome.report.rationale}\n\n")


def _say(text: str) -> None:
    sys.stdout.write(text)
