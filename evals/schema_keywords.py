"""The keywords of a JSON Schema that hold schemas, and the one walk over these.

A keyword holds one schema, a list of them or schemas by name, and they judge the same value as the
schema that holds them, a member of that object, an element of that array, or nothing by
themselves. To follow a new keyword, give it a row.
"""

from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

Json = dict[str, Any]
Form = Literal["one", "list", "names"]
JudgedPart = Literal["same", "member", "element", "nothing"]

Place = tuple[str | int, ...]
"""Where in a schema a part is: object keys and array positions, outermost first."""


class Keyword(NamedTuple):
    """What a keyword holds, and what its schemas judge."""

    form: Form
    judges: JudgedPart


KEYWORDS: Final = MappingProxyType(
    {
        "items": Keyword("one", "element"),
        "contains": Keyword("one", "element"),
        "additionalProperties": Keyword("one", "member"),
        "propertyNames": Keyword("one", "member"),
        "not": Keyword("one", "same"),
        "if": Keyword("one", "same"),
        "then": Keyword("one", "same"),
        "else": Keyword("one", "same"),
        "unevaluatedItems": Keyword("one", "element"),
        "unevaluatedProperties": Keyword("one", "member"),
        "contentSchema": Keyword("one", "nothing"),
        "allOf": Keyword("list", "same"),
        "anyOf": Keyword("list", "same"),
        "oneOf": Keyword("list", "same"),
        "prefixItems": Keyword("list", "element"),
        "properties": Keyword("names", "member"),
        "patternProperties": Keyword("names", "member"),
        "dependentSchemas": Keyword("names", "same"),
        "$defs": Keyword("names", "nothing"),
        "definitions": Keyword("names", "nothing"),
        "dependencies": Keyword("names", "same"),
    }
)
"""Every keyword that holds schemas, in the order in which a walk takes them."""

REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords that refer to a schema elsewhere."""


def keywords_judging(*judged: JudgedPart) -> tuple[str, ...]:
    """Return the keywords whose schemas judge one of these."""
    return tuple(name for name, keyword in KEYWORDS.items() if keyword.judges in judged)


def parts_of(schema: Any, keywords: Iterable[str] = KEYWORDS) -> Iterator[tuple[Place, Any]]:
    """Yield what some keywords of a schema hold, each with its place in the schema.

    A list where names are expected, or the reverse, is not valid: its members are yielded as well.
    """
    if not isinstance(schema, dict):
        return
    for keyword in keywords:
        if keyword not in schema:
            continue
        held = schema[keyword]
        if KEYWORDS[keyword].form == "one":
            yield (keyword,), held
        elif isinstance(held, dict | list):
            members = held.items() if isinstance(held, dict) else enumerate(held)
            for name, part in members:
                yield (keyword, name), part


def subschemas(schema: Json, keywords: Iterable[str]) -> Iterator[Json]:
    """Yield the schemas that some keywords hold, but those that are `true` or `false`."""
    return (part for _, part in parts_of(schema, keywords) if type(part) is dict)


def schemas_in(schema: Any, *path: str | int) -> Iterator[tuple[Place, Any]]:
    """Yield a schema and all schemas in it, each with its place."""
    yield path, schema
    for place, part in parts_of(schema):
        yield from schemas_in(part, *path, *place)


def every_object(root: Any) -> Iterator[Json]:
    """Yield every object in a JSON value, whether it is a schema or not."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            yield value
            waiting.extend(value.values())
        elif type(value) is list:
            waiting.extend(value)
