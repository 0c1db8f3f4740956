"""Why a limit is missed, for the rows that miss theirs. A row without its reason here fails.

A reason says what stands in the way, as a profile shows it, and goes when the limit is met.
"""

from typing import Final

REASONS: Final[dict[tuple[str, str], str]] = {}
"""The reasons by the name and the unit of the row."""
