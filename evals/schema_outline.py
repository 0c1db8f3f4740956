"""The outline of a JSON Schema: equally strict, and brief about a choice that fails.

Where `anyOf` or `oneOf` fails, the validator collects the errors of every alternative, and within
them those of every choice below: exponentially many in a schema that refers to itself. They are not
needed. In the outline each choice is wrapped in two `not`, which are only asked for yes or no.
"""

from typing import Any, Final, NamedTuple

from evals.schema_budget import REFERENCES, every_object

Place = tuple[str | int, ...]
"""Where in a schema a keyword is: object keys and array positions, outermost first."""

_CHOICES: Final = ("anyOf", "oneOf")
_LISTS: Final = ("allOf", "prefixItems")
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_SINGLE: Final = ("items", "additionalProperties", "propertyNames", "then", "else")
_UNEVALUATED: Final = {"unevaluatedItems", "unevaluatedProperties"}


class Outline(NamedTuple):
    """A schema that is as strict as another, and the choices that were wrapped in it."""

    schema: Any
    choices: dict[Place, str]
    """The keyword of each wrapped choice, by the place of the outer `not`."""


def outline(schema: Any) -> Outline | None:
    """Return the outline, or None where a schema has none.

    A choice cannot be wrapped if `unevaluatedItems` or `unevaluatedProperties` ask what it looked
    at, or if a reference leads into it. Where a schema holds another one with an `$id` of its own,
    errors name places of either.
    """
    for part in every_object(schema):
        if "$id" in part and part is not schema:
            return None
        references = [part.get(keyword) for keyword in REFERENCES]
        into_choice = any("/anyOf/" in str(ref) or "/oneOf/" in str(ref) for ref in references)
        if into_choice or not _UNEVALUATED.isdisjoint(part):
            return None
    choices: dict[Place, str] = {}
    return Outline(_outlined(schema, (), choices), choices)


def _outlined(schema: Any, place: Place, choices: dict[Place, str]) -> Any:
    if type(schema) is not dict:
        return schema
    result = dict(schema)
    for keyword in _SINGLE:
        if keyword in schema:
            result[keyword] = _outlined(schema[keyword], (*place, keyword), choices)
    for keyword in _MAPS:
        if type(schema.get(keyword)) is dict:
            result[keyword] = {
                name: _outlined(part, (*place, keyword, name), choices)
                for name, part in schema[keyword].items()
            }
    for keyword in _LISTS:
        if type(schema.get(keyword)) is list:
            result[keyword] = [
                _outlined(part, (*place, keyword, index), choices)
                for index, part in enumerate(schema[keyword])
            ]
    for keyword in _CHOICES:
        if keyword in result:
            wrapped = result.setdefault("allOf", [])
            choices[(*place, "allOf", len(wrapped), "not")] = keyword
            result["allOf"] = [*wrapped, {"not": {"not": {keyword: result.pop(keyword)}}}]
    return result
