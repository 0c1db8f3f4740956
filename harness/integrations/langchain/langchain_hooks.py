"""The middleware of a guarded agent of LangChain. Private: see `harness.integrations.langchain`.

Rule 1: the one that rules is the last: it rules before any other, and is next to the tools.
Rule 2: a ruling and its question are two steps, so that the state of the graph holds the session
        while a person is asked.
Rule 3: what may wait for a disk runs in a thread of its own where the agent is asynchronous.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Final, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import ToolMessage
from langgraph.types import interrupt

from harness.integrations.langchain.langchain_approval import ApprovalAnswer
from harness.integrations.langchain.langchain_gate import (
    CallPlace,
    CallRefused,
    require_callbacks,
    run_halted,
)
from harness.integrations.langchain.langchain_handovers import handover_marks, mark_as_written
from harness.integrations.langchain.langchain_messages import (
    ran_at_the_provider,
    refusal_message,
    unanswered_calls,
)
from harness.integrations.langchain.langchain_sessions import GraphState, Sessions
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession
from harness.integrations.seam.ruling_replies import (
    SeamRuling,
    not_approved,
    unless_halted,
)


class GuardedState(AgentState[Any]):
    """The state of a guarded agent. `guarded` is neither read from an input nor returned."""

    guarded: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class CriticGuard(AgentMiddleware[Any]):
    """Rules on the calls of a message, and on each call that is made."""

    state_schema = GuardedState

    def __init__(self, sessions: Sessions) -> None:
        """Rule in the sessions of an agent."""
        self._sessions: Final = sessions

    def before_agent(self, state: Any, runtime: Any) -> GraphState:
        """Begin a run."""
        return {"guarded": self._sessions.enter(state, runtime)}

    async def abefore_agent(self, state: Any, runtime: Any) -> GraphState:
        """Begin a run."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> GraphState | None:  # noqa: ARG002
        """Rule on the calls of a message, before any of them is made."""
        calls = unanswered_calls(state["messages"])
        if ran_at_the_provider(state["messages"]) and not self._sessions.guard.is_shadow:
            raise run_halted("the provider of the model ran a tool, which could not be ruled on")
        if not calls:
            return None
        session = self._sessions.run(state).session
        ruling = unless_halted(session.rule(calls))
        unknown = _unknown_calls(session, calls)
        known = [call for call in calls if call.id not in unknown]
        refused = [(call, unknown.get(call.id, ruling)) for call in calls]
        if ruling.action == "ask":
            told = _refusal_update([one for one in refused if one[0].id in unknown], of=calls)
            asks = {**ruling.wire(), "calls": [call._asdict() for call in known]}
            return {"guarded": {**self._sessions.leave(state, is_over=False), "asks": asks}, **told}
        if ruling:
            refused = [one for one in refused if one[0].id in unknown]
        return _refusal_update(refused, of=calls) if refused else None

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: Any, runtime: Any) -> GraphState | None:
        """Rule on the calls of a message, before any of them is made."""
        return await asyncio.to_thread(self.after_model, state, runtime)

    def after_agent(self, state: Any, runtime: Any) -> GraphState:  # noqa: ARG002
        """End a run."""
        return {"guarded": self._sessions.leave(state, is_over=True)}

    async def aafter_agent(self, state: Any, runtime: Any) -> GraphState:
        """End a run."""
        return await asyncio.to_thread(self.after_agent, state, runtime)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Make a call in its place, where the gate rules on it."""
        request, place = self._place_request(request)
        try:
            place.session.wait_turn(place.call)
            with place.take_place():
                result = handler(request)
        except CallRefused as refused:
            return _refusal(request.tool_call, refused.ruling)
        return mark_as_written(result, place.known)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Make a call in its place, where the gate rules on it."""
        request, place = self._place_request(request)
        try:
            await asyncio.to_thread(place.session.wait_turn, place.call)
            with place.take_place():
                result = await handler(request)
        except CallRefused as refused:
            return _refusal(request.tool_call, refused.ruling)
        return mark_as_written(result, place.known)

    def _place_request(self, request: Any) -> tuple[Any, CallPlace]:
        if not self._sessions.guard.is_shadow:
            require_callbacks(request.tool)
        run, call = self._sessions.run(request.state), request.tool_call
        edits = request.state["guarded"].get("edits", {})
        if call["id"] in edits:
            request = request.override(tool_call={**call, "args": edits[call["id"]]})
        known = handover_marks(request.state["messages"])
        return request, CallPlace(run.session, call["id"] or "", run.paused, known)


class CriticApproval(AgentMiddleware[Any]):
    """Asks a person where the ruling is to ask."""

    state_schema = GuardedState

    def __init__(self, sessions: Sessions) -> None:
        """Ask in the sessions of an agent."""
        self._sessions: Final = sessions

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> GraphState | None:  # noqa: ARG002
        """Wait for an answer, and tell the model what may not run."""
        known = {name: one for name, one in state["guarded"].items() if name != "edits"}
        if "asks" not in known:
            return {"guarded": known} if "edits" in state["guarded"] else None
        answer = interrupt(known.pop("asks"), response_schema=ApprovalAnswer)
        session, calls = self._sessions.run(state).session, unanswered_calls(state["messages"])
        known.pop("held", None)
        replies = {name: CallReply(one.yes, one.args) for name, one in answer.calls.items()}
        rulings = session.answer(replies, approver=answer.approver, plan_digest=answer.plan_digest)
        silent = not_approved("nobody said yes to this call")
        ruled = [(call, unless_halted(rulings.get(call.id, silent))) for call in calls]
        edits = {name: one.args for name, one in answer.calls.items() if one.args is not None}
        refused = [(call, ruling) for call, ruling in ruled if not ruling]
        return {"guarded": {**known, "edits": edits}, **_refusal_update(refused, of=calls)}

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: Any, runtime: Any) -> GraphState | None:
        """Wait for an answer, and tell the model what may not run."""
        return await asyncio.to_thread(self.after_model, state, runtime)


def _unknown_calls(session: GuardedSession, calls: Sequence[AskedCall]) -> dict[str, SeamRuling]:
    """Return the refusals of calls of tools that the policy does not have, by id."""
    standing = {call.id: session.standing(call.id) for call in calls}
    return {
        name: one
        for name, one in standing.items()
        if one is not None and one.kind == "unknown_tool"
    }


def _refusal(call: Mapping[str, Any], ruling: SeamRuling) -> ToolMessage:
    return refusal_message(AskedCall(call["id"] or "", call["name"], call["args"]), ruling)


def _refusal_update(
    refused: Sequence[tuple[AskedCall, SeamRuling]], *, of: Sequence[AskedCall]
) -> GraphState:
    """Return the update that tells the model of refusals: it goes on at once if all are refused."""
    told: GraphState = {"messages": [refusal_message(call, ruling) for call, ruling in refused]}
    return {**told, "jump_to": "model"} if len(refused) == len(of) else told
