"""`critic shell explain`: the steps of a command line, which is read and not run."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from critic.command.command_table import CommandTable
from critic.command.steps import CommandSteps, ShellStep, read_steps
from evals.escaping import escape_line, escape_name
from harness.canonical import ascii_json
from harness.commands.exit_status import EXIT_OK, EXIT_REFUSED
from harness.commands.policy.policy_command import load_policy
from harness.errors import UsageError
from harness.integrations.hooks.shell_world import answer_needs, ask_first_facts
from harness.policy.shell_settings import shipped_table


def run(args: argparse.Namespace) -> int:
    """Print the steps of a command line; return whether it was understood, as exit status."""
    folder = Path(args.cwd)
    if not folder.is_dir():
        raise UsageError(f"--cwd {escape_name(args.cwd)}: there is no such folder")
    table = _find_table(args.policy)
    facts = ask_first_facts(folder, args.shell)
    read = read_steps(args.line, facts, table)
    if read.needs:
        read = read_steps(args.line, answer_needs(facts, read.needs), table)
    if args.format == "json":
        sys.stdout.write(f"{ascii_json(_document_of(read))}\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines_of(read)))
    return EXIT_OK if read.is_understood else EXIT_REFUSED


def _find_table(policy: str | None) -> CommandTable:
    """Return the table of a policy, or the one that is shipped.

    Raises:
        UsageError: the policy is not valid, or has no section `[shell]`.
    """
    if policy is None:
        return shipped_table("common-1")
    settings = load_policy(policy).policy.shell
    if settings is None:
        shown = escape_name(policy)
        raise UsageError(f'{shown} has no [shell]: add [shell] table = "common-1" to it')
    return settings.programs


def _lines_of(read: CommandSteps) -> Iterator[str]:
    names = max(len(step.name) for step in read.steps)
    tiers = max(len(step.tier) for step in read.steps)
    for number, step in enumerate(read.steps, 1):
        program = escape_line(step.program) or "-"
        yield f"{number:>3}  {escape_line(step.name):{names}}  {step.tier:{tiers}}  {program}"
        yield f"     {step.why}{_carried_text(step)}"


def _carried_text(step: ShellStep) -> str:
    if not step.carries:
        return ""
    numbers = ", ".join(str(place + 1) for place in step.carries)
    return f"; what is confidential in step {numbers} may get there: refused"


def _document_of(read: CommandSteps) -> dict[str, Any]:
    return {
        "understood": read.is_understood,
        "steps": [
            {
                "effect": step.effect,
                "name": step.name,
                "tier": step.tier,
                "program": step.program,
                "text": step.text,
                "why": step.why,
                "args": {arg.name: [*arg.values] for arg in step.args},
                "roles": {arg.name: arg.role for arg in step.args},
                "carries": [*step.carries],
            }
            for step in read.steps
        ],
    }
