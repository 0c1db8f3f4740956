"""What is said of a log that fails: a closed set of words, none of which names the log."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from harness.log import (
    LogBusy,
    LogDamaged,
    LogError,
    LogFull,
    LogUnavailable,
    LogWriteFailed,
    NotALog,
    Unrecordable,
)

RETRY: Final = {"retry-after": "1"}
"""The header of an answer that may be another one soon: the seconds until then."""


class LogFault(NamedTuple):
    """A failure of the log: its name for Prometheus, what is told to who asks, and its status."""

    kind: str
    told: str
    status: int = 503

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers of its answer."""
        return RETRY if self.status == 503 else {}


_RESTORE: Final = "nothing is allowed until it is restored"
_FAULTS: Final[Mapping[type[LogError], LogFault]] = {
    LogBusy: LogFault("log_busy", "other writers hold the decision log: ask again"),
    LogFull: LogFault("log_full", "the decision log has no space left: ask again when it has"),
    LogWriteFailed: LogFault(
        "log_write_failed", "a write to the decision log failed, nothing is allowed: ask again"
    ),
    LogUnavailable: LogFault(
        "log_unavailable", "the decision log cannot be used now, nothing is allowed: ask again"
    ),
    LogDamaged: LogFault("log_damaged", f"the decision log is not as it was left: {_RESTORE}"),
    NotALog: LogFault("not_a_log", f"there is no decision log where it should be: {_RESTORE}"),
    Unrecordable: LogFault(
        "unrecordable",
        "the decision cannot be kept, it is too large or not JSON: keep large values elsewhere",
        500,
    ),
}
LOG_FAULTS: Final = tuple(_FAULTS.values())
"""All of them."""

LOG_FAULT_KINDS: Final = tuple(fault.kind for fault in LOG_FAULTS)
"""Their names."""

_TOLD: Final = {fault.told: fault for fault in LOG_FAULTS}


def log_fault(error: LogError) -> LogFault:
    """Return what is said of a failure of the log."""
    kinds = (_FAULTS[kind] for kind in type(error).__mro__ if kind in _FAULTS)
    return next(kinds, _FAULTS[LogUnavailable])


def fault_told(message: str) -> LogFault | None:
    """Return the failure of the log that a message tells, if it is one."""
    return _TOLD.get(message)
