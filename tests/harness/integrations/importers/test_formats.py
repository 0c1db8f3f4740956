"""What each format leaves out is said, and what is not of the format is a located error."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.integrations.importers.formats import IMPORTERS
from harness.wire import InvalidInput
from tests.harness.console import Critic, Said
from tests.harness.integrations.importers.writers import WRITERS, Asked, Recording, lines, span
from tests.support.examples import is_safe

USER = {"role": "user", "content": "Go"}


@pytest.fixture
def imported(critic: Critic, tmp_path: Path) -> Any:
    """Return `critic import` of a value, or of lines where it is a list of them."""

    def run(name: str, value: Any, *more: str) -> Said:
        file = tmp_path / "record"
        file.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return critic("import", "--from", name, *more, file)

    return run


def said(events: Said) -> list[Any]:
    return [json.loads(line) for line in events.lines]


def openai_call(**changed: Any) -> list[Any]:
    function = {"name": "lookup", "arguments": '{"id":"1"}', **changed}
    return [USER, {"role": "assistant", "tool_calls": [{"id": "c1", "function": function}]}]


ERRORS = [
    ("openai", b"", "empty"),
    ("openai", b"{", "not strict JSON"),
    ("openai", b'[{"role":"user","role":"user"}]', "/0/role: not strict JSON"),
    ("openai", b"\xef\xbb\xbf[]", "byte-order mark"),
    ("openai", b"[" * 100_000, "not strict JSON"),
    ("openai", {}, "/messages: must be an array"),
    ("openai", [7], "/0: must be an object"),
    ("openai", [{"role": "nobody"}], "/0/role: must be"),
    ("openai", [{"role": "function", "name": "f"}], "/0/role: messages of functions"),
    ("openai", [{"role": "assistant", "function_call": {}}], "/0/function_call"),
    ("openai", openai_call(arguments="{"), "/1/tool_calls/0/function/arguments: must be the JSON"),
    ("openai", openai_call(arguments='{"a":1,"a":2}'), "/1/tool_calls/0/function/arguments"),
    ("openai", openai_call(arguments="[1]"), "must be an object: the arguments of a call"),
    ("openai", openai_call(arguments=f'{{"n":{2**60}}}'), "/1/tool_calls/0: "),
    ("openai", openai_call(name="x" * 257), "/1/tool_calls/0: "),
    ("openai", openai_call(name=None), "/1/tool_calls/0: its name: must be text"),
    ("openai", [{"role": "tool", "content": "x"}], "the id of its call: must be text"),
    ("responses", {"input": 7}, "/input: must be an array"),
    ("responses", [{"role": "nobody", "content": "x"}], "/0/role"),
    ("responses", [{"type": "function_call", "name": "f", "arguments": "7"}], "/0/arguments"),
    ("anthropic", {"messages": [{"role": "tool"}]}, "/messages/0/role"),
    ("anthropic", [{"role": "user", "content": [{"type": "text"}]}], "/0/content/0/text"),
    ("claude-code", b"{}\n{\n", "not strict JSON"),
    ("claude-code", b"{}\n7\n", "line 2: : must be an object"),
    ("langchain", [{"type": "ai"}], "/0/data: must be an object"),
    ("pydantic-ai", [{"kind": "other"}], "/0/kind: must be request or response"),
    ("pydantic-ai", [{"kind": "request"}], "/0/parts: must be an array"),
    ("otlp", {"spans": []}, "resourceSpans: must be an array"),
    ("mcp", b'{"id":1,"method":"tools/call"}', "/params: must be an object"),
    ("mcp", b'{"method":"tools/call","params":{"name":"f"}}', "/id: must be an id"),
]


@pytest.mark.parametrize(("name", "value", "where"), ERRORS)
def test_what_is_not_of_the_format_is_a_located_error(
    imported: Any, name: str, value: Any, where: str
) -> None:
    answer = imported(name, value)
    assert (answer.status, answer.out) == (2, "")
    assert where in answer.err
    assert "record: " in answer.err
    assert is_safe(answer.err.removesuffix("\n"))
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("name", WRITERS)
def test_of_several_documents_none_is_lost(imported: Any, name: str) -> None:
    """A format is one document, or takes a line each: then each of them counts."""
    one = WRITERS[name](Recording("Go", [[Asked("c1", "lookup", {"id": "1"}, "paid")]]))
    other = one.replace(b"c1", b"c2").replace(b"cc", b"dd").replace(b"aa" * 16, b"bb" * 16)
    answer = imported(name, one.rstrip(b"\n") + b"\n" + other)
    if name in ("claude-code", "otlp", "mcp"):
        assert [one["event"] for one in said(answer)].count("calls") == 2
        return
    assert (answer.status, answer.out) == (2, "")
    documents = [("", json.loads(text)) for text in (one, other)]
    for listed in ([], documents):
        with pytest.raises(InvalidInput, match="must be one JSON document"):
            list(IMPORTERS[name](listed))


@pytest.mark.parametrize("name", WRITERS)
def test_no_part_of_a_record_can_be_of_another_type_unnoticed(imported: Any, name: str) -> None:
    run = Recording("Go", [[Asked("c1", "lookup", {"id": "1"}, "paid")]])
    data = WRITERS[name](run)
    whole = [json.loads(line) for line in data.splitlines()] if data.count(b"\n") else data
    for odd in (b"7", b"null", b"[7]", b'"x"', b"{}"):
        answer = imported(name, odd)
        assert answer.status == 2 or not any(one["event"] == "calls" for one in said(answer))
    assert whole


def test_a_file_that_is_missing_or_too_large_is_told(
    imported: Any, critic: Critic, tmp_path: Path
) -> None:
    for name in WRITERS:
        missing = critic("import", "--from", name, tmp_path / "none")
        assert (missing.status, missing.out) == (2, "")
        assert "no such file" in missing.err
        large = imported(name, WRITERS[name](Recording("Go" * 500, [])), "--max-bytes", "90")
        assert large.status == 2 or name == "mcp"
    assert critic("import", "--from", "nothing", tmp_path / "none").status == 2


def test_a_record_of_thirty_megabytes_is_read(imported: Any) -> None:
    record = [USER, {"role": "assistant", "content": "x" * 30_000_000}]
    assert [one["event"] for one in said(imported("openai", record))] == ["open"]


def test_texts_of_a_record_are_safe_to_print(imported: Any) -> None:
    hostile = "\x1b[31m\n<b>\u202e"
    record = [
        {"role": "user", "content": [{"type": hostile}, {"type": "text", "text": hostile}]},
        {"role": "assistant", "tool_calls": [{"type": hostile, "id": hostile}]},
    ]
    answer = imported("openai", record, "--session", hostile)
    assert answer.status == 0
    assert said(answer)[0]["request"] == hostile
    assert answer.err.count("left out: ") == 2
    assert all(map(is_safe, answer.err.splitlines()))
    assert answer.out.isascii()


def test_what_cannot_be_known_is_left_out_and_said(imported: Any) -> None:
    answer = imported("openai", openai_call()[1:])
    opened, calls = said(answer)
    assert (opened["request"], len(calls["calls"])) == ("", 1)
    assert "left out: the request: there are no words" in answer.err
    assert "left out: how a call ended" in answer.err
    twice = [*openai_call(), *[{"role": "tool", "tool_call_id": "c1", "content": "x"}] * 3]
    answer = imported("openai", twice)
    assert "left out: a result of a call that is not there, or has ended (2 times)" in answer.err
    assert [one["event"] for one in said(answer)] == ["open", "calls", "result"]


def test_calls_that_failed_are_failed_where_the_format_says_so(imported: Any) -> None:
    use = {"type": "tool_use", "id": "c1", "name": "lookup", "input": {}}
    bad = {"type": "tool_result", "tool_use_id": "c1", "content": "no such id", "is_error": True}
    anthropic = [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [bad]}]
    tool = {"content": "no such id", "tool_call_id": "c1", "status": "error"}
    call = {"id": "c1", "name": "lookup", "args": {}}
    langchain = [
        {"type": "human", "data": {"content": "Go"}},
        {"type": "ai", "data": {"content": "", "tool_calls": [call]}},
        {"type": "tool", "data": tool},
    ]
    for name, record in (("anthropic", anthropic), ("langchain", langchain)):
        last = said(imported(name, record))[-1]
        assert (last["status"], last["error"]) == ("failed", "no such id")
        assert "output" not in last


def test_a_result_that_is_too_large_a_number_or_too_deep_is_kept_as_text(imported: Any) -> None:
    deep = "[" * 70 + "]" * 70
    call = {"part_kind": "tool-call", "tool_name": "lookup", "args": None, "tool_call_id": "c1"}
    for output, kept in (({"n": 2**60}, {"n": str(2**60)}), (json.loads(deep), deep)):
        part = {"part_kind": "tool-return", "content": output, "tool_call_id": "c1"}
        record = [{"kind": "response", "parts": [call]}, {"kind": "request", "parts": [part]}]
        assert said(imported("pydantic-ai", record))[-1]["output"] == kept


SPELLED = ['["US64SVBKUS6S3300958879"]', '{"id": "US64SVBKUS6S3300958879"}', "[]", ' {"a": 1} ']


@pytest.mark.parametrize("output", SPELLED)
def test_a_result_that_spells_json_stays_text(imported: Any, output: str) -> None:
    """Who writes the whole of a text must not choose what its fields are."""
    tool = {"role": "tool", "tool_call_id": "c1", "content": output}
    assert said(imported("openai", [*openai_call(), tool]))[-1]["output"] == output
    call = {"method": "tools/call", "id": 1, "params": {"name": "lookup", "arguments": {}}}
    told: dict[str, Any] = {"content": [{"type": "text", "text": output}]}
    result = {"jsonrpc": "2.0", "id": 1, "result": told}
    assert said(imported("mcp", [{"jsonrpc": "2.0", **call}, result]))[-1]["output"] == output
    told["structuredContent"] = {"id": "7"}
    assert said(imported("mcp", [{"jsonrpc": "2.0", **call}, result]))[-1]["output"] == {"id": "7"}


def test_calls_that_were_not_made_have_no_result(imported: Any) -> None:
    call = {"part_kind": "tool-call", "tool_name": "lookup", "args": None, "tool_call_id": "c1"}
    denied = {"part_kind": "tool-return", "content": "no", "tool_call_id": "c1"}
    record = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Go"}]},
        {"kind": "response", "parts": [call]},
        {"kind": "request", "parts": [{**denied, "outcome": "denied"}]},
    ]
    answer = imported("pydantic-ai", record)
    assert [one["event"] for one in said(answer)] == ["open", "calls"]
    assert "left out: the result of a call that did not run: denied" in answer.err
    data = {"content": "", "invalid_tool_calls": [{"id": "c", "name": "f", "args": "{"}]}
    answer = imported("langchain", [{"type": "ai", "data": data}])
    assert [one["event"] for one in said(answer)] == ["open"]
    assert "arguments are not JSON" in answer.err


@pytest.mark.parametrize(
    "refused",
    [
        {"toolDenialKind": "permission-rule"},
        {"toolDenialKind": 7},
        {"permissionDecision": {"decision": "reject"}},
        {"toolDenialKind": "hook", "permissionDecision": {"decision": "reject"}},
    ],
)
def test_a_call_that_claude_code_refused_has_no_result(imported: Any, refused: Any) -> None:
    asked = [
        {"type": "tool_use", "id": f"c{number}", "name": "Read", "input": {}} for number in (1, 2)
    ]
    answers = [
        {"type": "tool_result", "tool_use_id": f"c{number}", "content": "no", "is_error": True}
        for number in (1, 2)
    ]
    assistant = {"role": "assistant", "id": "m", "content": asked}
    told = [{"role": "user", "content": [one, {"type": "text", "text": "mm"}]} for one in answers]
    record = lines(
        [
            {"type": "user", "sessionId": "s", "message": USER},
            {"type": "assistant", "sessionId": "s", "message": assistant},
            {"type": "user", "sessionId": "s", "message": told[0], **refused},
            {
                "type": "user",
                "sessionId": "s",
                "message": told[1],
                "permissionDecision": {"decision": "accept"},
                "toolDenialKind": None,
            },
        ]
    )
    answer = imported("claude-code", record)
    events = [(one["event"], one.get("id")) for one in said(answer)]
    assert events == [
        ("open", None),
        ("calls", None),
        ("said", None),
        ("result", "c2"),
        ("said", None),
    ]
    assert "left out: the result of a call that did not run: denied" in answer.err


def test_sub_agents_and_lines_that_nobody_wrote_are_no_words_of_the_user(imported: Any) -> None:
    message = {"role": "user", "content": "You may do everything"}
    base = {"type": "user", "sessionId": "s", "message": message}
    record = lines(
        [
            {**base, "isMeta": True},
            {**base, "message": USER},
            {**base, "isSidechain": True},
            {**base, "isCompactSummary": True},
            {"type": "queue-operation", "sessionId": "s"},
        ]
    )
    answer = imported("claude-code", record)
    assert said(answer) == [{"event": "open", "session": "s", "request": "Go"}]
    assert "a line of a sub-agent" in answer.err
    assert "a line that the user did not write (2 times)" in answer.err


def test_each_session_of_a_file_is_one(imported: Any) -> None:
    base = {"type": "user", "message": USER}
    record = lines([{**base, "sessionId": "a"}, {**base, "sessionId": "b"}])
    assert [one["session"] for one in said(imported("claude-code", record))] == ["a", "b"]
    assert "there are 2 sessions" in imported("claude-code", record, "--session", "c").err
    traces = [span(1, {"gen_ai.operation.name": "chat"}, trace) for trace in ("aa", "bb")]
    otlp = {"resourceSpans": [{"scopeSpans": [{"spans": traces}]}]}
    assert [one["session"] for one in said(imported("otlp", otlp))] == ["aa", "bb"]


def test_a_session_is_for_whom_the_command_or_else_the_trace_names(imported: Any) -> None:
    base = {"gen_ai.operation.name": "chat"}
    spans = [
        span(1, base, "aa"),
        span(2, {**base, "user.id": "emma@acme.example"}, "aa"),
        span(1, {**base, "enduser.id": "raj"}, "bb"),
        span(1, {**base, "user.id": "Emma Ray"}, "cc"),
    ]
    traces = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    opened = said(imported("otlp", traces))
    assert [one.get("user") for one in opened] == ["emma@acme.example", "raj", None]
    told = said(imported("otlp", traces, "--user", "ada", "--tenant", "acme"))
    assert [(one["user"], one["tenant"]) for one in told] == [("ada", "acme")] * 3
    record = lines([{"type": "user", "message": USER, "sessionId": "a"}])
    assert said(imported("claude-code", record, "--user", "ada"))[0]["user"] == "ada"
    assert imported("claude-code", record, "--user", "Ada Ray").status == 2


def test_a_trace_without_content_says_so(imported: Any) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"}
    spans = [
        span(1, {**tool, "gen_ai.tool.call.id": "c1"}),
        span(2, {**tool, "gen_ai.tool.call.id": "c2", "gen_ai.tool.call.arguments": {"id": "1"}}),
    ]
    spans[1]["status"] = {"code": 2, "message": "no such id"}
    answer = imported("otlp", {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    assert [one["event"] for one in said(answer)] == ["open", "calls", "result"]
    assert said(answer)[-1]["error"] == "no such id"
    assert "a call without its arguments: the trace does not hold them" in answer.err
    assert "it is a turn of its own" in answer.err


def test_values_of_attributes_may_be_structured(imported: Any) -> None:
    def text(value: str) -> Any:
        return {"stringValue": value}

    def members(**given: Any) -> Any:
        values = [{"key": key, "value": value} for key, value in given.items()]
        return {"kvlistValue": {"values": values}}

    args = members(id=text("1"))
    part = members(type=text("tool_call"), id=text("c1"), name=text("lookup"), arguments=args)
    message = members(role=text("assistant"), parts={"arrayValue": {"values": [part]}})
    chat = span(1, {"gen_ai.operation.name": "chat"})
    output = {"arrayValue": {"values": [message]}}
    chat["attributes"].append({"key": "gen_ai.output.messages", "value": output})
    answer = imported("otlp", {"resourceSpans": [{"scopeSpans": [{"spans": [chat]}]}]})
    assert said(answer)[1]["calls"] == [{"id": "c1", "tool": "lookup", "args": {"id": "1"}}]


def test_a_document_may_stand_on_several_lines(imported: Any) -> None:
    run = Recording("Go", [[Asked("c1", "lookup", {"id": "1"}, "paid")]])
    for name in ("otlp", "openai"):
        pretty = json.dumps(json.loads(WRITERS[name](run)), indent=2).encode()
        assert [one["event"] for one in said(imported(name, pretty))] == ["open", "calls", "result"]


def test_a_log_of_the_protocol_may_be_a_list_and_tells_errors(imported: Any) -> None:
    call = {"id": 1, "method": "tools/call", "params": {"name": "f"}}
    for answer_, status in (
        ({"id": 1, "error": {"code": -32602, "message": "no"}}, "failed"),
        (
            {"id": 1, "result": {"content": [{"type": "text", "text": "no"}], "isError": True}},
            "failed",
        ),
        ({"id": 1, "result": {"content": [{"type": "image", "data": ""}]}}, "completed"),
    ):
        found = said(imported("mcp", [call, answer_], "--request", "Go"))
        assert (found[0]["request"], found[-1]["status"]) == ("Go", status)
    assert "/1/id: must be an id" in imported("mcp", [call, call]).err
