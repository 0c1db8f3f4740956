"""Text of a record as a page may show it: nothing in it is hidden, reorders or is endless. Pure.

Rule 1: letters of any language stay; what does not print becomes its `\\uXXXX`.
Rule 2: what is cut says how long it was.
Rule 3: HTML is not escaped here. The template escapes, and the script sets text only.
"""

import json
from typing import Any, Final

import orjson

_LONGEST: Final = 400
_LONGEST_JSON: Final = 20_000
_DATA: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def make_visible(text: str, longest: int = _LONGEST) -> str:
    """Return `text` as one line of characters that print, cut after `longest` characters."""
    shown = _printable(text[:longest])
    return shown if len(text) <= longest else f"{shown}… ({len(text)} characters)"


def visible_json(value: Any) -> str:
    """Return a JSON value as indented text of characters that print, cut if it is long."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # a number of more than 64 bits
        text = json.dumps(value, indent=2, ensure_ascii=False)
    shown = "\n".join(map(_printable, text[:_LONGEST_JSON].split("\n")))
    if len(text) <= _LONGEST_JSON:
        return shown
    return f"{shown}…\n({len(text)} characters; the rest is in the log)"


def data_text(value: Any) -> str:
    """Return JSON for a `<script>` that is not run: no text in it can end the element."""
    return orjson.dumps(value).decode().translate(_DATA)


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape_char(char) for char in text)


def _escape_char(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
