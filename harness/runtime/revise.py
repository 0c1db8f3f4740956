"""The revise loop as a state machine: a draft is judged, and a refused one is drafted again.

It does no input or output. A driver asks its planner or its critic, and feeds what came of it;
the machine says what is due next, and why the loop ended.

Rule 1: only a judgement that approves ends in `approved`. A malformed reply is asked for again
        once; it is never a judgement.
Rule 2: what has stopped stays stopped, with one reason of a closed set.
Rule 3: nothing is lost: every attempt is kept, and the best one outlives worse ones after it.
Rule 4: every move stands in `TRANSITIONS`. What has no entry there is out of turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan
from types import MappingProxyType
from typing import Final, Generic, Literal, TypeVar, assert_never

DraftT = TypeVar("DraftT")
CritiqueT = TypeVar("CritiqueT")

State = Literal["drafting", "redrafting", "judging", "rejudging", "stopped"]
"""What is due: a draft or a judgement, for the first time or once more, or nothing."""

StopReason = Literal[
    "approved",
    "max_rounds",
    "no_progress",
    "unrecoverable",
    "budget",
    "planner_error",
    "cancelled",
]
Signal = Literal[
    "drafted",
    "repeated",
    "malformed",
    "approved",
    "refused",
    "refused_last",
    "rejected",
    "failed",
    "over_budget",
    "cancelled",
]
"""An event as the table knows it: `repeated` is a draft seen before, `refused_last` the last no."""

Ruling = Literal["approved", "refused", "rejected"]
"""A critic's answer: good; to be revised; not to be mended by any revision."""

# Three rounds are the published default of all the loops this one grew from; what a third
# revision does not mend, a fourth rarely does.
DEFAULT_MAX_ROUNDS: Final = 3

_ALWAYS: Final[dict[Signal, State | StopReason]] = {
    "over_budget": "budget",
    "cancelled": "cancelled",
}
_DRAFT: Final[dict[Signal, State | StopReason]] = {
    "drafted": "judging",
    "repeated": "no_progress",
    "failed": "planner_error",
    **_ALWAYS,
}
_JUDGEMENT: Final[dict[Signal, State | StopReason]] = {
    "approved": "approved",
    "refused": "drafting",
    "refused_last": "max_rounds",
    "rejected": "unrecoverable",
    "failed": "unrecoverable",
    **_ALWAYS,
}
TRANSITIONS: Final[Mapping[State, Mapping[Signal, State | StopReason]]] = MappingProxyType(
    {
        "drafting": {**_DRAFT, "malformed": "redrafting"},
        "redrafting": {**_DRAFT, "malformed": "planner_error"},
        "judging": {**_JUDGEMENT, "malformed": "rejudging"},
        "rejudging": {**_JUDGEMENT, "malformed": "unrecoverable"},
        "stopped": {},
    }
)
"""Where each signal leads from each state: to a state, or to the end with its reason."""


@dataclass(frozen=True, slots=True)
class Judgement(Generic[CritiqueT]):
    """What a critic makes of a draft. Of two attempts, the better has the greater `merit`.

    Raises:
        ValueError: the merit is not a number, so that it is neither better nor worse.
    """

    ruling: Ruling
    merit: tuple[float, ...]
    critique: CritiqueT

    def __post_init__(self) -> None:
        if any(map(isnan, self.merit)):
            raise ValueError("a merit that is not a number has no place among others")


@dataclass(frozen=True, slots=True)
class Attempt(Generic[DraftT, CritiqueT]):
    """One draft, by round from 0, with its judgement if it came to one."""

    round: int
    draft: DraftT
    digest: str
    judgement: Judgement[CritiqueT] | None = None


@dataclass(frozen=True, slots=True)
class Drafted(Generic[DraftT]):
    """The planner gave a draft. Equal drafts have equal digests."""

    draft: DraftT
    digest: str


@dataclass(frozen=True, slots=True)
class JudgedDraft(Generic[CritiqueT]):
    """The critic gave a judgement of the newest draft."""

    judgement: Judgement[CritiqueT]


@dataclass(frozen=True, slots=True)
class Malformed:
    """The reply of whoever was asked is no draft, or no judgement."""

    why: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Whoever was asked raised, or ended without a reply."""

    why: str


@dataclass(frozen=True, slots=True)
class OverBudget:
    """The next call is not paid for."""

    why: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Nobody waits for the outcome any more."""

    why: str = "cancelled"


