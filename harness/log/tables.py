"""The formats of a decision log, and the tables of each.

Format 1 has no claims, and its bodies are whole. Format 2 is what this version writes.
"""

from typing import Final

OLD_FORMAT: Final = 1
"""The number in table `log_format` of a log that is read, and not appended to."""

LOG_FORMAT: Final = 2
"""The number in table `log_format`. Raised when tables or records change incompatibly."""

FORMATS: Final = "log_format"
"""The table that says which format a log has."""

_CLAIMS: Final = "claims"
"""The table that a log of the old format lacks."""


def tables_of(log_format: int) -> tuple[str, ...]:
    """Return the names of the tables of a log of this format."""
    old = (FORMATS, "inputs", "records")
    return old if log_format == OLD_FORMAT else (*old, _CLAIMS)
