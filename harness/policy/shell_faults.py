"""Explain the faults of the section `[shell]` better than the wire does: near keys, both lines."""

from collections.abc import Iterator
from typing import Any, Final, get_args

from critic.command.command_table import ProgramEntry
from evals.escaping import escape_name, pointer
from harness.policy.faults import LineOf, PathFault, Tables, places, unknown_keys
from harness.policy.positions import Parts
from harness.policy.shell_settings import ShellSettings, ShippedTable, shipped_table

_TABLES: Final[Tables] = ((("shell",), ShellSettings), (("shell", "command", "*"), ProgramEntry))


def faults_of_shell(value: Any, line_of: LineOf) -> Iterator[PathFault]:
    """Yield the faults of the section in a parsed policy."""
    yield from unknown_keys(value, _TABLES)
    first: dict[tuple[str, str], Parts] = {}
    for path, entry in places(value, ("shell", "command", "*")):
        for key in _keys_of(entry):
            name = escape_name(" ".join(key).strip())
            if table := _table_with(value, key):
                yield (*path, "names"), f"{name} is in the table {table}: remove it here"
            elif key in first:
                line = line_of(pointer(*first[key]))
                yield path, f"two entries for {name}, the other in line {line}: keep one"
            first.setdefault(key, path)


def _keys_of(entry: Any) -> Iterator[tuple[str, str]]:
    """Yield each program with each subcommand of an entry, if it is one."""
    if not isinstance(entry, dict):
        return
    names, subs = entry.get("names"), entry.get("sub", "")
    if isinstance(names, str) and isinstance(subs, str):
        yield from ((name, sub) for name in names.split() for sub in subs.split() or [""])


def _table_with(value: Any, key: tuple[str, str]) -> ShippedTable | None:
    """Return the table that a policy names, if it has such an entry."""
    program, sub = key
    tables: tuple[ShippedTable, ...] = get_args(ShippedTable)
    for table in tables:
        named = any(name == table for _, name in places(value, ("shell", "table")))
        if named and sub in shipped_table(table).entries.get(program, {}):
            return table
    return None
