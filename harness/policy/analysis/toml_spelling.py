"""Spell JSON values, keys and comments as TOML."""

import re
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """Return a key of TOML, in quotes where it must be."""
    return name if _BARE.fullmatch(name) else toml_value(name)


def toml_value(value: Any) -> str:
    """Return a JSON value as inline TOML. It must not hold null."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{"".join(map(_character, value))}"'
    if isinstance(value, dict):
        members = ", ".join(f"{toml_key(key)} = {toml_value(part)}" for key, part in value.items())
        return f"{{ {members} }}" if members else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)  # a whole number or a finite float: TOML spells them as Python does


def _character(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def toml_comment(text: str) -> str:
    """Return one line of comment."""
    plain = "".join(char if char.isprintable() else "?" for char in text.strip())
    return f"# {plain}" if plain else "#"
