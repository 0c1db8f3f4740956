"""Read an event of which one member cannot be read: what a call returned, and how long it is.

An agent shows its model more than a guard reads: 40 MB of text, or a number that no program keeps.
The call ended all the same, and what it returned may mention anything. So the members of the event
are read one by one, and those that cannot be are named. For example

    {"session_id":"s1","tool_use_id":"c1","tool_response":{"n":NaN}}

is read as {"session_id":"s1","tool_use_id":"c1"}, without "tool_response".
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from harness.wire import InvalidInput, parse_json

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["{}\[\],]', re.DOTALL)
_KEY: Final = re.compile(rb'\s*("(?:[^"\\]|\\.){0,256}+")\s*:', re.DOTALL)


MOST_EVENT_BYTES: Final = 256 * 1024 * 1024
"""The longest event of which the members are read."""


_DEEPER: Final = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}
_NO_OBJECT: Final = InvalidInput("", "must be one object")


class CutEvent(NamedTuple):
    """The members of an event that can be read, and the names of the others."""

    members: dict[str, Any]
    unread: frozenset[str]


def cut_event(data: bytes) -> CutEvent | None:
    """Return what can be read of an event; None if it is not an object, or has a key twice."""
    members: dict[str, Any] = {}
    unread: set[str] = set()
    try:
        for start, end in _member_places(data):
            key = _KEY.match(data, start, end)
            if key is None:
                return None
            [name] = parse_json(b"[%s]" % key[1])
            if name in members or name in unread:
                return None
            try:
                [members[name]] = parse_json(b"[%s]" % data[key.end() : end])
            except (InvalidInput, ValueError):  # a list of any other length is not a value
                unread.add(name)
    except InvalidInput:
        return None
    return CutEvent(members, frozenset(unread))


def _member_places(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the members of an object stand.

    Raises:
        InvalidInput: it is not an object, or does not end.
    """
    tokens = _TOKEN.finditer(data)
    first = next(tokens, None)
    if first is None or first[0] != b"{" or data[: first.start()].strip():
        raise _NO_OBJECT
    depth, start = 1, first.end()
    for token in tokens:
        depth += _DEEPER.get(token[0], 0)
        if token[0] == b'"':  # a text that does not end
            break
        if depth == 0 or (depth == 1 and token[0] == b","):
            yield start, token.start()
            start = token.end()
        if depth == 0:
            break
    if depth or data[start - 1 : start] != b"}" or data[start:].strip():
        raise _NO_OBJECT
