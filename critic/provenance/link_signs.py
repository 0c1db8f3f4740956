"""The signs around links in a text, and the escapes inside them."""

import re
from typing import Final

LINK_QUOTES: Final = "\u2018\u201c\u201d\u201e\xab\xbb"
LINK_SPACES: Final = r"\x00-\x20\x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
LINK_STOPS: Final = "\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\uff64"
LINK_OPENING: Final = "\u3008\u300a\u300c\u300e\u3010\u3014\u3016\uff08\uff3b\uff5b\uff62"
LINK_CLOSING: Final = "\u3009\u300b\u300d\u300f\u3011\u3015\u3017\uff09\uff3d\uff5d\uff63"
LINK_ENDS: Final = ".,;:!?'\"*_~\u2019\u2026"

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
