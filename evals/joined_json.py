"""Join canonical JSON from that of its parts: the bytes are those of the whole (RFC 8785).

What is large is spelled once, and what goes on from it is joined to it or hashed after it.
"""

from collections.abc import Iterable, Mapping

import orjson


def join_object(members: Mapping[str, bytes]) -> bytes:
    """Return the canonical JSON of an object from that of its members."""
    # RFC 8785 sorts by UTF-16 code units. For ASCII that is the order of Python.
    ascii_names = all(map(str.isascii, members))
    names = sorted(members, key=None if ascii_names else lambda name: name.encode("utf-16-be"))
    return b"{%s}" % b",".join([b"%s:%s" % (orjson.dumps(name), members[name]) for name in names])


def join_array(elements: Iterable[bytes]) -> bytes:
    """Return the canonical JSON of an array from that of its elements."""
    return b"[%s]" % b",".join(elements)


def begin_object(members: Mapping[str, bytes]) -> bytes:
    """Return how the canonical JSON of an object begins whose first members are these.

    The last of them may itself be only a beginning.
    """
    return join_object(members)[:-1]


def finish_object(members: Mapping[str, bytes]) -> bytes:
    """Return how the canonical JSON of an object ends whose last members, not all, are these."""
    return b"," + join_object(members)[1:]
