"""The call seam of LangChain: what every tool passes right before it runs, and after.

Rule 1: a tool runs in the place of a call of a guarded agent, or not at all.
Rule 2: it is ruled on with the arguments that reach it, whoever has changed them. What starts
        within a call that runs is a call of a sub-agent.
Rule 3: a call that paused for an answer starts from its beginning when it goes on. That is one more
        attempt, ruled on and recorded as such, unless a sub-agent in it waits for the guard.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook
from langgraph.errors import GraphBubbleUp, ParentCommand

from evals.escaping import escape_name
from harness.canonical import canonical_json
from harness.errors import HarnessError
from harness.failures import call_status, describe_error
from harness.guard import Guard
from harness.guard.rulings import NOT_RUN
from harness.integrations.langchain.langchain_handovers import MESSAGES, MessageMark, mark_raised
from harness.integrations.langchain.langchain_messages import result_facts
from harness.integrations.seam.guarded import AskedCall, GuardedSession, session_within
from harness.integrations.seam.ruling_replies import GuardHalted, SeamRuling


class CallRefused(HarnessError):
    """A tool may not run. The agent that asked for it is told, and goes on."""

    def __init__(self, ruling: SeamRuling) -> None:
        super().__init__(f"the guard refused a call: {ruling.kind}: {'; '.join(ruling.reasons)}")
        self.ruling = ruling


class _Started(NamedTuple):
    session: GuardedSession
    call: AskedCall


@dataclass
class CallPlace:
    """The place of one call that an agent is about to make.

    Attributes:
        paused: the calls of the session that wait for an answer, by id.
        known: the marks of the messages that were there before.
        key: where the state keeps its messages.
        running: the tools that started in this place and have not ended.
    """

    session: GuardedSession
    call: str
    paused: dict[str, bytes]
    known: frozenset[MessageMark] = frozenset()
    key: str = MESSAGES
    running: dict[UUID, _Started] = field(default_factory=dict)

    @contextmanager
    def take_place(self) -> Iterator[None]:
        """Say that what happens in this context happens in this place, and passes the gate."""
        place, gate = _PLACE.set(self), _GATE.set(ToolGate(self.session.guard))
        try:
            with self.session.running(self.call):
                yield
        except ParentCommand as raised:
            mark_raised(raised, self.known, key=self.key)
            raise
        finally:
            _GATE.reset(gate)
            _PLACE.reset(place)

    def starts(self, run: UUID, call: AskedCall) -> None:
        """Rule on a tool that is about to run.

        Raises:
            CallRefused: it may not run.
            GuardHalted: it may not run, and nor may the agent.
        """
        is_nested = bool(self.running)
        within = session_within(self.session.guard) if is_nested else None
        session = within or self.session
        if is_nested or not self._goes_on(call):
            ruling = session.start(call)
            if ruling.action == "halt":
                raise GuardHalted(ruling)
            if not ruling:
                raise CallRefused(_without_a_person(ruling))
        self.running[run] = _Started(session, call)

    def _goes_on(self, call: AskedCall) -> bool:
        """Return whether a call that paused goes on; end it if it starts anew."""
        if call.id not in self.paused:
            return False
        is_same = self.paused.pop(call.id) == _call_bytes(call)
        if is_same and self.session.waits_for_agent(call.id):
            return True
        self.session.ended(call.id, "unknown", error="it paused, and starts anew")
        return False

    def report_end(self, run: UUID, output: Any = None, error: BaseException | None = None) -> None:
        """Tell the guard how a tool ended. What paused has not."""
        if (started := self.running.pop(run, None)) is None:
            return
        session, call = started
        if isinstance(error, ParentCommand):  # it returns to another graph
            output, error = error.args[0], None
        if isinstance(error, GraphBubbleUp):
            self.paused.update({} if self.running else {call.id: _call_bytes(call)})
        elif error is not None:
            status = call_status(error, None) if isinstance(error, Exception) else "unknown"
            session.ended(call.id, status, error=describe_error(error))
        else:
            how, facts = result_facts(output, call.id, self.known, key=self.key)
            session.ended(call.id, how, **facts)


_PLACE: Final[ContextVar[CallPlace | None]] = ContextVar("place", default=None)
_GATE: Final[ContextVar["ToolGate | None"]] = ContextVar("gate", default=None)


class ToolGate(BaseCallbackHandler):
    """The callbacks of LangChain before and after each tool, in the context of whoever runs it.

    Gates of one guard are equal: LangChain keeps one of them where agents are nested.
    """

    raise_error = True  # or else what it raises is only logged, and the tool runs

    def __init__(self, guard: Guard) -> None:
        """Let tools run in the calls of agents that act under a guard."""
        self.guard: Final = guard

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolGate) and other.guard is self.guard

    def __hash__(self) -> int:
        return id(self.guard)

    def on_tool_start(
        self,
        serialized: Mapping[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        inputs: Mapping[str, Any] | None = None,
        tool_call_id: str | None = None,
        **_more: Any,
    ) -> None:
        """Let a tool run, or raise."""
        if (place := self._taken_place()) is not None:
            args = input_str if inputs is None else inputs
            place.starts(run_id, AskedCall(tool_call_id or run_id.hex, serialized["name"], args))
        elif _PLACE.get() is None and not self.guard.is_shadow:
            raise run_halted("a tool started outside of the calls of a guarded agent")

    def on_tool_end(self, output: Any, *, run_id: UUID, **_more: Any) -> None:
        """Tell the guard what a tool returned."""
        if (place := self._taken_place()) is not None:
            place.report_end(run_id, output)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_more: Any) -> None:
        """Tell the guard that a tool raised."""
        if (place := self._taken_place()) is not None:
            place.report_end(run_id, error=error)

    def _taken_place(self) -> CallPlace | None:
        """Return the place that is taken; None where it is of an agent with another guard."""
        place = _PLACE.get()
        return place if place is not None and place.session.guard is self.guard else None


def is_within_a_call() -> bool:
    """Whether this runs within a call of a guarded agent, whichever guard holds it."""
    return _PLACE.get() is not None


# Whatever callbacks the caller of a tool gives, LangChain adds this one in the place of a call.
register_configure_hook(_GATE, inheritable=True)


def require_callbacks(tool: Any) -> None:
    """Check that a tool calls back before it runs, as all that inherit how they are run do.

    Raises:
        GuardHalted: it runs in a way of its own.
    """
    ways = (getattr(type(tool), name) for name in ("invoke", "ainvoke", "run", "arun"))
    if tool is not None and not all(way.__module__.startswith("langchain_core.") for way in ways):
        raise run_halted(
            f"the tool {escape_name(tool.name)} has its own invoke or run: it cannot be guarded"
        )


def run_halted(reason: str) -> GuardHalted:
    """Return what ends a run that cannot be guarded."""
    return GuardHalted(SeamRuling("halt", "critic_error", (reason,)))


def _without_a_person(ruling: SeamRuling) -> SeamRuling:
    """Return a ruling on a call that is about to run, where it is too late to ask."""
    if ruling.action != "ask":
        return ruling
    advice = "this call was changed or repeated: ask for it anew, so that a person can be asked"
    reasons, reply = (*ruling.reasons, advice), f"{NOT_RUN[:-1]}: {advice}."
    return replace(ruling, action="refuse", reasons=reasons, reply=reply)


def _call_bytes(call: AskedCall) -> bytes:
    return canonical_json([call.tool, call.args if isinstance(call.args, str) else {**call.args}])
