"""The facts of the world by which the shell commands of calls are read.

Rule: facts that a call has already are those of its caller, and stay.
"""

from typing import TypeVar

from critic.session import SessionRules
from harness.guard.session_events import (
    CallsEvent,
    RequestedCall,
    ResultEvent,
    SentCall,
    SessionEvent,
)
from harness.runtime.ports import ShellWorld

_Call = TypeVar("_Call", RequestedCall, SentCall)


class CommandWorld:
    """Fills in the facts of commands, where a policy has tools that take any."""

    def __init__(self, rules: SessionRules, world: ShellWorld | None) -> None:
        """Ask a world; without one, commands have the facts of their calls."""
        self._rules = rules
        self._world = world

    def use(self, world: ShellWorld | None) -> None:
        """Ask another world from now on."""
        self._world = world

    def with_facts(self, event: SessionEvent) -> SessionEvent:
        """Return an event whose commands have facts, where the world knows any."""
        if self._rules.shell is None or self._world is None:
            return event
        if type(event) is CallsEvent:
            calls = tuple(self._add_facts(call, self._world) for call in event.calls)
            return event.model_copy(update={"calls": calls})
        if type(event) is ResultEvent and event.sent is not None:  # as the world is after it ran
            sent = self._add_facts(event.sent, self._world)
            return event.model_copy(update={"sent": sent})
        return event

    def _add_facts(self, call: _Call, world: ShellWorld) -> _Call:
        shell = self._rules.shell
        argument = None if shell is None else shell.arguments.get(call.tool)
        command = None if argument is None else argument.command_of(call.args)
        if shell is None or argument is None or type(command) is not str:
            return call
        if call.shell is not None:
            return call
        facts = world.facts_for(
            command, call.args if argument.kind == "command" else {}, shell.table
        )
        return call if facts is None else call.model_copy(update={"shell": facts})
