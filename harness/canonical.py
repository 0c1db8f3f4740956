"""JSON in one form: canonical (RFC 8785) for digests, and printable ASCII for who reads it."""

import json
from typing import Final

from evals.canonical_json import canonical_bytes, canonical_json, digest

__all__ = ["ascii_json", "canonical_bytes", "canonical_json", "digest"]

_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))


def ascii_json(value: object, indent: int | None = None) -> str:
    """Return `value` as JSON in printable ASCII, on one line unless `indent` is given.

    No text in it can control a terminal, or hide in it.
    """
    text = _COMPACT.encode(value) if indent is None else json.dumps(value, indent=indent)
    # JSON leaves DEL as it is.
    return text.replace("\x7f", "\\u007f")
