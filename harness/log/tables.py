"""The formats of a decision log, and the tables of each.

Format 1 has no claims, and its bodies are whole. Format 2 has no index. Format 3 is what this
version makes; it appends to format 2 too.
"""

from typing import Final

OLD_FORMAT: Final = 1
"""The number in table `log_format` of a log that is read, and not appended to."""

UNINDEXED_FORMAT: Final = 2
"""The number in table `log_format` of a log without an index."""

LOG_FORMAT: Final = 3
"""The number in table `log_format`. Raised when tables or records change incompatibly."""

FORMATS: Final = "log_format"
"""The table that says which format a log has."""

INDEX: Final = "record_index"
"""The table that says again, in columns, what the records say."""

_CLAIMS: Final = "claims"
"""The table that a log of the old format lacks."""


def tables_of(log_format: int) -> tuple[str, ...]:
    """Return the names of the tables of a log of this format."""
    added = {OLD_FORMAT: (), UNINDEXED_FORMAT: (_CLAIMS,)}.get(log_format, (_CLAIMS, INDEX))
    return (FORMATS, "inputs", "records", *added)
