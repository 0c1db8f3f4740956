"""The settings of each agent with our hooks in them, and all else as it was. Pure."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from harness.errors import UsageError


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


def _nested(**flags: str) -> Callable[[str, str], dict[str, Any]]:
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
        _nested(onFailure="block"),
        [
            "a call is refused where the hook itself fails, from Claude Code 2.1.295 on; an older "
            "one lets it run"
        ],
    ),
    "codex": Installation(
        ".codex/hooks.json",
        {"UserPromptSubmit": [], "PreToolUse": [], "PostToolUse": []},
        _nested(),
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
