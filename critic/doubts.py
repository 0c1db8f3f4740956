"""The doubts of provenance about one plan, by the check that each belongs to."""

from typing import Final, NamedTuple


class Doubt(NamedTuple):
    """One reason to ask or refuse. `path` is a JSON pointer into the plan.

    `approvable`: an approval of this exact plan would clear it. `stale` is the id of an item that
    shows the value in question and has expired.
    """

    step: int
    path: str
    reason: str
    approvable: bool = False
    stale: str | None = None


class Doubts(NamedTuple):
    """The doubts about a plan, those of one check in ascending order of their steps."""

    refused_tools: tuple[Doubt, ...] = ()
    """Of check 2: tools that the request is not for, and that nothing ties to it."""
    asks: tuple[Doubt, ...] = ()
    """Of check 3: what a person has to approve."""
    refused_values: tuple[Doubt, ...] = ()
    """Of check 4: values without authority for their role."""


NO_DOUBTS: Final = Doubts()
