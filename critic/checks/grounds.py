"""The facts behind a violation that its reason puts into words for an operator.

Other texts about the same violation, for a model or a person, are made of these.
"""

from typing import Literal, NamedTuple

from critic.doubts import Doubt
from evals.evidence import EvidenceFault
from evals.json_schemas import SchemaFault
from evals.kinds import ApprovalMode


class ModeAbove(NamedTuple):
    """The mode of a tool is above what the run or the spec allows."""


class ApprovalMissing(NamedTuple):
    """A call of this mode needs a person's approval, and has none."""

    mode: ApprovalMode


class OutputMissing(NamedTuple):
    """A required output is not declared, or no step can produce it."""

    output: str
    is_declared: bool


class OtherTrace(NamedTuple):
    """The plan is for another trace."""


class StepEvidence(NamedTuple):
    """What the evidence of a step lacks."""

    fault: EvidenceFault


class ClassNotPinned(NamedTuple):
    """No step pins fresh evidence of a class that the whole plan needs."""

    classification: str


class StepsSpent(NamedTuple):
    """The plan has more steps than are left, together with those made before."""


class TokensSpent(NamedTuple):
    """The plan takes more tokens than are left."""


class RepeatedId(NamedTuple):
    """A step has the id of an earlier one."""

    id: str


class LateDependency(NamedTuple):
    """A step depends on an id that no earlier step has."""

    id: str


class RepeatedCall(NamedTuple):
    """A destructive call was made before: by an earlier step, or by an earlier plan."""

    by_earlier_plan: bool


class NotInSurface(NamedTuple):
    """The manifest has no such tool."""


class ArgsUnfit(NamedTuple):
    """The schema of the arguments does not accept a place in them."""

    fault: SchemaFault


class ConfinedSent(NamedTuple):
    """An argument holds what an item says that must not leave."""

    argument: str
    ref: str


class LateNotAllowed(NamedTuple):
    """The spec does not allow values that earlier steps return."""


class PlaceOccupied(NamedTuple):
    """A value is taken for a place in the arguments that is not free."""

    arg: str


class NeverFits(NamedTuple):
    """A value is taken from a place whose values the argument does not accept."""

    arg: str


class LateSource(NamedTuple):
    """A step takes from, or pins, what is no earlier tool step."""

    id: str


Lack = Literal["failed", "unlike_schema", "no_tool", "nothing", "null", "several", "too_deep"]
"""Why a value is not there: its source failed, returned what its schema does not accept, or is no
tool; nothing, null or several values are at its place; with it the arguments nest too deep."""


class ValueMissing(NamedTuple):
    """A value that a step takes, or a result that it waits for, is not there."""

    lacks: Lack


class Unlisted(NamedTuple):
    """So many violations more are not listed."""

    more: int


Ground = (
    ModeAbove
    | ApprovalMissing
    | OutputMissing
    | OtherTrace
    | Doubt
    | StepEvidence
    | ClassNotPinned
    | StepsSpent
    | TokensSpent
    | RepeatedId
    | LateDependency
    | RepeatedCall
    | NotInSurface
    | ArgsUnfit
    | ConfinedSent
    | LateNotAllowed
    | PlaceOccupied
    | NeverFits
    | LateSource
    | ValueMissing
    | Unlisted
)
