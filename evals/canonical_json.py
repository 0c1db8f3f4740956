"""Give each value one byte form and a digest: RFC 8785 canonical JSON and SHA-256.

It is here, below the evaluators and the critic, because both compare an approval with the digest
of a plan. The public way to it is `harness.canonical`.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, Final

import orjson
import rfc8785

from evals.envelope import Envelope


class _Unlike(Exception):
    """There is a float in a value that orjson and RFC 8785 spell differently."""


def _respell_floats(value: Any) -> Any:
    """Return the value with floats that orjson spells as RFC 8785 does: `1.0` is `1`.

    What needs no change is returned as it is.

    Raises:
        _Unlike: a float has an exponent in one of the two spellings.
    """
    kind = type(value)
    if kind is float:
        return _respelled_float(value)
    if kind is dict:
        if _CHANGING.isdisjoint(map(type, value.values())):
            return value
        pairs: Iterable[tuple[Any, Any]] = value.items()
    elif kind is list:
        if _CHANGING.isdisjoint(map(type, value)):
            return value
        pairs = enumerate(value)
    else:
        return value
    changed: Any = None
    for place, item in pairs:
        if type(item) in _CHANGING and (respelled := _respell_floats(item)) is not item:
            changed = value.copy() if changed is None else changed
            changed[place] = respelled
    return value if changed is None else changed


_CHANGING: Final = frozenset({dict, list, float})


def _has_ascii_keys(value: Any) -> bool:
    """Return whether orjson orders all keys as RFC 8785 does.

    That sorts them by UTF-16 code units, and orjson by UTF-8: for ASCII the order is the same.
    """
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if type(current) is dict:
            if not all(map(str.isascii, current)):
                return False
            waiting.extend(current.values())
        elif type(current) is list:
            waiting.extend(current)
    return True


def _respelled_float(value: float) -> float | int:
    size = abs(value)
    if not _SMALLEST <= size < _EXACT and size != 0:
        raise _Unlike
    whole = int(value)
    return whole if whole == value else value


# Between these no spelling has an exponent, and all whole numbers are exact.
_SMALLEST: Final = 0.001
_EXACT: Final = 2.0**53


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 bytes of a JSON value.

    Numbers must be finite, and integers within +-(2^53 - 1).

    Raises:
        rfc8785.CanonicalizationError: the value has no canonical form.
    """
    try:
        written = orjson.dumps(_respell_floats(value), option=orjson.OPT_SORT_KEYS)
    except (_Unlike, orjson.JSONEncodeError):
        return rfc8785.dumps(value)
    return written if written.isascii() or _has_ascii_keys(value) else rfc8785.dumps(value)


def canonical_bytes(envelope: Envelope) -> bytes:
    """Return the canonical bytes of an envelope: absent fields omitted, defaults written.

    Raises:
        TypeError: it is another value.
    """
    if not isinstance(envelope, Envelope):
        raise TypeError(
            f"only an envelope has a digest, and this is of type {type(envelope).__name__}: build "
            "one, such as Plan(...) or harness.wire.build(Plan, value), or take canonical_json"
        )
    return canonical_json(envelope.wire())


def digest(envelope: Envelope) -> str:
    """Return the SHA-256 of the canonical bytes, as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(canonical_bytes(envelope)).hexdigest()
