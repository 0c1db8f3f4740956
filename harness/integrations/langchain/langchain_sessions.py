"""The sessions of an agent of LangGraph: in the guard while it runs, or in its state.

`guarded` in the state has `session`; `heard`, the last message that the guard knows; `held`, the
session while no run goes on; `asks`, what a person is asked; `edits`, arguments that they changed.

Rule 1: the words of the user are what the caller gives. What tools and middleware add is not, nor
        is what a sub-agent is asked, also if it acts under a guard of its own.
Rule 2: a session that this process does not have, and that the state does not hold, is lost: a run
        that needs it ends. It is never begun anew in its thread.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import uuid4

from langgraph.config import get_config

from harness.guard import Guard
from harness.integrations.langchain.langchain_gate import is_within_a_call, run_halted
from harness.integrations.langchain.langchain_messages import new_words
from harness.integrations.seam.guarded import GuardedSession, session_within
from harness.integrations.seam.principals import Principals

_LONGEST_THREAD: Final = 200

GraphState = dict[str, Any]


class OpenRun(NamedTuple):
    """A session that an agent acts in, and its calls that wait for an answer, by id."""

    session: GuardedSession
    paused: dict[str, bytes]


class Sessions:
    """The sessions of all threads of one agent."""

    def __init__(
        self,
        guard: Guard,
        system: str | None,
        scope: Sequence[str] | None,
        principals: Principals,
        *,
        nested: bool = False,
    ) -> None:
        """Keep the sessions of an agent with this system prompt, which acts under a guard.

        One that is `nested` runs within the calls of others, or not at all.
        """
        self.guard: Final = guard
        self._system, self._scope = system, scope
        self._principals: Final = principals
        self._nested: Final = nested
        self._runs: dict[str, OpenRun] = {}

    def enter(self, state: GraphState, runtime: Any) -> GraphState:
        """Begin a run: tell what the user said, and return what the state has to know.

        `runtime` is that of the graph: who the session is for is found in it.

        Raises:
            GuardHalted: the guard does not take it, or the session is lost.
            HarnessError: another process went on with it.
        """
        messages, known = state["messages"], state.get("guarded") or {}
        if (within := session_within(self.guard, is_nested=self._nested)) is not None:
            name = uuid4().hex
            self._runs[name] = OpenRun(within, {})
            return {"session": name, "is_nested": True}
        words = [] if is_within_a_call() else new_words(messages, known.get("heard"))
        name = known.get("session") or _new_name()
        session = self.run(state).session if known else self._begin_run(name).session
        whom = {} if known else self._principals.names_in(runtime)
        for text in words if known else words or [""]:
            session.began(text, system=self._system, scope=self._scope, **whom)
        return {"session": name, "heard": messages[-1].id if messages else None}

    def _begin_run(self, name: str) -> OpenRun:
        self._runs[name] = OpenRun(GuardedSession(self.guard, name), {})
        return self._runs[name]

    def run(self, state: GraphState) -> OpenRun:
        """Return what a run acts in that goes on.

        Raises:
            GuardHalted: the session is lost.
            HarnessError: another process went on with it.
        """
        known = state.get("guarded") or {}
        name, is_nested = known.get("session", ""), "is_nested" in known
        if not is_nested and "held" in known and self.guard.status(name) is None:
            self.guard.resume(known["held"].encode())
        run = self._runs.get(name)
        is_open = self.guard.status(run.session.session if run else name) is not None
        if not is_open or (is_nested and run is None):
            raise run_halted("the session of this run is not in this process: begin a new thread")
        return run or self._begin_run(name)

    def leave(self, state: GraphState, *, is_over: bool) -> GraphState:
        """End a run, or wait for a person: hand the session to the state, if it is the agent's own.

        Raises:
            GuardHalted: the session is lost.
        """
        known, session = state["guarded"], self.run(state).session
        if "is_nested" in known:
            if is_over:
                del self._runs[known["session"]]
            return dict(known)
        del self._runs[session.session]
        left = {**known, "heard": state["messages"][-1].id}
        if self.guard.keeps_sessions:  # any process goes on with it by its id
            self.guard.abandon(session.session)
            return left
        return {**left, "held": self.guard.export(session.session).decode()}


def _new_name() -> str:
    thread = str(get_config().get("configurable", {}).get("thread_id", "run"))
    return f"{thread[:_LONGEST_THREAD]}.{uuid4().hex}"
