"""`critic run`: take recorded runs through the whole pipeline into a decision log."""

import argparse
import asyncio
import sys
from contextlib import ExitStack

from critic import CriticReport
from harness.commands.documents import documents, size_limit
from harness.commands.exit_status import EXIT_INVALID, EXIT_REFUSED
from harness.commands.judge.pipeline import (
    clock_of,
    report_line,
    take_decision,
    transcript_or_proposal,
)
from harness.commands.policy.policy_command import load_policy
from harness.log.sql import SqlDecisionLog
from harness.wire import InvalidInput


def run(args: argparse.Namespace) -> int:
    """Record one decision per document. Exit status as documented by `critic --help`."""
    return asyncio.run(_record_all(args))


async def _record_all(args: argparse.Namespace) -> int:
    clock, status, limit = clock_of(args.decided_at), 0, size_limit(args)
    policy = None if args.policy is None else load_policy(args.policy, limit).policy
    log: SqlDecisionLog | None = None
    with ExitStack() as stack:
        for document in documents(args):
            try:
                content = document.parse_with(
                    lambda data: transcript_or_proposal(data, limit, policy)
                )
            except InvalidInput as error:
                sys.stdout.flush()
                sys.stderr.write(f"{document.source}: invalid input: {error}\n")
                status = EXIT_INVALID
                continue
            # Opened for the first decision only: without one, no empty log is left behind.
            log = log or stack.enter_context(SqlDecisionLog.open(args.log))
            outcome = await take_decision(content, clock, log)
            seq, report = outcome.record.seq, outcome.report
            sys.stdout.write(f"{document.source}: record {seq}: {report_line(report)}\n")
            status = max(status, _exit_status(report))
    return status


def _exit_status(report: CriticReport) -> int:
    return EXIT_REFUSED if report.status == "refused_by_critic" else 0
