"""Where bytes become envelopes, and the one error for bytes that are none.

Refused before any model sees them: duplicate keys, a byte-order mark, trailing text, lone
surrogates, invalid UTF-8, over-deep nesting, documents over the limit.
"""

from typing import Any, Final, TypeVar

import jiter
import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from critic import CompiledContext, DecisionSpec, Plan, RunContext, verify
from evals.canonical import canonical_bytes
from evals.envelope import Envelope
from evals.escaping import escape_line, escape_name, pointer

E = TypeVar("E", bound=Envelope)

MAX_DOCUMENT_BYTES: Final = 32 * 1024 * 1024
"""The largest document that is parsed, unless the caller sets another limit."""


class InvalidInput(ValueError):
    """Bytes that are not the envelope they should be.

    Attributes:
        path: JSON pointer to the fault, "" for the document as a whole.
        message: what is wrong and what to do, one line, safe to print.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{escape_name(path) or 'the document'}: {message}")
        self.path = path
        self.message = message


def parse_json(data: bytes, max_bytes: int = MAX_DOCUMENT_BYTES) -> Any:
    """The JSON value in `data`.

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
        raise InvalidInput("", f"not strict JSON: {escape_name(str(error))}") from None
    return value


def _every_key_kept(data: bytes, value: Any) -> bool:
    """Whether no key of `data` was dropped as a duplicate of a later one. False may mean unsure.

    A document whose value written out again is the document lost nothing. Otherwise, every key
    brings a colon, and so does every colon inside a string. So the document and its
    value written out again hold as many colons, unless a key was dropped, with what it held.
    A colon could only hide in an escape, so a document with one is left to the slower reader.
    Counting takes a fraction of the time in which the reader looks for duplicates.
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


def parse(model: type[E], data: bytes, max_bytes: int = MAX_DOCUMENT_BYTES) -> E:
    """The envelope that `data` spells.

    Raises:
        InvalidInput: the bytes are not strict JSON, or the JSON is not this envelope.
    """
    return build(model, parse_json(data, max_bytes))


def build(model: type[E], value: Any) -> E:
    """The envelope that a parsed JSON value spells.

    Raises:
        InvalidInput: the value is not this envelope.
    """
    try:
        return model.__pydantic_validator__.validate_python(value)  # type: ignore[no-any-return]
    except ValidationError as error:
        path, message = _explain(error, value)
        raise InvalidInput(path, message) from None


def detached_copy(envelope: E) -> E:
    """The same envelope, and nobody else's. However large: it is no document from outside."""
    data = canonical_bytes(envelope)
    return parse(type(envelope), data, max_bytes=len(data))


def verify_bytes(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: bytes
) -> bytes:
    """The verdict on a plan as JSON, from the plan as JSON: the shortest strict way through.

    Raises:
        InvalidInput: the bytes are no Plan.
    """
    verdict = verify(ctx, compiled, spec, parse(Plan, plan))
    return verdict.__pydantic_serializer__.to_json(verdict, exclude_none=True)


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


def _explain(error: ValidationError, value: Any) -> tuple[str, str]:
    """The JSON pointer to the first fault in `value`, and one safe line about it.

    How many other places are at fault is said too.
    """
    faults = error.errors(include_url=False, include_input=False)
    places = {_place(fault["loc"], value): None for fault in faults}
    first = faults[0]
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    return _place(first["loc"], value), escape_line(_mend(first)) + more


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
