"""Explain a failure to a person in one line: what is wrong, where, what to do."""

from harness.commands.os_errors import explain_os
from harness.errors import HarnessError, escape_text
from harness.runtime.canonical_loop import NotRecorded
from harness.wire import InvalidInput


def explain(error: Exception) -> str:
    """Return the line to print for `error`, safe for a terminal."""
    match error:
        case NotRecorded(__cause__=Exception() as cause):
            return f"a decision was made and is not on record: {explain(cause)}"
        case InvalidInput():
            return f"invalid input: {error}"
        case HarnessError():
            return str(error)
        case OSError():
            place = f"{escape_text(str(error.filename))}: " if error.filename is not None else ""
            return place + explain_os(error)
        case _:
            kind = type(error).__name__
            return f"internal error, treated as a refusal: {kind}: {escape_text(str(error))}"
