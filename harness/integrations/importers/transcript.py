"""The facts that importers read from a format: texts, batches of calls, how calls ended. Pure.

Rule 1: what a tool returned as text stays text, whatever it spells: who writes the whole of a text
        would choose its fields. A value is a value only where the format has it as one.
Rule 2: but for that, one run gives one list of events, whatever the format: times and tokens are
        left out.
Rule 3: what cannot be known is left out and noted. What is not of the format is a located error.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name
from harness.wire import InvalidInput, parse_finite_json

_TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})


class RecordedText(NamedTuple):
    """Words of the user, or of the operator: the system prompt."""

    text: str
    is_system: bool = False


class RecordedCall(NamedTuple):
    """A call as the model asked for it. `path` is where it stands."""

    path: str
    id: str
    tool: str
    args: dict[str, Any]


class RecordedBatch(NamedTuple):
    """The calls of one turn."""

    calls: tuple[RecordedCall, ...]


class RecordedResult(NamedTuple):
    """How a call ended."""

    path: str
    id: str
    output: Any = None
    error: str | None = None


class LeftOut(NamedTuple):
    """Something that the events do not say, and why. `what` is counted with its like."""

    what: str


Recorded = RecordedText | RecordedBatch | RecordedResult | LeftOut


class RecordedRun(NamedTuple):
    """One session: its id and its user, if the format has them, and what was recorded, in order."""

    session: str | None
    recorded: Iterable[Recorded]
    user: str | None = None


def require_mapping(value: Any, path: str) -> Mapping[str, Any]:
    """Return an object.

    Raises:
        InvalidInput: it is none.
    """
    if type(value) is not dict:
        raise InvalidInput(path, "must be an object")
    return value


def sequence(value: Any, path: str) -> list[Any]:
    """Return an array.

    Raises:
        InvalidInput: it is none.
    """
    if type(value) is not list:
        raise InvalidInput(path, "must be an array")
    return value


def text(value: Any, path: str) -> str:
    """Return a text.

    Raises:
        InvalidInput: it is none.
    """
    if type(value) is not str:
        raise InvalidInput(path, "must be text")
    return value


def arguments(value: Any, path: str) -> dict[str, Any]:
    """Return the arguments of a call: an object, or the JSON text of one. Absent is none at all.

    Raises:
        InvalidInput: they are something else.
    """
    if value is None or value == "":
        return {}
    if type(value) is str:
        try:
            value = parse_finite_json(value.encode(), max(len(value) * 4, 1))
        except InvalidInput as error:
            raise InvalidInput(
                path, f"must be the JSON text of an object: {error.message}"
            ) from None
    if type(value) is not dict:
        raise InvalidInput(path, "must be an object: the arguments of a call have names")
    return value


def call(path: str, id: Any, tool: Any, args: Any) -> RecordedCall:
    """Return a call.

    Raises:
        InvalidInput: its id or name is not text, or its arguments are not an object.
    """
    return RecordedCall(path, text(id, f"{path}: its id"), text(tool, f"{path}: its name"), args)


def read_text(content: Any, path: str) -> tuple[str, list[LeftOut]]:
    """Return the text of a message: as it is, or of the parts that are text.

    Raises:
        InvalidInput: it is neither text nor a list of parts.
    """
    if content is None:
        return "", []
    if type(content) is str:
        return content, []
    said, left = [], []
    for at, part in enumerate(sequence(content, path)):
        if type(part) is str:
            said.append(part)
            continue
        kind = require_mapping(part, f"{path}/{at}").get("type")
        if kind in _TEXT_TYPES:
            said.append(text(part.get("text"), f"{path}/{at}/text"))
        else:
            left.append(LeftOut(f"content of the type {_show_kind(kind)}"))
    return "\n".join(said), left


def user_words(content: Any, path: str, *, is_system: bool = False) -> Iterator[Recorded]:
    """Yield the words of a message."""
    words, left = read_text(content, path)
    if words:
        yield RecordedText(words, is_system)
    yield from left


def recorded_result(
    path: str, id: Any, content: Any, *, is_error: bool = False
) -> Iterator[Recorded]:
    """Yield how a call ended whose result is text or parts."""
    words, left = read_text(content, path)
    name = text(id, f"{path}: the id of its call")
    if is_error:
        yield RecordedResult(path, name, error=words)
    else:
        yield RecordedResult(path, name, output=words)
    yield from left


def left_out(kind: Any, what: str) -> LeftOut:
    """Return that something of a kind is left out."""
    return LeftOut(f"{what} {_show_kind(kind)}")


def _show_kind(kind: Any) -> str:
    return escape_name(kind) if type(kind) is str else "unknown"
