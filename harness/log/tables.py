"""The format of a decision log, and its tables."""

from typing import Final

LOG_FORMAT: Final = 3
"""The number in table `log_format`. Raised when tables or records change incompatibly."""

FORMATS: Final = "log_format"
"""The table that says which format a log has."""

INDEX: Final = "record_index"
"""The table that says again, in columns, what the records say."""

LOG_TABLES: Final = (FORMATS, "inputs", "records", "claims", INDEX)
"""The names of all tables."""
