"""Explain what is wrong with a JSON value that is not an envelope: where, and how to fix it.

It ends with the first hundred problems: what is not read is not explained.
"""

from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import Any, Final, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evals.bounded import MOST_FAULTS, REST_NOT_READ
from evals.context import SHA256
from evals.envelope import Envelope
from evals.escaping import escape_line, pointer

Location = tuple[int | str, ...]
"""Object keys and array positions, outermost first."""

MOST_PROBLEMS: Final = MOST_FAULTS
"""How many problems of one input are listed."""


class Problem(NamedTuple):
    """One thing that is wrong with an input.

    Attributes:
        path: JSON pointer to the place, "" for the document as a whole.
        message: what is wrong and how to fix it: one line, safe to print.
    """

    path: str
    message: str


NOT_BLANK: Final = r"\S"
"""The pattern of a text that is not blank."""

# Characters of a message: pydantic repeats a wrong value of a closed set, of any length.
_LONGEST: Final = 300

_PATTERNS: Final = {
    NOT_BLANK: "must not be blank",
    SHA256: "not a SHA-256: 64 digits of 0-9 and a-f, with or without sha256: before them",
}

_FIXES: Final = {
    "extra_forbidden": "unknown field: remove it or check its spelling",
    "missing": "required field is missing: add it",
    "string_pattern_mismatch": "not an identifier: 1 to 128 (evidence refs 512) characters of "
    "letters, digits and _.:/#@+=~-, the first a letter, digit or _",
    "int_type": "must be an integer (no fraction, no quotes, no null)",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "tuple_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}


class Faults(NamedTuple):
    """The faults of a value. `stopped`: it was not read to its end, since it has too many."""

    problems: list[Problem]
    stopped: bool

    def count_more(self) -> str:
        """Return how many there are beside the first, as the end of a message."""
        if self.stopped or len(self.problems) > MOST_PROBLEMS:
            return f" (and more: reading stops at the first {MOST_FAULTS} faults)"
        return f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""


def faults_told(error: ValidationError, model: type[Envelope], value: Any) -> Faults:
    """Explain what pydantic refused in `value`: one problem for each place, at least one."""
    errors, stopped = _first_errors(error, model, value)
    nulls = _null_options(model, errors, value)
    problems: dict[str, str] = {}
    for details in errors:
        if details["input"] is REST_NOT_READ:
            stopped = True
            continue
        message = _OMIT if details["loc"] in nulls else _message(details)
        problems.setdefault(_place(details["loc"], value), message)
    listed = [Problem(path, escape_line(message)) for path, message in problems.items()]
    return Faults(listed, stopped)


def _first_errors(
    error: ValidationError, model: type[Envelope], value: Any
) -> tuple[list[ErrorDetails], bool]:
    """Return the errors, or the first of very many, and whether there are more.

    Arrays and objects with names of their own were not read to the end. What is left are objects
    with very many unknown fields: to tell of all of them takes far longer than to find them.
    """
    if error.error_count() > _MANY:
        try:
            model.__pydantic_validator__.validate_python(_with_fewer_fields(value))
        except ValidationError as first:
            if first.error_count() < error.error_count():
                return first.errors(include_url=False), True
    return error.errors(include_url=False), False


def _with_fewer_fields(value: Any) -> Any:
    """Return the JSON value without most fields of objects that have more than any envelope has.

    What is in an array, or in JSON of the user's own, is left as it is.
    """
    if type(value) is not dict:
        return value
    names = dict.fromkeys(value)
    if len(value) > _MANY:
        names = dict.fromkeys([*islice(value, _MANY), *(value.keys() & _field_names())])
    return {
        name: _with_fewer_fields(value[name]) if name in _ENVELOPES else value[name]
        for name in names
    }


@cache
def _field_names() -> frozenset[str]:
    """Return the names of the fields of all envelopes."""
    names: set[str] = set()
    waiting: list[type[Envelope]] = [Envelope]
    while waiting:
        model = waiting.pop()
        names.update(field.alias or name for name, field in model.model_fields.items())
        waiting += model.__subclasses__()
    return frozenset(names)


_MANY: Final = 10 * MOST_PROBLEMS
"""More errors than this are not told one by one. An envelope never has so many fields."""

_ENVELOPES: Final = frozenset(
    {"proposal", "ctx", "compiled", "manifests", "spec", "plan", "run", "report", "verify"}
)
"""The fields that hold one envelope, or the parts of one."""

_OMIT: Final = "must not be null: omit the field"


def _null_options(model: type[Envelope], errors: list[ErrorDetails], value: Any) -> set[Location]:
    """Return the places of nulls in optional fields, which are valid when left out."""
    nulls = {error["loc"] for error in errors if error["input"] is None}
    if not nulls:
        return set()
    try:
        model.__pydantic_validator__.validate_python(_drop_members(value, nulls))
    except ValidationError as remaining:
        return nulls - {error["loc"] for error in remaining.errors(include_url=False)}
    return nulls


def _drop_members(value: Any, locations: Iterable[Location]) -> Any:
    """Return the JSON value without the object members at the locations, sharing the rest.

    Linear in the locations and in the objects and arrays that they pass through.
    """
    below: dict[int | str, list[Location]] = {}
    for location in locations:
        # A part that is not there is the name of a choice, which is not a place.
        depth = next((at for at, part in enumerate(location) if _holds(value, part)), None)
        if depth is not None:
            below.setdefault(location[depth], []).append(location[depth + 1 :])
    if not below:
        return value
    if isinstance(value, list):
        return [_drop_members(item, below.get(at, ())) for at, item in enumerate(value)]
    return {
        name: _drop_members(item, below.get(name, ()))
        for name, item in value.items()
        if () not in below.get(name, ())
    }


def _holds(value: Any, part: int | str) -> bool:
    if isinstance(value, dict):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)


# Pydantic adds these to a location where a key, or a text in a choice, has the wrong form.
_ADDED: Final = ("[key]", "constrained-str")


def _place(location: tuple[int | str, ...], value: Any) -> str:
    """Return the JSON pointer of a location, without the parts that name a union member."""
    parts: list[str | int] = []
    last = len(location) - 1
    for position, part in enumerate(location):
        if _names_a_choice(part, location[:position], parts):
            continue
        if part in _ADDED and position == last and part not in _keys(value):
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
    """Return True for a part that pydantic adds to say which of several forms it took.

    That is the kind of a step, the form of a demand or a binding, or the `ok` of a verdict.
    """
    if before[-1:] == ("verify",):
        return not isinstance(part, str)
    if before[-2:-1] == ("bound_args",):
        return part in ("classes", "binding")
    in_list = bool(before) and isinstance(before[-1], int)
    return in_list and places[-2:-1] in (["steps"], ["requires_evidence"])


_STEPS: Final = ("steps",)


def _message(details: ErrorDetails) -> str:
    context = details.get("ctx", {})
    if (pattern := context.get("pattern")) in _PATTERNS:
        return _PATTERNS[pattern]
    if details["type"] == "tuple_type" and isinstance(details["input"], str):
        return 'must be an array: write ["..."] for one text'
    if details["type"] == "union_tag_not_found":
        field = str(context["discriminator"]).strip("'")
        kinds = ': "tool" for a call, "reason" for none' if details["loc"][-2:-1] == _STEPS else ""
        return f"the field {field} is missing, which says what it is: add it{kinds}"
    text = _FIXES.get(details["type"], details["msg"].replace(" after validation", ""))[:_LONGEST]
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
