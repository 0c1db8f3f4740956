"""Say whether an `args_schema` constrains anything at all.

`true`, `{}`, `{"$ref": "#"}`, `{"type": "object"}` and a schema of misspelt keywords are valid, and
all args satisfy them. A reader who is told that args were checked would be misled.
"""

from typing import Any, Final

from evals.schema_budget import Targets
from evals.schema_keywords import Json, keywords_judging, parts_of

# Keywords that can refuse a value by themselves, and those that can unless they are empty.
_OF_ANY: Final = frozenset({"enum", "const", "not", "oneOf", "dependencies"})
_OF_OBJECTS: Final = frozenset({"maxProperties"})
_OF_OBJECTS_IF_TRUE: Final = frozenset({"required", "minProperties", "dependentRequired"})
_OF_OTHERS: Final = frozenset(
    {
        *("pattern", "maxLength", "contains", "maxItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    }
)
_OF_OTHERS_IF_TRUE: Final = frozenset({"minLength", "minItems", "uniqueItems"})

KNOWN_FORMATS: Final = frozenset(
    {
        *("date", "date-time", "time", "duration", "email", "idn-email"),
        *("hostname", "idn-hostname", "ipv4", "ipv6", "uri", "uri-reference", "iri"),
        *("iri-reference", "uri-template", "uuid", "json-pointer", "relative-json-pointer"),
        "regex",
    }
)
"""The formats that the compiler asserts. It takes any other and refuses nothing by it."""

# `$recursiveRef` is of an older draft: the compiler takes it for an unknown keyword.
_FOLLOWED: Final = ("$ref", "$dynamicRef")

# What an `if` asks refuses nothing.
_SAME: Final = tuple(keyword for keyword in keywords_judging("same") if keyword != "if")
_MEMBERS: Final = keywords_judging("member")
_PARTS: Final = keywords_judging("member", "element")


def accepts_every_object(schema: Any) -> bool:
    """Return whether no keyword of the schema can refuse an object.

    Only what is plain to see counts: of a schema that accepts every object for a deeper reason,
    such as a choice between `true` and another schema, the answer is no.
    """
    if type(schema) is not dict:
        return bool(schema)
    targets, seen = Targets(schema), set[tuple[int, bool]]()
    waiting: list[tuple[Any, bool]] = [(schema, True)]
    while waiting:
        part, judges_args = waiting.pop()
        if part is False:
            return False
        if type(part) is not dict or (id(part), judges_args) in seen:
            continue
        seen.add((id(part), judges_args))
        if _can_refuse(part, judges_args=judges_args):
            return False
        followed = {keyword: part[keyword] for keyword in _FOLLOWED if keyword in part}
        waiting += [(target, judges_args) for target in targets.targets_of(followed)]
        waiting += [(below, judges_args) for _, below in parts_of(part, _SAME)]
        inner = _MEMBERS if judges_args else _PARTS
        waiting += [(below, False) for _, below in parts_of(part, inner)]
    return True


def _can_refuse(schema: Json, *, judges_args: bool) -> bool:
    """Return whether a keyword refuses values by itself. Args are always objects."""
    if "type" in schema and not (judges_args and "object" in schema["type"]):
        return True
    if not judges_args and schema.get("format") in KNOWN_FORMATS:
        return True
    always = _OF_ANY | _OF_OBJECTS | (frozenset() if judges_args else _OF_OTHERS)
    if_true = _OF_OBJECTS_IF_TRUE | (frozenset() if judges_args else _OF_OTHERS_IF_TRUE)
    return not always.isdisjoint(schema) or any(schema.get(keyword) for keyword in if_true)
