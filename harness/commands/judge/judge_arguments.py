"""The parsers of `critic verify`, `critic score` and `critic run`. Nothing heavy is imported."""

import argparse

from harness.commands.arguments import Commands, add_command, positive_number


def _add_inputs(parser: argparse.ArgumentParser, envelope: str) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help=f"{envelope} as JSON; - is standard input"
    )
    parser.add_argument(
        "--lines", action="store_true", help="read JSON Lines (the default for files named .jsonl)"
    )
    parser.add_argument(
        "--max-bytes",
        type=positive_number,
        metavar="N",
        help="refuse documents of more bytes without reading them (default: 33554432, 32 MiB)",
    )


def add_score(commands: Commands) -> None:
    """Add `critic score`."""
    _add_judge(commands, "score", "Run")


def _add_judge(commands: Commands, name: str, envelope: str) -> argparse.ArgumentParser:
    judge = add_command(commands, name)
    _add_inputs(judge, envelope)
    _add_policy_option(judge)
    judge.add_argument(
        "--format",
        choices=("text", "json", "junit", "sarif", "github"),
        help="text; one JSON verdict a line with file, line and trace_id; JUnit XML; SARIF; or "
        "annotations for GitHub Actions (default: json for JSON Lines, else text)",
    )
    return judge


def _add_policy_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help="the policy, for parts that the documents leave out: compiled, spec, safety mode, "
        "budget",
    )


def add_verify(commands: Commands) -> None:
    """Add `critic verify`."""
    verify = _add_judge(commands, "verify", "Proposal or Plan")
    verify.add_argument("--advise", action="store_true", help="say how to fix each refused plan")
    parts = verify.add_argument_group(
        "parts",
        "Give all three, or --against, or --policy and --context, to judge Plans and not "
        "Proposals. They are read once.",
    )
    parts.add_argument(
        "--against", metavar="FILE", help="all three as one object: ctx, compiled and spec"
    )
    parts.add_argument("--context", metavar="FILE", help="the RunContext")
    parts.add_argument("--compiled", metavar="FILE", help="the CompiledContext: tools, evidence")
    parts.add_argument("--spec", metavar="FILE", help="the DecisionSpec")


def add_run(commands: Commands) -> None:
    """Add `critic run`."""
    run = add_command(commands, "run")
    _add_inputs(run, "Run (a Proposal with its transcript), or Proposal (a dry run),")
    _add_policy_option(run)
    run.add_argument("--log", required=True, help="decision log to append to, made if missing")
    run.add_argument("--decided-at", metavar="TIME", help="RFC 3339 time to record (default: now)")
