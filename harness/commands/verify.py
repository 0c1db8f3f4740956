"""`critic verify`: judge Proposals."""

import argparse

from critic import Proposal, Refused, Verified, Violation, verify
from harness.commands.judging import AnyVerdict, judge_all


def run(args: argparse.Namespace) -> int:
    """Judge every Proposal in the files. Exit status as documented by `critic --help`."""
    return judge_all(args, Proposal, _judge, describe_verdict)


def _judge(proposal: Proposal) -> Verified | Refused:
    return verify(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)


def describe_verdict(verdict: AnyVerdict) -> str:
    """The verdict for a person: the first line decides, the lines under it explain."""
    match verdict:
        case Verified():
            notes = [f"\n  caveat: {caveat}" for caveat in verdict.caveats]
            return f"ok: {'; '.join(verdict.reasons)}" + "".join(notes)
        case Refused():
            head = f"refused: {verdict.kind}: {'; '.join(verdict.reasons)}"
            return head + "".join(map(_further, verdict.violations[1:]))
        case _:
            raise TypeError(f"no verdict of verify: {type(verdict).__name__}")


def _further(violation: Violation) -> str:
    return f"\n  also {violation.kind}: {violation.reason}"
