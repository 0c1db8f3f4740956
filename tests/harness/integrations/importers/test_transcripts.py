"""Whose words each format has, which calls were made, and how they ended; all else is said."""

import json
from typing import Any

import pytest

from harness.integrations.importers.formats import IMPORTERS
from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    RecordedResult,
    RecordedText,
    arguments,
    read_text,
)
from harness.wire import InvalidInput
from tests.harness.integrations.importers.writers import attributes, span


def told(name: str, *documents: Any) -> list[Any]:
    """Return what a format says of documents, in short."""
    listed = [(f"line {at}", one) for at, one in enumerate(documents)]
    return [short(one) for run in IMPORTERS[name](listed) for one in run.recorded]


def short(one: Recorded) -> Any:
    if isinstance(one, RecordedText):
        return ("system" if one.is_system else "user", one.text)
    if isinstance(one, RecordedBatch):
        return [call.id for call in one.calls]
    if isinstance(one, RecordedResult):
        return (one.id, one.output if one.error is None else f"failed: {one.error}")
    return one.what


PARTS = [{"type": "text", "text": "Pay"}, {"type": "image"}, {"type": "text", "text": "and go"}]
IMAGE = "content of the type image"


def use(name: str, kind: str = "tool_use") -> Any:
    return {"type": kind, "id": name, "name": "look", "input": {}}


def ended(name: str, content: Any, **more: Any) -> Any:
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


ANTHROPIC: list[Any] = [
    {"role": "user", "content": "Go"},
    {"role": "assistant", "content": [use("a"), use("b"), use("x", "server_tool_use")]},
    {"role": "user", "content": [ended("a", "1"), ended("b", "no", is_error=True)]},
    {"role": "assistant", "content": [use("y", "web_search_tool_result"), use("c")]},
    {"role": "user", "content": [ended("c", PARTS, is_error=False), PARTS[0], PARTS[2]]},
    {"role": "assistant", "content": [{"type": "thinking"}, PARTS[0], use("z", "other")]},
]
OF_ANTHROPIC = [
    ("user", "Go"),
    ["a", "b"],
    "a block of the type server_tool_use",
    ("a", "1"),
    ("b", "failed: no"),
    ["c"],
    "a block of the type web_search_tool_result",
    ("c", "Pay\nand go"),
    IMAGE,
    ("user", "Pay\nand go"),
    "a block of the type other",
]


def test_messages_of_anthropic() -> None:
    assert told("anthropic", ANTHROPIC) == OF_ANTHROPIC
    system = {"system": PARTS, "messages": ANTHROPIC}
    assert told("anthropic", system) == [("system", "Pay\nand go"), IMAGE, *OF_ANTHROPIC]


def test_messages_of_chat_completions() -> None:
    record = [
        {"role": "developer", "content": "Obey"},
        {"role": "system", "content": PARTS},
        {"role": "user", "content": PARTS},
        {"role": "assistant", "content": "I look."},
        {"role": "developer", "content": [{"type": "text", "text": "Obey now"}]},
        {"role": "user", "content": ["Pay", {"type": "text", "text": "now"}]},
    ]
    assert told("openai", record) == [
        ("system", "Obey"),
        ("system", "Pay\nand go"),
        IMAGE,
        ("user", "Pay\nand go"),
        IMAGE,
        ("system", "Obey now"),
        ("user", "Pay\nnow"),
    ]


