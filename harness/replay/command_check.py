"""Read the shell commands of a plan again, and compare what they do with its steps. Pure.

Rule 1: steps that do not follow from command, facts, table and request are a contradiction.
Rule 2: where the table is another by now, nothing is derived, and that is drift.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from critic.command.command_table import CommandTable
from critic.command.plan_parts import command_parts
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


def _derive_parts(proposal: Proposal) -> Iterator[ToolStep | None]:
    texts = texts_said(proposal.compiled.manifests.evidence_manifest)
    for at, step in enumerate(proposal.plan.steps):
        if not isinstance(step, ToolStep) or step.shell is None or step.of is not None:
            continue
        table = _table_of(step.shell)
        if table is None:
            yield None
            continue
        command, facts = step.args.get(step.shell["argument"]), step.shell.get("facts")
        yield from command_parts(command, facts, table, texts=texts, of=at)


def _table_of(shell: Mapping[str, Any]) -> CommandTable | None:
    return ShellSettings.table_from(shell)
