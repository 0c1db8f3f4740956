"""Agents by name or by command line: the words to run for each, without a shell."""

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from evals.escaping import escape_name
from harness.codeloop.errors import CodeLoopError
from harness.process import CommandNotStarted

AgentRole = Literal["actor", "critic"]

MODEL_MARK: Final = "{model}"
"""Where an agent's command line takes the name of a model."""

# How each agent is documented to run without a person: the prompt on stdin, the answer on stdout.
# An actor may edit files; a critic is started so that it only reads them.
PRESETS: Final[Mapping[str, Mapping[AgentRole, str]]] = MappingProxyType(
    {
        "claude": {
            "actor": "claude -p --permission-mode acceptEdits --model {model}",
            "critic": "claude -p --model {model}",
        },
        "codex": {
            "actor": "codex exec --sandbox workspace-write --model {model} -",
            "critic": "codex exec --sandbox read-only --model {model} -",
        },
        "opencode": {
            "actor": "opencode run --model {model}",
            "critic": "opencode run --agent plan --model {model}",
        },
    }
)


def command_line(agent: str, model: str | None, role: AgentRole) -> tuple[str, ...]:
    """The words that run `agent` in this role.

    A preset without a model leaves the choice to the agent. A command line of one's own gets the
    model where it says `{model}`, and nowhere else.

    Raises:
        CodeLoopError: it is no command line, or it asks for a model and none is set.
    """
    preset = PRESETS.get(agent)
    words = _split(preset[role] if preset else agent, role)
    if preset and model is None:
        at = words.index(MODEL_MARK)
        return (*words[: at - 1], *words[at + 1 :])
    if model is None and any(MODEL_MARK in word for word in words):
        raise CodeLoopError(f"the {role} asks for {MODEL_MARK} and no model is set: name one")
    return tuple(word.replace(MODEL_MARK, model or "") for word in words)


def split_command(line: str, what: str) -> tuple[str, ...]:
    """The words of a command line, quoted as in a shell; nothing else of a shell is known.

    Raises:
        CodeLoopError: a quote is not closed, or there is no word at all.
    """
    words = _split(line, what)
    return tuple(words)


def _split(line: str, what: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CodeLoopError(f"{what}: {escape_name(line)}: {escape_name(str(error))}") from None
    if not words or "\0" in line:
        raise CodeLoopError(f"{what}: no command in {escape_name(line)!r}: name a program")
    return words


def require_program(words: Sequence[str], folder: Path) -> None:
    """See to it, before anything runs, that the program is there.

    Raises:
        CommandNotStarted: it is not, or it may not be run.
    """
    name = words[0]
    found = shutil.which(str(folder / name) if "/" in name else name)
    if found is None:
        raise CommandNotStarted(
            f"command not found: {escape_name(name)}: install it, put it on PATH, give its path, "
            "or make it executable"
        )
