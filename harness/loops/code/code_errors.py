"""The base of all errors of the code loop."""

from harness.errors import HarnessError


class CodeLoopError(HarnessError):
    """A request cannot be carried out. The message is one safe line that says what to do."""
