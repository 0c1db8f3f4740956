"""Turn bytes into envelopes, or raise the one error for bytes that are not an envelope.

Refused before a model sees them: duplicate keys, a byte-order mark, trailing text, lone
surrogates, invalid UTF-8, nesting that is too deep, documents over the size limit.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import jiter
import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from critic import CompiledContext, DecisionSpec, Plan, RunContext, verify
from evals.context import SHA256
from evals.envelope import Envelope
from evals.escaping import escape_line, pointer
from harness.canonical import canonical_bytes
from harness.errors import HarnessError, escape_text

EnvelopeT = TypeVar("EnvelopeT", bound=Envelope)

_Location = tuple[int | str, ...]

MAX_DOCUMENT_BYTES: Final = 32 * 1024 * 1024
"""The largest document that is parsed, unless the caller sets another limit."""

MOST_PROBLEMS: Final = 100
"""How many problems of one input are listed; a count of all of them is in the message."""


class Problem(NamedTuple):
    """One thing that is wrong with an input.

    Attributes:
        path: JSON pointer to the place, "" for the document as a whole.
        message: what is wrong and how to fix it: one line, safe to print.
    """

    path: str
    message: str


class InvalidInput(HarnessError, ValueError):
    """The bytes are not the envelope that they should be.

    Attributes:
        path: JSON pointer to the first problem, "" for the document as a whole.
        message: what is wrong there, how to fix it, and how many other places are wrong too;
            one line, safe to print.
        problems: every problem with its own path, at most `MOST_PROBLEMS`, the first one first.
    """

    def __init__(self, path: str, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(f"{escape_text(path) or 'the document'}: {message}")
        self.path = path
        self.message = message
        self.problems: tuple[Problem, ...] = tuple(problems) or (Problem(path, message),)


def parse_json(data: bytes, max_bytes: int = MAX_DOCUMENT_BYTES) -> Any:
    """Return the JSON value in `data`.

    Raises:
        InvalidInput: the bytes are not exactly one strict JSON document within the limit.
    """
    if len(data) > max_bytes:
        raise InvalidInput("", f"{len(data)} bytes is over the limit of {max_bytes} bytes")
    if not data or data.isspace():
        raise InvalidInput("", "empty: expected one JSON document")
    if data.startswith(b"\xef\xbb\xbf"):
        raise InvalidInput("", "starts with a byte-order mark: save it as UTF-8 without one")
    try:
        value = jiter.from_json(data, allow_inf_nan=False)
        if not _every_key_kept(data, value):
            value = jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        place = pointer(*_repeated_key(data))
        raise InvalidInput(place, f"not strict JSON: {escape_text(str(error))}") from None
    return value


class _Members(list[tuple[str, Any]]):
    """The members of an object as they are written, so that a key can be there twice."""


def _repeated_key(data: bytes) -> _Location:
    """Return where a key appears in its object for the second time; () where there is no such."""
    try:
        value = json.loads(data, object_pairs_hook=_Members, parse_int=len, parse_float=len)
    except (ValueError, RecursionError):
        return ()
    waiting: list[tuple[_Location, Any]] = [((), value)]
    while waiting:
        place, current = waiting.pop()
        members = current if type(current) is _Members else []
        if len(dict(members)) < len(members):
            keys = Counter(key for key, _ in members)
            return (*place, next(key for key, count in keys.items() if count > 1))
        elements = enumerate(current) if type(current) is list else members
        waiting += [((*place, at), inner) for at, inner in elements]
    return ()


def _every_key_kept(data: bytes, value: Any) -> bool:
    """Return True when no key of `data` was dropped as a duplicate; False may mean unsure.

    If the value written out again equals the document, nothing was lost. Otherwise count colons:
    every key has one, and so has every colon inside a string. The document and its value written
    out again have equally many, unless a key was dropped together with its value. Only an escape
    could hide a colon, so a document with escapes is left to the slower reader.
    Counting is several times faster than the reader's own search for duplicates.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:  # an integer beyond 64 bits, say: refused later, with its path
        return False
    if written == data:
        return True
    if b"\\" in data and b"\\u" in data:  # one character is found many times faster than two
        return False
    return written.count(b":") == data.count(b":")


def parse(model: type[EnvelopeT], data: bytes, max_bytes: int = MAX_DOCUMENT_BYTES) -> EnvelopeT:
    """Parse `data` as an envelope of type `model`.

    Raises:
        InvalidInput: the bytes are not strict JSON, or the JSON is not this envelope.
    """
    return build(model, parse_json(data, max_bytes))


def build(model: type[EnvelopeT], value: Any) -> EnvelopeT:
    """Build an envelope of type `model` from a parsed JSON value.

    Raises:
        InvalidInput: the value is not this envelope.
    """
    try:
        return model.__pydantic_validator__.validate_python(value)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise _invalid(error, model, value) from None


def detached_copy(envelope: EnvelopeT) -> EnvelopeT:
    """Return a deep copy of an envelope of any size that shares nothing with the original."""
    data = canonical_bytes(envelope)
    return parse(type(envelope), data, max_bytes=len(data))


def verify_bytes(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: bytes
) -> bytes:
    """Verify a plan given as JSON and return the verdict as JSON: the fastest strict way.

    Raises:
        InvalidInput: the bytes are not a Plan.
    """
    verdict = verify(ctx, compiled, spec, parse(Plan, plan))
    return verdict.__pydantic_serializer__.to_json(verdict, exclude_none=True)


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
    "union_tag_not_found": "missing discriminator: add the field that says which kind it is",
}


def _invalid(error: ValidationError, model: type[Envelope], value: Any) -> InvalidInput:
    """Explain what pydantic refused in `value`: one problem for each place."""
    errors = error.errors(include_url=False)
    nulls = _null_options(model, errors, value)
    problems: dict[str, str] = {}
    for details in errors:
        message = _OMIT if details["loc"] in nulls else _message(details)
        problems.setdefault(_place(details["loc"], value), message)
    listed = [
        Problem(path, escape_line(message))
        for path, message in islice(problems.items(), MOST_PROBLEMS)
    ]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return InvalidInput(listed[0].path, listed[0].message + more, listed)


_OMIT: Final = "must not be null: omit the field"


def _null_options(model: type[Envelope], errors: list[ErrorDetails], value: Any) -> set[_Location]:
    """Return the places of nulls in optional fields, which are valid when left out."""
    nulls = {error["loc"] for error in errors if error["input"] is None}
    if not nulls:
        return set()
    try:
        model.__pydantic_validator__.validate_python(_without(value, nulls))
    except ValidationError as remaining:
        return nulls - {error["loc"] for error in remaining.errors(include_url=False)}
    return nulls


def _without(value: Any, locations: Iterable[_Location]) -> Any:
    """Return the JSON value without the object members at the locations, sharing the rest.

    Linear in the locations and in the objects and arrays that they pass through.
    """
    below: dict[int | str, list[_Location]] = {}
    for location in locations:
        # A part that is not there is the name of a choice, which is not a place.
        depth = next((at for at, part in enumerate(location) if _holds(value, part)), None)
        if depth is not None:
            below.setdefault(location[depth], []).append(location[depth + 1 :])
    if not below:
        return value
    if isinstance(value, list):
        return [_without(item, below.get(at, ())) for at, item in enumerate(value)]
    return {
        name: _without(item, below.get(name, ()))
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


def _message(details: ErrorDetails) -> str:
    pattern = details.get("ctx", {}).get("pattern")
    if pattern in _PATTERNS:
        return _PATTERNS[pattern]
    text = _FIXES.get(details["type"], details["msg"])[:_LONGEST]
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
