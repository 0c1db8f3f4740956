"""Traces of OpenTelemetry as OTLP JSON, by the conventions for generative AI.

Content is opt-in there: a trace without messages and arguments has no calls to judge, and says so.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from evals.envelope import is_identifier
from harness.integrations.importers.otlp_parts import Span, spans_of
from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    RecordedCall,
    RecordedResult,
    RecordedRun,
    RecordedText,
    arguments,
    call,
    require_mapping,
    sequence,
    text,
)
from harness.wire import InvalidInput, parse_finite_json

_MODEL: Final = ("chat", "text_completion", "generate_content")
_USER_KEYS: Final = ("user.id", "enduser.id")
_NO_CONTENT: Final = "a call without its arguments: the trace does not hold them"


def otlp(lines: list[tuple[str, Any]]) -> Iterator[RecordedRun]:
    """Yield the traces of a file, in the order of their first spans."""
    traces: dict[str, list[Span]] = {}
    for span in spans_of(lines):
        traces.setdefault(span.trace, []).append(span)
    for trace, spans in traces.items():
        in_order = sorted(spans, key=lambda span: span.start)
        yield RecordedRun(trace, _trace(in_order), _user_of(in_order))


def _user_of(spans: list[Span]) -> str | None:
    """Return whom a trace was for, where it says so, by an identifier."""
    named = (span.attributes.get(key) for span in spans for key in _USER_KEYS)
    return next((one for one in named if type(one) is str and is_identifier(one)), None)


def _trace(spans: list[Span]) -> Iterator[Recorded]:
    tools = {
        str(span.attributes["gen_ai.tool.call.id"]): span
        for span in spans
        if span.operation == "execute_tool" and "gen_ai.tool.call.id" in span.attributes
    }
    reader = _Reader(tools)
    for span in spans:
        if span.operation in _MODEL:
            yield from reader.model(span)
    for name, span in tools.items():
        if name not in reader.asked:
            yield from reader.read_lone_call(name, span)


class _Part(NamedTuple):
    """A part of a message, and where it stands."""

    path: str
    role: Any
    value: Mapping[str, Any]


class _Reader:
    """Reads the spans of a trace in order, and remembers what was said already."""

    def __init__(self, tools: dict[str, Span]) -> None:
        self._tools = tools
        self._texts = 0
        self._has_system = False
        self._ended: set[str] = set()
        self.asked: set[str] = set()

    def model(self, span: Span) -> Iterator[Recorded]:
        """Yield what a call of the model was told, and what it asked for."""
        yield from self._read_texts(span)
        parts = _read_parts(span, "gen_ai.output.messages")
        calls = [_read_call(one) for one in parts if one.value.get("type") == "tool_call"]
        known = [one for one in calls if type(one) is RecordedCall and one.id not in self.asked]
        yield from (one for one in calls if type(one) is LeftOut)
        if not known:
            return
        self.asked |= {one.id for one in known}
        yield RecordedBatch(tuple(known))
        spans = [self._tools[one.id] for one in known if one.id in self._tools]
        for ran in sorted(spans, key=lambda span: span.start):
            yield from self._read_result(str(ran.attributes["gen_ai.tool.call.id"]), ran)

    def read_lone_call(self, name: str, span: Span) -> Iterator[Recorded]:
        """Yield a call of which only its own span is there."""
        if "gen_ai.tool.call.arguments" not in span.attributes:
            yield LeftOut(_NO_CONTENT)
            return
        given = span.attributes["gen_ai.tool.call.arguments"]
        args = arguments(given, f"{span.path}: gen_ai.tool.call.arguments")
        yield LeftOut("which turn asked for a call: it is a turn of its own")
        yield RecordedBatch((call(span.path, name, span.attributes.get("gen_ai.tool.name"), args),))
        yield from self._read_result(name, span)

    def _read_texts(self, span: Span) -> Iterator[Recorded]:
        parts = _read_parts(span, "gen_ai.input.messages")
        system = [one for one in parts if one.role == "system"]
        system = _read_parts(span, "gen_ai.system_instructions", is_flat=True) + system
        if system and not self._has_system:
            self._has_system = True
            yield RecordedText("\n".join(_part_text(one) for one in system), is_system=True)
        users = [one for one in parts if one.role == "user" and one.value.get("type") == "text"]
        for one in users[self._texts :]:
            yield RecordedText(_part_text(one))
        self._texts = max(self._texts, len(users))
        for one in parts:
            name = one.value.get("id")
            if one.value.get("type") == "tool_call_response" and name not in self._ended:
                given = one.value.get("response", one.value.get("result"))
                yield from self._end_call(one.path, text(name, f"{one.path}/id"), given)

    def _read_result(self, name: str, span: Span) -> Iterator[Recorded]:
        if span.failed is not None:
            self._ended.add(name)
            yield RecordedResult(span.path, name, error=span.failed)
        elif "gen_ai.tool.call.result" in span.attributes:
            yield from self._end_call(span.path, name, span.attributes["gen_ai.tool.call.result"])

    def _end_call(self, path: str, name: str, given: Any) -> Iterator[Recorded]:
        if name in self.asked or name in self._tools:
            self._ended.add(name)
            yield RecordedResult(path, name, output=given)


def _read_messages(value: Any) -> Any:
    """Return messages, which instrumentations write as JSON where they cannot write values."""
    if type(value) is not str:
        return value
    try:
        return parse_finite_json(value.encode(), len(value) * 4)
    except InvalidInput:
        return value


def _read_parts(span: Span, key: str, *, is_flat: bool = False) -> list[_Part]:
    """Return the parts of the messages in an attribute; flat where there are parts alone."""
    value, path = span.attributes.get(key), f"{span.path}: {key}"
    if value is None:
        return []
    listed = sequence(_read_messages(value), path)
    if is_flat:
        listed = [{"role": "system", "parts": listed}]
    found = []
    for at, message in enumerate(listed):
        role = require_mapping(message, f"{path}/{at}").get("role")
        for index, part in enumerate(sequence(message.get("parts"), f"{path}/{at}/parts")):
            place = f"{path}/{at}/parts/{index}"
            found.append(_Part(place, role, require_mapping(part, place)))
    return found


def _part_text(part: _Part) -> str:
    return text(part.value.get("content"), f"{part.path}/content")


def _read_call(part: _Part) -> RecordedCall | LeftOut:
    given = part.value.get("arguments")
    if given is None:
        return LeftOut(_NO_CONTENT)
    args = arguments(given, f"{part.path}/arguments")
    return call(part.path, part.value.get("id"), part.value.get("name"), args)
