"""The repairs of a plan whose evidence is missing, expired, or says something else."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, assert_never

from critic.checks.coverage_check import unlisted_outputs
from critic.prepared import PreparedPlan
from critic.repairs.options import RepairOptions
from critic.repairs.repair_kinds import (
    MOST_CANDIDATES,
    BackArgument,
    CorrectArgs,
    DropClaim,
    DropStep,
    ObtainEvidence,
    PinEvidence,
    Repair,
    UnpinEvidence,
)
from critic.surface import PRODUCES_ANYTHING, ToolEntry
from evals.escaping import pointer
from evals.evidence import (
    EvidenceFault,
    MissingArgument,
    MissingClass,
    PinFault,
    UnbackedArgument,
    UnbackedGroup,
    UnmetDemand,
    said_of,
)
from evals.needs import Need

_NO_ARGS: Final[Mapping[str, Any]] = {}


class EvidenceRepairs:
    """The repairs of the evidence of one plan. Steps are named by their index in another plan."""

    def __init__(
        self, options: RepairOptions, case: PreparedPlan, origins: tuple[int, ...]
    ) -> None:
        self._options = options
        self._case = case
        self._origins = origins
        self._seen: set[int] = set()

    def of_plan(self) -> Iterator[Repair]:
        """Yield the repairs for the classes that the spec requires of the plan as a whole."""
        held = set().union(*(self._held_classes(fields) for _, _, fields in self._case.steps))
        for name in dict.fromkeys(self._case.spec.required_evidence or ()):
            if name in held:
                continue
            if candidates := self._options.evidence_for(name):
                yield PinEvidence(classification=name, candidates=candidates)
            else:
                yield ObtainEvidence(classifications=(name,))

    def _held_classes(self, fields: Mapping[str, Any]) -> set[str]:
        """Return the classes of the fresh evidence that a step pins."""
        class_of = self._options.surface.class_at(self._case.ctx.as_of)
        held = map(class_of, fields["evidence_refs"] or ())
        return {name for name in held if name is not None}

    def of_step(self, index: int) -> Iterator[Repair]:
        """Yield the repairs for all that the evidence of one step lacks, when first asked."""
        if index in self._seen:
            return
        self._seen.add(index)
        _, tool, fields = self._case.steps[index]
        if fields.get("takes") or fields.get("evidence_steps"):
            # Some of its evidence is still to come: what is to be pinned is for the planner to say.
            named = self._origins[index]
            yield CorrectArgs(step=named, path=pointer("steps", named))
            return
        faults = list(
            self._options.review.faults(
                tool.capability,
                fields["requires_evidence"],
                fields["evidence_refs"],
                fields.get("args", _NO_ARGS),
            )
        )
        # A group is left until each of its arguments is backed at all.
        alone = {
            fault.name for fault in faults if isinstance(fault, MissingArgument | UnbackedArgument)
        }
        step = _StepRepairs(self, self._options, self._origins[index], tool, fields)
        for fault in faults:
            if not (isinstance(fault, UnbackedGroup) and not alone.isdisjoint(fault.names)):
                yield from step.repair_fault(fault)

    def is_unneeded(self, tool: ToolEntry, fields: Mapping[str, Any]) -> bool:
        """Return whether a step is a read that no required output and no other step needs."""
        return self._removable(tool) and fields["id"] not in self._needed

    def _removable(self, tool: ToolEntry) -> bool:
        return tool.mode == "read_only" and tool in self._unneeded_tools

    @cached_property
    def _unneeded_tools(self) -> set[ToolEntry]:
        """Tools whose listed outputs are not required, when other tools cover all that are."""
        required = {*self._case.spec.required_outputs}
        if not required or unlisted_outputs(self._case, required):
            return set()
        tools = {tool for _, tool, _ in self._case.steps if not tool.traits & PRODUCES_ANYTHING}
        return {tool for tool in tools if tool.produces.isdisjoint(required)}

    @cached_property
    def _needed(self) -> set[str]:
        """Ids that steps depend on, not counting steps that can be removed themselves."""
        needed = set[str]()
        for _, tool, fields in reversed(self._case.steps):
            if not self._removable(tool) or fields["id"] in needed:
                needed.update(fields["depends_on"] or ())
        return needed


class _StepRepairs:
    """The repairs of the evidence of one step."""

    def __init__(
        self,
        plan: EvidenceRepairs,
        options: RepairOptions,
        step: int,
        tool: ToolEntry,
        fields: Mapping[str, Any],
    ) -> None:
        self._plan = plan
        self._options = options
        self._step = step
        self._tool = tool
        self._fields = fields
        self._args: Mapping[str, Any] = fields.get("args", _NO_ARGS)
        self._needs = options.review.needs_of(tool.capability)

    def repair_fault(self, fault: EvidenceFault) -> Iterator[Repair]:
        """Yield the repairs of one fault."""
        match fault:
            case MissingClass():
                yield from self._missing_class(fault.classification)
            case UnmetDemand():
                yield self._demand(fault.need)
            case PinFault():
                yield UnpinEvidence(step=self._step, ref=fault.ref)
            case MissingArgument():
                yield self._missing_argument(fault)
            case UnbackedArgument():
                yield from self._unbacked_argument(fault.name)
            case UnbackedGroup():
                yield self._group(fault.names)
            case _:
                assert_never(fault)

    def _missing_class(self, name: str) -> Iterator[Repair]:
        demands = [
            need
            for need in self._needs.demands
            if need.classification == name and not need.is_plain
        ]
        if demands:
            yield from map(self._demand, demands)
        elif candidates := self._options.evidence_for(name):
            yield PinEvidence(step=self._step, classification=name, candidates=candidates)
        elif name in self._tool.needs:
            yield self._obtain_evidence((name,))
        else:
            yield DropClaim(step=self._step, classification=name)

    def _demand(self, need: Need) -> Repair:
        options, name = self._options, need.classification
        if candidates := options.evidence_meeting(need, self._args):
            return PinEvidence(step=self._step, classification=name, candidates=candidates)
        # Evidence that is about something else is there: so the args may be mistaken.
        other = need._replace(about=())
        unseen = options.is_exhausted and options.evidence_for(name)
        if unseen or (need.about and options.evidence_meeting(other, self._args)):
            (argument, _), *more = need.about or (("", ""),)
            alone = argument in self._args and not more
            return self._correct_argument(argument if alone else None)
        return self._obtain_evidence((name,), said_of(need))

    def _missing_argument(self, fault: MissingArgument) -> Repair:
        classes = self._needs.bound[fault.name].classes
        if not classes or self._options.allowed_evidence(self._tool, fault.name):
            return self._correct_argument(fault.name if fault.is_present else None)
        return self._obtain_evidence(classes)

    def _unbacked_argument(self, name: str) -> Iterator[Repair]:
        options, bound = self._options, self._needs.bound[name]
        values = options.unbacked_scalars(bound, self._args[name], self._fields["evidence_refs"])
        backers = dict.fromkeys(
            options.evidence_backing(self._tool, name, value) for value in values
        )
        if () not in backers:
            for candidates in backers:
                yield BackArgument(step=self._step, argument=name, candidates=candidates)
        elif (
            not bound.classes
            or options.allowed_evidence(self._tool, name)
            or self._can_omit_args(name)
        ):
            yield self._correct_argument(name)
        else:
            yield self._obtain_evidence(bound.classes)

    def _group(self, names: tuple[str, ...]) -> Repair:
        options = self._options
        if candidates := options.evidence_backing_together(self._tool, names, self._args):
            return BackArgument(step=self._step, argument=names[0], candidates=candidates)
        # Each of them is backed by some evidence. That of one thing may back other values of them.
        return self._correct_argument(None)

    def _correct_argument(self, argument: str | None) -> CorrectArgs:
        """Return the advice to correct one argument, or the args as a whole."""
        path = pointer("steps", self._step, "args", *([] if argument is None else [argument]))
        return CorrectArgs(step=self._step, path=path)

    def _obtain_evidence(
        self, classes: Iterable[str], content: str | None = None
    ) -> DropStep | ObtainEvidence:
        """Return the repair for missing evidence: drop a step that nothing needs, or obtain it."""
        if self._plan.is_unneeded(self._tool, self._fields):
            return DropStep(step=self._step)
        named = tuple(dict.fromkeys(classes))[:MOST_CANDIDATES]
        return ObtainEvidence(step=self._step, classifications=named, content=content)

    def _can_omit_args(self, name: str) -> bool:
        """Return whether the args satisfy the schema without those that no evidence can back."""
        return self._needs.bound[name].empty != "refused" and self._others_suffice

    @cached_property
    def _others_suffice(self) -> bool:
        bound = {name for name in self._args if name in self._needs.bound}
        bare = {name for name in bound if not self._options.allowed_evidence(self._tool, name)}
        others = {name: value for name, value in self._args.items() if name not in bare}
        validator = self._options.validator_of(self._tool)
        return validator is None or validator.is_valid(others)
