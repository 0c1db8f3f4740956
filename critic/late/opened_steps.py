"""The steps of a late plan that were opened, in order."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from evals.capability import ToolCapability


class EarlierOpening(NamedTuple):
    """An opening that passed.

    Attributes:
        step: the index of the step.
        after: how many calls had ended by then.
        as_of: the time, where there was one.
    """

    step: int
    after: int
    as_of: datetime | None = None


class Opened(NamedTuple):
    """An opening that passed, with its position among all, and what its step was given to send."""

    step: int
    after: int
    as_of: datetime | None
    position: int
    tool: ToolCapability
    args: Mapping[str, Any]
