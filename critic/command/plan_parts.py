"""The steps of a command as steps of a plan, each a call of the tool of its effect.

Rule: what the user asked for by its words is not asked about again: it has no `object`, and what is
      deleted counts as what is made again.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic import ValidationError

from critic.command.command_table import CommandTable
from critic.command.effect_tools import CARRIES
from critic.command.request_words import RequestedDeeds, is_local
from critic.command.shell_facts import ShellFacts
from critic.command.steps import CommandSteps, ShellStep, read_steps, unknown_steps
from evals.plan import SHELL_ADAPTER, ToolStep

_JUDGED: Final = ("run", "install", "fetch", "send")
"""The effects whose objects provenance judges, where the user did not ask for them."""


def command_parts(
    command: object,
    facts: Mapping[str, Any] | None,
    table: CommandTable,
    *,
    texts: Iterable[str],
    of: int,
) -> list[ToolStep]:
    """Return the steps of the command of a call, at least one; never raises.

    Args:
        command: the argument that should be the text of the command.
        facts: ShellFacts as JSON; None where nobody asked the world.
        texts: what the user said.
        of: the index of the step of the call.
    """
    read, root = read_command(command, facts, table)
    words = RequestedDeeds(texts, root)
    return [_part_of(step, read.steps, words, of) for step in read.steps]


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
        args["object"] = [*_objects_of(step)]
    if step.effect == "send" and not is_local(step):
        args["content"] = step.text
    if step.carries:
        args[CARRIES] = [step_name(steps, number) for number in step.carries]
    return ToolStep(
        adapter_id=SHELL_ADAPTER, capability_id=name, args=args, estimated_tokens=0, of=of
    )


def _objects_of(step: ShellStep) -> Iterator[str]:
    """Yield what a yes to a step is of."""
    match step.effect:
        case "install" if packages := step.values("package"):
            yield from (f"{step.program} {package}" for package in packages)
        case "fetch" if hosts := step.values("host"):
            yield from hosts
        case _:
            yield canonical_command(step)


def step_name(steps: tuple[ShellStep, ...], number: int) -> str:
    """Return what confidential data a step reads, in words."""
    read = ", ".join(steps[number].values("path"))
    return f"{read} (step {number + 1})"


def canonical_command(step: ShellStep) -> str:
    """Return program and arguments as one text that only the same command has, with its folders."""
    words = step.words or (step.text,)
    return f"{' '.join(map(_quote, words))} in {', '.join(map(_quote, step.folders))}"


@lru_cache(maxsize=4096)
def _quote(word: str) -> str:
    plain = word.isascii() and word.replace("/", "").replace("-", "").replace(".", "").isalnum()
    return word if plain else "'" + word.replace("'", "'\\''") + "'"
