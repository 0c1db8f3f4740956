"""What pydantic found wrong with a JSON value, in the words of JSON: where, what, and the mend."""

from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evals.text import one_line, pointer

NOT_BLANK: Final = r"\S"
"""The pattern of a text that says something."""

# Characters of a message: pydantic repeats a wrong value of a closed set, of whatever length.
_LONGEST: Final = 300

_MENDS: Final = {
    "extra_forbidden": "unknown field: remove it or check its spelling",
    "missing": "required field is missing: add it",
    "string_pattern_mismatch": "not an identifier: 1 to 128 (evidence refs 512) characters of "
    "letters, digits and _.:/#@+=~-, the first a letter, digit or _",
    "int_type": "must be an integer (no fraction, no quotes, no null; leave an optional field out)",
    "string_type": "must be a string (leave an optional field out instead of null)",
    "bool_type": "must be true or false",
    "tuple_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "union_tag_not_found": "lacks the field that says of which kind it is: add it",
}


def explain(error: ValidationError, value: Any) -> tuple[str, str]:
    """The JSON pointer to the first fault in `value`, and one safe line about it.

    How many other places are at fault is said too.
    """
    faults = error.errors(include_url=False, include_input=False)
    places = {_place(fault["loc"], value): None for fault in faults}
    first = faults[0]
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    return _place(first["loc"], value), one_line(_mend(first)) + more


def _place(location: tuple[int | str, ...], value: Any) -> str:
    """The location without the parts that name a choice of union rather than a place."""
    parts: list[str | int] = []
    last = len(location) - 1
    for position, part in enumerate(location):
        if _names_a_choice(part, location[:position], parts):
            continue
        if part == "[key]" and position == last and "[key]" not in _keys(value):
            continue
        if isinstance(value, dict) and (part in value or position == last):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part] if part < len(value) else None
        else:
            continue
        parts.append(part)
    return pointer(*parts)


def _keys(value: Any) -> frozenset[str]:
    return frozenset(value) if isinstance(value, dict) else frozenset()


def _names_a_choice(
    part: int | str, before: tuple[int | str, ...], places: list[str | int]
) -> bool:
    """Whether the part is pydantic's own: the kind of a step, or a verdict's ok."""
    if before[-1:] == ("verify",):
        return not isinstance(part, str)
    return bool(before) and isinstance(before[-1], int) and places[-2:-1] == ["steps"]


def _mend(fault: ErrorDetails) -> str:
    if fault.get("ctx", {}).get("pattern") == NOT_BLANK:
        return "must not be blank"
    known = _MENDS.get(fault["type"], fault["msg"])[:_LONGEST]
    return known[:1].lower() + known[1:] if known[1:2].islower() else known
