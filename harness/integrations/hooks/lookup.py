"""Whether an agent that is started in a folder would run our hooks: its own look-up, repeated.

Rule 1: what was seen of the real agents is repeated, and nothing is guessed in favour of a hook: a
        file that cannot be read, or a trust that is not on file, is a hook that does not run.
Rule 2: a hook that runs and could only fail is a problem too: it refuses every call.
"""

import json
import os
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.errors import HarnessError, escape_text
from harness.integrations.hooks.install import INSTALLATIONS, calls_us, is_as_installed
from harness.integrations.hooks.options_file import (
    read_options,
    read_tables,
    user_options_file,
)
from harness.policy import read_policy

_POSIX_SHELLS: Final = ("sh", "bash", "zsh", "dash", "ksh", "ash", "busybox")
_EVERY_TOOL: Final = (None, "", "*", ".*")


class _HookSource(NamedTuple):
    """A file in which an agent looks for hooks.

    Attributes:
        file: where it is.
        problem: why the agent runs none of its hooks; empty if it does.
        advice: what to do then; empty if the problem says so already.
        is_reviewed: the agent runs a hook of it only once a person has reviewed it.
    """

    file: Path
    problem: str = ""
    advice: str = ""
    is_reviewed: bool = False


class Registered(NamedTuple):
    """A hook of ours in a file, with its place in the list of its event.

    `is_whole`: it is just as `critic hook install` writes it.
    """

    event: str
    command: str
    timeout: Any
    place: str
    is_whole: bool


class LookedUp(NamedTuple):
    """What a look-up came to: the lines to print, and whether our hooks run."""

    lines: Sequence[str]
    is_guarded: bool


class _Problem(NamedTuple):
    """Why a hook does not guard, and what to do; empty if its words say so already."""

    what: str
    advice: str = ""


def look_up(agent: str, folder: Path, environment: Mapping[str, str]) -> LookedUp:
    """Return whether the hooks of an agent run that is started in a folder, and why not.

    Args:
        agent: its name.
        folder: where it is started; absolute.
        environment: the variables that it is started with.
    """
    lines: list[str] = []
    running: set[str] = set()
    advice: list[str] = []
    for source in dict.fromkeys(_SOURCES[agent](folder, environment)):
        ours = [*_find_ours(agent, source.file)]
        for hook in ours:
            problem, how = _judge_hook(agent, source, hook, environment)
            lines.append(f"{_show(source.file)}: {hook.event}: {problem.what if problem else how}")
            running |= set() if problem else {hook.event}
            advice += [problem.advice] if problem else []
        if not ours:
            unread = _reading_problem(source.file)
            lines.append(f"{_show(source.file)}: {unread or 'no hook of critic'}")
            advice += [f"correct {_show(source.file)}"] if unread else []
    missing = [event for event in INSTALLATIONS[agent].events if event not in running]
    if not missing:
        return LookedUp([*lines, f"{agent} is guarded in {_show(folder)}"], is_guarded=True)
    what = f"{agent} is NOT guarded in {_show(folder)}: no hook guards at {', '.join(missing)}"
    todo = next(filter(None, advice), _ADVICE[agent])
    return LookedUp([*lines, what, f"what to do: {todo}"], is_guarded=False)


def _find_ours(agent: str, path: Path) -> Iterator[Registered]:
    """Yield our hooks in a file, for all tools."""
    hooks = _json(path).get("hooks")
    for event, entries in hooks.items() if type(hooks) is dict else ():
        for place, one, is_plain in _handlers(entries):
            if calls_us(one.get("command"), agent):
                is_whole = is_plain and is_as_installed(agent, event, one)
                yield Registered(event, one["command"], one.get("timeout"), place, is_whole)


