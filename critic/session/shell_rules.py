"""The rules of a policy for tools that take a shell command, or write files.

Loaded with the first such tool.

Rule 1: what a call does to this machine are steps of their own, after those of all calls, and they
        decide. The step of a call with a command only carries it.
Rule 2: a command of which a part is not understood has one step, which is destructive.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from critic.command.command_table import CommandTable
from critic.command.file_tools import CommandArgument
from critic.command.plan_parts import CallCommand, parts_of_commands
from evals.capability import ToolCapability
from evals.plan import ToolStep


@dataclass(frozen=True, eq=False)
class ShellRules:
    """The tools that take a command or write files, and how what they do is read and judged.

    Attributes:
        table: what programs do with their arguments.
        arguments: by the name of the tool, the argument that says what it does.
        effects: the tools of the steps of commands.
        source: what tells the table from others, as JSON.
    """

    table: CommandTable
    arguments: Mapping[str, CommandArgument]
    effects: tuple[ToolCapability, ...]
    source: Mapping[str, Any]

    def reading_of(self, tool: str, facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return how the command of a call is read, for its step; None for another tool."""
        argument = self.arguments.get(tool)
        if argument is None:
            return None
        known = {} if facts is None else {"facts": dict(facts)}
        return {**argument.wire(), **self.source, **known}

    def parts_of(self, commands: Sequence[CallCommand], texts: Iterable[str]) -> list[ToolStep]:
        """Return what the commands of a turn do.

        Args:
            texts: what the user said.
        """
        return parts_of_commands(commands, self.table, texts)
