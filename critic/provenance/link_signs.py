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
    "&#x0*+([0-9a-f]{1,6});?|&#0*+([0-9]{1,7});?"
    "|(&period;|%2e)|(&sol;)|(&colon;)|(&commat;)|(&tab;|&newline;)",
    re.IGNORECASE,
)
_SIGNS: Final = {3: ".", 4: "/", 5: ":", 6: "@", 7: ""}
"""What the groups of that pattern stand for, behind those of codes."""
_IGNORED: Final = frozenset(map(ord, "\t\n\r"))
_LAST_CODE: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)
_ATTRIBUTE: Final = re.compile(
    r"(=[ \t\r\n]{0,9}([\"']))"
    r"([\x00-\x20]{0,9}(?:[a-z][a-z0-9+.\t\r\n-]{0,30}:|[/\\])[^\"'<>]{0,2000}+)(?=\2)",
    re.IGNORECASE,
)
"""The value of an attribute that is a link."""
_BREAKS: Final = re.compile(r"[\t\r\n]")

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
    if "=" in text and _BREAKS.search(text):
        text = _ATTRIBUTE.sub(_without_breaks, text)
    if "&" in text or "%2" in text:
        text = _REFERENCE.sub(_refer, text)
    return text


def _without_breaks(attribute: re.Match[str]) -> str:
    return attribute[1] + _BREAKS.sub("", attribute[3])


def _refer(reference: re.Match[str]) -> str:
    group = reference.lastindex or 0
    if group in _SIGNS:
        return _SIGNS[group]
    code = int(reference[group], 16 if group == 1 else 10)
    if code in _IGNORED:  # readers of links drop it
        return ""
    is_sign = code > ord(" ") and code <= _LAST_CODE and code not in _SURROGATES
    return chr(code) if is_sign else reference[0]
