"""Turn agents, named or given as a command line, into the words to run, without a shell.

An actor can write files that agents load when they start: hooks, plugins, servers, instructions.
A critic that loaded them would run the actor's code and could print a forged review. So every
critic preset starts isolated from the settings in the repository. Each was tried with the real
program, with planted settings that leave a mark when they run, an empty home and no credentials:

claude 2.1.197
    `claude -p` runs the hooks, the `apiKeyHelper` and the `.mcp.json` servers of the repository.
    `--safe-mode` alone still runs the `apiKeyHelper`. `--setting-sources user` runs none of them;
    `--safe-mode` adds that no CLAUDE.md, skill or agent is loaded, and `--strict-mcp-config` that
    no server is.
codex 0.169.0
    In a repository that the user trusts, `codex exec` starts the servers of `.codex/config.toml`,
    also with `--sandbox read-only` and with `-c projects={}`. The trust is in the user's config:
    with `--ignore-user-config` nothing of the repository is loaded (log in and CODEX_HOME stay).
    `--ignore-rules` leaves out its rules and `project_doc_max_bytes=0` its AGENTS.md.
opencode 1.18.33
    `opencode run` imports `.opencode/plugin/*.js` and the plugins of `opencode.json`, also with
    `--pure` and with OPENCODE_DISABLE_PROJECT_CONFIG. Only a working directory in an empty git
    repository keeps them out, so this critic runs in one and reads the files by their full paths.

A command line of your own runs as it is written: isolate it yourself.
"""

import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final, Literal

from critic.command.agent_settings import AGENT_SETTINGS
from evals.escaping import escape_line
from harness.errors import escape_text
from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.git import clean_env, git
from harness.process import CommandNotStarted

AgentRole = Literal["actor", "critic"]

_MODEL_MARK: Final = "{model}"
"""Where a command line of an agent takes the name of a model."""

# Never a word of a shell: `env` starts the program with these variables.
_OPENCODE_CRITIC: Final = (
    *("env", "OPENCODE_DISABLE_PROJECT_CONFIG=1"),
    'OPENCODE_PERMISSION={"external_directory":"allow","edit":"deny","bash":"deny"}',
    *("opencode", "run", "--agent", "plan"),
)

# How each agent runs without a person: the prompt on stdin, the answer on stdout.
# An actor may edit files; a critic only reads them.
PRESETS: Final[Mapping[str, Mapping[AgentRole, str]]] = MappingProxyType(
    {
        "claude": {
            "actor": "claude -p --permission-mode acceptEdits --model {model}",
            "critic": "claude -p --safe-mode --setting-sources user --strict-mcp-config "
            "--model {model}",
        },
        "codex": {
            "actor": "codex exec --sandbox workspace-write --model {model} -",
            "critic": "codex exec --sandbox read-only --ignore-user-config --ignore-rules "
            "-c project_doc_max_bytes=0 --model {model} -",
        },
        "opencode": {
            "actor": "opencode run --model {model}",
            "critic": f"{shlex.join(_OPENCODE_CRITIC)} --model {{model}}",
        },
    }
)

_APART: Final = """\
Your working directory is empty on purpose. The files to review, called the working directory below,
are in {folder}
Read them there, by their full paths.

{prompt}"""

# An actor that runs the tests leaves no compiled files beside them.
_ENVIRONMENT: Final = MappingProxyType({"PYTHONDONTWRITEBYTECODE": "1"})


def command_line(agent: str, model: str | None, role: AgentRole) -> tuple[str, ...]:
    """Return the words that run `agent` in this role.

    A preset without a model leaves the choice to the agent. A command line of your own gets the
    model where it says `{model}`, and nowhere else.

    Raises:
        CodeLoopError: it is not a command line, or it asks for a model and none is set.
    """
    preset = PRESETS.get(agent)
    words = _split(preset[role] if preset else agent, role)
    if preset and model is None:
        index = words.index(_MODEL_MARK)
        return (*words[: index - 1], *words[index + 1 :])
    if model is None and any(_MODEL_MARK in word for word in words):
        raise CodeLoopError(f"the {role} asks for {_MODEL_MARK} and no model is set: name one")
    return tuple(word.replace(_MODEL_MARK, model or "") for word in words)


