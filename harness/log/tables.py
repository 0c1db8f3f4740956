"""The format of a decision log, and its tables."""

from typing import Final

LOG_FORMAT: Final = 4
"""The number in table `log_format`. Raised when tables or records change incompatibly."""

FORMATS: Final = "log_format"
"""The table that says which format a log has."""

INDEX: Final = "record_index"
"""The table that says again, in columns, what the records say."""

JOURNAL: Final = "session_journal"
"""The table of what sessions go on from that are open. Its rows go when a session has ended."""

APPEND_ONLY: Final = (FORMATS, "inputs", "records", "claims", INDEX)
"""The names of the tables whose rows are never changed or removed."""

LOG_TABLES: Final = (*APPEND_ONLY, JOURNAL)
"""The names of all tables."""
