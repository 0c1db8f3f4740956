"""Check 2: is every call in the manifest, with args that its schema accepts and that may leave?"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from critic.checks.doubt_check import with_doubts
from critic.checks.grounds import ArgsUnfit, ConfinedSent, NotInSurface
from critic.checks.violation import Found, Wording
from critic.prepared import PreparedPlan
from critic.surface import (
    HAS_ARGS_SCHEMA,
    NOT_IN_MANIFEST,
    ToolEntry,
)
from evals.confinement import Confined, ConfinedContent
from evals.escaping import escape_name, pointer
from evals.json_schemas import CompiledSchema, Effort, SchemaFault
from evals.kinds import MODE_RANK

if TYPE_CHECKING:
    from critic.late.late_steps import LatePlan

_NETWORK: Final = MODE_RANK["network"]
_LEAVES: Final = sum(1 << rank for rank in MODE_RANK.values() if rank >= _NETWORK)
"""The traits of tools whose args leave."""


@with_doubts("surface")
def check_surface(case: PreparedPlan) -> Iterator[Found]:
    """Check 2: every tool step calls a capability of the manifest, with args that it may be given.

    A capability is found by the pair of adapter_id and capability_id, never by a joined name. Args
    are checked where the capability has an `args_schema`. At `network` or above, they hold no
    content of a class in `spec.confined_evidence`. Of a step that takes values (`critic.late`) the
    early part is checked, and that its takes have a free place and can fit.

    Yields `violates_decision_spec` with the step, at `/steps/N` for a call outside the manifest, at
    `/steps/N/takes`, `/steps/N/evidence_steps` or a place in them for what is late, at the place in
    `/steps/N/args` that does not satisfy the schema, and once at the first argument, by name, with
    confined content.
    """
    leaks = _confined_arguments(case) if case.spec.confined_evidence else {}
    if not leaks and case.late is None and not case.traits & (NOT_IN_MANIFEST | HAS_ARGS_SCHEMA):
        return
    validators: dict[ToolEntry, CompiledSchema | None] = {}
    effort = Effort() if case.earlier is None else copy(case.earlier.effort)
    for index, tool, fields in case.steps:
        if tool.traits & NOT_IN_MANIFEST:
            yield _surface_violation(index, partial(_not_in_surface, index, fields))
        if case.late is not None:
            yield from _late_faults(case, case.late, index)
        if tool.traits & HAS_ARGS_SCHEMA:
            if tool not in validators:
                validators[tool] = tool.validator()
            validator = validators[tool]
            if case.late is not None and case.late.has_takes(index):
                yield from _early_violations(case.late, index, effort)
            elif validator is not None and (
                validator.is_wide or not validator.is_valid(fields["args"])
            ):
                yield from _schema_violations(index, effort.faults(validator, fields["args"]))
        if index in leaks:
            yield _surface_violation(index, partial(_leak, index, *leaks[index]))


def _late_faults(case: PreparedPlan, late: "LatePlan", index: int) -> Iterator[Found]:
    from critic.late.late_faults import surface_faults  # noqa: PLC0415 - for late plans only

    return surface_faults(case, late, index)


def _early_violations(late: "LatePlan", index: int, effort: Effort) -> Iterator[Found]:
    """Yield where the part of the arguments that is there does not satisfy their schema."""
    from critic.late.schema_ways import early_faults  # noqa: PLC0415 - for late plans only

    step = late.steps[index]
    args, names = step.fields["args"], sorted(step.names)
    faults = early_faults(effort, step.tool.args_schema, args, names)
    return _schema_violations(index, faults)


def confined_content_of(case: PreparedPlan) -> Confined | None:
    """Return what must not leave; None where nothing must not, or no step can send any."""
    if not case.traits & _LEAVES or not case.spec.confined_evidence:
        return None
    if case.confined is None:
        classes = dict.fromkeys(case.spec.confined_evidence)
        items = [item for name in classes for item in case.surface.by_class.get(name, ())]
        case.confined = ConfinedContent(items)
    return case.confined


def _confined_arguments(case: PreparedPlan) -> dict[int, tuple[str, str]]:
    """Return the first argument with confined content of each step that sends some, and the item.

    The first by name, since the keys of an object have no order. All steps are searched at once:
    one by one, it would take as many searches for each item.
    """
    content = confined_content_of(case)
    if content is None:
        return {}
    commands = {fields.get("of") for _, tool, fields in case.steps if tool.rank >= _NETWORK}
    arguments = [
        (index, name, value)
        for index, tool, fields in case.steps
        if tool.rank >= _NETWORK or index in commands
        for name, value in sorted(fields["args"].items(), key=itemgetter(0))
    ]
    found = content.found_in({name: value} for _, name, value in arguments)
    leaks: dict[int, tuple[str, str]] = {}
    for (index, name, _), ref in zip(arguments, found, strict=True):
        if ref is not None:
            leaks.setdefault(index, (name, ref))
    return leaks


def _schema_violations(index: int, faults: list[SchemaFault]) -> Iterator[Found]:
    for fault in faults:
        yield _surface_violation(index, partial(_schema_fault, index, fault))


def _surface_violation(index: int, words: Callable[[], Wording]) -> Found:
    return Found("surface", "violates_decision_spec", index, words)


def _not_in_surface(index: int, fields: Mapping[str, Any]) -> Wording:
    name = f"{fields['adapter_id']}.{fields['capability_id']}"
    reason = f"plan step {index} calls {name} which is not in the surface"
    return Wording(reason, f"/steps/{index}", NotInSurface())


def _schema_fault(index: int, fault: SchemaFault) -> Wording:
    place = escape_name(pointer(*fault.path))
    where = f" at {place}" if place else ""
    keywords = escape_name(", ".join(fault.keywords))
    reason = f"step {index} args do not match the args_schema{where} ({keywords})"
    return Wording(reason, pointer("steps", index, "args", *fault.path), ArgsUnfit(fault))


def _leak(index: int, name: str, ref: str) -> Wording:
    sent = f"content of confined evidence {ref} in argument {escape_name(name)}"
    path = pointer("steps", index, "args", name)
    return Wording(f"step {index} sends {sent}", path, ConfinedSent(name, ref))