@dataclass(frozen=True, slots=True)
class AgentStart:
    """How to start an agent: its prompt, its working directory, its additional environment."""

    prompt: str
    folder: Path
    environment: Mapping[str, str]


@contextmanager
def agent_start(words: Sequence[str], prompt: str, folder: Path) -> Iterator[AgentStart]:
    """Yield how to start the agent that reviews or changes `folder`.

    The critic preset of opencode gets an empty folder, and a prompt that names `folder`.

    Raises:
        GitFailed: the empty folder cannot be made.
    """
    if tuple(words[: len(_OPENCODE_CRITIC)]) != _OPENCODE_CRITIC:
        yield AgentStart(prompt, folder, _ENVIRONMENT)
        return
    with _empty_folder() as empty:
        note = _APART.format(folder=escape_line(str(folder)), prompt=prompt)
        yield AgentStart(note, empty, _ENVIRONMENT)


@contextmanager
def _empty_folder() -> Iterator[Path]:
    """Yield a new folder that holds nothing, and remove it afterwards.

    It is a git repository, so that an agent which looks for settings in the folders above its
    working directory stops here.
    """
    with TemporaryDirectory(prefix="critic-apart-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        git("init", "-q", "--template=", cwd=folder, env=clean_env())
        yield folder


def agent_settings(folder: Path, root: Path) -> tuple[str, ...]:
    """Return patterns for `AGENT_SETTINGS` in the work tree at `root`, as in .gitignore.

    The patterns with `**/` match at any depth. Those with a full path name the folders from the
    root to `folder`, where an agent that starts in `folder` looks; see `names_agent_settings`.
    """
    below = PurePosixPath(folder.relative_to(root)).parts
    places = ["/".join(["", *map(_literal, below[:depth]), ""]) for depth in range(len(below) + 1)]
    names = [name.rstrip("/") for name in AGENT_SETTINGS]
    anywhere = (f"**/{name}" for name in AGENT_SETTINGS)
    return (*anywhere, *(f"{place}{name}" for place in places for name in names))


def names_agent_settings(pattern: str) -> bool:
    """Return whether a pattern is the full path of agent settings, which no ignore rule hides."""
    name = pattern.rpartition("/")[2]
    return pattern.startswith("/") and name in {known.rstrip("/") for known in AGENT_SETTINGS}


def _literal(name: str) -> str:
    return "".join(f"\\{char}" if char in "\\*?[ " else char for char in name)


def split_command(line: str, what: str) -> tuple[str, ...]:
    """Return the words of a command line, quoted as in a shell; no other shell syntax is known.

    Raises:
        CodeLoopError: a quote is not closed, or the line has no words.
    """
    return tuple(_split(line, what))


def _split(line: str, what: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CodeLoopError(f"{what}: {escape_line(line)}: {escape_line(str(error))}") from None
    if not words or "\0" in line:
        raise CodeLoopError(f"{what}: no command in {escape_line(line)!r}: name a program")
    return words


def require_program(words: Sequence[str], folder: Path) -> None:
    """Check that the program exists, before anything runs.

    For `env NAME=VALUE program` both `env` and the program must exist.

    Raises:
        CommandNotStarted: it does not exist, or is not executable.
    """
    for name in _programs(words):
        if shutil.which(str(folder / name) if "/" in name else name) is None:
            raise CommandNotStarted(
                f"command not found: {escape_text(name)}: install it, put it on PATH, give its "
                "path, or make it executable"
            )


def _programs(words: Sequence[str]) -> list[str]:
    """Return the first word and, where that is `env`, the first that is not an assignment."""
    name, *rest = words
    wrapped = (word for word in rest if "=" not in word)
    return [name, *([next(wrapped, name)] if name == "env" and rest else [])]
