"""The session that a run of the OpenAI Agents SDK acts in.

Rule 1: what a person said to the calls of a turn is taken in once all of them are answered.
Rule 2: a person's yes is to a call. A standing decision about a tool, which the SDK knows too, is
        an answer to none of its calls.
Rule 3: an agent that waits for a person goes on in its own turn, or not at all.
Rule 4: what ends a run is raised as an error of the SDK, which tools do not turn into results.
"""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from threading import Lock
from typing import Any, Final
from uuid import uuid4
from weakref import WeakKeyDictionary

from harness.errors import HarnessError
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession
from harness.integrations.seam.ruling_replies import GuardHalted, SeamRuling


class Unanswered(HarnessError):
    """A person answered some calls of a turn, and not others. The state of the run is as it was."""


@dataclass
class RunMemory:
    """The state of a session that one run hands to the next.

    Attributes:
        ids: the call ids of the last turn, by tool: a handoff is not told its own.
        asked: the calls of the turn that a person is asked about; None if it is not known here.
        nested: the sessions of agents that wait for an answer, with the calls that run them.
    """

    ids: dict[str, str] = field(default_factory=dict)
    asked: list[AskedCall] | None = None
    nested: dict[str, tuple[AskedCall, GuardedSession]] = field(default_factory=dict)


_MEMORIES: Final[WeakKeyDictionary[GuardedSession, RunMemory]] = WeakKeyDictionary()


@dataclass(frozen=True)
class GuardedSdkRun:
    """A session, as the runs in one context act in it. See `guarding`.

    Attributes:
        lock: held by whoever asks for a ruling, or answers a question, of the session.
    """

    session: GuardedSession
    approver: str
    plan_digest: str | None = None
    lock: Lock = field(default_factory=Lock)

    @property
    def memory(self) -> RunMemory:
        """The state of the session from before."""
        return _MEMORIES.setdefault(self.session, RunMemory())

    def asks_about(self, tool: str) -> bool:
        """Return True where a person is asked about a turn with a call of this tool."""
        return tool in self._asked.values()

    @property
    def _asked(self) -> dict[str, str]:
        """The tools of the calls that a person is asked about, by their ids."""
        if self.memory.asked is None:  # they were asked in another process
            return {name: call.tool for name, call in self.session.waiting.items()}
        return {call.id: call.tool for call in self.memory.asked}

    async def rule(self, calls: Collection[AskedCall]) -> None:
        """Rule on the calls of a turn.

        Raises:
            GuardHalted: the run may not go on.
        """
        await self._leave_waiting()
        self.memory.ids = {call.tool: call.id for call in reversed([*calls])}
        _go_on(await asyncio.to_thread(self._rule_calls, [*calls]))

    async def _leave_waiting(self) -> None:
        """End the calls whose agents wait: a model that answers has gone on without them."""
        left, self.memory.nested = self.memory.nested, {}
        for call, _ in left.values():
            error = "its agent waited for a person, and the run went on without it"
            await self.report_end(call, "unknown", error=error)

    async def take_waiting(self, call: AskedCall) -> GuardedSession | None:
        """Return the session of the agent that waits in a call, if that goes on with it.

        It does with the same arguments, unless something stands against it by now.
        """
        waiting = self.memory.nested.pop(call.id, None)
        if waiting is None or waiting[0] != call:
            return None
        against = await asyncio.to_thread(self.session.standing, call.id)
        return waiting[1] if against is None else None

    def _rule_calls(self, calls: list[AskedCall]) -> SeamRuling:
        with self.lock:
            ruling = self.session.rule(calls)
        self.memory.asked = calls if ruling.action == "ask" else []
        return ruling

    async def settle(self, context: Any, handoffs: Collection[str]) -> None:
        """Take in what a person said to the calls that they were asked about.

        Args:
            context: the `RunContextWrapper` that has their decisions.
            handoffs: names of calls that the SDK asks nobody about.

        Raises:
            Unanswered: they answered some of the calls, and not others.
        """
        decided = {
            name: context.is_tool_approved(tool, name)
            for name, tool in self._asked.items()
            if _is_asked(context, tool, handoffs)
        }
        said = {name: CallReply(yes) for name, yes in decided.items() if yes is not None}
        if not said:
            return
        if len(said) < len(decided):
            counted = f"{len(said)} of {len(decided)} calls of the turn are answered"
            raise _of_the_sdk(Unanswered)(f"{counted}: answer the others before you resume the run")
        await asyncio.to_thread(self._answer_replies, said, handoffs)

    def _answer_replies(self, said: dict[str, CallReply], handoffs: Collection[str]) -> None:
        with self.lock:
            if not said.keys() <= self.session.waiting.keys():  # another turn was ruled on since
                self.session.rule(self.memory.asked or [])
            question, waiting = self.session.question, self.session.waiting
            doubted = frozenset() if question is None else question.doubted
            left = [name for name, call in waiting.items() if call.tool in handoffs]
            sure = [name for name in left if waiting[name].id not in doubted]
            replies = said | dict.fromkeys(sure, CallReply(yes=True))
            if question is not None:
                self.session.answer(replies, approver=self.approver, plan_digest=self.plan_digest)
        self.memory.asked = []

    async def start(self, call: AskedCall) -> SeamRuling:
        """Rule on a call right before it is made.

        Raises:
            GuardHalted: the run may not go on.
        """
        await asyncio.to_thread(self.session.wait_turn, call.id)
        return _go_on(await asyncio.to_thread(self.session.start, call))

    async def report_end(self, call: AskedCall, status: str, **facts: Any) -> None:
        """Tell how a call ended.

        Raises:
            GuardHalted: the guard does not take it in.
        """
        try:
            await asyncio.to_thread(partial(self.session.ended, call.id, status, **facts))
        except GuardHalted as halt:
            raise sdk_halted(halt.ruling) from halt


RUN: Final[ContextVar[GuardedSdkRun | None]] = ContextVar("guarded_run", default=None)
"""The run that agents in this context belong to."""


@contextmanager
def guarding(
    session: GuardedSession, *, approver: str = "user", plan_digest: str | None = None
) -> Iterator[None]:
    """Have the runs that begin, or are resumed, in this context act in a session.

    Args:
        approver: who approves and rejects interruptions. The caller authenticates them.
        plan_digest: what that person was shown, if it is known: `GuardedSession.question` has it.
    """
    token = RUN.set(GuardedSdkRun(session, approver, plan_digest))
    try:
        yield
    finally:
        RUN.reset(token)


def current_run() -> GuardedSdkRun:
    """Return the run that this code belongs to.

    Raises:
        HarnessError: it belongs to none.
    """
    run = RUN.get()
    if run is None:
        raise HarnessError("this agent is guarded: run it in `with guarding(session)`")
    return run


def sdk_halted(ruling: SeamRuling) -> GuardHalted:
    """Return the error that ends a run."""
    error: GuardHalted = _of_the_sdk(GuardHalted)(ruling)
    return error


@cache
def _of_the_sdk(kind: type[HarnessError]) -> Any:
    """Return the class of such errors that are errors of the SDK too."""
    from agents import AgentsException  # noqa: PLC0415 - seconds

    return type(kind.__name__, (kind, AgentsException), {})


def _go_on(ruling: SeamRuling) -> SeamRuling:
    if ruling.action == "halt":
        raise sdk_halted(ruling)
    return ruling


def _is_asked(context: Any, tool: str, handoffs: Collection[str]) -> bool:
    """Return True for a call that a person is asked about, and not only its tool."""
    return tool not in handoffs and context.is_tool_approved(tool, uuid4().hex) is None
