"""What became of a turn: the one place that names it. Pure.

A turn is one plan of the canonical loop, or one batch of a session: all records of one trace, turn
and plan. Each record says a few facts of its turn, and those of a turn are all of them together, so
that neither the order of the records nor one of them twice makes a difference.

Rule 1: total. Any records have one fate: the first of `FATES` that holds.
Rule 2: what ran without a ruling that allowed it comes first. Nothing else may hide it.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import IntFlag
from types import MappingProxyType
from typing import Final, NamedTuple

from evals.kinds import Fate

REFUSED_FATES: Final = frozenset[Fate]({"refused", "asked_no"})
"""The fates of turns that count as refused: a person said no or nothing, or was not asked."""


class RecordFacts(IntFlag):
    """The facts of one record about its turn, or of several together."""

    ALLOWED = 1
    """A ruling allowed it, and is enforced."""
    SHADOW = 2
    """A ruling would not have allowed it, and was not enforced."""
    ASKED = 4
    """A person was asked."""
    REFUSED = 8
    """It was refused, and not because a person said no or nothing."""
    YES = 16
    """A person said yes."""
    NO = 32
    """A person said no."""
    LAPSED = 64
    """A question went without an answer, and is not open any more."""
    FAILED = 128
    """The guard itself failed."""
    BEGAN = 256
    """An execution began, of which no end is known."""
    RAN = 512
    """A call was made, however it ended."""
    STRAYED = 1024
    """A call was made that the plan does not have, so no ruling was about it."""
    IN_PART = 2048
    """A planned call did not complete as planned: it failed, timed out, or was never made."""
    UNKNOWN = 4096
    """A person settled an execution that has no end, and nobody knows whether it ran."""
    NOT_RUN = 8192
    """A person settled an execution that has no end: nothing ran."""


UNTIL_ENDED: Final = RecordFacts.BEGAN | RecordFacts.UNKNOWN | RecordFacts.NOT_RUN
"""What a record says of an execution until another record says how it ended."""

OF_INPUTS: Final = RecordFacts.YES | RecordFacts.STRAYED | RecordFacts.IN_PART
"""The facts that need the recorded context or plan."""


class TurnKey(NamedTuple):
    """What the records of one turn have in common. The canonical loop counts no turns.

    A failure of the critic is of no plan: those of one trace are one turn.
    """

    trace: str | None
    turn: int | None
    plan: str | None


_ALLOWED, _SHADOW = RecordFacts.ALLOWED, RecordFacts.SHADOW
_RAN: Final = RecordFacts.RAN | RecordFacts.UNKNOWN
"""It ran, or may have run: nobody knows that it did not."""
_NO: Final = RecordFacts.NO | RecordFacts.LAPSED
_ANSWERED: Final = RecordFacts.YES | _NO


def may_have_run(facts: RecordFacts) -> bool:
    """Return whether a call was made, or nobody knows that none was."""
    return bool(facts & _RAN)


def _ran_although_refused(facts: RecordFacts) -> bool:
    unruled = facts & _RAN and not facts & (_ALLOWED | _SHADOW)
    return bool(unruled or facts & RecordFacts.STRAYED)


def _ran_in_shadow(facts: RecordFacts) -> bool:
    """Return whether nothing was enforced; unless a person says that nothing ran."""
    return bool(facts & _SHADOW and (facts & _RAN or not facts & RecordFacts.NOT_RUN))


def _is_refused(facts: RecordFacts) -> bool:
    """Return whether nothing was allowed, and not only because no person said yes."""
    if facts & (_ALLOWED | _RAN):
        return False
    return bool(facts & RecordFacts.REFUSED or not (_is_asked(facts) or _is_denied(facts)))


def _is_asked(facts: RecordFacts) -> bool:
    return bool(facts & RecordFacts.ASKED and not facts & (_ANSWERED | _ALLOWED))


def _is_denied(facts: RecordFacts) -> bool:
    return bool(facts & _NO and not facts & _RAN)


CLAUSES: Final[Mapping[Fate, Callable[[RecordFacts], bool]]] = MappingProxyType(
    {
        "ran_although_refused": _ran_although_refused,
        "open": lambda facts: bool(facts & RecordFacts.BEGAN),
        "failed": lambda facts: bool(facts & RecordFacts.FAILED and not facts & _RAN),
        "ran_in_shadow": _ran_in_shadow,
        "refused": _is_refused,
        "asked_open": _is_asked,
        "asked_no": _is_denied,
        "not_run": lambda facts: not facts & _RAN,
        "ran_in_part": lambda facts: bool(facts & (RecordFacts.IN_PART | RecordFacts.UNKNOWN)),
        "ran_after_yes": lambda facts: bool(facts & RecordFacts.YES),
        "ran": lambda _: True,
    }
)
"""When each fate holds, if none before it does."""


def join_facts(records: Iterable[RecordFacts]) -> RecordFacts:
    """Return the facts of several records of one turn together."""
    facts = RecordFacts(0)
    for one in records:
        facts |= one
    return facts


def fate(records: Iterable[RecordFacts]) -> Fate:
    """Return what became of a turn.

    Args:
        records: the facts of its records, in any order; of a record whose execution another one
            ends, those that are left: see `end_known`.
    """
    facts = join_facts(records)
    return next(name for name, holds in CLAUSES.items() if holds(facts))


def end_known(facts: RecordFacts) -> RecordFacts:
    """Return the facts that are left of a record whose execution another record ends."""
    return facts & ~UNTIL_ENDED
