"""Explain a failure to a person in one line: what is wrong, where, what to do."""

import errno

from harness.errors import HarnessError, escape_text
from harness.runtime.loop import NotRecorded
from harness.wire import InvalidInput

_ADVICE = {
    errno.ENOENT: "no such file",
    errno.EISDIR: "it is a directory: name a file",
    errno.EACCES: "it may not be read or written by this user",
    errno.ENOSPC: "the disk is full: free some space and run the command again",
    errno.EIO: "the disk reported an input/output error",
}


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


def explain_os(error: OSError) -> str:
    """Return what the operating system refused, without the place."""
    return _ADVICE.get(error.errno or 0) or escape_text(error.strerror or str(error))
