"""Turn bytes into envelopes, or raise the one error for bytes that are not an envelope.

Refused before a model sees them: duplicate keys, a byte-order mark, trailing text, lone
surrogates, invalid UTF-8, nesting that is too deep, documents over the size limit.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import jiter
import orjson
from pydantic import ValidationError

from critic import CompiledContext, DecisionSpec, Plan, RunContext, verify
from critic.verdicts import Refused, Verified
from critic.verify import verify_plain
from evals.envelope import Envelope
from evals.escaping import pointer
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
    "parse_json",
    "verify_bytes",
]

EnvelopeT = TypeVar("EnvelopeT", bound=Envelope)

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


def parse_sorted(data: bytes, max_bytes: int = MAX_DOCUMENT_BYTES) -> Any:
    """Return what `parse_json` returns for a document of a common form, and None for any other.

    The common form has no fractions and no exponents, and is what orjson writes of its value with
    sorted keys. To find that out takes no longer than to parse it.
    """
    if len(data) > max_bytes:
        return None
    try:
        # A number of this mode that is not an integer cannot be written.
        value = jiter.from_json(data, allow_inf_nan=False, float_mode="lossless-float")
        return value if orjson.dumps(value, option=orjson.OPT_SORT_KEYS) == data else None
    except (ValueError, orjson.JSONEncodeError):
        return None


class _Members(list[tuple[str, Any]]):
    """The members of an object as they are written, so that a key can be there twice."""


def _repeated_key(data: bytes) -> Location:
    """Return where a key appears in its object for the second time; () where there is no such."""
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
        found = faults_told(error, model, value)
        path, message = found.problems[0]
        problems = found.problems[:MOST_PROBLEMS]
        raise InvalidInput(path, message + found.more(), problems) from None


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
    verdict = verify_document(ctx, compiled, spec, plan)
    return verdict.__pydantic_serializer__.to_json(verdict, exclude_none=True)


def verify_document(
    ctx: RunContext,
    compiled: CompiledContext,
    spec: DecisionSpec,
    plan: bytes,
    max_bytes: int = MAX_DOCUMENT_BYTES,
) -> Verified | Refused:
    """Verify a plan given as JSON.

    Raises:
        InvalidInput: the bytes are not a Plan.
    """
    written = _as_written(plan, max_bytes)
    value = parse_json(plan, max_bytes) if written is _UNLIKE else written
    verdict = verify_plain(ctx, compiled, spec, value)
    if verdict is not None:
        return verdict
    if written is not _UNLIKE and plan.count(b"{") + plan.count(b"[") >= _DEEPEST:
        value = parse_json(plan, max_bytes)  # it may be too deep, and then it says so
    return verify(ctx, compiled, spec, build(Plan, value))


def verify_value(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Any
) -> Verified | Refused:
    """Verify a plan given as what `parse_json` returned, and nobody else holds.

    Raises:
        InvalidInput: the value is not a Plan.
    """
    verdict = verify_plain(ctx, compiled, spec, plan)
    return verify(ctx, compiled, spec, build(Plan, plan)) if verdict is None else verdict


_UNLIKE: Final = object()
_DEEPEST: Final = 200
"""How deep `parse_json` goes: no document with fewer objects and arrays is deeper."""
_HEAD: Final = 64


def _as_written(data: bytes, max_bytes: int) -> Any:
    """Return the value of a document if it is the same written again, as most are; or `_UNLIKE`.

    Then no key was dropped, and the value is that of `parse_json` where it is not too deep.
    """
    if len(data) > max_bytes or b": " in data[:_HEAD]:
        return _UNLIKE
    try:
        value = orjson.loads(data)
        return value if orjson.dumps(value) == data else _UNLIKE
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return _UNLIKE
