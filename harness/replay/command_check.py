"""Read the shell commands of a plan again, and compare what they do with its steps. Pure.

Rule 1: steps that do not follow from command, facts, table and request are a contradiction.
Rule 2: where the table is another by now, nothing is derived, and that is drift.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from critic.command.command_table import CommandTable
from critic.command.file_tools import CommandArgument
from critic.command.plan_parts import CallCommand, command_of_call, parts_of_commands
from critic.session.proposing import texts_said
from evals.plan import Proposal, ToolStep
from harness.policy.shell_settings import ShellSettings
from harness.replay.problems import Problems


def check_commands(proposal: Proposal, problems: Problems) -> None:
    """Note what of the commands of a plan does not follow from its inputs."""
    try:
        derived = [*_derive_parts(proposal)]
    except (ValidationError, KeyError, TypeError, ValueError):
        problems.contradiction("how its shell commands were read is not valid")
        return
    if None in derived:
        problems.drift.append("its shell commands were read by another table of programs")
        return
    steps = [step for step in proposal.plan.steps if isinstance(step, ToolStep)]
    if [step for step in steps if step.of is not None] != derived:
        problems.contradiction("its steps are not what its shell commands do")


def _derive_parts(proposal: Proposal) -> Sequence[ToolStep | None]:
    """Return what the commands of a plan do; None among it where a table is not here any more."""
    texts = texts_said(proposal.compiled.manifests.evidence_manifest)
    commands, tables = list[CallCommand](), list[CommandTable | None]()
    for at, step in enumerate(proposal.plan.steps):
        if isinstance(step, ToolStep) and step.shell is not None and step.of is None:
            argument, facts = CommandArgument.read(step.shell), step.shell.get("facts")
            waits = bool(step.takes)
            commands.append(command_of_call(at, argument, step.args, facts, waits=waits))
            tables.append(ShellSettings.table_from(step.shell))
    known = [table for table in tables if table is not None]
    if len(known) < len(tables):
        return [None]
    if any(table != known[0] for table in known):
        raise ValueError("the commands of one turn are read by one table")
    return parts_of_commands(commands, known[0], texts) if known else []
