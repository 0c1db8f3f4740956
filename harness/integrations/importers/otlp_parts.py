"""Spans of OTLP JSON with their attributes as plain values."""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from harness.integrations.importers.transcript import require_mapping, sequence, text
from harness.wire import InvalidInput

_DIGITS = 20
_ERROR = (2, "STATUS_CODE_ERROR")


class Span(NamedTuple):
    """A span.

    Attributes:
        trace: the id of its trace in hexadecimal digits, or as it is written if it is another text.
        start: in nanoseconds.
        failed: why it failed; None if it did not.
    """

    path: str
    trace: str
    start: int
    attributes: Mapping[str, Any]
    failed: str | None

    @property
    def operation(self) -> Any:
        """The operation by the conventions."""
        return self.attributes.get("gen_ai.operation.name")


def spans_of(lines: list[tuple[str, Any]]) -> Iterator[Span]:
    """Yield the spans of export requests, a document each.

    Raises:
        InvalidInput: a document is not an export request.
    """
    for path, value in lines:
        request = require_mapping(value, path)
        listed = sequence(request.get("resourceSpans"), f"{path}/resourceSpans")
        for place, resource in _each_mapping(listed, f"{path}/resourceSpans"):
            scopes = sequence(resource.get("scopeSpans"), f"{place}/scopeSpans")
            for inner, scope in _each_mapping(scopes, f"{place}/scopeSpans"):
                spans = sequence(scope.get("spans"), f"{inner}/spans")
                yield from (_span(at, span) for at, span in _each_mapping(spans, f"{inner}/spans"))


def _each_mapping(values: list[Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for at, value in enumerate(values):
        yield f"{path}/{at}", require_mapping(value, f"{path}/{at}")


def _span(path: str, span: Mapping[str, Any]) -> Span:
    listed = sequence(span.get("attributes", []), f"{path}/attributes")
    attributes = dict(_pair(at, one) for at, one in _each_mapping(listed, f"{path}/attributes"))
    status = require_mapping(span.get("status", {}), f"{path}/status")
    failed = None
    if status.get("code") in _ERROR or "error.type" in attributes:
        failed = str(status.get("message") or attributes.get("error.type", ""))
    trace = _trace(text(span.get("traceId"), f"{path}/traceId"))
    start = _nanoseconds(span.get("startTimeUnixNano"), f"{path}/startTimeUnixNano")
    return Span(path, trace, start, attributes, failed)


def _trace(given: str) -> str:
    """Return an id in lower case: the standard writes hexadecimal digits, and protobuf base64."""
    if re.fullmatch(r"[0-9A-Fa-f]{32}", given):
        return given.lower()
    if re.fullmatch(r"[A-Za-z0-9+/]{22}==", given):
        return b64decode(given).hex()
    return given


def _nanoseconds(value: Any, path: str) -> int:
    """Return a time, which protobuf writes as a text of digits."""
    if type(value) is str and value.isascii() and value.isdecimal() and len(value) <= _DIGITS:
        return int(value)
    if type(value) is not int:
        raise InvalidInput(path, "must be a number of nanoseconds")
    return value


def _pair(path: str, attribute: Mapping[str, Any]) -> tuple[str, Any]:
    value = require_mapping(attribute.get("value"), f"{path}/value")
    return text(attribute.get("key"), f"{path}/key"), _plain_value(value, f"{path}/value")


def _plain_value(value: Mapping[str, Any], path: str) -> Any:
    """Return the value of an AnyValue."""
    for kind, given in value.items():
        match kind:
            case "stringValue" | "boolValue" | "doubleValue" | "bytesValue" | "intValue":
                return given
            case "arrayValue":
                values = sequence(require_mapping(given, path).get("values", []), path)
                return [_plain_value(one, at) for at, one in _each_mapping(values, path)]
            case "kvlistValue":
                values = sequence(require_mapping(given, path).get("values", []), path)
                return dict(_pair(at, one) for at, one in _each_mapping(values, path))
    return None
