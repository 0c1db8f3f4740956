"""The errors of a decision log. Each message says what failed, where, and what to do."""

from typing import Final

from harness.errors import HarnessError

IN_DOUBT: Final = "nothing was acknowledged: the next append first checks what is stored"
"""What is known after a commit that failed, and what becomes of it."""


class LogError(HarnessError):
    """Base of all errors of a log. The message is one line, safe to print.

    An append that raises it has acknowledged nothing.
    """


class NotALog(LogError):
    """The path is not a decision log, or is one of a format that this version cannot read."""


class LogDamaged(LogError):
    """The file is a decision log, but it cannot be read, or its tables were changed."""


class LogUnavailable(LogError):
    """The log cannot be reached now: missing, not permitted, or waiting to be recovered."""


class LogBusy(LogUnavailable):
    """Other writers held the log for longer than the timeout. Nothing was recorded."""


class LogWriteFailed(LogUnavailable):
    """A write, a sync or a commit failed. The record may be there, and was not acknowledged."""


class LogFull(LogWriteFailed):
    """The disk has no space left for the record."""


class Unrecordable(LogError):
    """The decision cannot be kept: it is too large, or a part of it is not JSON any more."""
