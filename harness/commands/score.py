"""`critic score`: judge finished Runs."""

import argparse

from critic import Run, ScoreVerdict, score
from evals.escaping import escape_line
from harness.commands.judging import AnyVerdict, judge_all


def run(args: argparse.Namespace) -> int:
    """Judge every Run in the files. Exit status as documented by `critic --help`."""
    return judge_all(args, Run, score, describe_score)


def describe_score(verdict: AnyVerdict) -> str:
    """The verdict for a person: one line per evaluator, its findings under it."""
    if not isinstance(verdict, ScoreVerdict):
        raise TypeError(f"no verdict of score: {type(verdict).__name__}")
    lines = ["ok" if verdict.ok else "refused"]
    for name, judged in verdict.scorecard.scores:
        lines.append(f"  {name:<8}{judged.status:<5}{judged.score:.2f}")
        lines.extend(
            f"    {found.severity}: {escape_line(found.message)}" for found in judged.findings
        )
    return "\n".join(lines)
