"""What a law of streams is checked with: streams of a policy, a guard to play them, and counts."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st

from harness.policy import Policy
from harness.testing._draw.drawn_streams import StreamDrafter
from harness.testing._draw.primitives import HypothesisPick, Json
from harness.testing._draw.told_sessions import ToldSession
from harness.testing._laws.law_context import LawBroken
from harness.testing._streams.guard_trial import OpenGuard, PlayedStream, is_error, play

_T = TypeVar("_T")


class StreamTrial:
    """One example of a law: it draws streams, plays them, counts what was met, and requires."""

    def __init__(
        self, draw: st.DrawFn, policy: Policy, open_guard: OpenGuard, met: Counter[str]
    ) -> None:
        """Try a guard that is opened for each stream anew."""
        self._draw, self.policy, self._open, self.met = draw, policy, open_guard, met

    def stream(self, session: str = "s", most: int = 10) -> list[Json]:
        """Draw the events of a session."""
        return StreamDrafter(HypothesisPick(self._draw), self.policy, session).events(most)

    def told_session(self, policy: Policy, rounds: int, *, silent: bool) -> list[Json]:
        """Draw the events of a session that reads and acts, at most so many times."""
        return ToldSession(HypothesisPick(self._draw), policy).events(rounds, silent=silent)

    def draw(self, strategy: st.SearchStrategy[_T]) -> _T:
        """Draw something else."""
        return self._draw(strategy)

    def pick(self, options: Sequence[_T]) -> _T:
        """Draw one of the options; the first is the simplest."""
        return options[self._draw(st.integers(0, len(options) - 1))]

    def play(
        self, events: Sequence[Json], watch: Any = None, *, policy: Policy | None = None
    ) -> PlayedStream:
        """Play a stream through a new guard, of this policy or another, and count its answers."""
        played = play(self._open, policy or self.policy, events, watch)
        for answer in played.answers:
            if answer is not None and "action" in answer:
                self.met[answer["action"]] += 1
            self.met["error"] += is_error(answer)
        return played

    def require(self, holds: bool, why: str, *played: PlayedStream) -> None:
        """Require that something holds of streams that were played.

        Raises:
            LawBroken: it does not.
        """
        if holds:
            return
        lines = [why]
        for one in played:
            lines += [f"events: {json.dumps(one.events)}", f"answers: {json.dumps(one.answers)}"]
        raise LawBroken("\n".join(lines))


class KeptDecision(NamedTuple):
    """What a log kept of one decision, without the numbers of its records."""

    proposal: Json
    verify: Json
    has_run: bool
    note: str | None


def recorded_decisions(played: PlayedStream) -> list[KeptDecision]:
    """Return what was recorded, with approvals numbered by the records of their own session."""
    numbers: dict[str, str] = {}
    kept: list[KeptDecision] = []
    for decision in played.decisions:
        proposal: Json = decision.proposal.wire()
        for approval in proposal["ctx"].get("approvals", ()):
            name = approval["approval_id"].partition("/after/")[0]
            approval["approval_id"] = numbers.setdefault(approval["approval_id"], name)
        verify = decision.report.verify.wire()
        kept.append(KeptDecision(proposal, verify, decision.run is not None, decision.error))
    return kept
