"""The late steps of a plan: what they take and pin, from which steps, and what is wrong with it."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from critic.late.argument_places import VALUE_TO_COME, ArgPath, free_place, put_at_path
from critic.surface import NOT_IN_MANIFEST, ToolEntry
from evals.capability import ToolCapability
from evals.evidence import EvidenceFault
from evals.json_value import detach_json
from evals.manifest import Manifests
from evals.plan import Take

_LONGEST_CLASS: Final = 128
_TOOL_CLASS: Final = "result:"
OTHER_CLASS: Final = "result"
"""Of results whose tool has no name that a class can have."""

Triple = tuple[int, ToolEntry, Mapping[str, Any]]
"""A step: its index, its tool, and its fields by name."""


class Waiting(NamedTuple):
    """What waits for results: `evidence` or `binding`, its place in the step, and the reason."""

    kind: Literal["evidence", "binding"]
    path: str
    reason: str


class EvidenceToCome(NamedTuple):
    """What the evidence of a late step lacks for good, and what waits."""

    faults: Sequence[EvidenceFault]
    waiting: Sequence[Waiting]


class LateValue(NamedTuple):
    """A take that can be judged: its position, the index of its source, its place in the args."""

    position: int
    take: Take
    source: int
    path: ArgPath


class UnknownStep(NamedTuple):
    """A reference to what is no earlier tool step: its place in the step, and the id."""

    field: str
    position: int
    id: str


class LateStep:
    """A step that takes values or pins results of earlier steps.

    Attributes:
        values: the takes that can be judged.
        pinned: the indexes of the steps whose results it pins, each once.
        occupied: the positions of takes whose place in the arguments is not free.
        unknown: its references to what is no earlier tool step.
        left_out: the other takes, whose sources call what is not in the manifest, by position.
    """

    def __init__(self, index: int, tool: ToolEntry, fields: Mapping[str, Any]) -> None:
        self.index: Final[int] = index
        self.tool: Final[ToolEntry] = tool
        self.fields: Final[Mapping[str, Any]] = fields
        self.values: list[LateValue] = []
        self.pinned: list[int] = []
        self.occupied: list[int] = []
        self.unknown: list[UnknownStep] = []
        self.left_out: list[tuple[int, int]] = []

    @property
    def has_takes(self) -> bool:
        """Return whether it takes any value."""
        return bool(self.fields["takes"])

    @cached_property
    def names(self) -> frozenset[str]:
        """The arguments that are not, or not wholly, there."""
        return frozenset(str(value.path[0]) for value in self.values)


class LatePlan:
    """The late steps of a plan, by index."""

    def __init__(self, steps: Sequence[Triple], manifests: Manifests) -> None:
        self.all: Final = steps
        self._manifests: Final = manifests
        self.steps: Final[dict[int, LateStep]] = {}
        self.asking: Final[set[tuple[int, int]]] = set()
        """The late values, by step and position, whose places make provenance ask."""
        self.evidence: Final[dict[int, EvidenceToCome]] = {}
        """What the evidence of each late step lacks, and what waits, once check 4 has judged it."""
        self.first_promised: Final[dict[int, list[str]]] = {}
        """The classes that the spec requires, by the first step that waits for one."""
        self._first: Final[dict[str, int]] = {}
        for index, tool, fields in steps:
            if fields.get("takes") or fields.get("evidence_steps"):
                self.steps[index] = self._read_step(LateStep(index, tool, fields))
            if fields["id"] is not None:
                self._first.setdefault(fields["id"], index)

    @property
    def taking(self) -> list[int]:
        """The steps that take values."""
        return [index for index, step in self.steps.items() if step.has_takes]

    def has_takes(self, index: int) -> bool:
        """Return whether a step takes any value."""
        step = self.steps.get(index)
        return step is not None and step.has_takes

    def tools_before(self, step: int) -> list[int]:
        """Return the tool steps that a step waits for, and those that these wait for."""
        found, waiting = set[int](), [step]
        while waiting:
            index = waiting.pop()
            fields, late = self.all[index][2], self.steps.get(index)
            named = [self._first.get(name, step) for name in fields["depends_on"] or ()]
            named = [one for one in named if one < step]
            if late is not None:
                named += [*late.pinned, *(value.source for value in late.values)]
            new = [one for one in named if one not in found]
            found.update(new)
            waiting += new
        return sorted(one for one in found if self.all[one][2]["kind"] == "tool")

    def _read_step(self, step: LateStep) -> LateStep:
        args = detach_json(step.fields["args"]) if step.has_takes else {}
        for position, take in enumerate(step.fields["takes"] or ()):
            source = self._source(step, ("takes", position, take.step))
            known = source is not None and not self._is_unknown(source)
            # One that is left out is still told that its place is not free.
            path = free_place(args, take.arg)
            if path is None:
                step.occupied.append(position)
            elif known and source is not None:
                put_at_path(args, path, VALUE_TO_COME)
                step.values.append(LateValue(position, take, source, path))
            elif source is not None:
                step.left_out.append((position, source))
        for position, name in _once(step.fields["evidence_steps"] or ()):
            source = self._source(step, ("evidence_steps", position, name))
            if source is not None and not self._is_unknown(source) and source not in step.pinned:
                step.pinned.append(source)
        return step

    def _source(self, step: LateStep, named: tuple[str, int, str]) -> int | None:
        source = self._first.get(named[2])
        if source is None or self.all[source][2]["kind"] != "tool":
            step.unknown.append(UnknownStep(*named))
            return None
        return source

    def _is_unknown(self, source: int) -> bool:
        return bool(self.all[source][1].traits & NOT_IN_MANIFEST)

    def tool_of(self, source: int) -> ToolCapability:
        """Return the tool of a source that is in the manifest."""
        capability = self.all[source][1].capability
        assert capability is not None  # noqa: S101 - what is not in the manifest is no source
        return capability

    def output_schema(self, source: int) -> Any:
        """Return the schema of what a source returns: its own, or that of its class; else None."""
        tool = self.tool_of(source)
        if tool.output_schema is not None or tool.yields is None:
            return tool.output_schema
        return self._class_schemas.get(tool.yields)

    @cached_property
    def _class_schemas(self) -> dict[str, Any]:
        return {one.class_: one.schema_ for one in self._manifests.classes or ()}

    def promised_classes(self, step: LateStep) -> frozenset[str]:
        """Return the classes of evidence that a step waits for."""
        return frozenset(result_class(self.tool_of(source)) for source in step.pinned)


def _once(names: Sequence[str]) -> list[tuple[int, str]]:
    """Return each name once, with its first position."""
    found: dict[str, int] = {}
    for position, name in enumerate(names):
        found.setdefault(name, position)
    return [(position, name) for name, position in found.items()]


def default_class(tool: ToolCapability) -> str:
    """Return the class of results that are of no class."""
    made = f"{_TOOL_CLASS}{tool.adapter_id}.{tool.capability_id}"
    return made if len(made) <= _LONGEST_CLASS else OTHER_CLASS


def result_class(tool: ToolCapability) -> str:
    """Return the class of what a completed call returns, as evidence."""
    return tool.yields or default_class(tool)
