"""What the openings of a run gave to its steps, for the evaluators: see `critic.late.opened_run`.

A run of a plain plan has none. Of a late plan, a step that has none here was not opened.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from evals.manifest import EvidenceItem


class PassedOpening(NamedTuple):
    """An opening that passed.

    Attributes:
        after: how many calls had ended by then.
        as_of: the time, where there was one.
        args: the canonical JSON of what the step was given to send.
        refs: what it pins.
        known: how many items the calls before it had returned.
    """

    after: int
    as_of: datetime | None
    args: bytes
    refs: Sequence[str]
    known: int


class PassedOpenings(NamedTuple):
    """The openings of a run that passed, by step, and the evidence that its calls returned."""

    steps: Mapping[int, PassedOpening]
    items: Sequence[EvidenceItem]

    def before(self, step: int, position: int) -> PassedOpening | None:
        """Return the opening of a step, if it came before the call at this position."""
        opening = self.steps.get(step)
        return opening if opening is not None and opening.after <= position else None


NOTHING_OPENED: Final = PassedOpenings({}, ())
