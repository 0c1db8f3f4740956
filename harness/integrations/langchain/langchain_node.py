"""A node of tools for any graph of LangGraph, which is guarded: in the place of a `ToolNode`.

Rule 1: the calls of the last message are one turn. A node that is entered again, because a person
        answered or a call paused, is in the same turn; so are calls that are sent one by one.
Rule 2: the messages that it returns name their session. What a human message behind the last of
        them says is new, and only that.
Rule 3: a node that pauses leaves once the calls that have begun have ended, and begins no other:
        one whose end nobody sees counts as made, and is refused when the node is entered again.
Rule 4: a session that the messages name and that the guard does not have is lost: the run ends. A
        guard with a log, or with `sessions`, has it in every process.
Rule 5: messages come from a caller, who may write what they like: they name a session of the thread
        that runs, or of its user where there is no thread, or the run ends.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from threading import RLock
from typing import Any, Final
from uuid import uuid4

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from harness.canonical import canonical_json
from harness.guard import Guard
from harness.integrations.langchain.langchain_approval import ApprovalAnswer
from harness.integrations.langchain.langchain_gate import (
    CallPlace,
    CallRefused,
    require_callbacks,
    run_halted,
)
from harness.integrations.langchain.langchain_handovers import (
    MESSAGES,
    MessageMark,
    handover_marks,
    mark_as_written,
    messages_within,
)
from harness.integrations.langchain.langchain_messages import (
    new_words,
    ran_at_the_provider,
    refusal_message,
)
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession, session_within
from harness.integrations.seam.principals import NameSource, Principals
from harness.integrations.seam.ruling_replies import (
    GuardHalted,
    SeamRuling,
    not_approved,
    unless_halted,
)

_STAMP: Final = "critic_session"
"""Where a message of the node names its session."""
_OF_ANOTHER: Final = (
    "the messages name the session of another thread or user (`critic_session`): give a run only"
    " what was said in its own"
)
_LONGEST_THREAD: Final = 200
_MOST_RUNS: Final = 10_000


@dataclass
class _Turn:
    """The calls of one message.

    Attributes:
        calls: by id, as the model asked for them.
        asks: what a person is asked, if they are.
        refused: the rulings on calls that may not be made, by id.
        edits: arguments that a person changed, by the id of the call.
        done: what calls returned: a node that is entered again does not make them again.
        left: the ids of calls that have not ended.
    """

    calls: dict[str, AskedCall]
    asks: dict[str, Any] | None = None
    refused: dict[str, SeamRuling] = field(default_factory=dict)
    edits: dict[str, Any] = field(default_factory=dict)
    done: dict[str, Any] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    is_answered: bool = False


@dataclass
class _NodeRun:
    """A session as the nodes of one guard act in it."""

    name: str
    session: GuardedSession
    paused: dict[str, bytes] = field(default_factory=dict)
    turns: dict[tuple[str, ...], _Turn] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)


_OPENING_LOCK: Final = RLock()
"""Held while words are told: nodes that run side by side open their session once."""
_PLACE: Final[ContextVar["_Execution | None"]] = ContextVar("execution", default=None)


@dataclass
class _Execution:
    """One execution of a node, in one event loop or in threads.

    Attributes:
        known: the marks of the messages that were there before.
        key: where the state keeps its messages.
        halted: what ends the run once its calls have ended.
        pause: what the first call that pauses raises, in an event loop.
        begun: how many calls have begun there, and have not ended.
    """

    run: _NodeRun
    turn: _Turn
    known: frozenset[MessageMark] = frozenset()
    key: str = MESSAGES
    halted: GuardHalted | None = None
    pause: GraphBubbleUp | None = None
    begun: int = 0
    is_idle: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Make a call, unless the node pauses. A pause waits for the calls that have begun."""
        try:
            if self.pause is not None:
                raise self.pause
            self.begun += 1
            try:
                yield
            finally:
                self.begun -= 1
                if not self.begun:
                    self.is_idle.set()
        except GraphBubbleUp as pause:
            self.pause = self.pause or pause
            while self.begun:
                self.is_idle.clear()
                await self.is_idle.wait()
            raise self.pause from None


