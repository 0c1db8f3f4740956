"""What JSON Schemas say of a value before it is there: its types, and of the values beside it.

Rule 1: what a schema may say in other ways than by types, members and elements is anything.
Rule 2: a place is never there, or never fits, only where that is certain.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from evals.json_schemas import Effort, SchemaFault, compile_schema
from evals.pointers import array_index, segments

_OPEN: Final = frozenset(
    {
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"),
        *("patternProperties", "dependentSchemas", "prefixItems"),
    }
)
"""Keywords whose schemas are not followed."""

_JUDGED_EARLY: Final = frozenset(
    {
        *("type", "properties", "required", "additionalProperties"),
        *("minProperties", "maxProperties", "propertyNames"),
        *("$schema", "$id", "$comment", "title", "description", "default", "examples"),
        "deprecated",
    }
)
"""Keywords of the root that can be judged while some arguments are not there."""


def walk_schema(schema: Any, pointer: str, *, wildcard: bool) -> Any:
    """Return the schema at a place: True for anything, False for what is never there.

    Args:
        wildcard: whether the segment `*` stands for any member or element.
    """
    for segment in segments(pointer):
        if _is_anything(schema):
            return True
        if schema is False:
            return False
        schema = _step_into(schema, segment, wildcard=wildcard)
    return True if _is_anything(schema) else schema


def _is_anything(schema: Any) -> bool:
    return schema is not False and (type(schema) is not dict or not _OPEN.isdisjoint(schema))


def _step_into(schema: Mapping[str, Any], segment: str, *, wildcard: bool) -> Any:
    is_star = wildcard and segment == "*"
    if is_star or array_index(segment) is not None:
        if schema.get("type") in ("array", ["array"]):
            return schema.get("items", True)
        # Without that type there may be an array, which is never asked for its members.
        if is_star or schema.get("type") not in ("object", ["object"]):
            return True
    members = schema.get("properties")
    if type(members) is dict and segment in members:
        return members[segment]
    return schema.get("additionalProperties", True)


def types_in(schema: Any) -> frozenset[str] | None:
    """Return the types of JSON that a schema accepts; None where it says nothing of them."""
    if type(schema) is not dict:
        return None
    if "type" in schema:
        said = schema["type"]
        found = {said} if type(said) is str else {*said}
    elif "const" in schema:
        found = {_type_of(schema["const"])}
    elif "enum" in schema:
        found = {*map(_type_of, schema["enum"])}
    else:
        return None
    return frozenset(found | {"integer"} if "number" in found else found)


def _type_of(value: Any) -> str:
    if type(value) is float:
        return "integer" if value.is_integer() else "number"
    names = {str: "string", int: "integer", bool: "boolean", list: "array", dict: "object"}
    return names.get(type(value), "null")


def never_fits(output: Any, at: str, args_schema: Any, arg: str) -> bool:
    """Return whether no value at a place of an output can be an argument.

    Args:
        output: the schema of the output; None without one.
        args_schema: that of the arguments; None without one.
    """
    taken = walk_schema(output, at, wildcard=True)
    if taken is False:
        return True
    given, wanted = types_in(taken), types_in(walk_schema(args_schema, arg, wildcard=False))
    return given is not None and wanted is not None and given.isdisjoint(wanted)


def early_faults(
    effort: Effort, schema: Any, args: Mapping[str, Any], late: Iterable[str]
) -> list[SchemaFault]:
    """Return the places in arguments that their schema does not accept, whatever is still to come.

    Args:
        late: the names of arguments that are not, or not wholly, there: they count as present.
    """
    if type(schema) is dict:
        if not _JUDGED_EARLY.issuperset(schema):
            return []
        members = dict(schema.get("properties", {}))
        may_add = schema.get("additionalProperties") is not False
        members.update((name, True) for name in late if may_add or name in members)
        schema = {**schema, "properties": members}
    present = {**args, **dict.fromkeys(late)}
    return effort.faults(compile_schema(schema), present)
