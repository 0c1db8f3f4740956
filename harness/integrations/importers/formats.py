"""The formats by their names, and how each is read from the documents of a file."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from harness.integrations.importers.anthropic import anthropic
from harness.integrations.importers.chat import chat
from harness.integrations.importers.claude_code_transcript import claude_code
from harness.integrations.importers.langchain_transcript import langchain
from harness.integrations.importers.mcp_transcript import mcp
from harness.integrations.importers.otlp import otlp
from harness.integrations.importers.pydantic_ai_transcript import pydantic_ai
from harness.integrations.importers.responses import responses
from harness.integrations.importers.transcript import Recorded, RecordedRun
from harness.wire import InvalidInput

Documents = list[tuple[str, Any]]
"""The values of a file with their places: one, or one a line."""

Reader = Callable[[Documents], Iterator[RecordedRun]]


def _read_one_document(read: Callable[[Any], Iterator[Recorded]]) -> Reader:
    """Return a reader of a format that is one document."""

    def runs(documents: Documents) -> Iterator[RecordedRun]:
        if len(documents) != 1:
            raise InvalidInput("", "must be one JSON document")
        yield RecordedRun(None, read(documents[0][1]))

    return runs


def _messages(documents: Documents) -> Iterator[RecordedRun]:
    """Read a log: a message a line, or a list of them."""
    lines = documents
    if len(lines) == 1 and type(lines[0][1]) is list:
        path, values = lines[0]
        lines = [(f"{path}/{at}", value) for at, value in enumerate(values)]
    yield RecordedRun(None, mcp(lines))


IMPORTERS: Final[Mapping[str, Reader]] = {
    "openai": _read_one_document(chat),
    "responses": _read_one_document(responses),
    "anthropic": _read_one_document(anthropic),
    "claude-code": claude_code,
    "langchain": _read_one_document(langchain),
    "pydantic-ai": _read_one_document(pydantic_ai),
    "otlp": otlp,
    "mcp": _messages,
}
