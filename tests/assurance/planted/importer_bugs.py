"""Bugs of importers: a recorded run that says other things than happened, or to another person."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_ANTHROPIC: Final = "harness/integrations/importers/anthropic.py"
_CHAT: Final = "harness/integrations/importers/chat.py"
_CLAUDE_CODE: Final = "harness/integrations/importers/claude_code_transcript.py"
_EVENTS: Final = "harness/integrations/importers/imported_events.py"
_FORMATS: Final = "harness/integrations/importers/formats.py"
_LANGCHAIN: Final = "harness/integrations/importers/langchain_transcript.py"
_MCP: Final = "harness/integrations/importers/mcp_transcript.py"
_OTLP: Final = "harness/integrations/importers/otlp.py"
_PARTS: Final = "harness/integrations/importers/otlp_parts.py"
_PYDANTIC_AI: Final = "harness/integrations/importers/pydantic_ai_transcript.py"
_RESPONSES: Final = "harness/integrations/importers/responses.py"
_TRANSCRIPT: Final = "harness/integrations/importers/transcript.py"

IMPORTER_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "later-system-prompt-lost",
        _EVENTS,
        "a system prompt that comes after the session opened is lost, and nothing is said",
        "if self._system is None and not self._events:",
        "if self._system is None:",
    ),
    slip(
        "second-result-of-a-call",
        _EVENTS,
        "a second result of a call is imported as if the call had been open",
        "        self._waiting.discard(one.id)\n",
        "",
    ),
    slip(
        "failed-without-a-word",
        _EVENTS,
        "a call that failed without a word is imported as completed",
        '"completed" if one.error is None else "failed"',
        '"failed" if one.error else "completed"',
    ),
    slip(
        "open-calls-of-one-note",
        _EVENTS,
        "several calls without an end are told as one",
        'self._left["how a call ended"] += len(self._waiting)',
        'self._left["how a call ended"] += 1',
    ),
    slip(
        "first-of-the-waiting",
        _EVENTS,
        "of a second turn whose first one has calls in progress, results are lost",
        "self._waiting |= {call.id for call in calls}",
        "self._waiting = {call.id for call in calls}",
    ),
    slip(
        "opened-for-nobody",
        _EVENTS,
        "whom a session was for is lost where it opens with a call",
        'self._add(OpenEvent, "", request=self._request or "", **known, **self._whom)',
        'self._add(OpenEvent, "", request=self._request or "", **known, '
        "**(self._whom if self._request else {}))",
    ),
    slip(
        "arguments-that-are-no-object",
        _TRANSCRIPT,
        "arguments that are an empty list or 0 are none at all",
        '    if value is None or value == "":\n        return {}',
        "    if not value:\n        return {}",
    ),
    slip(
        "part-left-out-unsaid",
        _TRANSCRIPT,
        "a part of a message that is not text is left out, and nothing is said",
        '            left.append(LeftOut(f"content of the type {_show_kind(kind)}"))',
        "            continue",
    ),
    slip(
        "words-of-the-last-part",
        _TRANSCRIPT,
        "of a message in several parts the last one is imported",
        '    return "\\n".join(said), left\n',
        '    return "\\n".join(said[-1:]), left\n',
    ),
    slip(
        "error-by-truth",
        _ANTHROPIC,
        "a failed call is imported as completed beside one that is not marked",
        'is_error = block.get("is_error") is True',
        'is_error = block.get("is_error") is True and len(content) == 1',
    ),
    slip(
        "block-of-an-assistant-unsaid",
        _ANTHROPIC,
        "a tool that the provider ran is left out, and nothing is said",
        "        elif kind not in _WORDS:\n            left.append(",
        "        elif kind not in _WORDS and not calls:\n            left.append(",
    ),
    slip(
        "developer-is-the-user",
        _CHAT,
        "the words of a developer are imported as those of the user",
        '        case "system" | "developer":\n            yield from user_words('
        'message.get("content"), f"{path}/content", is_system=True)\n        case "user":',
        '        case "system":\n            yield from user_words('
        'message.get("content"), f"{path}/content", is_system=True)\n'
        '        case "user" | "developer":',
    ),
    slip(
        "sub-agent-acts-for-the-user",
        _CLAUDE_CODE,
        "what a sub-agent was told is imported as words of the user",
        'if line.get("isSidechain") is True:',
        'if line.get("isSidechain") is True and kind == "assistant":',
    ),
    slip(
        "summary-is-said-by-the-user",
        _CLAUDE_CODE,
        "the summary of a conversation is imported as words of the user",
        'if line.get("isMeta") is True or line.get("isCompactSummary") is True:',
        'if line.get("isMeta") is True:',
    ),
    slip(
        "refused-call-has-a-result",
        _CLAUDE_CODE,
        "a call that a hook refused is imported as one that ran",
        'return rejected or line.get("toolDenialKind") is not None',
        "return rejected",
    ),
    slip(
        "turn-on-each-line",
        _CLAUDE_CODE,
        "the calls of a message that stands on several lines are imported with each of them",
        "turns.pop(_turn_name(path, message), None)",
        "turns.get(_turn_name(path, message))",
    ),
    slip(
        "sessions-of-one-file",
        _CLAUDE_CODE,
        "lines of a second session in a file are imported as of the first",
        "sessions.setdefault(name if type(name) is str else None, []).append((path, line))",
        "sessions.setdefault(next(iter(sessions), name), []).append((path, line))",
    ),
    slip(
        "call-that-was-not-made-unsaid",
        _LANGCHAIN,
        "calls whose arguments could not be read are left out, and nothing is said",
        'data.get("invalid_tool_calls") or []',
        'data.get("invalid_tool_calls") if not calls else []',
    ),
    slip(
        "mcp-answered-twice",
        _MCP,
        "a second answer under an id ends the call once more",
        "            open_calls.discard(name)\n",
        "",
    ),
    slip(
        "mcp-error-of-the-tool-completed",
        _MCP,
        "a call whose tool failed is imported as completed where it returned a structure",
        '    if result.get("isError") is True:\n',
        '    if result.get("isError") is True and "structuredContent" not in result:\n',
    ),
    slip(
        "spans-as-they-come",
        _OTLP,
        "the spans of a trace are imported in the order of the file",
        "in_order = sorted(spans, key=lambda span: span.start)",
        "in_order = sorted(spans, key=lambda span: span.trace)",
    ),
    slip(
        "asked-with-each-span",
        _OTLP,
        "a call is imported again with each call of the model that repeats it",
        "if type(one) is RecordedCall and one.id not in self.asked]",
        "if type(one) is RecordedCall and one.id]",
    ),
    slip(
        "words-with-each-span",
        _OTLP,
        "the user says everything again with each call of the model",
        "        self._texts = max(self._texts, len(users))\n",
        "",
    ),
    slip(
        "failed-span-has-a-result",
        _OTLP,
        "a tool call that failed is imported as completed",
        "        if span.failed is not None:\n            self._ended",
        "        if span.failed:\n            self._ended",
    ),
    slip(
        "error-type-alone",
        _PARTS,
        "a span that failed by its error.type alone is one that did not",
        'if status.get("code") in _ERROR or "error.type" in attributes:',
        'if status.get("code") in _ERROR:',
    ),
    slip(
        "trace-in-two-spellings",
        _PARTS,
        "a trace whose id is spelled in two ways is two sessions",
        "        return given.lower()\n",
        "        return given\n",
    ),
    slip(
        "not-run-is-failed",
        _PYDANTIC_AI,
        "a call that was denied is imported as one that ran and failed",
        '    if outcome == "failed":\n',
        '    if outcome != "success":\n',
    ),
    slip(
        "instructions-are-the-users",
        _PYDANTIC_AI,
        "the instructions of an agent are imported as words of the user",
        'yield from user_words(message.get("instructions"), f"/{at}/instructions", is_system=True)',
        'yield from user_words(message.get("instructions"), f"/{at}/instructions", '
        "is_system=at == 0)",
    ),
    slip(
        "developer-of-responses",
        _RESPONSES,
        "the words of a developer are imported as those of the user of Responses",
        'yield from user_words(item.get("content"), f"{path}/content", is_system=role != "user")',
        'yield from user_words(item.get("content"), f"{path}/content", is_system=role == "system")',
    ),
    slip(
        "calls-over-the-words-of-a-user",
        _RESPONSES,
        "calls before and after words of the user are one turn",
        '    return kind == "function_call_output" or is_said_by_others',
        '    return kind == "function_call_output" or (is_said_by_others and kind is None)',
    ),
    slip(
        "first-document",
        _FORMATS,
        "of a file with several documents the first one is imported",
        "        if len(documents) != 1:\n",
        "        if not documents:\n",
    ),
)
"""Most of them give words or results to somebody who did not write them, or lose them unsaid."""
