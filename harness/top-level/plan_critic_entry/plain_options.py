"""Read the options of hooks from their file, where they are as plain as they are installed.

It does without the reader of TOML, which takes as long to load as Python to start.

Rule 1: a file with anything that is not plain is not read here: the whole critic reads it.
Rule 2: what is read here is what the whole critic reads.
"""

import os

_TEXTS = ("policy", "state", "log", "socket", "user")
_LISTS = ("scope", "leave")
_FLAG = "keep_prompts"

Options = list[tuple[str, str]]


def read_plain(path: str, agent: str) -> Options:
    """Return the options of an agent, as on the command line of `critic hook AGENT`.

    Raises:
        ValueError: the file is not plain, or has none.
        OSError: it cannot be read.
    """
    with open(path, encoding="utf-8", newline="") as file:
        table = _tables(file.read()).get(agent)
    if table is None or "policy" not in table:
        raise ValueError("no options of this agent")
    found: Options = []
    for name, value in table.items():
        if value == "true":
            found.append(("--keep-prompts", ""))
        elif value.startswith("["):
            found += [(f"--{name}", _text(one)) for one in value[1:-1].split(", ") if one]
        elif value != "false":
            found.append((f"--{name}", _place(os.path.dirname(path), name, _text(value))))
    return found


def _tables(content: str) -> dict[str, dict[str, str]]:
    """Return the tables with their values as they are written. No value holds a line break."""
    tables: dict[str, dict[str, str]] = {}
    table: dict[str, str] | None = None
    for line in content.split("\n"):
        if not line.isprintable():
            raise ValueError("not a plain line")
        if line.startswith("[") and _is_name(line[1:-1]) and line[1:-1] not in tables:
            table = tables[line[1:-1]] = {}
            if not line.endswith("]"):
                raise ValueError("not a plain line")
        elif line and not line.startswith("#"):
            name, equals, value = line.partition(" = ")
            if table is None or not equals or name in table or not _is_plain(name, value):
                raise ValueError("not a plain line")
            table[name] = value
    return tables


def _is_name(name: str) -> bool:
    return name.isascii() and name.replace("-", "").isalpha()


def _is_plain(name: str, value: str) -> bool:
    if name == _FLAG:
        return value in ("true", "false")
    if name in _LISTS:
        inner = value[1:-1].split(", ") if value != "[]" else []
        return f"[{', '.join(inner)}]" == value and all(_is_plain("log", one) for one in inner)
    quoted = name in _TEXTS and len(value) > 2 and value[0] == value[-1] == '"'
    return quoted and not {*value[1:-1]} & {'"', "\\"}


def _text(value: str) -> str:
    return value[1:-1]


def _place(folder: str, name: str, value: str) -> str:
    is_place = name != "user" and (name, value) != ("socket", "auto")
    if not is_place or (name == "log" and "://" in value):
        return value
    return os.path.normpath(os.path.join(folder, value))
