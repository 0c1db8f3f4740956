"""What would help where arguments do not satisfy the schema of their tool."""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from critic.replies.quoting import Pen, name_place
from evals.json_schemas import SchemaFault
from evals.pointers import value_at

_MOST_FOLLOWED: Final = 20
_MOST_CHOICES: Final = 6
_ALL: Final = ("allOf", "anyOf", "oneOf", "then", "else")
_TYPES: Final[Mapping[str, str]] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_LIMITS: Final[Mapping[str, str]] = {
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "multipleOf": "a multiple of {}",
    "maxLength": "at most {} characters long",
    "minLength": "at least {} characters long",
    "maxItems": "a list of at most {}",
    "minItems": "a list of at least {}",
    "maxProperties": "an object of at most {} members",
    "minProperties": "an object of at least {} members",
    "const": "{}",
}
_MISSING: Final = ("required", "dependentRequired")
_UNKNOWN: Final = ("additionalProperties", "unevaluatedProperties", "false")


def word_schema_fault(
    pen: Pen, tool: str, schema: Any, args: Mapping[str, Any], fault: SchemaFault
) -> str:
    """Return what is wrong at a place in arguments, and what would be right, in one sentence."""
    found = value_at(args, "".join(f"/{_escape_part(part)}" for part in fault.path))
    value = found[0] if found else None
    places = [*_schemas_at(schema, fault.path)]
    said = [
        *_word_missing(pen, places, value, fault),
        *_word_unknown(pen, tool, places, value, fault),
    ]
    wanted = [*_word_wanted(pen, places, fault)]
    if wanted or not said:
        named = name_place(pen, fault.path)
        shown = f"{named} {pen.quote(value)}" if named else "its arguments"
        must = f"must be {' and '.join(wanted)}" if wanted else f"not what {tool} takes"
        verb = must if wanted else f"{'is' if named else 'are'} {must}"
        said.append(f"{shown} {verb}")
    text = "; ".join(said)
    return f"{text}{'' if text.endswith('?') else '.'} Correct it."


def word_schema_at(pen: Pen, schema: Any, path: tuple[str | int, ...]) -> list[str]:
    """Return what a schema asks of the value at a place, as far as that is said shortly."""
    places = [*_schemas_at(schema, path)]
    found = (
        (word, place[word]) for word in (*_SAYS, *_LIMITS) for place in places if word in place
    )
    return [said for word, value in found if (said := _word_keyword(pen, word, value))]


def nearest_name(name: str, known: Iterator[str] | list[str]) -> str | None:
    """Return the name that was probably meant."""
    by_small = {one.lower(): one for one in known}
    close = get_close_matches(name.lower(), by_small, n=1, cutoff=0.6)
    return by_small[close[0]] if close else None


def _word_missing(
    pen: Pen, places: list[Mapping[str, Any]], value: Any, fault: SchemaFault
) -> Iterator[str]:
    if type(value) is not dict or not any(word in fault.keywords for word in _MISSING):
        return
    wanted = [name for place in places for name in _names_in(place.get("required"))]
    absent = [name for name in dict.fromkeys(wanted) if name not in value]
    if absent:
        names = pen.names([_below(pen, fault.path, name) for name in absent])
        yield f"{names} {'is' if len(absent) == 1 else 'are'} missing"


def _word_unknown(
    pen: Pen, tool: str, places: list[Mapping[str, Any]], value: Any, fault: SchemaFault
) -> Iterator[str]:
    if type(value) is not dict or not any(word in fault.keywords for word in _UNKNOWN):
        return
    known = [name for place in places for name in place.get("properties", {})]
    for name in [name for name in value if name not in known]:
        close = nearest_name(name, [one for one in known if one not in value])
        meant = f": did you mean {pen.name(close)}?" if close else ""
        takes = f"; it takes {pen.names(known)}" if not meant else ""
        yield f"{tool} takes no {_below(pen, fault.path, name)}{meant}{takes}"


def _below(pen: Pen, path: tuple[str | int, ...], name: str) -> str:
    return name_place(pen, (*path, name))


def _word_wanted(pen: Pen, places: list[Mapping[str, Any]], fault: SchemaFault) -> Iterator[str]:
    for keyword in fault.keywords:
        value = next((place[keyword] for place in places if keyword in place), None)
        if value is not None and (said := _word_keyword(pen, keyword, value)):
            yield said


def _word_keyword(pen: Pen, keyword: str, wanted: Any) -> str:
    """Return what a keyword asks of a value; empty where one cannot say it shortly."""
    if keyword in _LIMITS:
        return _LIMITS[keyword].format(pen.show(wanted))
    make = _SAYS.get(keyword)
    return "" if make is None else make(pen, wanted)


def _word_types(_pen: Pen, wanted: Any) -> str:
    types = wanted if type(wanted) is list else [wanted]
    return " or ".join(_TYPES.get(str(one), str(one)) for one in types)


def _word_choices(pen: Pen, wanted: Any) -> str:
    shown = [pen.show(one) for one in wanted[:_MOST_CHOICES]]
    more = [f"{len(wanted) - len(shown)} others"] if len(wanted) > len(shown) else []
    return f"one of {', '.join([*shown, *more])}"


def _word_alternatives(pen: Pen, wanted: Any) -> str:
    shown = [one.get("type") for one in wanted if type(one) is dict]
    types = [one for one in shown if type(one) is str]
    return _word_types(pen, types) if len(types) == len(wanted) else ""


_SAYS: Final[Mapping[str, Callable[[Pen, Any], str]]] = {
    "type": _word_types,
    "enum": _word_choices,
    "anyOf": _word_alternatives,
    "oneOf": _word_alternatives,
    "pattern": lambda pen, wanted: f"of the form {pen.quote(wanted)}",
    "format": lambda pen, wanted: f"of the format {pen.word(wanted)}",
    "uniqueItems": lambda _pen, _wanted: "a list without doubles",
}


def _names_in(value: Any) -> list[str]:
    return [name for name in value if type(name) is str] if type(value) is list else []


def _schemas_at(schema: Any, path: tuple[str | int, ...]) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas that judge the value at a path, as far as they can be followed."""
    here = [*_join_schemas(schema, schema)]
    for part in path:
        below = [_inner(place, part) for place in here]
        here = [one for inner in below for one in _join_schemas(schema, inner)]
    yield from here


def _inner(place: Mapping[str, Any], part: str | int) -> Any:
    """Return the schema of a member or an element, as far as a schema says."""
    if isinstance(part, int):
        first = place.get("prefixItems")
        return first[part] if isinstance(first, list) and part < len(first) else place.get("items")
    properties = place.get("properties")
    if isinstance(properties, dict) and part in properties:
        return properties[part]
    return place.get("additionalProperties")


def _join_schemas(whole: Any, schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a schema, and those that judge the same value with it."""
    waiting, followed = [schema], 0
    while waiting and followed < _MOST_FOLLOWED:
        followed += 1
        one = waiting.pop(0)
        if type(one) is not dict:
            continue
        yield one
        reference = one.get("$ref")
        if type(reference) is str and reference.startswith("#"):
            waiting += value_at(whole, reference[1:])
        for keyword in _ALL:
            inner = one.get(keyword, [])
            waiting += inner if type(inner) is list else [inner]


def _escape_part(part: str | int) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")
