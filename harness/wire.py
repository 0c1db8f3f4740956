"""Where bytes become envelopes, and the one error for bytes that are none.

Refused before any model sees them: duplicate keys, a byte-order mark, trailing text, lone
surrogates, invalid UTF-8, over-deep nesting, documents over the limit.
"""

from typing import Any, Final, TypeVar

import jiter
import orjson
from pydantic import ValidationError

from critic import CompiledContext, DecisionSpec, Plan, RunContext, verify
from evals.canonical import canonical_bytes
from evals.envelope import Envelope
from evals.text import printable
from harness.faults import explain

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
        super().__init__(f"{printable(path) or 'the document'}: {message}")
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
        raise InvalidInput("", f"not strict JSON: {printable(str(error))}") from None
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
        path, message = explain(error, value)
        raise InvalidInput(path, message) from None


def own_copy(envelope: E) -> E:
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
