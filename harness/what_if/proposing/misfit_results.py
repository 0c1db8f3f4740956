"""Find a result that does not satisfy the schema of its class: it is a text of its author. Pure.

No place in such a result holds a field, so that its values stop calls that they would not stop as
fields. The schema is wrong, or the result is, and not the role of an argument.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from evals.escaping import escape_line, escape_name, pointer
from evals.json_schemas import SchemaFault, compile_schema, schema_faults
from evals.pointers import values_at
from harness.policy.envelopes import Policy, PolicyTool
from harness.what_if.proposing.task_judge import TaskStop


class SeenResult(NamedTuple):
    """What a call of a tool returned; as a record, where a text spells one."""

    tool: PolicyTool
    output: Any


def find_misfit(policy: Policy, seen: Iterable[SeenResult], stop: TaskStop) -> str | None:
    """Return which result before a stop is not of its class, and why; None if none is.

    Where a value stops, only the results that hold it count.
    """
    schemas = {one.name: one.schema_ for one in policy.class_ if one.schema_ is not None}
    wanted = {*_leaves(stop.value)} if stop.path else set()
    for tool, output in seen:
        promises = tool.result is not None and tool.result.format == "json"
        if not promises or tool.yields not in schemas:
            continue
        if wanted and wanted.isdisjoint(_leaves(output)):
            continue
        if why := _why_not(schemas[tool.yields], output):
            shown, name = escape_name(tool.called), escape_name(tool.yields)
            return f"{shown}'s result is not what class {name} says: {why}"
    return None


def _why_not(schema: Any, output: Any) -> str:
    """Return the first place that does not satisfy a schema, or nothing."""
    if not isinstance(output, dict | list):
        return "it is no JSON object or array"
    faults = schema_faults(compile_schema(schema), output)
    if not faults:
        return ""
    place, keywords = faults[0]
    if "required" in keywords and (missing := _missing_name(schema, output, faults[0])):
        return f"{escape_line(pointer(*place, missing))} is missing"
    where = escape_line(pointer(*place)) or "the whole"
    return f"{where} does not satisfy {', '.join(map(escape_name, keywords))}"


def _missing_name(schema: Any, output: Any, fault: SchemaFault) -> str | None:
    """Return a required name that is not there, where no reference leads to the one who says so."""
    for part in fault.path:
        below = schema.get("properties") if isinstance(part, str) else {part: schema.get("items")}
        schema = below.get(part) if isinstance(below, dict) else None
        if not isinstance(schema, dict):
            return None
    value: Any = next(iter(values_at(output, pointer(*fault.path), wildcard=False)), None)
    names = schema.get("required", ()) if isinstance(value, dict) else ()
    return next((name for name in names if name not in value), None)


def _leaves(value: Any) -> Iterator[str]:
    """Yield the texts and numbers in a value, as text."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            waiting += current.values()
        elif isinstance(current, list | tuple):
            waiting += current
        elif current is not None and not isinstance(current, bool):
            yield current if isinstance(current, str) else repr(current)
