"""The signs around links in a text, and the escapes inside them."""

import re
from typing import Final

LINK_QUOTES: Final = "\u2018\u201c\u201d\u201e\xab\xbb"
LINK_SPACES: Final = r"\x00-\x20\x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
LINK_STOPS: Final = "\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\uff64"
LINK_OPENING: Final = "\u3008\u300a\u300c\u300e\u3010\u3014\u3016\uff08\uff3b\uff5b\uff62"
LINK_CLOSING: Final = "\u3009\u300b\u300d\u300f\u3011\u3015\u3017\uff09\uff3d\uff5d\uff63"
LINK_ENDS: Final = ".,;:!?'\"*_~\u2019\u2026"

_REFERENCE: Final = re.compile(
    "&#x([0-9a-f]++);?|&#([0-9]++);?|(&period;|%2e)|(&sol;)|(&colon;)|(&commat;)|(&tab;|&newline;)",
    re.IGNORECASE,
)
_SIGNS: Final = {3: ".", 4: "/", 5: ":", 6: "@", 7: ""}
"""What the groups of that pattern stand for, behind those of codes."""
_IGNORED: Final = frozenset(map(ord, "\t\n\r"))
_MOST_DIGITS: Final = 7
_LAST_CODE: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)
_ATTRIBUTE: Final = re.compile(
    r"(=[ \t\r\n]*+)(\"[^\"]*+\"|'[^']*+')",
)
_VALUE: Final = re.compile(
    r"[\x00-\x20]*+((?:[a-z][a-z0-9+.-]*+:[/\\]*+|[/\\]{2,})[^/\\?#]*+)", re.IGNORECASE
)
"""The value of an attribute that is a link, up to its page."""
_BREAKS: Final = re.compile(r"[\t\r\n]")
_CONTROLS: Final = re.compile(r"[\x00-\x20]")
_UNREADABLE: Final = "\ufffd"

_ESCAPE: Final = "%(?:25)*"
_ESCAPED: Final = re.compile(
    rf"{_ESCAPE}(?:2e|2f|5c|c0{_ESCAPE}a[ef]|c1{_ESCAPE}9c|e0{_ESCAPE}80{_ESCAPE}a[ef]"
    rf"|e2{_ESCAPE}80{_ESCAPE}a5|ef{_ESCAPE}bc{_ESCAPE}(?:8[ef]|bc))",
    re.IGNORECASE,
)
"""A dot, a slash or a backslash, also in an encoding that is too long, and in a wide form."""


def has_escapes(text: str) -> bool:
    """Return whether a text holds a dot or a slash that is written as an escape."""
    return _ESCAPED.search(text) is not None


def unescape_markup(text: str) -> str:
    """Return a text as a page shows its links: without references, and breaks in attributes.

    Dots that are one sign are another sign: what they part is one link.
    """
    text = text.replace("\u2025", "!").replace("\u2026", "!")
    if "=" in text:
        text = _ATTRIBUTE.sub(_as_link, text)
    if "&" in text or "%2" in text:
        text = _REFERENCE.sub(_refer, text)
    return text


def _as_link(attribute: re.Match[str]) -> str:
    """Return an attribute, whose link has no breaks, and signs for blanks in its user part."""
    quote, value = attribute[2][0], _BREAKS.sub("", _REFERENCE.sub(_refer, attribute[2][1:-1]))
    link = _VALUE.match(value)
    if link is None:
        return attribute[0]
    user, at, host = link[1].rpartition("@")
    read = _CONTROLS.sub(_UNREADABLE, user) + at + host + value[link.end() :]
    return f"{attribute[1]}{quote}{read}{quote}"


def _refer(reference: re.Match[str]) -> str:
    group = reference.lastindex or 0
    if group in _SIGNS:
        return _SIGNS[group]
    digits = reference[group].lstrip("0")
    code = int(digits or "0", 16 if group == 1 else 10) if len(digits) <= _MOST_DIGITS else 0
    if code in _IGNORED:  # readers of links drop it
        return ""
    is_sign = code >= ord(" ") and code <= _LAST_CODE and code not in _SURROGATES
    return chr(code) if is_sign else _UNREADABLE
