"""How a decision log can fail. Each message says what failed, where, and what to do."""

from harness.errors import HarnessError


class LogError(HarnessError):
    """Base of all. The message is one line, safe to print.

    Raised by an append, it means that nothing was acknowledged.
    """


class NotALog(LogError):
    """What stands at the path is no decision log, or one of a format this version cannot read."""


class LogDamaged(LogError):
    """It is a decision log, but parts of it cannot be read. Whole records are never altered."""


class LogUnavailable(LogError):
    """The log cannot be reached now: missing, not permitted, or waiting to be recovered."""


class LogBusy(LogUnavailable):
    """Other writers held the log for longer than the timeout. Nothing was recorded."""


class LogWriteFailed(LogUnavailable):
    """A write or a sync failed. Whether the record is there shows when the log is reopened."""


class LogFull(LogWriteFailed):
    """There was no space left for the record."""


class Unrecordable(LogError):
    """The decision cannot be kept: it is too large, or was changed into what is no JSON."""
