"""The exit statuses of `critic`, the same for every command."""

from typing import Final

EXIT_OK: Final = 0
EXIT_REFUSED: Final = 1
"""Something was refused, or a replayed record is not the same."""
EXIT_INVALID: Final = 2
"""Some input is invalid, or the command itself failed."""
EXIT_INTERRUPTED: Final = 130
