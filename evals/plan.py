"""The proposal of a planner. Nothing in a plan grants anything."""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from evals.context import RunContext
from evals.envelope import (
    ARRAY,
    OPTIONAL,
    RESTRICTION,
    Array,
    Count,
    Envelope,
    EvidenceRef,
    Identifier,
)
from evals.json_value import JsonObject, PresentObject, Text
from evals.manifest import CompiledContext
from evals.pointers import InnerPointer, Pointer
from evals.spec import DecisionSpec

SHELL_ADAPTER: Final = "shell"
"""The adapter of what shell commands do."""

_SOME: Final = Field(min_length=1)


class Take(Envelope):
    """A value of a step's arguments that an earlier tool step returns.

    `arg` is its place in the arguments, which is free until then; `step` the id of the earlier
    step, and `at` the place in the output of its completed call, where the segment `*` stands for
    the only member or element.
    """

    arg: InnerPointer
    step: Identifier
    at: Pointer


class ToolStep(Envelope):
    """A call of one tool. What the step declares only adds to what the manifest requires.

    The values of `takes`, and the results of `evidence_steps`, which the step pins, are there once
    earlier steps have run: see `critic.late`.

    Sessions alone set `of` and `shell`. A step with `of` is a thing that the shell command of the
    step with that index does: it is judged, and nobody calls it. `shell` says how the
    command was read: its argument, the table of programs, and the facts of the world.
    """

    kind: Literal["tool"] = "tool"
    adapter_id: Identifier
    capability_id: Identifier
    args: JsonObject = Field(default_factory=dict)
    id: Annotated[Identifier | None, OPTIONAL] = None
    depends_on: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    requires_evidence: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    evidence_refs: Annotated[tuple[EvidenceRef, ...] | None, OPTIONAL, ARRAY] = None
    estimated_tokens: Annotated[Count | None, RESTRICTION] = None
    takes: Annotated[tuple[Take, ...] | None, RESTRICTION, ARRAY, _SOME] = None
    evidence_steps: Annotated[tuple[Identifier, ...] | None, OPTIONAL, ARRAY, _SOME] = None
    of: Annotated[Count | None, OPTIONAL] = None
    shell: Annotated[PresentObject, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            kind: Literal["tool"] = ...,
            adapter_id: str,
            capability_id: str,
            args: dict[str, Any] = ...,
            id: str | None = None,
            depends_on: Array[str] = ...,
            requires_evidence: Array[str] = ...,
            evidence_refs: Array[str] | None = None,
            estimated_tokens: int = ...,
            takes: Array[Take] = ...,
            evidence_steps: Array[str] | None = None,
            of: int | None = None,
            shell: dict[str, Any] | None = None,
        ) -> None: ...


class ReasonStep(Envelope):
    """A step that only a model takes: it calls no tool and has no side effect."""

    kind: Literal["reason"] = "reason"
    summary: Annotated[Text | None, OPTIONAL] = None
    id: Annotated[Identifier | None, OPTIONAL] = None
    depends_on: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    requires_evidence: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    evidence_refs: Annotated[tuple[EvidenceRef, ...] | None, OPTIONAL, ARRAY] = None
    estimated_tokens: Annotated[Count | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            kind: Literal["reason"] = ...,
            summary: str | None = None,
            id: str | None = None,
            depends_on: Array[str] = ...,
            requires_evidence: Array[str] = ...,
            evidence_refs: Array[str] | None = None,
            estimated_tokens: int = ...,
        ) -> None: ...


Step = Annotated[ToolStep | ReasonStep, Field(discriminator="kind")]
"""A step of a plan. `kind` tells the two apart."""


class Plan(Envelope):
    """Steps in the order in which they run, and the outputs that they are declared to produce."""

    steps: Annotated[tuple[Step, ...], ARRAY]
    declared_outputs: Annotated[tuple[Identifier, ...], ARRAY]
    plan_id: Annotated[Identifier | None, OPTIONAL] = None
    trace_id: Annotated[Identifier | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            steps: Array[Step],
            declared_outputs: Array[str],
            plan_id: str | None = None,
            trace_id: str = ...,
        ) -> None: ...


def is_late_step(step: ToolStep | ReasonStep) -> bool:
    """Return whether a step takes values, or pins results, of earlier steps."""
    return type(step) is ToolStep and (step.takes or step.evidence_steps) is not None


def is_late_plan(plan: Plan) -> bool:
    """Return whether any step of a plan is late."""
    return any(map(is_late_step, plan.steps))


def is_command_part(step: ToolStep | ReasonStep) -> bool:
    """Return whether a step is a thing that the command of another step does."""
    return type(step) is ToolStep and step.of is not None


def has_commands(plan: Plan) -> bool:
    """Return whether a plan has a shell command, or a thing that one does."""
    return any(
        type(step) is ToolStep and (step.of is not None or step.shell is not None)
        for step in plan.steps
    )


def parts_by_command(plan: Plan) -> dict[int, list[int]]:
    """Return the indexes of the steps that commands do, by the index of the step of the command."""
    found: dict[int, list[int]] = {}
    for index, step in enumerate(plan.steps):
        if type(step) is ToolStep and step.of is not None:
            found.setdefault(step.of, []).append(index)
    return found


class Proposal(Envelope):
    """The four inputs of `verify` as one value."""

    __slots__ = ("_make",)  # of one that has not been read: see `evals.unread`

    ctx: RunContext
    compiled: CompiledContext
    spec: DecisionSpec
    plan: Plan
