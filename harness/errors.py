"""The base of every error that the harness raises for a person to read."""


class HarnessError(Exception):
    """Something could not be done. The message is one line, safe to print, with what to do."""


class UsageError(HarnessError):
    """A command cannot do what it was asked for, as it was asked."""
