"""Install our hooks in the settings of an agent: all of it or nothing, and again without change."""

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.errors import UsageError, escape_text
from harness.policy import InvalidPolicy, read_policy
from harness.whole_files import replace_file
from harness.wire import InvalidInput, parse_json


class Installation(NamedTuple):
    """How the hooks of an agent are registered.

    Attributes:
        file: its settings, in the project.
        events: the events, each with more options of the command.
        entry: an entry of the list of an event, for a command.
        scope: the tools that its policy restricts by patterns, and that every request is for.
        notes: what a person has to know: where it stays open, and what is to be done by hand.
    """

    file: str
    events: Mapping[str, Sequence[str]]
    entry: Callable[[str, str], dict[str, Any]]
    notes: Sequence[str]
    scope: Sequence[str] = ()


def with_hooks(
    agent: str, settings: Any, command: Callable[[Sequence[str]], str]
) -> dict[str, Any]:
    """Return settings with the hooks of an agent, in the place of earlier ones of ours.

    Args:
        settings: what is in the file now.
        command: writes the command of a hook with some more options.

    Raises:
        UsageError: the settings are not of the documented form.
    """
    installation = INSTALLATIONS[agent]
    if type(settings) is not dict:
        raise UsageError("its settings are not a JSON object")
    hooks = settings.get("hooks", {})
    if type(hooks) is not dict:
        raise UsageError("its hooks are not a JSON object")
    for event, entries in hooks.items():
        if event in installation.events and type(entries) is not list:
            raise UsageError(f"its hooks of {event} are not a list")
    kept = {
        event: [entry for entry in entries if not _is_ours(entry, agent)]
        if type(entries) is list
        else entries
        for event, entries in hooks.items()
    }
    for event, options in installation.events.items():
        scope = [word for tool in installation.scope for word in ("--scope", tool)]
        entry = installation.entry(event, command([*scope, "--event", event, *options]))
        kept[event] = [*kept.get(event, []), entry]
    left = {event: entries for event, entries in kept.items() if entries or not hooks.get(event)}
    version = {"version": 1} if agent == "cursor" and "version" not in settings else {}
    return {**version, **settings, "hooks": left}


def _is_ours(entry: Any, agent: str) -> bool:
    """Return True for an entry that holds nothing but a hook of ours for this agent."""
    if type(entry) is not dict:
        return False
    handlers = entry.get("hooks", [entry])
    if type(handlers) is not list or not handlers:
        return False
    return all(type(one) is dict and _calls_us(one.get("command"), agent) for one in handlers)


def _calls_us(command: Any, agent: str) -> bool:
    try:
        words = shlex.split(command) if type(command) is str else []
    except ValueError:
        return False
    starts = [at for at, word in enumerate(words) if word == "hook"]
    return any(
        words[at + 1 : at + 2] == [agent]
        and (words[at - 1].rpartition("/")[2] == "critic" or words[at - 1] == "harness.cli")
        for at in starts
        if at
    )


def _nest_handlers(**flags: str) -> Callable[[str, str], dict[str, Any]]:
    """Return what makes an entry of a list of handlers, with flags of the event before a call."""

    def entry(event: str, command: str) -> dict[str, Any]:
        own = flags if event == "PreToolUse" else {}
        return {"hooks": [{"type": "command", "command": command, **own}]}

    return entry


def _gemini(_event: str, command: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "name": "critic", "command": command}]}


def _cursor(_event: str, command: str) -> dict[str, Any]:
    return {"command": command, "failClosed": True}


_OPEN: Final = (
    "it has no setting that refuses a call where the hook itself is killed, is missing, or takes "
    "too long: such a call runs"
)

