"""Explain to a person what the operating system refused."""

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
    """Return what the operating system refused, without the place."""
    return _ADVICE.get(error.errno or 0) or escape_text(error.strerror or str(error))
