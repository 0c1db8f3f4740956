"""Settings of a code loop from four layers: command line, project, user, defaults.

Rule 1: a higher layer wins. Within a layer, what is said of one role beats what is said of both.
Rule 2: a key that is not known, or a value of another type, is an error that names its place.
Rule 3: files are read once, before the first actor runs: what an actor writes into one of them
        changes nothing in the running loop.
"""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import Field

from evals.envelope import ARRAY, OPTIONAL, Count, Envelope
from evals.escaping import escape_name
from harness.codeloop.agents import AgentRole, command_line, split_command
from harness.codeloop.errors import CodeLoopError
from harness.codeloop.record import GateLimit, GateRules, Seconds
from harness.runtime.revise import DEFAULT_MAX_ROUNDS
from harness.wire import NOT_BLANK, InvalidInput, build

PROJECT_FILE: Final = ".critic.toml"

Name = Annotated[str, Field(pattern=NOT_BLANK)]
Names = Annotated[tuple[Name, ...], ARRAY]


class RoleConfig(Envelope):
    """Settings of one role."""

    agent: Annotated[Name | None, OPTIONAL] = None
    model: Annotated[Name | None, OPTIONAL] = None


class GateConfig(Envelope):
    """Settings of the gate. `timeout` is in seconds, for each command."""

    commands: Annotated[Names | None, OPTIONAL] = None
    protected: Annotated[Names | None, OPTIONAL] = None
    max_lines: Annotated[Count | None, OPTIONAL] = None
    max_files: Annotated[Count | None, OPTIONAL] = None
    timeout: Annotated[Seconds | None, OPTIONAL] = None


class Config(Envelope):
    """One layer. `agent` is a preset or a command line; `timeout` is in seconds, for each run."""

    agent: Annotated[Name | None, OPTIONAL] = None
    model: Annotated[Name | None, OPTIONAL] = None
    max_iterations: Annotated[GateLimit | None, OPTIONAL] = None
    timeout: Annotated[Seconds | None, OPTIONAL] = None
    actor: RoleConfig = RoleConfig()
    critic: RoleConfig = RoleConfig()
    gate: GateConfig = GateConfig()


# An agent at work for an hour is most likely waiting for somebody; ten minutes are a long test run.
DEFAULTS: Final = Config(
    max_iterations=DEFAULT_MAX_ROUNDS,
    timeout=3600.0,
    gate=GateConfig(commands=(), protected=(), timeout=600.0),
)


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings and where they come from."""

    origin: str
    config: Config


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """The agent of one role: as it was named, with which model, and the words to run."""

    agent: str
    model: str | None
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """What all layers together come to. `origins` says of each setting where it is from."""

    actor: AgentConfig
    critic: AgentConfig
    max_iterations: int
    timeout: float
    gate: GateRules
    origins: Mapping[str, str]

    def protecting(self, pattern: str) -> Self:
        """The same settings, with one more pattern of paths that must not change."""
        protected = (*self.gate.protected, pattern)
        said = f"{self.origins['gate.protected']}, and {pattern} always"
        return replace(
            self,
            gate=self.gate.model_copy(update={"protected": protected}),
            origins={**self.origins, "gate.protected": said},
        )


def layer(origin: str, value: Mapping[str, Any]) -> Layer:
    """A layer from plain values.

    Raises:
        CodeLoopError: a key is not known, or a value is not of its type.
    """
    _refuse_unknown(origin, "", value, Config)
    try:
        return Layer(origin, build(Config, dict(value)))
    except InvalidInput as error:
        place = error.path.removeprefix("/").replace("/", ".")
        raise CodeLoopError(f"{origin}: {escape_name(place)}: {error.message}") from None


def _refuse_unknown(
    origin: str, table: str, value: Mapping[str, Any], model: type[Envelope]
) -> None:
    known = model.model_fields
    for key, inner in value.items():
        if key not in known:
            where = f"in [{table}]" if table else "at the top"
            raise CodeLoopError(
                f"{origin}: unknown key {escape_name(key)} {where}: known are {', '.join(known)}"
            )
        section = known[key].annotation
        if isinstance(inner, Mapping) and isinstance(section, type):
            _refuse_unknown(origin, key, inner, section)


def read_file(place: Path, kind: str) -> Layer:
    """The layer in a TOML file.

    Raises:
        CodeLoopError: it is no TOML, or not these settings.
        OSError: it cannot be read.
    """
    origin = f"{kind} {escape_name(str(place))}"
    try:
        return layer(origin, tomllib.loads(place.read_bytes().decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CodeLoopError(f"{origin}: not valid TOML: {escape_name(str(error))}") from None


def layers(command: Layer, root: Path, named: Path | None) -> tuple[Layer, ...]:
    """All layers, the highest first. A file that was `named` stands in for the project's.

    Raises:
        CodeLoopError: a file does not hold settings.
        OSError: a file cannot be read; only those that nobody named may be missing.
    """
    home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    found = [command]
    project = root / PROJECT_FILE
    if named is not None:
        found.append(read_file(named, "config"))
    elif project.exists() or project.is_symlink():  # one that leads nowhere is an error
        found.append(read_file(project, "project"))
    user = home / "critic" / "config.toml"
    if user.exists() or user.is_symlink():
        found.append(read_file(user, "user"))
    return (*found, Layer("default", DEFAULTS))


class _Lookup:
    """Settings by name from the highest layer that has them, with a note of which that was."""

    def __init__(self, found: Sequence[Layer]) -> None:
        self._layers = found
        self.origins: dict[str, str] = {}

    def get(self, name: str, *elsewhere: str) -> Any:
        """The value of a setting; in a layer without it, that of one of the names after it."""
        for at in self._layers:
            for place in (name, *elsewhere):
                value: Any = at.config
                for part in place.split("."):
                    value = getattr(value, part)
                if value is not None:
                    said = "" if place == name else f" ({place})"
                    self.origins[name] = at.origin + said
                    return value
        self.origins[name] = "not set"
        return None


def resolve(found: Sequence[Layer]) -> Settings:
    """The settings that the layers come to.

    Raises:
        CodeLoopError: an agent is missing, or a command line is none.
    """
    look = _Lookup(found)
    return Settings(
        actor=_agent(look, "actor"),
        critic=_agent(look, "critic"),
        max_iterations=look.get("max_iterations"),
        timeout=look.get("timeout"),
        gate=_gate(look),
        origins=look.origins,
    )


def _agent(look: _Lookup, role: AgentRole) -> AgentConfig:
    agent, model = look.get(f"{role}.agent", "agent"), look.get(f"{role}.model", "model")
    if agent is None:
        raise CodeLoopError(
            f"no {role}: name one with --{role} (claude, codex, opencode or a command line), "
            f"or in a config file: agent, or agent in [{role}]"
        )
    return AgentConfig(agent, model, command_line(agent, model, role))


def _gate(look: _Lookup) -> GateRules:
    names = ("commands", "protected", "timeout", "max_lines", "max_files")
    values = {name: look.get(f"gate.{name}") for name in names}
    values["commands"] = tuple(split_command(line, "gate") for line in values["commands"])
    return GateRules(**{name: value for name, value in values.items() if value is not None})
