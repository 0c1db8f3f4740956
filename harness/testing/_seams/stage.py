"""The stage on which a law of the contract plays its scenes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from harness.clock import FixedClock
from harness.errors import HarnessError
from harness.guard import Guard
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession
from harness.policy import Policy
from harness.runtime.ports import Clock
from harness.testing._seams.baton import Baton
from harness.testing._seams.scene import JournalLog, Scene, ScriptedTurn, Trace, policy_of_scene
from harness.testing._seams.scene_outcome import SceneOutcome, find_outcome

Play = Callable[[Scene], Trace]
"""An integration on trial: it plays a scene with the real framework."""

LOOKUP: Final = AskedCall("c1", "lookup", {"order_id": "1"})
REFUND: Final = AskedCall("c2", "issue_refund", {"order_id": "1", "cents": 5})
WHOLE_BATCH: Final = (LOOKUP, REFUND)
ALL_RAN: Final = ["issue_refund 1 5", "lookup 1"]

YES: Final = CallReply(yes=True)
NO: Final = CallReply(yes=False)

_CLOCK: Final = FixedClock(datetime(2026, 1, 1, 12, tzinfo=UTC))


class SeamBroken(HarnessError, AssertionError):
    """An integration breaks a law of the contract. The message says which, and what happened."""


class Played(NamedTuple):
    """A scene that was played."""

    scene: Scene
    trace: Trace
    log: JournalLog


class Part(NamedTuple):
    """The calls of one session, turn by turn, and what a person says each time they are asked.

    The last of the replies is given from then on. Without one, nobody answers.
    """

    turns: tuple[tuple[AskedCall, ...], ...]
    replies: tuple[CallReply, ...] = ()
    session: str = "s1"
    failing: bool = False


class Stage:
    """Plays scenes, and requires what has to hold of them."""

    def __init__(self, play: Play, law: str, *, streams: bool) -> None:
        """Play scenes of one law with an integration."""
        self._play, self._law, self._streams = play, law, streams

    def play(
        self,
        *turns: tuple[AskedCall, ...],
        policy: Policy | None = None,
        text: str | None = None,
        log: Callable[[list[str]], JournalLog] = JournalLog,
        guard: type[Guard] = Guard,
        clock: Clock | None = None,
        **how: Any,
    ) -> Played:
        """Play one scene: streamed, words come before the calls."""
        policy = policy_of_scene("destructive") if policy is None else policy
        journal: list[str] = []
        kept = log(journal)
        words = ("one moment" if self._streams else "") if text is None else text
        scene = Scene(
            guard=guard(policy, log=None if how.get("travels") else kept, clock=clock),
            turns=tuple(ScriptedTurn(calls, words) for calls in turns or (WHOLE_BATCH,)),
            policy=policy,
            journal=journal,
            streams=self._streams,
            **how,
        )
        return Played(scene, self._play(scene), kept)

    def play_asking(
        self, replies: Mapping[str, CallReply] | None, *turns: Any, **how: Any
    ) -> Played:
        """Play a scene in which refunds need a person, who gives these replies each time."""
        policy = how.pop("policy", None) or policy_of_scene("destructive", asks=True)
        answers = None if replies is None else lambda calls: _replies_of(replies, calls)
        return self.play(*turns, policy=policy, replies=answers, **how)

    def play_alone(self, part: Part, policy: Policy, **how: Any) -> SceneOutcome:
        """Play the scene of one session, and return what came of it."""
        log = JournalLog([])
        scene = self._scene_of(part, Guard(policy, log=log, clock=_CLOCK), policy, how)
        return find_outcome(scene, self._play(scene), log.decisions)

    def play_both(
        self, parts: tuple[Part, Part], order: Sequence[bool], policy: Policy, **how: Any
    ) -> list[SceneOutcome]:
        """Play the scenes of two sessions through one agent, which take turns in an order.

        Raises:
            SeamBroken: they have an agent each, or one waits for the other.
        """
        log, shared, baton = JournalLog([]), dict[str, Any](), Baton(order)
        guard = Guard(policy, log=log, clock=_CLOCK)
        first, second = (
            self._scene_of(part, guard, policy, {**how, "shared": shared, "pause": pause})
            for part, pause in zip(parts, (partial(baton.pause, at) for at in (0, 1)), strict=True)
        )
        traces = baton.play((partial(self._enter, first), partial(self._enter, second)))
        if not shared or baton.is_stuck:
            why = "waits for the other" if baton.is_stuck else "has an agent of its own: see share"
            raise SeamBroken(f"{self._law}: each of two sessions that are played at once {why}")
        return [
            find_outcome(scene, trace, log.decisions)
            for scene, trace in zip((first, second), traces, strict=True)
        ]

    def _scene_of(self, part: Part, guard: Guard, policy: Policy, how: Mapping[str, Any]) -> Scene:
        words = "one moment" if self._streams else ""
        turns = tuple(ScriptedTurn(calls, words) for calls in part.turns)
        left = [*reversed(part.replies)]

        def answer(calls: Sequence[str]) -> Mapping[str, CallReply]:
            return dict.fromkeys(calls, left[-1] if len(left) == 1 else left.pop())

        return Scene(
            guard,
            turns,
            policy,
            [],
            session=part.session,
            streams=self._streams,
            replies=answer if left else None,
            failing=part.failing,
            **how,
        )

    def _enter(self, scene: Scene) -> Trace:
        with scene.enter():
            return self._play(scene)

    def require_same(self, expected: SceneOutcome, found: SceneOutcome, where: str) -> None:
        """Require that the same came of a session.

        Raises:
            SeamBroken: something else did.
        """
        for name, one, other in zip(expected._fields, expected, found, strict=True):
            if one != other:
                raise SeamBroken(f"{self._law}: {where}, {name} is {other!r}, and not {one!r}")

    def break_seam(self, method: str) -> AbstractContextManager[Any]:
        """Return a context in which a seam of every integration raises."""
        return patch.object(GuardedSession, method, side_effect=RuntimeError("a bug"))

    def require_ran(self, played: Played, *expected: str, why: str) -> None:
        """Require that exactly these calls ran, in any order."""
        self.require(sorted(played.scene.ran) == sorted(expected), why, played)

    def require_told(self, played: Played, words: str, *calls: str) -> None:
        """Require that the model was told these words for each call."""
        for call in calls:
            told = played.trace.told.get(call, "")
            self.require(words in told, f"call {call} was told {told!r}, not {words}", played)

    def went_on(self, played: Played) -> None:
        """Require that the agent went on to its last words."""
        self.require(played.trace.said == "bye", "the agent did not go on to its end", played)

    def require(self, holds: bool, why: str, played: Played) -> None:
        """Require that something holds.

        Raises:
            SeamBroken: it does not.
        """
        if not holds:
            journal, ended = played.scene.journal, played.trace.ended
            raise SeamBroken(f"{self._law}: {why}. What happened: {journal}, ended by {ended!r}")


def _replies_of(replies: Mapping[str, CallReply], calls: Any) -> Mapping[str, CallReply]:
    return {call: replies.get(call, replies.get("*", NO)) for call in calls}
