"""Errors of PostgreSQL as errors of a log.

Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html. A whole code is looked up
before its class, the first two letters. Where the connection itself fails, the code is missing.
"""

from typing import Final

import psycopg

from harness.errors import escape_text
from harness.log.log_errors import (
    IN_DOUBT,
    LogBusy,
    LogDamaged,
    LogError,
    LogFull,
    LogUnavailable,
    LogWriteFailed,
    NotALog,
)
from harness.log.passwords import without_passwords
from harness.log.store import KEEP_EVIDENCE

_What = tuple[type[LogError], str]

_BUSY: Final[_What] = (
    LogBusy,
    "it was locked for too long: nothing was recorded, try again",
)
_GONE: Final[_What] = (LogUnavailable, "the server has gone away: try again when it runs")
_DISK: Final[_What] = (
    LogWriteFailed,
    f"the disk of the server failed, {IN_DOUBT}",
)
_REFUSED: Final[_What] = (
    LogDamaged,
    "its tables refuse the record, so they were changed: replay the log to see what is wrong",
)
_CHANGED: Final[_What] = (LogDamaged, f"its tables were changed: {KEEP_EVIDENCE}")
_UNKNOWN: Final[_What] = (
    LogUnavailable,
    "the database failed: look its code up in the PostgreSQL manual, appendix A",
)
_ERRORS: Final[dict[str, _What]] = {
    "08": _GONE,
    "23": _REFUSED,
    "25006": (
        LogUnavailable,
        "the database is read-only, nothing was recorded: append through the server that takes "
        "writes",
    ),
    "28": (LogUnavailable, "the user or the password is wrong: check the URL"),
    "3D000": (LogUnavailable, "there is no such database: check the URL"),
    "3F000": (LogUnavailable, "there is no such schema: check the URL"),
    "40001": _BUSY,
    "40P01": _BUSY,
    "42501": (
        LogUnavailable,
        "this user may not do that: grant it what `critic log roles` prints",
    ),
    "42703": _CHANGED,
    "42804": _CHANGED,
    "42846": _CHANGED,
    "42P01": (NotALog, "it lacks the tables of a decision log: choose another schema"),
    "53100": (
        LogFull,
        "no space is left on the server, nothing was acknowledged: free space, and append again",
    ),
    "53300": (LogUnavailable, "the server has no connection left: try again"),
    "55P03": _BUSY,
    "57P": _GONE,
    "58": _DISK,
    "P0001": _REFUSED,
    "XX001": (LogDamaged, f"the database is damaged: {KEEP_EVIDENCE}"),
    "XX002": (LogDamaged, f"an index is damaged: {KEEP_EVIDENCE}"),
}


def postgres_error(where: str, doing: str, cause: psycopg.Error) -> LogError:
    """Return the error of a log for one of the database. No password is in its message."""
    code = cause.sqlstate
    if code is None:
        said = escape_text(without_passwords(_first_line(str(cause)) or type(cause).__name__))
        advice = "check the URL, the password, and that the server runs"
        return LogUnavailable(f"{where}: cannot {doing}: {said}: {advice}")
    found = (_ERRORS[part] for part in (code, code[:3], code[:2]) if part in _ERRORS)
    kind, what = next(found, _UNKNOWN)
    return kind(f"{where}: cannot {doing} (SQLSTATE {escape_text(code)}): {what}")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