class GuardedToolNode(ToolNode):
    """A `ToolNode` whose calls are ruled on: as one plan before any, and each as it is made.

    Where a person is asked, the node interrupts the graph, which needs a checkpointer for that, and
    goes on with `Command(resume=...)`: an `ApprovalAnswer`.
    """

    def __init__(
        self,
        tools: Sequence[Any],
        *,
        guard: Guard,
        system: str | None = None,
        scope: Sequence[str] | None = None,
        user: NameSource = None,
        tenant: NameSource = None,
        nested: bool = False,
        wrap_tool_call: Callable[..., Any] | None = None,
        awrap_tool_call: Callable[..., Awaitable[Any]] | None = None,
        **options: Any,
    ) -> None:
        """Make a node of tools.

        Args:
            tools: as `ToolNode` takes them, like all `options`.
            guard: rules on the calls.
            system: the system prompt of the agent.
            scope: the tools that the requests are for, if known.
            user, tenant, nested: as `guarded_agent` takes them.

        Raises:
            UnknownTool, PolicyError: the policy lacks a tool, or a name of the scope.
            GuardHalted: a tool cannot be guarded.
        """
        self._outer, self._aouter = wrap_tool_call, awrap_tool_call
        wraps: dict[str, Any] = {"wrap_tool_call": self._wrap}
        if wrap_tool_call is None or awrap_tool_call is not None:
            wraps["awrap_tool_call"] = self._awrap
        super().__init__(tools, **wraps, **options)
        guard.check_scope(scope)
        self._guard: Final = guard
        self._runs: Final[dict[str, _NodeRun]] = {}
        self._known: Final[dict[str, Any]] = {"system": system, "scope": scope}
        self._principals: Final = Principals(user, tenant)
        self._nested: Final = nested
        self._require_guarded()

    def _require_guarded(self) -> None:
        """Check that each tool is known to the guard, and can be guarded. A shadow refuses none."""
        if not self._guard.is_shadow:
            self._guard.check_tools(self.tools_by_name)
            for tool in self.tools_by_name.values():
                require_callbacks(tool)

    def _func(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        execution = self._enter(input, runtime)
        with _take_place(execution):
            result = super()._func(input, config, runtime)
        return self._leave(execution, input, result)

    async def _afunc(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        execution = await asyncio.to_thread(self._enter, input, runtime)
        with _take_place(execution):
            result = await super()._afunc(input, config, runtime)
        return await asyncio.to_thread(self._leave, execution, input, result)

    def _enter(self, given: Any, runtime: Any) -> _Execution:
        """Rule on the calls of the message, and wait for an answer where a person is asked.

        Raises:
            GuardHalted: the session is lost, or the run may not go on.
        """
        made, _ = self._parse_input(given)
        messages = self._messages_of(given)
        calls = [_asked_call(one) for one in _calls_with(messages, made) or made]
        if ran_at_the_provider(messages) and not self._guard.is_shadow:
            raise run_halted("the provider of the model ran a tool, which could not be ruled on")
        run = self._run_of(messages, runtime)
        with run.lock:
            turn = self._turn_of(run, messages, calls, runtime)
        if turn.asks is not None:
            answer = interrupt(turn.asks, response_schema=ApprovalAnswer)
            with run.lock:
                _take_answer(run.session, turn, answer)
        return _Execution(run, turn, handover_marks(messages), self._messages_key)

    def _messages_of(self, given: Any) -> list[Any]:
        is_sent = isinstance(given, dict) and given.get("__type") == "tool_call_with_context"
        state = given["state"] if is_sent else given
        if isinstance(state, list):
            return [one for one in state if not isinstance(one, dict)]
        key = self._messages_key
        return list(state.get(key, ()) if isinstance(state, dict) else getattr(state, key, ()))

    def _run_of(self, messages: Sequence[Any], runtime: Any) -> _NodeRun:
        """Return the session that the messages name, or a new one.

        Raises:
            GuardHalted: the guard does not have it, or it is of another thread or user.
        """
        stamp = next((one for one in map(_stamp_of, reversed(messages)) if one), None)
        if (within := session_within(self._guard, is_nested=self._nested)) is not None:
            held = self._runs.get(stamp or "")
            if held is not None and held.session.session == within.session:
                return held
            return self._keep_run(_NodeRun(uuid4().hex, within))
        owner = self._owner_of(runtime)
        if stamp is not None and stamp.rpartition(".")[0] != owner:
            raise run_halted(_OF_ANOTHER)
        name = stamp or f"{owner}.{runtime.execution_info.checkpoint_id}"
        if stamp is not None and not self._guard.is_open(name):
            raise run_halted(
                "the session of this run is not in this process: give the guard a log or `sessions`"
            )
        return self._keep_run(_NodeRun(name, GuardedSession(self._guard, name)))

    def _owner_of(self, runtime: Any) -> str:
        """Return what the names of the sessions of a thread begin with; without one, of a user."""
        if (thread := runtime.execution_info.thread_id) is not None:
            known = str(thread)
            return known if len(known) <= _LONGEST_THREAD else sha256(known.encode()).hexdigest()
        whom = self._principals.names_in(runtime)
        return f"run.{sha256(canonical_json(whom)).hexdigest()[:16]}" if whom else "run"

    def _keep_run(self, run: _NodeRun) -> _NodeRun:
        """Return the run of this name that is known, or else this one."""
        while len(self._runs) > _MOST_RUNS:
            self._runs.pop(next(iter(self._runs)), None)
        return self._runs.setdefault(run.name, run)

    def _turn_of(
        self, run: _NodeRun, messages: Sequence[Any], calls: list[AskedCall], runtime: Any
    ) -> _Turn:
        """Return the turn of a message, ruled on where it is new. Hold the lock of the run."""
        key = tuple(map(repr, calls))  # a model may give the calls of two messages the same ids
        if (known := run.turns.get(key)) is not None:
            return known
        session = run.session
        is_asked = {call.id for call in calls} <= session.waiting.keys()
        if not is_asked:  # else this goes on with a question of another process
            self._tell_words(session, messages, runtime)
        ruling = unless_halted(session.rule(calls))
        turn = _Turn({call.id: call for call in calls}, left={call.id for call in calls})
        for call in calls:
            standing = session.standing(call.id)
            if standing is not None and standing.kind == "unknown_tool":
                turn.refused[call.id] = standing
            elif ruling.action == "refuse":
                turn.refused[call.id] = ruling
        if ruling.action == "ask":
            known_calls = [call._asdict() for call in calls if call.id not in turn.refused]
            turn.asks = {**ruling.wire(), "calls": known_calls}
        run.turns = {key: turn}
        return turn

    def _tell_words(self, session: GuardedSession, messages: Sequence[Any], runtime: Any) -> None:
        at = [index for index, one in enumerate(messages) if _stamp_of(one)]
        words = new_words(messages[at[-1] + 1 :] if at else messages, None)
        with _OPENING_LOCK:
            is_open = self._guard.is_open(session.session)
            whom = {} if is_open else self._principals.names_in(runtime)
            for text in words if is_open else words or [""]:
                session.began(text, **self._known, **whom)

    def _leave(self, execution: _Execution, given: Any, result: Any) -> Any:
        """End the calls that were made here, and have their messages name the session."""
        if execution.halted is not None:
            raise execution.halted
        run, turn = execution.run, execution.turn
        result = mark_as_written(result, execution.known, key=self._messages_key)
        for message in messages_within(result):
            if isinstance(message, ToolMessage):
                message.additional_kwargs[_STAMP] = run.name
        made, _ = self._parse_input(given)
        with run.lock:
            turn.left -= {str(one["id"] or "") for one in made}
            if turn.left:
                return result
            run.turns = {}
            if run.name == run.session.session:  # it is not a sub-agent's
                self._runs.pop(run.name, None)
                if self._guard.keeps_sessions:  # any process goes on with it
                    self._guard.abandon(run.name)
        return result

    def _wrap(self, request: Any, execute: Callable[[Any], Any]) -> Any:
        def make(request: Any) -> Any:
            if (known := _known_result(request)) is not None:
                return known
            _wait_turn(request)
            try:
                with _call_place(request) as asked:
                    return _keep_result(request, execute(asked))
            except CallRefused as refused:
                return refusal_message(_asked_call(request.tool_call), refused.ruling)

        with _noting_halts():
            return make(request) if self._outer is None else self._outer(request, make)

    async def _awrap(self, request: Any, execute: Callable[[Any], Awaitable[Any]]) -> Any:
        async def make(request: Any) -> Any:
            if (known := _known_result(request)) is not None:
                return known
            await asyncio.to_thread(_wait_turn, request)
            try:
                async with _current_execution().call():
                    with _call_place(request) as asked:
                        return _keep_result(request, await execute(asked))
            except CallRefused as refused:
                return refusal_message(_asked_call(request.tool_call), refused.ruling)

        with _noting_halts():
            return await (make(request) if self._aouter is None else self._aouter(request, make))


def _take_answer(session: GuardedSession, turn: _Turn, answer: ApprovalAnswer) -> None:
    """Take in what a person said, once."""
    if turn.is_answered:
        return
    turn.is_answered = True
    replies = {name: CallReply(one.yes, one.args) for name, one in answer.calls.items()}
    rulings = session.answer(replies, approver=answer.approver, plan_digest=answer.plan_digest)
    silent = not_approved("nobody said yes to this call")
    for name in turn.calls:
        ruling = unless_halted(rulings.get(name, silent))
        if not ruling and name not in turn.refused:
            turn.refused[name] = ruling
    turn.edits = {name: one.args for name, one in answer.calls.items() if one.args is not None}


@contextmanager
def _take_place(execution: _Execution) -> Iterator[None]:
    """Say that calls in this context are those of an execution of a node."""
    token = _PLACE.set(execution)
    try:
        yield
    finally:
        _PLACE.reset(token)


@contextmanager
def _noting_halts() -> Iterator[None]:
    """Note what ends the run: the node would make a message of it."""
    try:
        yield
    except GuardHalted as halted:
        _current_execution().halted = halted
        raise


def _wait_turn(request: Any) -> None:
    """Wait for the calls of a turn that a call comes after: the node runs all at once."""
    _current_execution().run.session.wait_turn(request.tool_call["id"] or "")


@contextmanager
def _call_place(request: Any) -> Iterator[Any]:
    """Take the place of a call, where the gate rules on it. Yield the request to execute."""
    execution, call = _current_execution(), request.tool_call
    name = call["id"] or ""
    if name in execution.turn.edits:
        request = request.override(tool_call={**call, "args": execution.turn.edits[name]})
    place = CallPlace(
        execution.run.session, name, execution.run.paused, execution.known, execution.key
    )
    with place.take_place():
        yield request


def _known_result(request: Any) -> Any:
    """Return what a call is answered without being made: it is refused, or was made before."""
    call, turn = _asked_call(request.tool_call), _current_execution().turn
    if call.id in turn.done:
        return turn.done[call.id]
    ruling = turn.refused.get(call.id)
    return None if ruling is None else refusal_message(call, ruling)


def _keep_result(request: Any, result: Any) -> Any:
    _current_execution().turn.done[request.tool_call["id"] or ""] = result
    return result


def _current_execution() -> _Execution:
    execution = _PLACE.get()
    if execution is None:
        raise run_halted("a tool of a guarded node started outside of the node")
    return execution


def _calls_with(messages: Sequence[Any], made: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the calls of the last message of the model, if those that are made are among them."""
    last = next((one for one in reversed(messages) if isinstance(one, AIMessage)), None)
    calls: list[Any] = [] if last is None else list(last.tool_calls)
    return calls if all(one in calls for one in made) else []


def _asked_call(call: Any) -> AskedCall:
    return AskedCall(call["id"] or "", call["name"], call["args"])


def _stamp_of(message: Any) -> str | None:
    found = message.additional_kwargs.get(_STAMP) if isinstance(message, ToolMessage) else None
    return found if isinstance(found, str) else None
