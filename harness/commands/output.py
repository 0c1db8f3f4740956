"""JSON for a terminal: ASCII only, so that no text of a plan can control it or hide in it."""

import json
from typing import Final

_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))


def ascii_json(value: object, indent: int | None = None) -> str:
    """Return `value` as JSON in printable ASCII, on one line unless `indent` is given."""
    text = _COMPACT.encode(value) if indent is None else json.dumps(value, indent=indent)
    # JSON leaves DEL as it is.
    return text.replace("\x7f", "\\u007f")
