"""Where in a plan a violation is: its JSON pointer, parsed into a closed set of places.

A violation carries its place as text, because it is recorded and printed. Everything that a repair
reads from that text is read here.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from evals.pointers import segments


@dataclass(frozen=True, slots=True)
class PlanPlace:
    """A field of the plan: `/declared_outputs`, `/trace_id`, or `/steps` for the plan's size."""

    field: Literal["declared_outputs", "trace_id", "steps"]


@dataclass(frozen=True, slots=True)
class StepPlace:
    """A whole step: `/steps/N`."""

    step: int


@dataclass(frozen=True, slots=True)
class ArgsPlace:
    """The args of a step or a place in them: `/steps/N/args`, `/steps/N/args/NAME/...`.

    `rest` are the segments below `args`, unescaped.
    """

    step: int
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LatePlace:
    """What a step takes or pins of earlier steps: `/steps/N/takes/M`, `/steps/N/evidence_steps/M`.

    `rest` are the segments below the step.
    """

    step: int
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RefPlace:
    """A pinned ref: `/steps/N/evidence_refs/M`."""

    step: int
    position: int


@dataclass(frozen=True, slots=True)
class IdPlace:
    """The id of a step: `/steps/N/id`."""

    step: int


@dataclass(frozen=True, slots=True)
class DependencyPlace:
    """A dependency of a step: `/steps/N/depends_on/M`."""

    step: int
    position: int


Place: TypeAlias = (
    PlanPlace | StepPlace | ArgsPlace | LatePlace | RefPlace | IdPlace | DependencyPlace
)


def parse_place(path: str) -> Place:
    """Parse the `path` of a violation.

    Raises:
        ValueError: no check names a path of this shape.
    """
    place: Place
    match segments(path):
        case [("declared_outputs" | "trace_id" | "steps") as field]:
            place = PlanPlace(field)
        case ["steps", index]:
            place = StepPlace(int(index))
        case ["steps", index, "args", *rest]:
            place = ArgsPlace(int(index), tuple(rest))
        case ["steps", index, ("takes" | "evidence_steps") as field, *rest]:
            place = LatePlace(int(index), (field, *rest))
        case ["steps", index, "evidence_refs", position]:
            place = RefPlace(int(index), int(position))
        case ["steps", index, "id"]:
            place = IdPlace(int(index))
        case ["steps", index, "depends_on", position]:
            place = DependencyPlace(int(index), int(position))
        case _:
            raise ValueError(f"no check names the path {path!r}")
    return place
