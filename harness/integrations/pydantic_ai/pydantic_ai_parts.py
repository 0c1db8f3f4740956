"""Parts of Pydantic AI's messages as calls, replies and results of a guarded session, and back."""

from collections.abc import Mapping
from typing import Any

from pydantic_ai import RunContext, ToolApproved
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    TextContent,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
)
from pydantic_ai.toolsets import ToolsetTool

from harness.canonical import canonical_json
from harness.integrations.seam.guarded import AskedCall, CallReply
from harness.integrations.seam.ruling_replies import (
    GuardHalted,
    SeamRuling,
    reply_without_person,
    unread_reply,
)
from harness.tool_results import NotJson, to_json_value
from harness.wire import parse_json

ToolArgs = dict[str, Any]
"""Arguments by name, as a tool takes them or as JSON."""

CallPart = ToolCallPart | NativeToolCallPart


def prompt_text(prompt: Any) -> str:
    """Return the text of a prompt. What it holds beside text gives no authority."""
    parts = [prompt] if isinstance(prompt, str) else (prompt or ())
    texts = (part.content if isinstance(part, TextContent) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def asked_call(part: CallPart) -> AskedCall:
    """Return the call of a part, as the model wrote it."""
    return AskedCall(part.tool_call_id, part.tool_name, {} if part.args is None else part.args)


def calls_of_response(response: ModelResponse, outputs: set[str]) -> list[AskedCall]:
    """Return the calls of a response: those of output tools only give the result of a run."""
    parts = (part for part in response.parts if isinstance(part, CallPart))
    return [asked_call(part) for part in parts if part.tool_name not in outputs]


def call_bytes(call: AskedCall) -> bytes:
    """Return what tells a call from one that was changed."""
    args = call.args if isinstance(call.args, str) else dict(call.args)
    try:
        return canonical_json([call.id, call.tool, args])
    except Exception:  # not JSON, so it is refused
        return ascii((call.id, call.tool, args)).encode()


def call_as_executed(ctx: RunContext[Any], part: ToolCallPart, args: ToolArgs) -> AskedCall:
    """Return a call with the JSON arguments that it is about to be made with.

    They are what the model wrote, where `args` are what the tool makes of that.

    Raises:
        ToolFailed: they have no JSON form.
    """
    asked = asked_call(part)
    try:
        written = parse_json(asked.args.encode()) if isinstance(asked.args, str) else asked.args
        if validated_args(ctx, tool_of(ctx, part.tool_name), written) == args:
            return asked._replace(args=written)
    except Exception:  # noqa: S110 - then they are not what the model wrote
        pass
    return asked._replace(args=json_args(args))


def json_args(args: ToolArgs) -> ToolArgs:
    """Return arguments as JSON.

    Raises:
        ToolFailed: they have no JSON form, so nothing can be said about them.
    """
    try:
        return dict(to_json_value(args))
    except NotJson as error:
        raise ToolFailed(unread_reply(f"its arguments: {error}")) from None


def tool_of(ctx: RunContext[Any], name: str) -> ToolsetTool[Any]:
    """Return a tool of the step that is run.

    Raises:
        KeyError: there is no such tool.
    """
    tools = None if ctx.tool_manager is None else ctx.tool_manager.tools
    return (tools or {})[name]


def validated_args(
    ctx: RunContext[Any], tool: ToolsetTool[Any], args: Mapping[str, Any]
) -> ToolArgs:
    """Return JSON arguments as a tool takes them.

    Raises:
        ValueError: they are not those of the tool.
    """
    data = canonical_json(dict(args))
    made: ToolArgs = tool.args_validator.validate_json(data, context=ctx.validation_context)
    return made


def response_of(ctx: RunContext[Any], part: ToolCallPart) -> ModelResponse | None:
    """Return the last response, if it asks for a call."""
    responses = [one for one in ctx.messages if isinstance(one, ModelResponse)]
    ids = [call.tool_call_id for one in responses[-1:] for call in one.tool_calls]
    return responses[-1] if part.tool_call_id in ids else None


def denied_calls(ctx: RunContext[Any]) -> list[str]:
    """Return the ids of the calls that were denied since the last response."""
    last = [one for one in ctx.messages[-1:] if isinstance(one, ModelRequest)]
    parts = [part for one in last for part in one.parts if isinstance(part, ToolReturnPart)]
    return [part.tool_call_id for part in parts if part.outcome == "denied"]


def reply_of(result: Any) -> CallReply:
    """Return a person's reply to a call. What is not an approval is a no."""
    if isinstance(result, ToolApproved):
        return CallReply(yes=True, args=result.override_args)
    return CallReply(yes=False)


def output_of(result: Any) -> Any:
    """Return all that the model reads of a result."""
    if not isinstance(result, ToolReturn):
        return result
    if result.content is None:
        return result.return_value
    return {"return_value": result.return_value, "content": result.content}


def hold(ruling: SeamRuling, *, can_ask: bool = True) -> None:
    """Let a call pass that may be made.

    Raises:
        GuardHalted: the run ends.
        ApprovalRequired: a person has to be asked. Its metadata has the ruling as `critic`.
        ToolFailed: it is refused, in words for the model.
    """
    if ruling.action == "halt":
        raise GuardHalted(ruling)
    if ruling.action == "ask" and can_ask:
        raise ApprovalRequired(metadata={"critic": ruling.wire()})
    if not ruling:
        raise ToolFailed(reply_without_person(ruling))
