"""The results of MCP calls, as the evidence that a session keeps of them. Pure."""

import json
from collections.abc import Iterator
from typing import Any, Final

from harness.tool_results import parsed_result, read_blocks
from harness.wire import InvalidInput, parse_finite_json

Json = dict[str, Any]

_OF_PROTOCOL: Final = ("_meta", "resultType", "ttlMs", "cacheScope", "isError")


def ended_with(message: Json) -> Json:
    """Return how a call ended whose answer this is: the members of a result event.

    An answer that is an error says nothing of what the tool did before: its status is unknown.
    """
    if "error" in message:
        return {"status": "unknown", "error": _error_text(message["error"])}
    result = message["result"]
    if type(result) is not dict:
        return {"status": "unknown", "error": "the answer is not a result"}
    output, says = _output_of(result), result.get("isError", False)
    if says is False:
        return {"status": "completed", **({} if output is None else {"output": output})}
    text = output if type(output) is str else _dump_json(output)
    return {"status": "failed" if says is True else "unknown", "error": text}


def _output_of(result: Json) -> Any:
    """Return all that a result shows a model, as JSON that can be kept; None for nothing.

    This is `structuredContent` where the content repeats it, and the text where there is only text,
    whatever that spells: a text of an outsider must not choose its fields.
    """
    content, structured = result.get("content"), result.get("structuredContent")
    if type(content) is not list:
        shown = {name: part for name, part in result.items() if name not in _OF_PROTOCOL}
        return parsed_result(read_blocks(shown)) if shown else None
    texts = [_text_of(block) for block in content]
    if structured is not None and all(_repeats(text, structured) for text in texts):
        return parsed_result(structured)
    plain = [text for text in texts if text is not None]
    kept = "\n".join(plain) if len(plain) == len(content) else read_blocks(content)
    if structured is not None:
        return parsed_result({"structuredContent": structured, "content": kept})
    return parsed_result(kept) if content else None


def _text_of(block: Any) -> str | None:
    """Return the text of a block that holds text and nothing else."""
    if type(block) is not dict or block.get("type") != "text":
        return None
    text = block.get("text")
    return (
        text if type(text) is str and not block.keys() - {"type", "text", "annotations"} else None
    )


def _repeats(text: str | None, structured: Any) -> bool:
    """Return whether a text says what is in the structured content, and nothing else."""
    return text is not None and any(_says(text, part) for part in _repeated_parts(structured))


def _says(text: str, part: Any) -> bool:
    if type(part) in (dict, list):
        return bool(_read(text) == part)
    return text in (part, _dump_json(part))


def _repeated_parts(structured: Any) -> Iterator[Any]:
    """Yield what servers repeat as text: all of it, the result in it, or elements of that."""
    yield structured
    inner = structured.get("result") if type(structured) is dict else None
    if inner is not None:
        yield inner
        yield from inner if type(inner) is list else ()


def _read(text: Any) -> Any:
    """Return the object or array that a text spells, or the text."""
    if type(text) is not str or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return parse_finite_json(text.strip().encode())
    except InvalidInput:
        return text


def _error_text(error: Any) -> str:
    told = error.get("message") if type(error) is dict else None
    return told if type(told) is str else _dump_json(error)


def _dump_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
