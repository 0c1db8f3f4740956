"""Install our hooks in the settings of an agent: all of it or nothing, and again without change."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile

from harness.cases import replace_file
from harness.errors import UsageError, escape_text
from harness.integrations.hooks.agent_settings import INSTALLATIONS, with_hooks
from harness.policy import InvalidPolicy, read_policy
from harness.wire import InvalidInput, parse_json


def installed(agent: str, project: Path, policy: Path, places: Mapping[str, str]) -> Iterator[str]:
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
        raise UsageError(f"{_shown(path)}: {error}: correct it first") from None
    yield _policy(agent, policy)
    if wanted == settings:
        yield f"{_shown(path)}: the hooks are there already"
    else:
        _write(path, f"{json.dumps(wanted, indent=2)}\n".encode())
        yield f"{_shown(path)}: written"
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
        raise UsageError(f"{_shown(path)}: {error.message}: correct it first") from None
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


def _policy(agent: str, path: Path) -> str:
    try:
        policy = read_policy(path)
    except FileNotFoundError:
        _write(path, shipped_policy(agent))
        return f"{_shown(path)}: written: a policy for its tools; read it, and change what you need"
    except InvalidPolicy as error:
        raise UsageError(f"{_shown(path)}: not a policy: {error.message}") from None
    return f"{_shown(path)}: {len(policy.tool)} tools"


def _write(path: Path, data: bytes) -> None:
    """Write a file so that nobody sees half of it."""
    if path.exists():
        replace_file(path, data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        written = Path(file.name)
        file.write(data)
    try:
        written.chmod(0o644)
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise


def _shown(path: Path) -> str:
    return escape_text(str(path))
