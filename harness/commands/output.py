"""JSON for a terminal: ASCII only, so that no text of a plan can control it or hide in it."""

import json


def ascii_json(value: object, indent: int | None = None) -> str:
    """Return `value` as JSON in printable ASCII, on one line unless `indent` is given."""
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(value, indent=indent, separators=separators)
    # JSON leaves DEL as it is.
    return text.replace("\x7f", "\\u007f")
