"""One run of a guarded Pydantic AI agent: its two seams, and the answers of people.

Rule 1: the calls of a response are ruled on together, before a tool of it runs. A response that
        other code changes is ruled on as it is then.
Rule 2: a tool is called with what its permit was validated to, not with what was handed around.
Rule 3: a person's reply counts for calls that this run, or the session, asked about.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from pydantic_ai import DeferredToolResults, RunContext, ToolDefinition
from pydantic_ai.messages import (
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    ToolCallPart,
    ToolReturn,
)
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.toolsets import ToolsetTool

from evals.escaping import escape_name
from harness.guard import NoOpenQuestion
from harness.integrations.pydantic_ai.pydantic_ai_parts import (
    ToolArgs,
    asked_call,
    call_as_executed,
    call_bytes,
    calls_of_response,
    denied_calls,
    hold,
    json_args,
    output_of,
    reply_of,
    response_of,
    tool_of,
    validated_args,
)
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession
from harness.integrations.seam.ruling_replies import (
    GuardHalted,
    SeamRuling,
    not_approved,
    unread_ruling,
)

_T = TypeVar("_T")


class GuardedRun:
    """The state of the calls of one run."""

    def __init__(self, session: GuardedSession, approver: str) -> None:
        """Run in a session. `approver` answers where no answer says who did."""
        self.session: Final = session
        self._approver = approver
        self._lock: Final = asyncio.Lock()
        self._stream: tuple[StreamedResponse, ModelRequestParameters] | None = None
        self._is_early = False  # tools run before the framework has the whole response
        self._outputs: set[str] = set()
        self._ruled: list[bytes] | None = None  # the calls of the response that was ruled on
        self._asked: dict[str, AskedCall] = {}
        self._answers: set[str] = set()  # calls of an earlier run that this one goes on with
        self._shown: dict[str, str | None] = {}  # the digest of the plan that a person is shown
        self._open: set[str] = set()  # calls that were allowed and have not ended
        self._started: dict[str, ToolArgs] = {}

    async def begin_request(self, ctx: RunContext[Any]) -> None:
        """Get ready for a response. Calls that were denied since the last one are remembered."""
        self._ruled, self._stream, self._is_early = None, None, False
        denied = [self._asked.pop(name) for name in denied_calls(ctx) if name in self._asked]
        if denied:
            await _run_in_thread(partial(self.session.deny, denied, approver=self._approver))

    def streams(self, response: StreamedResponse, parameters: ModelRequestParameters) -> None:
        """Take in a response that streams: its tools may run before it is at its end."""
        self._stream = response, parameters

    async def rule_response(
        self, response: ModelResponse, parameters: ModelRequestParameters
    ) -> None:
        """Rule on the calls of a response: the plan seam.

        Raises:
            GuardHalted: the run ends.
        """
        async with self._lock:
            self._stream = None
            await self._rule_plan(response, parameters)

    async def _rule_plan(
        self, response: ModelResponse, parameters: ModelRequestParameters | None
    ) -> None:
        if parameters is not None:
            self._outputs = {tool.name for tool in parameters.output_tools}
        calls = calls_of_response(response, self._outputs)
        ruled = [call_bytes(call) for call in calls]
        if ruled == self._ruled:
            return
        self._ruled, self._asked = ruled, {call.id: call for call in calls}
        ruling = await _run_in_thread(partial(self.session.rule, calls)) if calls else None
        if ruling is None:
            return
        has_run = any(isinstance(part, NativeToolCallPart) for part in response.parts)
        if ruling.action == "halt" or (has_run and not ruling):
            raise GuardHalted(ruling)
        self._open = {*self._asked} if ruling else set()
        for part in response.parts:
            if isinstance(part, NativeToolReturnPart):
                await self.report_end(part.tool_call_id, "completed", output=part.content)

    async def _rule_late(self, ctx: RunContext[Any], part: ToolCallPart) -> None:
        """Rule on the response whose call is being made, if that was not done as it is now."""
        async with self._lock:
            if self._stream is not None:
                stream, self._stream, self._is_early = self._stream, None, True
                await self._rule_plan(stream[0].get(), stream[1])
            elif not self._is_early and part.tool_call_id not in self._answers:
                response = response_of(ctx, part)
                if response is not None:
                    await self._rule_plan(response, None)

    async def hold_call(
        self, ctx: RunContext[Any], part: ToolCallPart, tool: ToolDefinition
    ) -> None:
        """Hold a call that the framework hands out without a hook right before it is made.

        Raises:
            Exception: one of those of `hold`.
        """
        await self._rule_late(ctx, part)
        is_external = tool.kind == "external"
        if is_external:
            ruling = await _run_in_thread(partial(self.session.start, asked_call(part)))
            return hold(ruling, can_ask=False)
        against = await _run_in_thread(partial(self.session.standing, part.tool_call_id))
        return None if against is None else hold(against, can_ask=not self._is_early)

    async def start_call(
        self, ctx: RunContext[Any], part: ToolCallPart, args: ToolArgs
    ) -> ToolArgs:
        """Return the arguments to make a call with: the call seam.

        Raises:
            Exception: one of those of `hold`.
        """
        await self._rule_late(ctx, part)
        asked = call_as_executed(ctx, part, args)
        await _run_in_thread(partial(self.session.wait_turn, asked.id))
        async with self._lock:  # a handler may approve several calls at once, each by itself
            ruling = await _run_in_thread(partial(self.session.start, asked))
            is_answer = ctx.tool_call_approved and asked.id in self._asked
            if ruling.action == "ask" and is_answer:
                ruling = await self._approve_call(asked, ctx.tool_call_metadata or {})
        if ruling.action == "ask" and ruling.ruling is not None:
            self._shown[asked.id] = ruling.ruling.plan_digest
        hold(ruling, can_ask=not self._is_early)
        return self._permit_call(ctx, asked, ruling, tool_of(ctx, part.tool_name))

    async def check_call(
        self, ctx: RunContext[Any], tool: ToolsetTool[Any], args: ToolArgs
    ) -> ToolArgs:
        """Return the arguments to call a tool with, where no hook is left that could change them.

        Raises:
            Exception: one of those of `hold`.
        """
        name = str(ctx.tool_call_id)
        ruled = self._started.get(name)
        made = None if ruled is None else validated_args(ctx, tool, ruled)
        if made is not None and made == args:
            return made
        asked = AskedCall(name, tool.tool_def.name, json_args(args))
        ruling = await _run_in_thread(partial(self.session.start, asked))
        hold(ruling, can_ask=False)
        return self._permit_call(ctx, asked, ruling, tool)

    def _permit_call(
        self, ctx: RunContext[Any], asked: AskedCall, ruling: SeamRuling, tool: ToolsetTool[Any]
    ) -> ToolArgs:
        self._open.add(asked.id)
        self._started[asked.id] = dict(ruling.args or {})
        return validated_args(ctx, tool, self._started[asked.id])

    async def _approve_call(self, asked: AskedCall, said: Mapping[str, Any]) -> SeamRuling:
        """Have a call approved that a handler approved while the run goes on."""
        shown = self._shown.get(asked.id)
        if said.get("plan_digest", shown) != shown:
            return not_approved("this is not the plan that is asked about")
        edited = None if call_bytes(asked) == call_bytes(self._asked[asked.id]) else asked.args
        reply = CallReply(yes=True, args=edited if isinstance(edited, Mapping) else None)
        approver = str(said.get("approver", self._approver))
        answer = partial(self.session.answer, {asked.id: reply}, approver=approver)
        rulings = await _run_in_thread(answer)
        if not rulings[asked.id]:
            return rulings[asked.id]
        return await _run_in_thread(partial(self.session.start, asked))

    async def take_answers(self, results: DeferredToolResults) -> None:
        """Take in what a person said, and what external tools returned.

        Raises:
            NoOpenQuestion: no call was ever asked for in the session: this process lost it.
        """
        given, waiting = results.to_tool_call_results(), self.session.waiting
        status = self.session.guard.status(self.session.session)
        if given and (status is None or status.turn == 0):
            shown = escape_name(self.session.session)
            raise NoOpenQuestion(f"no question is open in session {shown}")
        self._answers = {*given}
        replies = {name: reply_of(result) for name, result in given.items() if name in waiting}
        said = [results.metadata.get(name, {}) for name in replies]
        digests = {str(one["plan_digest"]) for one in said if "plan_digest" in one}
        approvers = sorted({str(one["approver"]) for one in said if "approver" in one})
        answer = partial(
            self.session.answer,
            replies,
            approver="+".join(approvers) or self._approver,
            plan_digest="+".join(sorted(digests)) or None,
        )
        if replies:
            await _run_in_thread(answer)
        for name, result in given.items():
            if name not in waiting and isinstance(result, ToolReturn):
                self._open.add(name)
                await self.report_end(name, "completed", output=output_of(result))

    def leave_call(self, call: str) -> bool:
        """Take note that a call is over here, and return True if it was made."""
        return self._started.pop(call, None) is not None

    async def report_end(self, call: str, status: str, **facts: Any) -> None:
        """Tell how a call ended, if it was allowed.

        Raises:
            GuardHalted: the guard does not take it.
        """
        if call in self._open:
            self._open.discard(call)
            await _run_in_thread(partial(self.session.ended, call, status, **facts))


def refused_unruled(names: set[str], option: str) -> GuardHalted:
    """Return the end of a run in which something would happen without a ruling."""
    reason = f"{', '.join(sorted(names))} cannot be ruled on first: accept it in {option}"
    return GuardHalted(unread_ruling(reason, "halt"))


async def _run_in_thread(work: Callable[[], _T]) -> _T:
    """Run what may wait for a disk."""
    return await asyncio.to_thread(work)
