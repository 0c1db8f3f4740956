"""The options of hooks in a file: what an agent runs stays the same when they change.

Rule 1: the file is the one that the command line names, or else that of the user. None is looked
        for in the folder of a project: whoever writes a project would choose how it is judged.
Rule 2: what is not known in it is a fault, and a hook with a fault refuses.
"""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.errors import UsageError, escape_text
from harness.whole_files import replace_file

OPTIONS_NAME: Final = "hook.toml"
_HOME: Final = ".critic"
"""The folder of a project that holds what is ours."""
_TEXTS: Final = ("policy", "state", "log", "socket", "user")
_LISTS: Final = ("scope", "leave")
_FLAG: Final = "keep_prompts"
AUTO: Final = "auto"
"""In place of a socket: the hook starts a service if there is none, and asks it from then on."""
_HEAD: Final = """\
# How `critic hook AGENT` answers each agent. A place is relative to this folder.
# `critic hook install` writes this file, and keeps the values in it, but no comments.
"""

Table = Mapping[str, Any]


class HookOptions(NamedTuple):
    """The options of the hooks of one agent, with places as they are found.

    Attributes:
        policy: what its calls are judged by.
        state: where its sessions are kept.
        log: the decision log, as a file or a URL.
        socket: where a service may answer, or `AUTO`.
        scope: the tools that every request is for.
        leave: the tools that have events of their own.
        keeps_prompts: what is allowed is left to the agent, which may still ask its user.
        user: who is at the agent, where it does not say so.
        file: the file that says so; None for the command line.
    """

    policy: Path
    state: Path | None = None
    log: str | None = None
    socket: str | None = None
    scope: Sequence[str] = ()
    leave: Sequence[str] = ()
    keeps_prompts: bool = False
    user: str | None = None
    file: Path | None = None


_MOST_BYTES: Final = 1_000_000
_MOST_DOTS: Final = 2_000
"""The largest file of options: it has a few lines for each agent."""


def state_folder(policy: Path, given: Path | None) -> Path:
    """Return where sessions are kept: beside the policy, unless another folder is named."""
    if given is not None:
        return given
    beside = policy.resolve().parent
    return (beside if beside.name == _HOME else beside / _HOME) / "sessions"


def user_options_file() -> Path:
    """Return the file of the user."""
    return Path("~/.critic").expanduser() / OPTIONS_NAME


def read_options(path: Path, agent: str) -> HookOptions:
    """Return the options of an agent.

    Raises:
        UsageError: there are none, or they are not valid.
        OSError: the file cannot be read.
    """
    table = read_tables(path).get(agent)
    if table is None:
        raise UsageError(
            f"{_show_path(path)} has no [{agent}]: run `critic hook install {agent}`, or name a "
            "policy"
        )
    found = {name: _place(path.parent, name, table.get(name)) for name in _TEXTS}
    if found["policy"] is None:
        raise UsageError(f"{_show_path(path)}: [{agent}] names no policy")
    state = found["state"]
    return HookOptions(
        policy=Path(found["policy"]),
        state=None if state is None else Path(state),
        log=found["log"],
        socket=found["socket"],
        scope=table.get("scope", ()),
        leave=table.get("leave", ()),
        keeps_prompts=table.get(_FLAG, False),
        user=found["user"],
        file=path,
    )


def read_tables(path: Path) -> dict[str, Table]:
    """Return the tables of a file by agent: none where there is no file.

    Raises:
        UsageError: it is not such a file.
        OSError: it cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    if (
        len(data) > _MOST_BYTES or data.count(b".") > _MOST_DOTS
    ):  # a key takes the square of its dots
        raise UsageError(
            f"{_show_path(path)}: over the limit of {_MOST_BYTES} bytes and {_MOST_DOTS} dots"
        )
    try:
        tables = tomllib.loads(data.decode())
    except ValueError as error:
        raise UsageError(f"{_show_path(path)}: {escape_text(str(error))}") from None
    for agent, table in tables.items():
        if wrong := _find_fault(table):
            raise UsageError(f"{_show_path(path)}: {escape_text(agent)}: {wrong}")
    return tables


def write_tables(path: Path, tables: Mapping[str, Table]) -> None:
    """Replace the file. It is for this user alone: the URL of a log may hold a password.

    Raises:
        UsageError: some value cannot stand in it.
        OSError: it cannot be written. What was there before still is.
    """
    for agent, table in tables.items():
        if wrong := _find_fault(table):
            raise UsageError(f"{_show_path(path)}: {escape_text(agent)}: {wrong}")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"\n[{agent}]\n{_table_text(table)}" for agent, table in tables.items())
    replace_file(path.resolve(), f"{_HEAD}{text}".encode(), mode=0o600)


def _find_fault(table: Any) -> str | None:
    if type(table) is not dict:
        return "not a table"
    for name, value in table.items():
        if name in _TEXTS:
            is_right = _is_text(value)
        elif name in _LISTS:
            is_right = type(value) is list and all(_is_text(one) for one in value)
        else:
            is_right = name == _FLAG and type(value) is bool
        if not is_right:
            return f"{escape_text(name)} is not an option, or has no value of its kind"
    return None


def _is_text(value: Any) -> bool:
    return type(value) is str and value != "" and value.isprintable()


def _place(folder: Path, name: str, value: str | None) -> str | None:
    is_place = name != "user" and (name, value) != ("socket", AUTO)
    if value is None or not is_place or (name == "log" and "://" in value):
        return value
    return os.path.normpath(folder / value)


def _table_text(table: Table) -> str:
    # JSON of printable text is TOML too.
    return "".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in table.items()
    )


def _show_path(path: Path) -> str:
    return escape_text(str(path))
