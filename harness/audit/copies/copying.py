"""A new log that copies another one: it gets its name when it is whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import escape_text
from harness.log.log_errors import LogFull
from harness.log.sql import SqlDecisionLog
from harness.whole_files import new_file


@contextmanager
def new_log(path: Path) -> Iterator[SqlDecisionLog]:
    """Yield a log to fill, which gets the name `path` at the end.

    Raises:
        UsageError: something has the name, or it cannot be that of a file.
        LogError: the log cannot be written. Nothing is left behind.
    """
    try:
        with new_file(path) as partial, SqlDecisionLog.open(partial) as log:
            yield log
    except LogFull:
        raise LogFull(
            f"{escape_text(str(path)[-200:])}: the disk is full and nothing was copied: free some "
            "space and run the command again"
        ) from None
