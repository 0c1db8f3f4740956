"""Explain errors of the operating system."""

import errno

from harness.errors import escape_text

_ADVICE = {
    errno.ENOENT: "no such file",
    errno.EISDIR: "it is a directory: name a file",
    errno.EACCES: "it may not be read or written by this user",
    errno.ENOSPC: "the disk is full: free some space and run the command again",
    errno.EIO: "the disk reported an input/output error",
}


def explain_os(error: OSError) -> str:
    """Return the error of the operating system, without the path."""
    return _ADVICE.get(error.errno or 0) or escape_text(error.strerror or str(error))
