"""The scalars in a value: a list that is written as text is a list.

Rule 1: null and the empty text are no values. Booleans and the names of members are values only of
        arguments that a call is aimed at.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from evals.canonical_json import canonical_json

Scalar = str | int | float

_A_QUOTE: Final = "22"
_SURROGATES: Final = range(0xD800, 0xE000)
_LAST_CODE: Final = 0x10FFFF
_LONG_INTEGER: Final = r"(?<![A-Za-z0-9_.+-])(-?[1-9][0-9]{18,}+)(?![A-Za-z0-9_.+-])"
# An unclosed quote takes all that is left, so that each character is looked at once.
_JSON_TOKEN: Final = re.compile(rf'"(?:[^"\\]|\\.)*+"|".*|{_LONG_INTEGER}', re.DOTALL)
_PYTHON_TOKEN: Final = re.compile(
    r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|(['"].*)"""
    r"""|(?<![A-Za-z0-9_])(True|False|None)(?![A-Za-z0-9_])|,(?=[ \t\r\n]*+\])|""" + _LONG_INTEGER,
    re.DOTALL,
)
_PYTHON_ESCAPE: Final = re.compile(
    r'\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))|"', re.DOTALL
)
_JSON_NAMES: Final[Mapping[str, str]] = {"True": "true", "False": "false", "None": "null"}
_JSON_ESCAPES: Final[Mapping[str, str]] = {
    "a": "\\u0007",
    "v": "\\u000b",
    "\n": "",
    "'": "'",
    "/": "\\\\/",
}


def elements(value: Any, *, every: bool = False) -> Iterator[Scalar]:
    """Yield the values in a scalar: none, the scalar itself, or those of a list written as text.

    Args:
        every: whether booleans and names of members are values, too.
    """
    if type(value) is not str:
        if type(value) is int or type(value) is float or (every and type(value) is bool):
            yield value
        return
    listed = parse_list(value)
    if listed is None:
        yield from (value,) if value else ()
    else:
        yield from leaves(listed, every=every)


def leaves(value: Any, *, every: bool = False) -> Iterator[Scalar]:
    """Yield every text and number in a JsonValue but the empty text, in the order of the value.

    Args:
        every: whether booleans and names of members are values, too.
    """
    open_values = [value]
    while open_values:
        current = open_values.pop()
        if type(current) is dict:
            if every:
                yield from filter(None, current)
            open_values.extend(reversed(current.values()))
        elif type(current) is list:
            open_values.extend(reversed(current))
        elif (type(current) in (str, int, float) and current != "") or (
            every and type(current) is bool
        ):
            yield current


def parse_list(text: str) -> list[Any] | None:
    """Return the list that a text spells, as JSON or as Python does; None where it spells none."""
    text = text.strip(" \t\r\n")
    if not (text.startswith("[") and text.endswith("]")):
        return None
    as_json = _JSON_TOKEN.sub(_exact, text)
    for spelled in (as_json, _PYTHON_TOKEN.sub(_as_json, text)):
        try:
            value = orjson.loads(spelled)
        except orjson.JSONDecodeError:
            continue
        return value if type(value) is list else None
    return None


def _exact(token: re.Match[str]) -> str:
    """Return a token of JSON. An integer that may not fit 64 bits becomes a text of its digits."""
    return f'"{token[1]}"' if token[1] else token[0]


def _as_json(token: re.Match[str]) -> str:
    single, double, unclosed, name, integer = token.groups()
    inner = double if single is None else single
    if inner is not None:
        return f'"{_PYTHON_ESCAPE.sub(_json_escape, inner)}"'
    return f'"{integer}"' if integer else unclosed or _JSON_NAMES.get(name, "")


def _json_escape(escape: re.Match[str]) -> str:
    """Return an escape of a Python string, or a quote in it, as JSON writes it."""
    octal, short, long, char = escape.groups()
    if char:
        return _JSON_ESCAPES.get(char, escape[0])
    code = int(octal, 8) if octal else int(short or long or _A_QUOTE, 16)
    if code in _SURROGATES or code > _LAST_CODE:
        return escape[0]  # JSON has no such escape
    return canonical_json(chr(code))[1:-1].decode()
