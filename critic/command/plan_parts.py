"""The steps of a command as steps of a plan, each a call of the tool of its effect.

Rule 1: what the user asked for by its words is not asked about again: it has no `object`, and what
        is deleted counts as what is made again.
Rule 2: the commands of one turn may run at once. Where one of them may change what another means,
        none of them is understood. A command that waits for a value is none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from critic.command.command_table import CommandTable
from critic.command.effect_tools import CARRIES
from critic.command.file_tools import CommandArgument
from critic.command.request_words import RequestedDeeds, is_local
from critic.command.shell_facts import ShellFacts
from critic.command.shell_syntax import quote_word
from critic.command.steps import CommandSteps, ShellStep, read_steps, unknown_steps
from evals.plan import SHELL_ADAPTER, ToolStep

_CHANGE_NOTHING: Final = ("read", "list", "read_outside", "read_secret", "fetch")
"""The effects after which paths lead where they led before."""

_ASKED: Final[Mapping[str, None]] = MappingProxyType(
    dict.fromkeys(("links", "git", "folders", "refs", "remotes", "path_safe"))
)
"""The facts that are asked for, line by line."""

_AT_ONCE: Final = "commands of one turn, of which one may change what another means"

_JUDGED: Final = ("run", "install", "fetch", "send")
"""The effects whose objects provenance judges, where the user did not ask for them."""


class CallCommand(NamedTuple):
    """The command of a call.

    Attributes:
        of: the index of the step of the call.
        command: the argument that should be the text of the command.
        facts: ShellFacts as JSON; None where nobody asked the world.
        waits: whether the call takes values that earlier calls return.
        is_file: whether it stands for a tool that writes files.
    """

    of: int
    command: object
    facts: Mapping[str, Any] | None
    waits: bool = False
    is_file: bool = False


def command_of_call(
    at: int,
    argument: CommandArgument,
    args: Mapping[str, Any],
    facts: Mapping[str, Any] | None,
    *,
    waits: bool,
) -> CallCommand:
    """Return the command of the call at a step, whose argument says what it does."""
    is_file = argument.kind != "command"
    return CallCommand(at, argument.command_of(args), facts, waits, is_file)


def parts_of_commands(
    commands: Sequence[CallCommand], table: CommandTable, texts: Iterable[str]
) -> list[ToolStep]:
    """Return the steps of the commands of one turn, at least one each; never raises.

    Args:
        texts: what the user said.
    """
    said = [*texts]
    read = [(one, *read_command(one.command, one.facts, table)) for one in commands]
    if len(read) > 1 and not _fit_together(commands, [steps for _, steps, _ in read], table):
        read = [(one, unknown_steps(_text_of(one), _AT_ONCE), root) for one, _, root in read]
    return [
        part
        for one, steps, root in read
        for words in [RequestedDeeds(said, root)]
        for part in ([_late_part(one)] if one.waits else _parts_of(one, steps, words))
    ]


def _parts_of(one: CallCommand, read: CommandSteps, words: RequestedDeeds) -> list[ToolStep]:
    steps = tuple(_steps_of_files(read)) if one.is_file else read.steps
    return [_part_of(step, steps, words, one.of) for step in steps]


def _steps_of_files(read: CommandSteps) -> Iterator[ShellStep]:
    """Yield the steps of a tool that writes files, in words that name no command."""
    for step in read.steps:
        if step.effect != "list":  # the program that a line needs
            paths = ", ".join(step.values("path"))
            yield step._replace(text=f"write {paths}") if paths else step


def _fit_together(
    commands: Sequence[CallCommand], read: Sequence[CommandSteps], table: CommandTable
) -> bool:
    """Return whether no command of a turn changes what another one means, if they run at once."""
    if all(step.effect in _CHANGE_NOTHING for one in read for step in one.steps):
        return True
    facts = [one.facts or {} for one in commands]
    if any({**one, **_ASKED} != {**facts[0], **_ASKED} for one in facts):
        return False
    asked = {
        name: {key: value for one in facts for key, value in (one.get(name) or {}).items()}
        for name in ("links", "git", "folders", "remotes")
        if any(name in one for one in facts)
    }
    both = " &\n".join(f"( {_text_of(one)}\n)" for one in commands)
    return read_command(both, {**_join_facts(facts), **asked}, table)[0].is_understood


def _join_facts(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what all facts together say. Where they differ, each command was read by its own."""
    return {name: value for one in facts for name, value in one.items()}


def _text_of(command: CallCommand) -> str:
    return command.command if type(command.command) is str else ""


def _late_part(command: CallCommand) -> ToolStep:
    """Return the step of a command that is not there yet. It has no tool: nothing clears it."""
    why = "takes values of earlier calls, which no command may"
    args = {"command": _text_of(command), "why": why}
    return ToolStep(
        adapter_id=SHELL_ADAPTER,
        capability_id="late",
        args=args,
        estimated_tokens=0,
        of=command.of,
    )


def read_command(
    command: object, facts: Mapping[str, Any] | None, table: CommandTable
) -> tuple[CommandSteps, str]:
    """Return what a command does, and the folder of its project."""
    if type(command) is not str:
        return unknown_steps("", "the command is not a text"), "/"
    if facts is None:
        return unknown_steps(command, "it is not known where it runs"), "/"
    try:
        known = ShellFacts.model_validate(dict(facts))
    except ValidationError:
        return unknown_steps(command, "the facts about where it runs are not valid"), "/"
    return read_steps(command, known, table), known.root


def _part_of(
    step: ShellStep, steps: tuple[ShellStep, ...], words: RequestedDeeds, of: int
) -> ToolStep:
    asked = words.ask_for(step)
    name = "delete_made" if asked and step.effect == "delete" else step.name
    args: dict[str, Any] = {"command": step.text, "why": step.why}
    for one in step.args:
        if one.name != "command" and one.values:
            args[one.name] = [*one.values]
    if step.effect in _JUDGED and not asked:
        args["object"] = [canonical_command(step)]
    if step.effect == "send" and not is_local(step):
        args["content"] = step.text
    if step.carries:
        args[CARRIES] = [step_name(steps, number) for number in step.carries]
    return ToolStep(
        adapter_id=SHELL_ADAPTER, capability_id=name, args=args, estimated_tokens=0, of=of
    )


def step_name(steps: tuple[ShellStep, ...], number: int) -> str:
    """Return what confidential data a step reads, in words."""
    read = ", ".join(steps[number].values("path"))
    return f"{read} (step {number + 1})"


def canonical_command(step: ShellStep) -> str:
    """Return what a yes to a step is of: one text that only the same deed has, with its folders.

    It holds all that decides what the step does, and begins as no words of a user do: what is found
    in them is not asked about.
    """
    words = step.words or (step.text,)
    command = f"{' '.join(map(quote_word, words))} in {', '.join(map(quote_word, step.folders))}"
    return f"{step.name}: {command}" + (f" as part of {step.line}" if step.line else "")
