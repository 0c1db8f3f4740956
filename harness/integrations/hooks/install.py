"""Install our hooks in the settings of an agent: all of it or nothing, and again without change.

Rule 1: what an agent runs is always the same: options are in a file of ours. Agents that have a
        person review a hook review it once.
Rule 2: it refuses where the hook itself is missing, is killed, or takes too long.
Rule 3: an entry of ours keeps its place among those of others: some agents know a hook by it.
"""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.errors import UsageError, escape_text
from harness.integrations.hooks.dialects import DIALECTS
from harness.integrations.hooks.hook_service import can_start_service
from harness.integrations.hooks.options_file import (
    AUTO,
    OPTIONS_NAME,
    read_tables,
    user_options_file,
    write_tables,
)
from harness.integrations.hooks.protected_paths import is_writable_by_agents
from harness.policy import InvalidPolicy, read_policy
from harness.whole_files import replace_file
from harness.wire import InvalidInput, parse_finite_json

_OTHERWISE: Final = "{ echo 'critic: refused, because the hook failed' >&2; exit 2; }"
"""What the shell of an agent does where the hook fails: the status 2 refuses, in every dialect."""

_OR_GO_ON: Final = ":"
"""What it does where the hook fails at an event that cannot be refused: 2 would hold the agent."""

_MODULE: Final = ["-P", "-m", "harness.cli"]  # -P: not from the folder of the agent

_AGENT_WAITS_S: Final = 60
"""How long an agent waits for a hook: longer than a hook takes at most."""


class Installation(NamedTuple):
    """How the hooks of an agent are registered.

    Attributes:
        file: its settings, in the project or in the home folder.
        home: the variable that names another folder than that of `file` for the user.
        events: the events.
        entry: an entry of the list of an event, for a command.
        notes: what a person has to know.
        options: the options that its hooks need, as in the file of options.
    """

    file: str
    home: str | None
    events: Sequence[str]
    entry: Callable[[str, str], dict[str, Any]]
    notes: Sequence[str]
    options: Mapping[str, Any]

    def settings(self, project: Path | None, environment: Mapping[str, str] = os.environ) -> Path:
        """Return the settings in a project, or those of the user."""
        if project is not None:
            return project / self.file
        named = environment.get(self.home) if self.home is not None else None
        return Path(named, Path(self.file).name) if named else Path.home() / self.file


