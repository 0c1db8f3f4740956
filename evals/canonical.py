"""Give each value one byte form and a digest: RFC 8785 canonical JSON and SHA-256.

It is here, below the evaluators and the critic, because both compare an approval with the digest
of a plan. The public way to it is `harness.canonical`.
"""

import hashlib
from typing import Any

import orjson
import rfc8785

from evals.envelope import Envelope


def _plain(value: Any) -> bool:
    """Return whether orjson with sorted keys gives the RFC 8785 bytes: no floats, ASCII keys.

    Floats are spelled differently by the two, and RFC 8785 sorts keys by UTF-16 code units,
    which is the order of orjson (UTF-8) for ASCII.
    """
    kind = type(value)
    if kind is dict:
        return all(_is_ascii(key) and _plain(item) for key, item in value.items())
    if kind is list:
        return all(map(_plain, value))
    return kind is not float


def _is_ascii(key: Any) -> bool:
    return type(key) is str and key.isascii()


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 bytes of a JSON value.

    Numbers must be finite, and integers within +-(2^53 - 1).

    Raises:
        rfc8785.CanonicalizationError: the value has no canonical form.
    """
    if _plain(value):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return rfc8785.dumps(value)


def canonical_bytes(envelope: Envelope) -> bytes:
    """Return the canonical bytes of an envelope: absent fields omitted, defaults written."""
    return canonical_json(envelope.wire())


def digest(envelope: Envelope) -> str:
    """Return the SHA-256 of the canonical bytes, as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(canonical_bytes(envelope)).hexdigest()