INSTALLATIONS: Final[Mapping[str, Installation]] = {
    "claude-code": Installation(
        ".claude/settings.json",
        {
            "UserPromptSubmit": [],
            "PreToolUse": ["--keep-prompts"],
            "PostToolUse": [],
            "PostToolUseFailure": [],
        },
        _nest_handlers(onFailure="block"),
        [
            "a call is refused where the hook itself fails, from Claude Code 2.1.295 on; an older "
            "one lets it run"
        ],
    ),
    "codex": Installation(
        ".codex/hooks.json",
        {"UserPromptSubmit": [], "PreToolUse": [], "PostToolUse": []},
        _nest_handlers(),
        [_OPEN, "it runs hooks of a project only once you trust them: see /hooks"],
        ["Bash"],
    ),
    "gemini": Installation(
        ".gemini/settings.json",
        {"BeforeAgent": [], "BeforeTool": [], "AfterTool": []},
        _gemini,
        [_OPEN],
        ["run_shell_command", "google_web_search", "web_fetch"],
    ),
    "cursor": Installation(
        ".cursor/hooks.json",
        {
            "beforeSubmitPrompt": [],
            "beforeShellExecution": [],
            "preToolUse": ["--leave", "Shell"],
            "afterShellExecution": [],
            "postToolUse": ["--leave", "Shell"],
            "postToolUseFailure": ["--leave", "Shell"],
        },
        _cursor,
        ["a call is refused where the hook itself fails (failClosed)"],
    ),
}
"""How each agent is installed, by the name of its dialect."""


def install_hook(
    agent: str, project: Path, policy: Path, places: Mapping[str, str]
) -> Iterator[str]:
    """Write the settings, and the policy if there is none. Yield what there is to say.

    Args:
        places: the options of the command, by name.

    Raises:
        UsageError: the settings or the policy cannot be read. Nothing is written.
        OSError: a file cannot be written.
    """
    installation = INSTALLATIONS[agent]
    path = project / installation.file
    settings = _settings(path)
    try:
        wanted = with_hooks(agent, settings, partial(_command, agent, places))
    except UsageError as error:
        raise UsageError(f"{_show_path(path)}: {error}: correct it first") from None
    yield _write_policy(agent, policy)
    if wanted == settings:
        yield f"{_show_path(path)}: the hooks are there already"
    else:
        _write(path, f"{json.dumps(wanted, indent=2)}\n".encode())
        yield f"{_show_path(path)}: written"
    if settings.get("disableAllHooks"):
        yield "note: disableAllHooks is set there: no hook runs until you take it out"
    yield from (f"note: {note}" for note in installation.notes)


def shipped_policy(agent: str) -> bytes:
    """Return the policy with the tools of an agent, as TOML."""
    return files("harness.integrations.hooks").joinpath("policies", f"{agent}.toml").read_bytes()


def _settings(path: Path) -> dict[str, object]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        settings: dict[str, object] = parse_json(data) if data.strip() else {}
    except InvalidInput as error:
        raise UsageError(f"{_show_path(path)}: {error.message}: correct it first") from None
    return settings


def _command(agent: str, places: Mapping[str, str], options: Sequence[str]) -> str:
    given = [word for place in places.items() for word in place]
    return shlex.join([*_program(), "hook", agent, *given, *options])


def _program() -> list[str]:
    """Return how this very program is called, wherever the agent is then."""
    script = Path(sys.argv[0])
    if script.name == "critic" and script.is_file():
        return [str(script.resolve())]
    return [sys.executable, "-P", "-m", "harness.cli"]  # -P: not from the folder of the agent


def _write_policy(agent: str, path: Path) -> str:
    try:
        policy = read_policy(path)
    except FileNotFoundError:
        _write(path, shipped_policy(agent))
        return (
            f"{_show_path(path)}: written: a policy for its tools; read it, and change what you "
            "need"
        )
    except InvalidPolicy as error:
        raise UsageError(f"{_show_path(path)}: not a policy: {error.message}") from None
    return f"{_show_path(path)}: {len(policy.tool)} tools"


def _write(path: Path, data: bytes) -> None:
    """Write a file so that nobody sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path.resolve(), data, mode=0o644)


def _show_path(path: Path) -> str:
    return escape_text(str(path))
