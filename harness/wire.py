"""Turn bytes into envelopes, or raise the one error for bytes that are not an envelope.

Refused before a model sees them: duplicate keys, a byte-order mark, trailing text, lone
surrogates, invalid UTF-8, nesting that is too deep, documents over the size limit.

One reader decides what a document says, `parse_json`, so that no two parts of the program read
another value in it.
"""

import json
from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import Any, Final, TypeVar

import jiter
from pydantic import ValidationError

from critic import CompiledContext, DecisionSpec, Plan, RunContext, verify
from critic.verify import verify_plain
from evals.envelope import Envelope
from evals.escaping import pointer
from evals.plan_verdicts import Refused, Verified
from harness.canonical import canonical_bytes
from harness.errors import HarnessError, escape_text
from harness.wire_faults import MOST_PROBLEMS, NOT_BLANK, Location, Problem, faults_told

__all__ = [
    "MAX_DOCUMENT_BYTES",
    "MOST_PROBLEMS",
    "NOT_BLANK",
    "EnvelopeT",
    "InvalidInput",
    "Problem",
    "build",
    "detached_copy",
    "parse",
    "parse_finite_json",
    "parse_json",
    "verify_bytes",
]

EnvelopeT = TypeVar("EnvelopeT", bound=Envelope)

_BYTES_NEEDED: Final = (
    "JSON is read from bytes, and this is of type {}: give a text as text.encode(), and a value "
    "that is parsed already to harness.wire.build"
)

MAX_DOCUMENT_BYTES: Final = 32 * 1024 * 1024
"""The largest document that is parsed, unless the caller sets another limit."""


class InvalidInput(HarnessError, ValueError):
    """The bytes are not the envelope that they should be.

    Attributes:
        path: JSON pointer to the first problem, "" for the document as a whole.
        message: what is wrong there, how to fix it, and how many other places are wrong too;
            one line, safe to print.
        problems: every problem with its own path, the first one first. A document is read up to
            `MOST_PROBLEMS` of them; the message says so where there are more.
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
        TypeError: a text or a parsed value is given for the bytes.
    """
    if not isinstance(data, bytes | bytearray):
        raise TypeError(_BYTES_NEEDED.format(type(data).__name__))
    if len(data) > max_bytes:
        raise InvalidInput("", f"{len(data)} bytes is over the limit of {max_bytes} bytes")
    if not data or data.isspace():
        raise InvalidInput("", "empty: expected one JSON document")
    if data.startswith(b"\xef\xbb\xbf"):
        raise InvalidInput("", "starts with a byte-order mark: save it as UTF-8 without one")
    try:
        return jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        place = pointer(*_repeated_key(data))
        raise InvalidInput(place, f"not strict JSON: {escape_text(str(error))}") from None


def parse_finite_json(data: bytes, max_bytes: int = MAX_DOCUMENT_BYTES) -> Any:
    """Return the JSON value in `data`, for what is shown or written again but is not an envelope.

    `parse_json` reads a number beyond all doubles as infinite, which every envelope refuses.

    Raises:
        InvalidInput: the bytes are not one strict JSON document, or hold such a number.
    """
    value = parse_json(data, max_bytes)
    waiting: list[tuple[Location, Any]] = [((), value)]
    while waiting:
        place, current = waiting.pop()
        if type(current) is float and not isfinite(current):
            what = "not strict JSON: a number is beyond those of a double"
            raise InvalidInput(pointer(*place), what)
        if type(current) is list:
            waiting += [((*place, at), inner) for at, inner in enumerate(current)]
        elif type(current) is dict:
            waiting += [((*place, name), inner) for name, inner in current.items()]
    return value


class _Members(list[tuple[str, Any]]):
    """The members of an object as they are written, so that a key can be there twice."""


def _repeated_key(data: bytes) -> Location:
    """Return where a key appears in its object for the second time; () where there is no such.

    For the words of a refusal only: nothing goes on with what this reads.
    """
    try:
        value = json.loads(data, object_pairs_hook=_Members, parse_int=len, parse_float=len)
    except (ValueError, RecursionError):
        return ()
    waiting: list[tuple[Location, Any]] = [((), value)]
    while waiting:
        place, current = waiting.pop()
        members = current if type(current) is _Members else []
        if len(dict(members)) < len(members):
            keys = Counter(key for key, _ in members)
            return (*place, next(key for key, count in keys.items() if count > 1))
        elements = enumerate(current) if type(current) is list else members
        waiting += [((*place, at), inner) for at, inner in elements]
    return ()


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
        found = faults_told(error, model, value)
        path, message = found.problems[0]
        problems = found.problems[:MOST_PROBLEMS]
        raise InvalidInput(path, message + found.count_more(), problems) from None


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
    verdict = verify_value(ctx, compiled, spec, parse_json(plan))
    return verdict.__pydantic_serializer__.to_json(verdict, exclude_none=True)


def verify_value(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Any
) -> Verified | Refused:
    """Verify a plan given as what `parse_json` returned, and nobody else holds.

    Raises:
        InvalidInput: the value is not a Plan.
    """
    verdict = verify_plain(ctx, compiled, spec, plan)
    return verify(ctx, compiled, spec, build(Plan, plan)) if verdict is None else verdict
