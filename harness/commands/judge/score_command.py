"""`critic score`: judge finished Runs."""

import argparse
from contextlib import suppress
from typing import Final

from critic import Refused, Run, ScoreVerdict, score, verify_proposal
from evals.escaping import escape_line
from harness.commands.documents import size_limit
from harness.commands.formats.judgement import AnyVerdict, Judged
from harness.commands.judge.judging import judge_all
from harness.commands.policy.policy_command import load_policy
from harness.policy.partial_documents import completed_run
from harness.wire import InvalidInput, build, parse, parse_json

_A_PROPOSAL: Final = "this is a Proposal, and score needs a Run: `critic verify` judges it"


def run(args: argparse.Namespace) -> int:
    """Judge every Run in the files. Exit status as documented by `critic --help`."""
    limit = size_limit(args)
    policy = None if args.policy is None else load_policy(args.policy, limit).policy

    def judge(data: bytes) -> Judged:
        try:
            if policy is None:
                return _judge_run(parse(Run, data, limit))
            return _judge_run(build(Run, completed_run(policy, parse_json(data, limit))))
        except InvalidInput:
            if not _is_proposal(data, limit):
                raise
            raise InvalidInput("", _A_PROPOSAL) from None

    return judge_all(args, judge, _describe_score)


def _is_proposal(data: bytes, limit: int) -> bool:
    """Return whether a document is a plan that has not run."""
    with suppress(InvalidInput):
        value = parse_json(data, limit)
        return isinstance(value, dict) and "plan" in value and "calls" not in value
    return False


def _judge_run(run: Run) -> Judged:
    return Judged(score(run), run.trace_id, note=_refused_plan(run))


def _refused_plan(run: Run) -> str:
    """Return a note if `verify` refuses the plan of the run, which `score` does not judge."""
    verdict = verify_proposal(run.proposal)
    if not isinstance(verdict, Refused):
        return ""
    reason = escape_line("; ".join(verdict.reasons))
    return f"verify refuses the plan of this run: {verdict.kind}: {reason}"


def _describe_score(verdict: AnyVerdict) -> str:
    """Describe a verdict for a person: one line for each evaluator, its findings below it."""
    if not isinstance(verdict, ScoreVerdict):
        raise TypeError(f"not a verdict of score: {type(verdict).__name__}")
    lines = ["ok" if verdict.ok else "refused"]
    for name, scored in verdict.scorecard.scores:
        lines.append(f"  {name:<8}{scored.status:<5}{scored.score:.2f}")
        lines.extend(
            f"    {finding.severity}: {escape_line(finding.message)}" for finding in scored.findings
        )
    return "\n".join(lines)
