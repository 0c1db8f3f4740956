"""Settings of a code loop from four layers: command line, project, user, defaults.

Rule 1: of one value the higher layer wins. Within a layer, a value for one role comes before the
        value for both.
Rule 2: gate commands and protected paths of all layers add up: no layer takes back those of
        another. In the list of protected paths the project comes first, then the user, then the
        command line, so a pattern with ! in the project's file lifts none of the others.
Rule 3: a file of the project can only lower a limit that the user's own file sets.
Rule 4: a key that is not known, or a value of another type, is an error that names its place.
Rule 5: files are read once, before the first actor runs: what an actor writes into one of them
        does not change the running loop.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field

from evals.envelope import ARRAY, OPTIONAL, RESTRICTION, Count, Envelope
from evals.escaping import escape_line
from harness.errors import escape_text
from harness.loops.code.agent_commands import AgentRole, command_line, split_command
from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.session_lines import GateLimit, GateRules, PositiveSeconds
from harness.loops.revise import DEFAULT_MAX_ROUNDS
from harness.policy.policy_limits import MAX_KEY_PARTS, long_key_at
from harness.wire import NOT_BLANK, InvalidInput, build

PROJECT_FILE: Final = ".critic.toml"

_MOST_BYTES: Final = 1_000_000
"""The largest file of settings."""

Name = Annotated[str, Field(pattern=NOT_BLANK)]
Names = Annotated[tuple[Name, ...], ARRAY]


class RoleConfig(Envelope):
    """Settings of one role."""

    agent: Annotated[Name | None, OPTIONAL] = None
    model: Annotated[Name | None, OPTIONAL] = None


class GateConfig(Envelope):
    """Settings of the gate. `timeout` is in seconds, for each command.

    `allow_agent_settings` lets the actor change the files that agents and git take settings from.
    """

    commands: Annotated[Names | None, RESTRICTION] = None
    protected: Annotated[Names | None, RESTRICTION] = None
    max_lines: Annotated[Count | None, RESTRICTION] = None
    max_files: Annotated[Count | None, RESTRICTION] = None
    timeout: Annotated[PositiveSeconds | None, RESTRICTION] = None
    allow_agent_settings: Annotated[bool | None, OPTIONAL] = None


class Config(Envelope):
    """One layer. `agent` is a preset or a command line; `timeout` is in seconds, for each run."""

    agent: Annotated[Name | None, OPTIONAL] = None
    model: Annotated[Name | None, OPTIONAL] = None
    max_iterations: Annotated[GateLimit | None, OPTIONAL] = None
    timeout: Annotated[PositiveSeconds | None, OPTIONAL] = None
    actor: RoleConfig = RoleConfig()
    critic: RoleConfig = RoleConfig()
    gate: GateConfig = GateConfig()


# An agent that has run for an hour most likely waits for a person; ten minutes are a long test run.
DEFAULTS: Final = Config(
    max_iterations=DEFAULT_MAX_ROUNDS,
    timeout=3600.0,
    gate=GateConfig(commands=(), protected=(), timeout=600.0, allow_agent_settings=False),
)


LayerKind = Literal["command line", "config", "project", "user", "default"]

_OF_THE_PROJECT: Final[tuple[LayerKind, ...]] = ("config", "project")

# Gates and protected paths in this order; a later pattern with ! lifts only those before it.
_ADDING_ORDER: Final[tuple[LayerKind, ...]] = (
    *("default", "project", "config", "user", "command line"),
)


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings, the kind of place they come from, and the place in words."""

    kind: LayerKind
    origin: str
    config: Config


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """The agent of one role: its name as given, its model, and the words to run."""

    agent: str
    model: str | None
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that all layers together come to.

    `origins` names the origin of each single value. `command_origins` and `protected_origins` name
    those of `gate.commands` and `gate.protected`, in the same order.
    """

    actor: AgentConfig
    critic: AgentConfig
    max_iterations: int
    timeout: float
    gate: GateRules
    allow_agent_settings: bool
    origins: Mapping[str, str]
    command_origins: tuple[str, ...]
    protected_origins: tuple[str, ...]

    def protect_paths(self, patterns: Sequence[str], origin: str = "always") -> Self:
        """Return the same settings with more patterns of paths that must not change."""
        protected = (*self.gate.protected, *patterns)
        return replace(
            self,
            gate=self.gate.model_copy(update={"protected": protected}),
            protected_origins=(*self.protected_origins, *(origin for _ in patterns)),
        )


def layer(kind: LayerKind, origin: str, value: Mapping[str, Any]) -> Layer:
    """Return a layer from plain values.

    Raises:
        CodeLoopError: a key is not known, a value is not of its type, or a repository's file sets
            what only its user may.
    """
    _refuse_unknown(origin, "", value, Config)
    try:
        config = build(Config, dict(value))
    except InvalidInput as error:
        place = error.path.removeprefix("/").replace("/", ".")
        raise CodeLoopError(f"{origin}: {escape_text(place)}: {error.message}") from None
    if config.gate.allow_agent_settings is not None and kind in _OF_THE_PROJECT:
        raise CodeLoopError(
            f"{origin}: gate.allow_agent_settings: not allowed in this file: use "
            "--allow-agent-settings, or set it in your own config file"
        )
    return Layer(kind, origin, config)


def _refuse_unknown(
    origin: str, table: str, value: Mapping[str, Any], model: type[Envelope]
) -> None:
    fields = model.model_fields
    for key, inner in value.items():
        if key not in fields:
            where = f"in [{table}]" if table else "at the top"
            raise CodeLoopError(
                f"{origin}: unknown key {escape_text(key)} {where}: known are {', '.join(fields)}"
            )
        section = fields[key].annotation
        if isinstance(inner, Mapping) and isinstance(section, type):
            _refuse_unknown(origin, key, inner, section)


def _read_file(place: Path, kind: Literal["config", "project", "user"]) -> Layer:
    """Read the layer in a TOML file.

    Raises:
        CodeLoopError: the file is not TOML, or does not hold these settings.
        OSError: the file cannot be read.
    """
    origin = f"{kind} {escape_text(str(place))}"
    with place.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise CodeLoopError(f"{origin}: over the limit of {_MOST_BYTES} bytes: shorten it")
    try:
        text = data.decode()
        if long_key_at(text) is not None:
            raise CodeLoopError(f"{origin}: a key has over {MAX_KEY_PARTS} parts: shorten it")
        value = tomllib.loads(text)
    except RecursionError:
        raise CodeLoopError(f"{origin}: not valid TOML: nested too deeply") from None
    except ValueError as error:  # also for a number of too many digits
        raise CodeLoopError(f"{origin}: not valid TOML: {escape_line(str(error))}") from None
    return layer(kind, origin, value)


def layers(command: Layer, root: Path, named: Path | None) -> tuple[Layer, ...]:
    """Return all layers, the highest first. The file `named` replaces that of the project.

    Raises:
        CodeLoopError: a file does not hold settings.
        OSError: a file cannot be read. Only a file that was not named may be missing.
    """
    home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    all_layers = [command]
    project = root / PROJECT_FILE
    if named is not None:
        all_layers.append(_read_file(named, "config"))
    elif project.exists() or project.is_symlink():  # a link to nowhere is an error
        all_layers.append(_read_file(project, "project"))
    user = home / "critic" / "config.toml"
    if user.exists() or user.is_symlink():
        all_layers.append(_read_file(user, "user"))
    return (*all_layers, Layer("default", "default", DEFAULTS))


class _Lookup:
    """Find settings by name, and note the layer that each value comes from."""

    def __init__(self, all_layers: Sequence[Layer]) -> None:
        self._layers = all_layers
        self.origins: dict[str, str] = {}

    def get(self, name: str, *fallbacks: str) -> Any:
        """Return a setting from the highest layer that has it, or one of its `fallbacks`."""
        for source in self._layers:
            for place in (name, *fallbacks):
                value = _value_at(source, place)
                if value is not None:
                    note = "" if place == name else f" ({place})"
                    self.origins[name] = source.origin + note
                    return value
        self.origins[name] = "not set"
        return None

    def limit(self, name: str) -> Any:
        """Return a limit from the highest layer that has it; see rule 3."""
        sources = [source for source in self._layers if _value_at(source, name) is not None]
        if sources and sources[0].kind in _OF_THE_PROJECT:
            bound = [source for source in sources if source.kind in (*_OF_THE_PROJECT, "user")]
            sources = [min(bound, key=lambda source: float(_value_at(source, name)))]
        self.origins[name] = sources[0].origin if sources else "not set"
        return _value_at(sources[0], name) if sources else None

    def add_up(self, name: str) -> list[tuple[str, str]]:
        """Return the entries of a list in all layers, each with its origin."""
        ordered = sorted(self._layers, key=lambda source: _ADDING_ORDER.index(source.kind))
        return [
            (entry, source.origin) for source in ordered for entry in _value_at(source, name) or ()
        ]


def _value_at(source: Layer, name: str) -> Any:
    value: Any = source.config
    for part in name.split("."):
        value = getattr(value, part)
    return value


def resolve(all_layers: Sequence[Layer]) -> Settings:
    """Return the settings that the layers come to.

    Raises:
        CodeLoopError: an agent is missing, or a command line is not one.
    """
    look = _Lookup(all_layers)
    commands: dict[str, str] = {}
    for command, origin in look.add_up("gate.commands"):
        commands.setdefault(command, origin)
    protected = look.add_up("gate.protected")
    return Settings(
        actor=_agent(look, "actor"),
        critic=_agent(look, "critic"),
        max_iterations=look.limit("max_iterations"),
        timeout=look.limit("timeout"),
        gate=_gate(look, commands, tuple(pattern for pattern, _ in protected)),
        allow_agent_settings=look.get("gate.allow_agent_settings") is True,
        origins=look.origins,
        command_origins=tuple(commands.values()),
        protected_origins=tuple(origin for _, origin in protected),
    )


def _agent(look: _Lookup, role: AgentRole) -> AgentConfig:
    agent, model = look.get(f"{role}.agent", "agent"), look.get(f"{role}.model", "model")
    if agent is None:
        raise CodeLoopError(
            f"no {role}: name one with --{role} (claude, codex, opencode or a command line), "
            f"or in a config file: agent, or agent in [{role}]"
        )
    return AgentConfig(agent, model, command_line(agent, model, role))


def _gate(look: _Lookup, commands: Iterable[str], protected: tuple[str, ...]) -> GateRules:
    limits = {name: look.limit(f"gate.{name}") for name in ("timeout", "max_lines", "max_files")}
    return GateRules(
        commands=tuple(split_command(line, "gate") for line in commands),
        protected=protected,
        **{name: value for name, value in limits.items() if value is not None},
    )
