"""Run recorded documents through the canonical loop into a log, for `run` and `demo`."""

from pathlib import Path
from typing import Any

from critic import CriticReport, Proposal, Run
from evals.timestamps import parse_time
from harness.clock import FixedClock, SystemClock
from harness.errors import UsageError
from harness.log.sql import SqlDecisionLog
from harness.policy import Policy
from harness.policy.partial_documents import completed_proposal, completed_run
from harness.runtime.canonical_loop import Outcome, run_canonical_loop
from harness.runtime.executors import TranscriptExecutor, foreign_transcript
from harness.runtime.planners import FixedPlanner
from harness.runtime.ports import Clock
from harness.wire import InvalidInput, build, parse_json


def clock_of(decided_at: str | None) -> Clock:
    """Return the clock for records: that of this machine, or one fixed at `decided_at`.

    Raises:
        UsageError: `decided_at` is not an RFC 3339 time.
    """
    if decided_at is None:
        return SystemClock()
    try:
        return FixedClock(parse_time(decided_at))
    except ValueError as error:
        raise UsageError(f"--decided-at: {error}") from None


def transcript_or_proposal(
    data: bytes, max_bytes: int, policy: Policy | None = None
) -> Run | Proposal:
    """Parse a Run if the document has a `proposal`, else a Proposal.

    Args:
        policy: the source of missing parts of the proposal.

    Raises:
        InvalidInput: it is neither, or the ids of a Run differ from those of its proposal.
    """
    value: Any = parse_json(data, max_bytes)
    if not isinstance(value, dict) or "proposal" not in value:
        return build(Proposal, value if policy is None else completed_proposal(policy, value))
    run = build(Run, value if policy is None else completed_run(policy, value))
    if foreign := foreign_transcript(run):
        path, problem = foreign
        raise InvalidInput(path, f"{problem}: record it with the proposal that it ran")
    return run


async def take_decision(document: Run | Proposal, clock: Clock, log: SqlDecisionLog) -> Outcome:
    """Run one turn of the loop. A Proposal alone is verified and recorded, not executed."""
    proposal = document.proposal if isinstance(document, Run) else document
    return await run_canonical_loop(
        ctx=proposal.ctx,
        compiled=proposal.compiled,
        spec=proposal.spec,
        planner=FixedPlanner(proposal.plan),
        executor=TranscriptExecutor(document) if isinstance(document, Run) else None,
        clock=clock,
        log=log,
        intent=document.intent if isinstance(document, Run) else None,
    )


def report_line(report: CriticReport) -> str:
    """Return the status and the rationale of the report on one line."""
    return f"{report.status}: {report.rationale}"


def example(name: str) -> bytes:
    """Return a document of the refund example, as installed or from the checkout.

    Raises:
        UsageError: the example is in neither place.
    """
    return example_folder("_refund", "refund").joinpath(name).read_bytes()


def example_folder(installed: str, checked_out: str) -> Path:
    """Return the folder of an example, in the package or below `fixtures/` of the checkout.

    Raises:
        UsageError: the example is in neither place.
    """
    package = Path(__file__).resolve().parents[2]
    for folder in (package / installed, package.parent / "fixtures" / checked_out):
        if folder.is_dir():
            return folder
    raise UsageError(f"the example {installed[1:]} is not installed: install plan-critic again")
