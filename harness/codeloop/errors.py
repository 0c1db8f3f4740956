"""What keeps a code loop from its work, told to a person."""


class CodeLoopError(Exception):
    """Something asked for cannot be done. The message is one line, safe to print, with advice."""
