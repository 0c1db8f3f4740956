"""What keeps a code loop from its work, told to a person."""

from harness.errors import HarnessError


class CodeLoopError(HarnessError):
    """Something asked for cannot be done. The message is one line, safe to print, with advice."""