def test_items_of_responses() -> None:
    def called(name: str) -> Any:
        return {"type": "function_call", "call_id": name, "name": "look", "arguments": "{}"}

    assistant = {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
    items = [
        {"role": "developer", "content": "Obey"},
        {"role": "user", "content": PARTS},
        called("a"),
        assistant,
        {"type": "reasoning"},
        called("b"),
        {"role": "user", "content": "Hurry"},
        called("c"),
        {"role": "system", "content": "Obey now"},
        called("d"),
        {"type": "function_call_output", "call_id": "d", "output": "1"},
        called("e"),
    ]
    found = told("responses", {"instructions": "Be good", "input": items, "output": [called("f")]})
    assert found == [
        ("system", "Be good"),
        ("system", "Obey"),
        ("user", "Pay\nand go"),
        IMAGE,
        ["a", "b"],
        ("user", "Hurry"),
        ["c"],
        ("system", "Obey now"),
        ["d"],
        ("d", "1"),
        ["e", "f"],
    ]


def test_messages_of_langchain() -> None:
    call = {"id": "a", "name": "look", "args": {}}
    bad = {"id": "b", "name": "look", "args": "{"}
    both = {"content": "", "tool_calls": [call], "invalid_tool_calls": [bad, bad]}
    results = [
        {"tool_call_id": "a", "content": "no", "status": "error"},
        {"tool_call_id": "c", "content": PARTS, "status": "success"},
    ]
    record = [
        {"type": "system", "data": {"content": "Obey"}},
        {"type": "human", "data": {"content": PARTS}},
        {"type": "ai", "data": both},
        *({"type": "tool", "data": one} for one in results),
        {"type": "remove", "data": {}},
    ]
    unmade = "a call whose arguments are not JSON, which was not made"
    assert told("langchain", record) == [
        ("system", "Obey"),
        ("user", "Pay\nand go"),
        IMAGE,
        ["a"],
        unmade,
        unmade,
        ("a", "failed: no"),
        ("c", "Pay\nand go"),
        IMAGE,
        "a message of the type remove",
    ]


def test_messages_of_pydantic_ai() -> None:
    def returned(name: str, **more: Any) -> Any:
        part = {"part_kind": "tool-return", "tool_call_id": name, "content": {"a": 1}}
        return {"kind": "request", "instructions": "Obey now", "parts": [{**part, **more}]}

    asked = [
        {"part_kind": kind, "tool_call_id": name, "tool_name": "look", "args": {}}
        for kind, name in (("text", "x"), ("tool-call", "a"), ("builtin-tool-call", "b"))
    ]
    prompt = {"part_kind": "user-prompt", "content": "Go"}
    record = [
        {"kind": "request", "instructions": "Obey", "parts": [prompt]},
        {"kind": "response", "parts": asked},
        returned("a"),
        returned("b", outcome="failed", content="no"),
        returned("c", outcome="denied"),
    ]
    assert told("pydantic-ai", record) == [
        ("system", "Obey"),
        ("user", "Go"),
        ["a"],
        "a part of the kind builtin-tool-call",
        *(("system", "Obey now"), ("a", {"a": 1})),
        *(("system", "Obey now"), ("b", "failed: no")),
        *(("system", "Obey now"), "the result of a call that did not run: denied"),
    ]


@pytest.mark.parametrize("structured", [None, {"id": "7"}, {"result": "x"}, {"result": "other"}])
@pytest.mark.parametrize("is_error", [True, False, None, 1])
def test_a_result_of_the_protocol_failed_just_where_it_says_so(
    structured: Any, is_error: Any
) -> None:
    result: dict[str, Any] = {"content": [{"type": "text", "text": "x"}]}
    result |= {} if structured is None else {"structuredContent": structured}
    result |= {} if is_error is None else {"isError": is_error}
    call = {"method": "tools/call", "id": 1, "params": {"name": "look"}}
    *_, asked, answered = told("mcp", call, {"id": 1, "result": result})
    output = "x" if structured in (None, {"result": "x"}) else structured
    assert (asked, answered) == (["1"], ("1", "failed: x" if is_error is True else output))


def traced(*spans: Any) -> Any:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def model_span(start: int, told_before: list[Any], *asked: str) -> Any:
    calls = [{"type": "tool_call", "id": one, "name": "look", "arguments": {}} for one in asked]
    given = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": told_before,
        "gen_ai.output.messages": [{"role": "assistant", "parts": calls}],
    }
    return span(start, given)


def tool_span(start: int, name: str, **more: Any) -> Any:
    given = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": name}
    return {**span(start, {**given, "gen_ai.tool.call.result": "1"}), **more}


def test_a_call_that_two_spans_tell_of_is_one_call() -> None:
    words = [{"role": "user", "parts": [{"type": "text", "content": "Go"}]}]
    spans = [model_span(1, words, "a"), model_span(3, words, "a", "b"), model_span(5, words, "b")]
    record = traced(*spans, tool_span(2, "a"), tool_span(4, "b"))
    assert told("otlp", record) == [("user", "Go"), ["a"], ("a", "1"), ["b"], ("b", "1")]


FAILED: list[tuple[Any, list[Any], str]] = [
    ({"code": 2, "message": "no"}, [], "no"),
    ({"code": "STATUS_CODE_ERROR"}, [], ""),
    ({"code": 2, "message": ""}, attributes({"error.type": "timeout"}), "timeout"),
    ({"code": 1}, attributes({"error.type": "timeout"}), "timeout"),
    ({}, attributes({"error.type": ""}), ""),
]


@pytest.mark.parametrize(("status", "more", "why"), FAILED)
def test_a_span_that_failed_has_no_result_whatever_it_says_beside(
    status: Any, more: list[Any], why: str
) -> None:
    words = [{"role": "user", "parts": [{"type": "text", "content": "Go"}]}]
    ran = tool_span(2, "a", status=status)
    ran["attributes"] += more
    found = told("otlp", traced(model_span(1, words, "a"), ran))
    assert found == [("user", "Go"), ["a"], ("a", f"failed: {why}")]


@pytest.mark.parametrize("value", [None, "", {}, "{}"])
def test_arguments_that_are_absent_are_none(value: Any) -> None:
    assert arguments(value, "/args") == {}


@pytest.mark.parametrize("value", [[], 0, 0.0, False, "[]", "0", "null", '""', [[]], "x", 1, True])
def test_arguments_that_are_no_object_are_an_error(value: Any) -> None:
    with pytest.raises(InvalidInput, match="/args"):
        arguments(value, "/args")


@pytest.mark.parametrize("text", ["", "a", '{"id": "1"}', "[1]", "null", "\n"])
def test_a_text_stays_the_text_that_it_is(text: str) -> None:
    assert read_text(text, "") == (text, [])
    parts = [{"type": kind, "text": text} for kind in ("text", "input_text", "output_text")]
    assert read_text(parts, "") == ("\n".join([text] * 3), [])
    more = [{"type": "image"}, *parts[:1], {"type": 7}, {}]
    assert read_text(more, "") == (
        text,
        [LeftOut(f"content of the type {kind}") for kind in ("image", "unknown", "unknown")],
    )
    tool = {"role": "tool", "tool_call_id": "a", "content": text}
    assert told("openai", [tool]) == [("a", text)]
    assert json.dumps(text)
