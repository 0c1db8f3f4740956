"""Check 2: is every call in the manifest, with args that its schema accepts?"""

from collections.abc import Iterator
from typing import Any

from critic.checks.violation import violation_of
from critic.prepared import PreparedPlan
from critic.surface import (
    HAS_ARGS_SCHEMA,
    NOT_IN_MANIFEST,
    ToolEntry,
)
from critic.verdicts import Violation
from evals.escaping import escape_name, pointer
from evals.schemas import CompiledSchema, schema_faults


def check_surface(case: PreparedPlan) -> Iterator[Violation]:
    """Check 2: every tool step calls a capability of the manifest, with args that fit its schema.

    A capability is found by the pair of adapter_id and capability_id, never by a joined name. Args
    are checked where the capability has an `args_schema`.

    Yields `violates_decision_spec` with the step, at `/steps/N` for a call outside the manifest, or
    at the place in `/steps/N/args` that does not satisfy the schema.
    """
    if not case.traits & (NOT_IN_MANIFEST | HAS_ARGS_SCHEMA):
        return
    validators: dict[ToolEntry, CompiledSchema | None] = {}
    for index, tool, fields in case.steps:
        if tool.traits & NOT_IN_MANIFEST:
            name = f"{fields['adapter_id']}.{fields['capability_id']}"
            reason = f"plan step {index} calls {name} which is not in the surface"
            yield violation_of(
                "surface", "violates_decision_spec", reason, index, f"/steps/{index}"
            )
        elif tool.traits & HAS_ARGS_SCHEMA:
            if tool not in validators:
                validators[tool] = tool.validator()
            validator = validators[tool]
            if validator is not None and not validator.is_valid(fields["args"]):
                yield from _schema_violations(index, fields["args"], validator)


def _schema_violations(
    index: int, args: dict[str, Any], validator: CompiledSchema
) -> Iterator[Violation]:
    for error in schema_faults(validator, args):
        place = escape_name(pointer(*error.path)) or "their root"
        keywords = escape_name(", ".join(error.keywords))
        reason = f"step {index} args do not satisfy the args_schema at {place} ({keywords})"
        path = pointer("steps", index, "args", *error.path)
        yield violation_of("surface", "violates_decision_spec", reason, index, path)
