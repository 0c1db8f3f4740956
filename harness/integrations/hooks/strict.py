"""Read JSON within JSON strictly, for the dialects. Its reader is loaded when it is needed."""

from importlib import import_module
from typing import Any


def strict_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is not strict JSON. The message is one line, safe to print.
    """
    return import_module("harness.wire").parse_json(text.encode())
