"""Read the type of a tool's results from recorded results."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from evals.json_schemas import compile_schema
from harness.policy.analysis.derive_tools import ResultType, ToolDraft, without_zones
from harness.policy.analysis.toml_spelling import toml_value

_MOST_LEVELS: Final = 8
_MOST_NAMES: Final = 200
_LONGEST_EXAMPLE: Final = 2_000

_TYPES: Final = {bool: "boolean", int: "integer", float: "number", str: "string"}


def with_recorded_results(draft: ToolDraft, results: Sequence[Any]) -> ToolDraft:
    """Return the draft with an example of its results, and their type if it has none."""
    if not results:
        return draft
    known = draft.result or ResultType("", schema_of_values(results), is_recorded=True)
    fits = compile_schema(without_zones(known.schema)).is_valid
    example = next((one for one in results if fits(one) and _may_be_written(one)), None)
    return draft._replace(result=known._replace(example=example))


def schema_of_values(values: Sequence[Any], levels: int = _MOST_LEVELS) -> dict[str, Any]:
    """Return the narrowest schema by type that all values satisfy; `{}` if they are too deep."""
    if not values or levels < 0:
        return {}
    forms = [*_scalar_types(values)]
    if objects := [one for one in values if isinstance(one, dict)]:
        forms.append(_schema_of_objects(objects, levels))
    if arrays := [one for one in values if isinstance(one, list)]:
        elements = [element for array in arrays for element in array]
        forms.append({"type": "array", "items": schema_of_values(elements, levels - 1)})
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _scalar_types(values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    names = {_TYPES[type(one)] for one in values if type(one) in _TYPES}
    if "number" in names:
        names.discard("integer")
    yield from ({"type": name} for name in sorted(names))
    if None in values:
        yield {"type": "null"}


def _schema_of_objects(objects: Sequence[dict[str, Any]], levels: int) -> dict[str, Any]:
    names = list(dict.fromkeys(name for one in objects for name in one))
    required = [name for name in names if all(name in one for one in objects)]
    if not required or len(names) > _MOST_NAMES:
        return {"type": "object"}  # its names are values themselves
    members = {name: [one[name] for one in objects if name in one] for name in names}
    properties = {name: schema_of_values(each, levels - 1) for name, each in members.items()}
    return {"type": "object", "required": required, "properties": properties}


def _may_be_written(value: Any) -> bool:
    """Return whether TOML can hold a value, and it is short enough to read."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one is None:
            return False
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return len(toml_value(value)) <= _LONGEST_EXAMPLE
