"""One run made by the agents of real libraries, and recorded as each library records it.

The models are scripted: nothing is asked on a network.
"""

# ruff: noqa: PLC0415 - each library takes a second to load

import asyncio
import json
from base64 import b64decode
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from tests.harness.integrations.importers.writers import Asked, Recording, lines

Tool = Callable[..., Any]


def _turns(recording: Recording) -> list[list[Asked]]:
    return [list(turn) for turn in recording.turns if not isinstance(turn, str)]


def _tools(recording: Recording, *, as_text: bool) -> list[Tool]:
    """Return the tools of a run: each returns what was recorded for its arguments."""
    outputs = {
        (one.tool, json.dumps(one.args)): one.output for turn in _turns(recording) for one in turn
    }

    def given(tool: str, **args: Any) -> Any:
        output = outputs[tool, json.dumps(args)]
        return json.dumps(output) if as_text and type(output) is not str else output

    def list_mail() -> Any:
        """List the mails."""
        return given("list_mail")

    def read_note(name: str) -> Any:
        """Read a note."""
        return given("read_note", name=name)

    def transfer(iban: str, reason: str) -> Any:
        """Transfer money."""
        return given("transfer", iban=iban, reason=reason)

    return [list_mail, read_note, transfer]


def _pydantic_ai_run(recording: Recording) -> tuple[bytes, Any]:
    """Return the messages of a run of Pydantic AI, and its spans as an OTLP request."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.models.instrumented import InstrumentationSettings

    turns = iter(_turns(recording))

    def model(_messages: Any, _info: Any) -> ModelResponse:
        turn = next(turns, None)
        if turn is None:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(
            parts=[ToolCallPart(one.tool, one.args, tool_call_id=one.id) for one in turn]
        )

    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    agent: Any = Agent(FunctionModel(model), system_prompt=recording.system or ())
    for tool in _tools(recording, as_text=False):
        agent.tool_plain(tool)
    agent.instrument = InstrumentationSettings(tracer_provider=provider)
    result = asyncio.run(agent.run(recording.request))
    messages = ModelMessagesTypeAdapter.dump_json(result.all_messages())
    return messages, encode_spans(memory.get_finished_spans())


def pydantic_ai(recording: Recording) -> bytes:
    return _pydantic_ai_run(recording)[0]


def otlp(recording: Recording) -> bytes:
    """Return the trace as protobuf writes it: ids are in base64."""
    written: Any = import_module("google.protobuf.json_format")  # without types
    text: str = written.MessageToJson(_pydantic_ai_run(recording)[1])
    return text.encode()


def otlp_in_hex(recording: Recording) -> bytes:
    """Return the trace as the standard has it: ids are in hexadecimal digits."""
    request = json.loads(otlp(recording))
    for resource in request["resourceSpans"]:
        for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
            for name in ("traceId", "spanId", "parentSpanId"):
                if name in span:
                    span[name] = b64decode(span[name]).hex()
    return json.dumps(request).encode()


def _langchain_run(recording: Recording) -> list[Any]:
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, SystemMessage
    from langchain_core.tools import tool

    class Scripted(FakeMessagesListChatModel):
        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

    responses: list[Any] = [
        AIMessage(
            "", tool_calls=[{"id": one.id, "name": one.tool, "args": one.args} for one in turn]
        )
        for turn in _turns(recording)
    ]
    model = Scripted(responses=[*responses, AIMessage("done")])
    agent: Any = create_agent(model, [tool(one) for one in _tools(recording, as_text=True)])
    system = [] if recording.system is None else [SystemMessage(recording.system)]
    asked = [*system, {"role": "user", "content": recording.request}]
    messages: list[Any] = agent.invoke({"messages": asked})["messages"]
    return messages


def langchain(recording: Recording) -> bytes:
    from langchain_core.messages import messages_to_dict

    return json.dumps(messages_to_dict(_langchain_run(recording))).encode()


def openai(recording: Recording) -> bytes:
    """Return the run of LangChain as it writes messages for Chat Completions."""
    from langchain_core.messages import convert_to_openai_messages

    return json.dumps(convert_to_openai_messages(_langchain_run(recording))).encode()


def responses(recording: Recording) -> bytes:
    from agents import Agent, RunConfig, Runner, function_tool
    from agents.testing import ScriptedModel, assistant_message, function_call

    script: list[Any] = [
        [function_call(one.tool, one.args, call_id=one.id) for one in turn]
        for turn in _turns(recording)
    ]
    model = ScriptedModel([*script, [assistant_message("done")]])
    tools: list[Any] = [function_tool(one) for one in _tools(recording, as_text=True)]
    agent = Agent("clerk", instructions=recording.system, tools=tools, model=model)
    config = RunConfig(tracing_disabled=True)
    result = asyncio.run(Runner.run(agent, recording.request, run_config=config))
    system = {} if recording.system is None else {"instructions": recording.system}
    return json.dumps({**system, "input": result.to_input_list()}).encode()


def mcp(recording: Recording) -> bytes:
    """Return what a client and a server of MCP wrote, in order."""
    return lines(asyncio.run(_mcp_log(recording, _tools(recording, as_text=False))))


def mcp_with_schemas(recording: Recording) -> bytes:
    """Return the same of tools that have an output schema: a text is wrapped in an object then."""
    tools = _tools(recording, as_text=True)
    for tool in tools:
        tool.__annotations__["return"] = str
    return lines(asyncio.run(_mcp_log(recording, tools)))


async def _mcp_log(recording: Recording, tools: list[Tool]) -> list[Any]:
    from mcp import ClientSession
    from mcp.server import MCPServer
    from mcp.shared.memory import create_client_server_memory_streams

    log: list[Any] = []
    app = MCPServer("clerk")
    for tool in tools:
        app.add_tool(tool)
    server: Any = app._lowlevel_server
    async with create_client_server_memory_streams() as (client, (read, write)):
        serving = asyncio.create_task(
            server.run(read, _Teed(write, log), server.create_initialization_options())
        )
        sent: Any = _Teed(client[1], log)
        async with ClientSession(client[0], sent) as session:
            await session.initialize()
            for one in (one for turn in _turns(recording) for one in turn):
                await session.call_tool(one.tool, one.args)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    return log


class _Teed:
    """A stream that notes each message which is sent on it."""

    def __init__(self, stream: Any, log: list[Any]) -> None:
        self._stream, self._log = stream, log

    async def send(self, message: Any) -> None:
        wire = message.message.model_dump(mode="json", by_alias=True, exclude_none=True)
        self._log.append(wire)
        await self._stream.send(message)

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *how: Any) -> Any:
        return await self._stream.__aexit__(*how)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


LIBRARIES: Final[Mapping[str, tuple[str, Callable[[Recording], bytes]]]] = {
    "LangChain": ("langchain", langchain),
    "LangChain as Chat Completions": ("openai", openai),
    "OpenAI Agents SDK": ("responses", responses),
    "Pydantic AI": ("pydantic-ai", pydantic_ai),
    "OpenTelemetry": ("otlp", otlp),
    "OpenTelemetry, ids in hexadecimal": ("otlp", otlp_in_hex),
    "MCP": ("mcp", mcp),
    "MCP, with output schemas": ("mcp", mcp_with_schemas),
}
"""What each library writes of a run, and the format that it is read as."""
