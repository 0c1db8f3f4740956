"""Make text from a plan safe for a terminal, a log line and HTML."""

from typing import Final

# What is not escaped: printable ASCII, except characters with a meaning in HTML or in quotes.
_PLAIN: Final = frozenset(map(chr, range(0x20, 0x7F))) - set("<>&\"'`\\")
_READABLE: Final = frozenset(map(chr, range(0x20, 0x7F))) - set("<&") | {"\u2014"}
_LONGEST: Final = 200


def escape_name(text: str) -> str:
    """Return `text` as one line of safe ASCII, the rest as `\\uXXXX`, cut after 200 characters."""
    shown = "".join(char if char in _PLAIN else _escape(char) for char in text[:_LONGEST])
    return shown if len(text) <= _LONGEST else f"{shown}... ({len(text)} characters)"


def escape_line(text: str) -> str:
    """Return `text` as one line that a terminal and HTML show unchanged: ASCII and our own dash."""
    if text.isascii() and text.isprintable() and "<" not in text and "&" not in text:
        return text  # nearly all of it is, and to look at each character takes long
    return "".join(char if char in _READABLE else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def pointer(*parts: str | int) -> str:
    """Return the JSON pointer (RFC 6901) to a place in a document."""
    return "".join(["/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts])