def with_hooks(agent: str, settings: Any, command: Callable[[str], str]) -> dict[str, Any]:
    """Return settings with the hooks of an agent, in the place of earlier ones of ours.

    Args:
        agent: its name.
        settings: what is in the file now.
        command: writes the command of the hook of an event.

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
        event: _replace_ours(entries, agent, []) if type(entries) is list else entries
        for event, entries in hooks.items()
    }
    for event in installation.events:
        entry = installation.entry(event, command(event))
        kept[event] = _replace_ours(hooks.get(event, []), agent, [entry])
    left = {event: entries for event, entries in kept.items() if entries or not hooks.get(event)}
    version = {"version": 1} if agent == "cursor" and "version" not in settings else {}
    return {**version, **settings, "hooks": left}


def _replace_ours(entries: Sequence[Any], agent: str, ours: Sequence[Any]) -> list[Any]:
    """Return the entries with these for ours, where the first of ours is, or else at the end."""
    others = [entry for entry in entries if not _is_ours(entry, agent)]
    at = next((at for at, one in enumerate(entries) if _is_ours(one, agent)), len(others))
    return [*others[:at], *ours, *others[at:]]


def _is_ours(entry: Any, agent: str) -> bool:
    """Return True for an entry that holds nothing but a hook of ours for this agent."""
    if type(entry) is not dict:
        return False
    handlers = entry.get("hooks", [entry])
    if type(handlers) is not list or not handlers:
        return False
    return all(type(one) is dict and calls_us(one.get("command"), agent) for one in handlers)


def calls_us(command: Any, agent: str) -> bool:
    """Return True for a command that is a hook of ours for this agent."""
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


def is_as_installed(agent: str, event: str, handler: Mapping[str, Any]) -> bool:
    """Return True for a hook that is just as `install_hook` writes it, wherever `critic` is.

    Anything else may run and refuse nothing: `|| true`, `exit 0`, a field of the agent.
    """
    command = handler.get("command")
    if type(command) is not str or event not in INSTALLATIONS[agent].events:
        return False
    entry = INSTALLATIONS[agent].entry(event, command)
    (written,) = entry.get("hooks", [entry])
    is_same = json.dumps(handler, sort_keys=True) == json.dumps(written, sort_keys=True)
    return is_same and _is_installed_command(agent, event, command)


def _is_installed_command(agent: str, event: str, command: str) -> bool:
    """Return True for what `_command` returns; earlier versions refused at each event."""
    own, _, otherwise = command.rpartition(" || ")
    known = {_OTHERWISE} if DIALECTS[agent].is_judged(event) else {_OTHERWISE, _OR_GO_ON}
    words = shlex.split(own)
    if otherwise not in known or shlex.join(words) != own or not words:
        return False
    program, name = Path(words[0]), Path(words[0]).name
    if words[1:4] == _MODULE and name.startswith(("python", "pypy")):
        rest = words[4:]
    elif name == "critic":
        rest = words[1:]
    else:
        return False
    match rest:
        case ["hook", found, "--options", file, "--event", at]:
            is_whole = Path(file).is_absolute()
        case ["hook", found, "--event", at]:
            is_whole = True
        case _:
            return False
    return is_whole and (found, at) == (agent, event) and program.is_absolute()


def _nest_handler(event: str, command: str) -> dict[str, Any]:
    del event
    return {"hooks": [{"type": "command", "command": command, "timeout": _AGENT_WAITS_S}]}


def _claude_code(event: str, command: str) -> dict[str, Any]:
    own = {"onFailure": "block"} if event == "PreToolUse" else {}
    (handler,) = _nest_handler(event, command)["hooks"]
    return {"hooks": [{**handler, **own}]}


def _gemini(_event: str, command: str) -> dict[str, Any]:
    wait_ms = _AGENT_WAITS_S * 1000
    handler = {"type": "command", "name": "critic", "command": command, "timeout": wait_ms}
    return {"hooks": [handler]}


def _cursor(_event: str, command: str) -> dict[str, Any]:
    return {"command": command, "timeout": _AGENT_WAITS_S, "failClosed": True}


INSTALLATIONS: Final[Mapping[str, Installation]] = {
    "claude-code": Installation(
        ".claude/settings.json",
        "CLAUDE_CONFIG_DIR",
        (
            *("UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse"),
            *("PostToolUseFailure", "Stop", "SessionEnd"),
        ),
        _claude_code,
        [],
        {"keep_prompts": True},
    ),
    "codex": Installation(
        ".codex/hooks.json",
        "CODEX_HOME",
        ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
        _nest_handler,
        ["it runs hooks only once you have reviewed them: start codex, and see /hooks"],
        {"scope": ["Bash"]},
    ),
    "gemini": Installation(
        ".gemini/settings.json",
        None,
        ("BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"),
        _gemini,
        [],
        {"scope": ["run_shell_command", "google_web_search", "web_fetch"]},
    ),
    "qwen-code": Installation(
        ".qwen/settings.json",
        "QWEN_HOME",
        (
            *("UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse"),
            *("PostToolUseFailure", "Stop", "SessionEnd"),
        ),
        _gemini,
        [],
        {"keep_prompts": True},
    ),
    "cursor": Installation(
        ".cursor/hooks.json",
        None,
        (
            *("beforeSubmitPrompt", "beforeShellExecution", "preToolUse"),
            *("afterShellExecution", "postToolUse", "postToolUseFailure"),
        ),
        _cursor,
        [],
        {"leave": ["Shell"]},
    ),
}
"""How each agent is installed, by the name of its dialect."""


def install_hook(agent: str, project: Path | None, given: Mapping[str, str]) -> Iterator[str]:
    """Write settings and options, and the policy if there is none. Yield what there is to say.

    Args:
        agent: its name.
        project: the folder whose settings are written; None for those of the user.
        given: the places that were named, as in the file of options.

    Raises:
        UsageError: a file cannot be read. Nothing is written.
        OSError: a file cannot be written.
    """
    installation = INSTALLATIONS[agent]
    path = installation.settings(project)
    settings = _settings(path)
    options = _options_file(project)
    tables = read_tables(options)
    try:
        wanted = with_hooks(agent, settings, partial(_command, agent, project))
    except UsageError as error:
        raise UsageError(f"{_show_path(path)}: {error}: correct it first") from None
    table = {**tables.get(agent, _first_options(agent)), **given}
    yield from _places_within_reach(options.parent, given)
    yield _write_policy(agent, options.parent / table.get("policy", f"{agent}.toml"))
    if tables.get(agent) == table:
        yield f"{_show_path(options)}: the options are there already"
    else:
        write_tables(options, {**tables, agent: table})
        yield f"{_show_path(options)}: written: the options"
        if table.get("socket") == AUTO:
            yield "note: the first hook starts a service that answers the next ones faster"
    if wanted == settings:
        yield f"{_show_path(path)}: the hooks are there already"
    else:
        _write(path, f"{json.dumps(wanted, indent=2)}\n".encode())
        yield f"{_show_path(path)}: written"
    if settings.get("disableAllHooks"):
        yield "note: disableAllHooks is set there: no hook runs until you take it out"
    yield from (f"note: {note}" for note in installation.notes)


def _places_within_reach(folder: Path, given: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each place that the agent may write: it could change what guards it."""
    for name in ("policy", "state", "log"):
        if name in given and is_writable_by_agents(path := folder / given[name]):
            yield (
                f"warning: --{name} {_show_path(path)}: an agent that works there may write it, "
                "and so change what guards it: put it into the folder .critic of the project, or "
                "out of the project"
            )


def _first_options(agent: str) -> dict[str, Any]:
    """Return the options of an agent that has none yet."""
    places = {"policy": f"{agent}.toml", "state": "sessions", "log": "audit.db"}
    service = {"socket": AUTO} if can_start_service() else {}
    return {**places, **service, **INSTALLATIONS[agent].options}


def _options_file(project: Path | None) -> Path:
    return user_options_file() if project is None else project / ".critic" / OPTIONS_NAME


def shipped_policy(agent: str) -> bytes:
    """Return the policy with the tools of an agent, as TOML."""
    return files("harness.integrations.hooks").joinpath("policies", f"{agent}.toml").read_bytes()


def _settings(path: Path) -> dict[str, object]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        settings: dict[str, object] = parse_finite_json(data) if data.strip() else {}
    except InvalidInput as error:
        raise UsageError(f"{_show_path(path)}: {error.message}: correct it first") from None
    return settings


def _command(agent: str, project: Path | None, event: str) -> str:
    named = [] if project is None else ["--options", str(_options_file(project))]
    words = [*_program(), "hook", agent, *named, "--event", event]
    otherwise = _OTHERWISE if DIALECTS[agent].is_judged(event) else _OR_GO_ON
    return f"{shlex.join(words)} || {otherwise}"


def _program() -> list[str]:
    """Return how this very program is called, wherever the agent is then.

    A link is kept: those of package managers stay when they put the program elsewhere.
    """
    script = Path(sys.argv[0]).absolute()
    if script.name == "critic" and script.is_file():
        return [str(script)]
    return [sys.executable, *_MODULE]


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