RevisionEvent = (
    Drafted[DraftT] | JudgedDraft[CritiqueT] | Malformed | Failed | OverBudget | Cancelled
)


class InvalidTransition(RuntimeError):
    """An event was fed that the state does not wait for."""


class Revision(Generic[DraftT, CritiqueT]):
    """One loop from its first draft to its end.

    Attributes:
        state: what is due next.
        round: the round that is going on, from 0; after the end, the one it ended in.
        stop_reason: why it ended; None while it has not.
        detail: what the last event that was no draft and no judgement said of itself.
        attempts: every draft so far, the newest last.
    """

    def __init__(self, max_rounds: int = DEFAULT_MAX_ROUNDS) -> None:
        """A loop of at most `max_rounds` judged drafts.

        Raises:
            ValueError: `max_rounds` is not a whole number of at least 1.
        """
        if type(max_rounds) is not int or max_rounds < 1:
            raise ValueError(f"max_rounds must be a whole number of at least 1, not {max_rounds!r}")
        self.max_rounds: Final = max_rounds
        self.state: State = "drafting"
        self.round = 0
        self.stop_reason: StopReason | None = None
        self.detail = ""
        self.attempts: tuple[Attempt[DraftT, CritiqueT], ...] = ()

    @property
    def approved(self) -> Attempt[DraftT, CritiqueT] | None:
        """The approved attempt, if the loop ended with one."""
        return self.attempts[-1] if self.stop_reason == "approved" else None

    @property
    def best(self) -> Attempt[DraftT, CritiqueT] | None:
        """The approved attempt, else the first of the greatest merit; judged before unjudged."""
        return self.approved or max(self.attempts, key=_worth, default=None)

    def feed(self, event: RevisionEvent[DraftT, CritiqueT]) -> None:
        """Take in what came of the call that was due.

        Raises:
            InvalidTransition: this state waits for something else.
        """
        signal = self._signal(event)
        target = TRANSITIONS[self.state].get(signal)
        if target is None:
            raise InvalidTransition(f"{signal} in state {self.state}")
        self._keep(event)
        if target in TRANSITIONS:
            self.state = target  # type: ignore[assignment] # it is one of the states
            self.round += target == "drafting"
        else:
            self.state, self.stop_reason = "stopped", target  # type: ignore[assignment] # as above

    def _signal(self, event: RevisionEvent[DraftT, CritiqueT]) -> Signal:
        match event:
            case Drafted(digest=digest):
                seen = any(digest == attempt.digest for attempt in self.attempts)
                return "repeated" if seen else "drafted"
            case JudgedDraft(judgement=judgement):
                last = judgement.ruling == "refused" and len(self.attempts) >= self.max_rounds
                return "refused_last" if last else judgement.ruling
            case Malformed():
                return "malformed"
            case Failed():
                return "failed"
            case OverBudget():
                return "over_budget"
            case Cancelled():
                return "cancelled"
            case _:
                assert_never(event)

    def _keep(self, event: RevisionEvent[DraftT, CritiqueT]) -> None:
        match event:
            case Drafted(draft=draft, digest=digest):
                attempt: Attempt[DraftT, CritiqueT] = Attempt(self.round, draft, digest)
                self.attempts = (*self.attempts, attempt)
            case JudgedDraft(judgement=judgement):
                judged = replace(self.attempts[-1], judgement=judgement)
                self.attempts = (*self.attempts[:-1], judged)
            case Malformed(why=why) | Failed(why=why) | OverBudget(why=why) | Cancelled(why=why):
                self.detail = why
            case _:
                assert_never(event)


def _worth(attempt: Attempt[DraftT, CritiqueT]) -> tuple[bool, tuple[float, ...]]:
    return attempt.judgement is not None, attempt.judgement.merit if attempt.judgement else ()


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> drafting"]
    for state, moves in TRANSITIONS.items():
        by_target: dict[str, list[str]] = {}
        for signal, target in moves.items():
            by_target.setdefault(target, []).append(signal)
        lines += [
            f"    {state} --> {target} : {', '.join(signals)}"
            for target, signals in by_target.items()
        ]
    ends = dict.fromkeys(
        target
        for moves in TRANSITIONS.values()
        for target in moves.values()
        if target not in TRANSITIONS
    )
    return "\n".join([*lines, *[f"    {end} --> [*]" for end in ends]]) + "\n"
