"""JSON for a terminal: ASCII only, so that nothing a plan holds can steer it or hide in it."""

import json


def ascii_json(value: object, indent: int | None = None) -> str:
    """`value` as JSON in printable ASCII, on one line unless `indent` is given."""
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(value, indent=indent, separators=separators)
    # JSON leaves DEL as it is.
    return text.replace("\x7f", "\\u007f")