def _handlers(entries: Any) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield what is run for every tool, with its place in the list of an event.

    The last member: the group that it is in has no field of which we do not know what it does.
    """
    for at, entry in enumerate(entries if type(entries) is list else ()):
        if type(entry) is not dict or entry.get("matcher") not in _EVERY_TOOL:
            continue
        alone = {name: value for name, value in entry.items() if name != "matcher"}
        handlers = alone.pop("hooks", None)
        if handlers is None:
            yield f"{at}:0", alone, True
        for inner, one in enumerate(handlers if type(handlers) is list else ()):
            if type(one) is dict:
                yield f"{at}:{inner}", one, not alone


def _judge_hook(
    agent: str, source: _HookSource, hook: Registered, environment: Mapping[str, str]
) -> tuple[_Problem | None, str]:
    """Return why a hook that the agent finds does not guard, or else what it does."""
    if source.problem:
        return _Problem(source.problem, source.advice), ""
    if source.is_reviewed and (problem := _review_problem(source.file, hook, environment)):
        return _Problem(problem), ""
    install = f"critic hook install {agent}{_project_option(agent, source.file, environment)}"
    again = f"`{install}` replaces it"
    if not hook.is_whole:
        return _Problem("is not a hook as it is installed, and may refuse nothing", again), ""
    words = shlex.split(hook.command)
    if shutil.which(words[0]) is None:
        return _Problem(f"refuses everything: {escape_text(words[0])} is not there", again), ""
    return _judge_options(agent, words, install)


def _project_option(agent: str, path: Path, environment: Mapping[str, str]) -> str:
    """Return the option by which the settings in a folder are installed, if they are in one."""
    if path == INSTALLATIONS[agent].settings(None, environment):
        return ""
    project = path.parents[len(Path(INSTALLATIONS[agent].file).parts) - 1]
    return f" --project {escape_text(shlex.quote(str(project)))}"


def _judge_options(agent: str, words: Sequence[str], install: str) -> tuple[_Problem | None, str]:
    """Return why a hook with such options does not guard, or else what it does."""
    named = next((path for option, path in pairwise(words) if option == "--options"), None)
    path = Path(named) if named else user_options_file()
    try:
        options = read_options(path, agent)
    except (HarnessError, OSError) as error:
        advice = (
            f"`{install}` writes them" if _lacks_options(path, agent) else f"correct {_show(path)}"
        )
        return _Problem(f"refuses everything: {_explain(error, path)}", advice), ""
    if "*" in options.leave:
        what = f"refuses nothing: {_show(path)} leaves all tools to other hooks"
        return _Problem(what, f"take leave out of {_show(path)}"), ""
    left = [name for name in options.leave if name not in _left_by_install(agent)]
    shown = f", and leaves {', '.join(map(escape_text, left))} to other hooks" if left else ""
    return _policy_problem(options.policy, install), f"runs{shown}"


def _lacks_options(path: Path, agent: str) -> bool:
    """Return True for a file that could have options of an agent, and has none."""
    try:
        return agent not in read_tables(path)
    except (HarnessError, OSError):
        return False


def _policy_problem(path: Path, install: str) -> _Problem | None:
    """Return why no call is refused by a policy, or every call is."""
    try:
        policy = read_policy(path)
    except (HarnessError, OSError) as error:
        advice = f"correct it: `critic policy check {_show(path)}`"
        if isinstance(error, FileNotFoundError):
            advice = f"`{install}` writes it anew"
        return _Problem(f"refuses everything: {_explain(error, path)}", advice)
    if policy.guard.shadow:
        what = f"{_show(path)} is a shadow: it refuses nothing"
        return _Problem(what, f"take shadow out of {_show(path)}")
    return None


def _left_by_install(agent: str) -> Sequence[str]:
    left: Sequence[str] = INSTALLATIONS[agent].options.get("leave", ())
    return left


def _explain(error: Exception, path: Path) -> str:
    """Return an error with the file that it is about, once."""
    shown = _show(path)
    if isinstance(error, OSError):
        return f"{shown}: {escape_text((error.strerror or str(error)).lower())}"
    return str(error) if shown in str(error) else f"{shown}: {error}"


def _claude_code(folder: Path, environment: Mapping[str, str]) -> Iterator[_HookSource]:
    own = INSTALLATIONS["claude-code"].settings(None, environment)
    project = folder / ".claude"
    files = (own, project / "settings.json", project / "settings.local.json")
    return _sources_with_switch(files, "disableAllHooks")


def _qwen(folder: Path, environment: Mapping[str, str]) -> Iterator[_HookSource]:
    own = INSTALLATIONS["qwen-code"].settings(None, environment)
    return _sources_with_switch((own, folder / ".qwen" / "settings.json"), "disableAllHooks")


def _sources_with_switch(files: Sequence[Path], switch: str) -> Iterator[_HookSource]:
    """Yield files of which any turns off the hooks of all."""
    off = [path for path in files if _json(path).get(switch) is True]
    problem = f"{switch} is set in {_show(off[0])}" if off else ""
    advice = f"take {switch} out of {_show(off[0])}" if off else ""
    return (_HookSource(path, problem, advice) for path in files)


def _gemini(folder: Path, environment: Mapping[str, str]) -> Iterator[_HookSource]:
    own = INSTALLATIONS["gemini"].settings(None, environment)
    files = (own, folder / ".gemini" / "settings.json")
    trust, advice = _gemini_trust(folder, own, environment), ""
    for path in files:
        config = _json(path).get("hooksConfig")
        config = config if type(config) is dict else {}
        disabled = config.get("disabled")
        if config.get("enabled") is False:
            trust = f"hooksConfig.enabled is off in {_show(path)}"
            advice = f"change it in {_show(path)}"
        elif type(disabled) is list and "critic" in disabled:
            trust = f"hooksConfig.disabled has critic in {_show(path)}"
            advice = f"change it in {_show(path)}"
    return (_HookSource(path, trust, advice) for path in files)


def _gemini_trust(folder: Path, own: Path, environment: Mapping[str, str]) -> str:
    """Return why Gemini does not trust a folder."""
    named = environment.get("GEMINI_CLI_TRUST_WORKSPACE")
    if named in ("true", "false"):
        return "" if named == "true" else "GEMINI_CLI_TRUST_WORKSPACE is false"
    security = _json(own).get("security")
    setting = security.get("folderTrust") if type(security) is dict else None
    if type(setting) is dict and setting.get("enabled") is False:
        return ""
    path = environment.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
    rules = _json(Path(path) if path else own.parent / "trustedFolders.json")
    longest, level = -1, None
    for rule, value in rules.items():
        place = Path(os.path.realpath(Path(rule).parent if value == "TRUST_PARENT" else rule))
        if Path(os.path.realpath(folder)).is_relative_to(place) and len(str(place)) > longest:
            longest, level = len(str(place)), value
    if level in ("TRUST_FOLDER", "TRUST_PARENT"):
        return ""
    return "the folder is not trusted: trust it, or set GEMINI_CLI_TRUST_WORKSPACE=true"


def _codex(folder: Path, environment: Mapping[str, str]) -> Iterator[_HookSource]:
    own = INSTALLATIONS["codex"].settings(None, environment)
    config = _toml(own.parent / "config.toml")
    features = config.get("features")
    off = type(features) is dict and False in (features.get("hooks"), features.get("codex_hooks"))
    problem = "features.hooks is off in config.toml" if off else ""
    shell = Path(environment.get("SHELL") or "sh").name
    if shell not in _POSIX_SHELLS:
        problem = (
            f"it would be run by {escape_text(shell)}, which may not read it: set SHELL=/bin/sh"
        )
    yield _HookSource(own, problem, is_reviewed=True)
    above = [folder, *folder.parents]
    root = next((at for at in above if (at / ".git").exists()), folder)
    for at in above[: above.index(root) + 1]:
        path = at / ".codex" / own.name
        if path != own and path.is_file():
            yield _HookSource(path, problem or _codex_trust(at, root, config), is_reviewed=True)


def _codex_trust(folder: Path, root: Path, config: Mapping[str, Any]) -> str:
    projects = config.get("projects")
    for place in (folder, root):
        for name in (str(place), os.path.realpath(place)):
            known = projects.get(name) if type(projects) is dict else None
            if type(known) is dict and "trust_level" in known:
                trusted = known["trust_level"] == "trusted"
                return "" if trusted else f"{_show(place)} is not trusted in config.toml"
    return f"{_show(root)} is not trusted: start codex there, and trust it"


def _review_problem(path: Path, hook: Registered, environment: Mapping[str, str]) -> str:
    """Return why Codex leaves out a hook: what was reviewed is known by the place and a hash."""
    label = "".join(f"_{one.lower()}" if one.isupper() else one for one in hook.event)[1:]
    own = INSTALLATIONS["codex"].settings(None, environment)
    states = _toml(own.parent / "config.toml").get("hooks")
    states = states.get("state") if type(states) is dict else None
    keys = [f"{one}:{label}:{hook.place}" for one in (path, os.path.realpath(path))]
    known = [states[key] for key in keys if key in states] if type(states) is dict else []
    if not known or type(known[0]) is not dict or "trusted_hash" not in known[0]:
        return "not reviewed: start codex, open /hooks, and trust it"
    if known[0].get("enabled") is False:
        return "turned off in config.toml: start codex, and open /hooks"
    if known[0]["trusted_hash"] != codex_hash(label, hook.command, hook.timeout):
        return "changed since it was reviewed: start codex, open /hooks, and trust it"
    return ""


def codex_hash(label: str, command: str, timeout: Any) -> str:
    """Return the hash by which Codex knows a hook that was reviewed."""
    wait = timeout if type(timeout) is int else 600
    handler = {"type": "command", "command": command, "timeout": wait, "async": False}
    identity = {"event_name": label, "hooks": [handler]}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def _cursor(folder: Path, environment: Mapping[str, str]) -> Iterator[_HookSource]:
    own = INSTALLATIONS["cursor"].settings(None, environment)
    files = (own, folder / ".cursor" / own.name)
    return (_HookSource(path) for path in files)


_SOURCES: Final = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "qwen-code": _qwen,
    "cursor": _cursor,
}
_EVERYWHERE: Final = "`critic hook install {agent}` guards every folder; {rest}"
_ADVICE: Final = {
    agent: _EVERYWHERE.format(agent=agent, rest=rest)
    for agent, rest in {
        "claude-code": "settings of a folder are read in that very folder alone",
        "codex": "then start codex, open /hooks, and trust the hooks there",
        "gemini": "settings of a folder are read in that very folder alone, where it is trusted",
        "qwen-code": "settings of a folder are read in that very folder alone",
        "cursor": "settings of a folder are read in that folder alone",
    }.items()
}


def _json(path: Path) -> dict[str, Any]:
    """Return an object in a file, or an empty one."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if type(value) is dict else {}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def _reading_problem(path: Path) -> str:
    return "" if _json(path) or not path.exists() else "is not a JSON object"


def _show(path: Path) -> str:
    return escape_text(str(path))
