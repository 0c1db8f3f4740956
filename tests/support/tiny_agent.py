"""A framework for agents in a few lines, guarded as every other one is: what passes the contract.

Its steps are methods, so that a test can plant a mistake in one of them.
"""

from collections.abc import Callable
from typing import Any

from harness.integrations.seam.guarded import AskedCall, GuardedSession, session_within
from harness.integrations.seam.ruling_replies import GuardHalted, SeamRuling
from harness.testing.seams import HELPER, LAST_WORDS, Scene, ScriptedTurn, Trace

OUTER = ScriptedTurn((AskedCall("c1", HELPER, {"task": "do it"}),))


class Office:
    """The object that holds the sessions of all runs."""

    def __init__(self) -> None:
        self.sessions: dict[str, GuardedSession] = {}

    def session(self, scene: Scene) -> GuardedSession:
        return self.sessions.setdefault(scene.session, GuardedSession(scene.guard, scene.session))


class TinyAgent:
    """An agent that asks for the calls of a scene, turn by turn."""

    office = Office

    def __init__(self, scene: Scene, *, is_sub_agent: bool = False) -> None:
        self.scene = scene
        self.held = scene.share(self.office)
        self.session = self.held.session(scene)
        self.told: dict[str, str] = {}
        self.is_outer = scene.has_sub_agent and not is_sub_agent

    def play(self) -> Trace:
        try:
            said = LAST_WORDS if self.run() else None
        except Exception as error:
            return Trace(self.told, ended=error)
        return Trace(self.told, said, shown=frozenset(self.tools))

    def run(self) -> bool:
        self.session = session_within(self.scene.guard) or self.session
        self.session.began(self.scene.request)
        turns = (OUTER,) if self.is_outer else self.scene.turns
        return all(self.turn(turn.calls) for turn in turns)

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        return {HELPER: self.helper} if self.is_outer else self.scene.tools

    def helper(self, task: str) -> str:
        inner = type(self)(self.scene, is_sub_agent=True)
        inner.run()
        self.told |= inner.told
        return task

    def turn(self, calls: tuple[AskedCall, ...]) -> bool:
        """Make the calls of a turn, and return False where it waits for a person."""
        self.scene.pause()
        ruling = self.halting(self.session.rule(calls))
        if ruling.action == "ask":
            answered = self.asked(ruling, calls)
            if answered is None:
                return False
            calls = answered
        for call in calls:
            self.call(call)
        return True

    def asked(
        self, ruling: SeamRuling, calls: tuple[AskedCall, ...]
    ) -> tuple[AskedCall, ...] | None:
        replies = self.scene.ask([call.id for call in calls])
        if replies is None:
            return None
        if self.scene.travels:
            self.session = GuardedSession(self.scene.guard_of_answer(), self.scene.session)
        assert ruling.ruling is not None
        assert ruling.ruling.plan_digest is not None
        digest = self.scene.digest_of_answer(ruling.ruling.plan_digest)
        self.session.answer(replies, approver="ada", plan_digest=digest)
        edited = {name: reply.args for name, reply in replies.items() if reply.args is not None}
        return tuple(call._replace(args=edited.get(call.id, call.args)) for call in calls)

    def call(self, call: AskedCall) -> None:
        call = call._replace(args=self.scene.rewrites.get(call.id, call.args))
        ruling = self.halting(self.session.start(call))
        if not ruling:
            self.told[call.id] = ruling.reply
            return
        assert ruling.args is not None
        self.told[call.id] = self.made(call, ruling.args)

    def made(self, call: AskedCall, args: dict[str, Any]) -> str:
        try:
            with self.session.running(call.id):
                output = self.tools[call.tool](**args)
        except Exception as error:
            self.session.ended(call.id, "unknown", error=str(error))
            raise
        self.session.ended(call.id, "completed", output=output)
        return str(output)

    def halting(self, ruling: SeamRuling) -> SeamRuling:
        if ruling.action == "halt":
            raise GuardHalted(ruling)
        return ruling


def play_tiny(scene: Scene) -> Trace:
    return TinyAgent(scene).play()
