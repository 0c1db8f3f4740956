"""A guard on trial: it takes in events, and what it answers and records is kept.

Whatever takes the events of sessions can be put on trial: a `Guard`, an `AsyncGuard`, a service.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, NamedTuple

from evals.envelope import Envelope
from harness.clock import FixedClock
from harness.guard import CallPermit, Guard
from harness.policy import Policy
from harness.record import Decision
from harness.testing._draw.drawn_streams import EARLIER_DIGEST, LAST_DIGEST, NOON
from harness.testing._draw.primitives import Json

_NO_PLAN: Final = "0" * 64

TakeEvent = Callable[[Json], Json | None]
"""Takes in an event, and returns what it is answered: both as JSON."""


class GuardOnTrial(NamedTuple):
    """What takes events, and gives the permit of a call of a session, if it has any."""

    take: TakeEvent
    permit: Callable[[str, str], CallPermit] | None = None


class Numbered(NamedTuple):
    """What the log of a trial returns for a decision: its number."""

    seq: int


class TrialLog:
    """Keeps the decisions of a guard on trial."""

    def __init__(self) -> None:
        """Begin empty."""
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> Any:
        """Keep a decision."""
        self.decisions.append(decision)
        return Numbered(len(self.decisions))


OpenGuard = Callable[[Policy, TrialLog], AbstractContextManager[GuardOnTrial]]
"""Opens a guard of a policy that records in a log. Where events have no time, it is `NOON`."""


@contextmanager
def plain_guard(policy: Policy, log: TrialLog) -> Iterator[GuardOnTrial]:
    """Open a `Guard`, which reads each event as a line."""
    guard = Guard(policy, log=log, clock=FixedClock(NOON))

    def take(event: Json) -> Json | None:
        answer = guard.handle_line(json.dumps(event).encode())
        return answer.wire() if isinstance(answer, Envelope) else answer

    yield GuardOnTrial(take, guard.permit)


class PlayedStream(NamedTuple):
    """What came of a stream: each event as it was sent, its answer, and what was recorded."""

    events: tuple[Json, ...]
    answers: tuple[Json | None, ...]
    decisions: tuple[Decision, ...]

    def of(self, session: str) -> "PlayedStream":
        """Return what concerns one session."""
        kept = [at for at, event in enumerate(self.events) if event["session"] == session]
        return PlayedStream(
            tuple(self.events[at] for at in kept),
            tuple(self.answers[at] for at in kept),
            tuple(one for one in self.decisions if _session_of(one) == session),
        )


def _session_of(decision: Decision) -> str | None:
    facts = decision.proposal.ctx.session
    return None if facts is None else facts.id


class _DigestNamer:
    """Puts the digests of rulings in place of their names, session by session."""

    def __init__(self) -> None:
        """Begin before any ruling."""
        self._ruled: dict[str, list[str]] = {}

    def send_event(self, event: Json) -> Json:
        """Return an event as it is sent."""
        names = {LAST_DIGEST: -1, EARLIER_DIGEST: -2}
        at = names.get(event.get("plan_digest", ""))
        if at is None:
            return event
        ruled = self._ruled.get(event["session"], [])
        return {**event, "plan_digest": ruled[at] if len(ruled) >= -at else _NO_PLAN}

    def note(self, answer: Json | None) -> None:
        """Take in the answer to an event."""
        if answer is not None and "plan_digest" in answer:
            ruled = self._ruled.setdefault(answer["session"], [])
            if answer["plan_digest"] not in ruled[-1:]:  # a yes names what was asked about
                ruled.append(answer["plan_digest"])


def play(
    open_guard: OpenGuard,
    policy: Policy,
    events: Iterable[Json],
    watch: Callable[[GuardOnTrial, Json, Json | None], None] | None = None,
) -> PlayedStream:
    """Play events through a new guard. `watch` is shown each of them with its answer."""
    log, namer = TrialLog(), _DigestNamer()
    sent: list[Json] = []
    answers: list[Json | None] = []
    with open_guard(policy, log) as guard:
        for event in events:
            named = namer.send_event(event)
            answer = guard.take(named)
            namer.note(answer)
            sent.append(named)
            answers.append(answer)
            if watch is not None:
                watch(guard, named, answer)
    return PlayedStream(tuple(sent), tuple(answers), tuple(log.decisions))


def is_error(answer: Json | None) -> bool:
    """Return whether an event changed nothing."""
    return answer is not None and "error" in answer


def known_calls(event: Json, answer: Json) -> list[Json]:
    """Return the calls of a batch whose tools the policy has, by the answer to it."""
    unknown = {one["id"] for one in answer.get("unknown", ())}
    return [call for call in event["calls"] if call["id"] not in unknown]


def interleave_streams(
    one: Sequence[Json], other: Sequence[Json], order: Iterable[bool]
) -> list[Json]:
    """Return two streams as one: at each place, the order says whether the second goes on."""
    left = [[*reversed(one)], [*reversed(other)]]
    merged = [left[second].pop() for second in order if left[second]]
    return [*merged, *reversed(left[0]), *reversed(left[1])]
