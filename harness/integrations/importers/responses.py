"""Items of OpenAI Responses, which the Agents SDK keeps too."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from harness.integrations.importers.transcript import (
    Recorded,
    RecordedBatch,
    RecordedCall,
    arguments,
    call,
    left_out,
    recorded_result,
    require_mapping,
    sequence,
    user_words,
)
from harness.wire import InvalidInput


def responses(value: Any) -> Iterator[Recorded]:
    """Yield what items say: a list of them, or an object with `instructions`, `input`, `output`."""
    asked: list[RecordedCall] = []
    if type(value) is dict:
        yield from user_words(value.get("instructions"), "/instructions", is_system=True)
    for path, item in _items(value):
        kind = item.get("type", "message")
        if kind == "function_call":
            args = arguments(item.get("arguments"), f"{path}/arguments")
            asked.append(call(path, item.get("call_id"), item.get("name"), args))
            continue
        if asked and _ends_a_turn(item, kind):
            yield RecordedBatch(tuple(asked))
            asked = []
        yield from _read_other(item, kind, path)
    if asked:
        yield RecordedBatch(tuple(asked))


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if type(value) is not dict:
        parts = [("", value)]
    else:
        given = value.get("input", [])
        asked = [{"role": "user", "content": given}] if type(given) is str else given
        parts = [("/input", asked), ("/output", value.get("output", []))]
    listed = ((path, sequence(items, path)) for path, items in parts)
    return chain.from_iterable(
        ((f"{path}/{at}", require_mapping(item, f"{path}/{at}")) for at, item in enumerate(items))
        for path, items in listed
    )


def _ends_a_turn(item: Any, kind: Any) -> bool:
    """Return True for what the model did not write in the same turn."""
    is_said_by_others = bool(kind == "message" and item.get("role") != "assistant")
    return kind == "function_call_output" or is_said_by_others


def _read_other(item: Any, kind: Any, path: str) -> Iterator[Recorded]:
    if kind == "function_call_output":
        yield from recorded_result(f"{path}/output", item.get("call_id"), item.get("output"))
    elif kind == "message":
        yield from _read_message(item, path)
    elif kind != "reasoning":
        yield left_out(kind, "an item of the type")


def _read_message(item: Any, path: str) -> Iterator[Recorded]:
    role = item.get("role")
    if role not in ("user", "system", "developer", "assistant"):
        raise InvalidInput(f"{path}/role", "must be user, system, developer or assistant")
    if role != "assistant":
        yield from user_words(item.get("content"), f"{path}/content", is_system=role != "user")
