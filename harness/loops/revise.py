"""The revise loop as a state machine: a draft is judged, and a refused one is drafted again.

It does no input or output. A driver asks its planner or its critic, and feeds the outcome; the
machine tells what is due next, and why the loop ended.

Rule 1: only a judgement that approves ends in `approved`. A malformed reply is asked for again
        once; it is never a judgement.
Rule 2: a loop that has stopped stays stopped, with one reason of a closed set.
Rule 3: nothing is lost: every attempt is kept, and a worse one never replaces the best one.
Rule 4: every transition is listed in `TRANSITIONS`. Any other is an `InvalidTransition`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan
from types import MappingProxyType
from typing import Final, Generic, Literal, TypeVar, assert_never

from harness.errors import HarnessError

DraftT = TypeVar("DraftT")
CritiqueT = TypeVar("CritiqueT")

State = Literal["drafting", "redrafting", "judging", "rejudging", "stopped"]
"""What is due: a draft or a judgement, for the first time or once more, or nothing."""

Due = Literal["draft", "judgement"]

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
    "refused_at_limit",
    "rejected",
    "failed",
    "over_budget",
    "cancelled",
]
"""An event as the table names it. `repeated` is a draft that was seen before; `refused_at_limit` a
refusal after which no round is left."""

JudgementKind = Literal["approved", "refused", "rejected"]
"""A critic's answer: good; to be revised; not repairable by any revision."""

# Three rounds are the published default of the loops that this one is modelled on: what a third
# revision does not fix, a fourth rarely does.
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
    "refused_at_limit": "max_rounds",
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
"""The target of each signal in each state: a state, or the reason why the loop stops."""


@dataclass(frozen=True, slots=True)
class Judgement(Generic[CritiqueT]):
    """A critic's judgement of a draft. Of two attempts, the better has the greater `rank`.

    Raises:
        ValueError: the rank holds a NaN, which is neither better nor worse than another number.
    """

    ruling: JudgementKind
    rank: tuple[float, ...]
    critique: CritiqueT

    def __post_init__(self) -> None:
        if any(map(isnan, self.rank)):
            raise ValueError("rank holds a NaN, which cannot be compared: give finite numbers")


@dataclass(frozen=True, slots=True)
class Attempt(Generic[DraftT, CritiqueT]):
    """One draft and its round (from 0), with its judgement once there is one."""

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
    """The reply of the planner or critic is not a draft, or not a judgement."""

    why: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The planner or critic raised an error, or ended without a reply."""

    why: str


@dataclass(frozen=True, slots=True)
class OverBudget:
    """The budget does not allow another call."""

    why: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The caller cancelled."""

    why: str = "cancelled"


RevisionEvent = (
    Drafted[DraftT] | JudgedDraft[CritiqueT] | Malformed | Failed | OverBudget | Cancelled
)


class InvalidTransition(HarnessError):
    """The event that was fed has no transition in the state of the machine."""


class Revision(Generic[DraftT, CritiqueT]):
    """One loop from its first draft to its end.

    Attributes:
        state: what is due next.
        round: the current round, from 0; after the end, the one it ended in.
        stop_reason: why it ended; None until then.
        detail: why the last event that was neither a draft nor a judgement happened.
        attempts: every draft so far, the newest last.
    """

    def __init__(self, max_rounds: int = DEFAULT_MAX_ROUNDS) -> None:
        """Start a loop of at most `max_rounds` judged drafts.

        Raises:
            ValueError: `max_rounds` is not a whole number of at least 1.
        """
        if type(max_rounds) is not int or max_rounds < 1:
            raise ValueError(f"max_rounds must be a whole number of at least 1, not {max_rounds!r}")
        self.max_rounds: Final = max_rounds
        self.state: State = "drafting"
        self.round: int = 0
        self.stop_reason: StopReason | None = None
        self.detail: str = ""
        self.attempts: tuple[Attempt[DraftT, CritiqueT], ...] = ()

    @property
    def due(self) -> Due | None:
        """Return what to ask for next, of the planner or of the critic; None after the end."""
        match self.state:
            case "drafting" | "redrafting":
                return "draft"
            case "judging" | "rejudging":
                return "judgement"
            case "stopped":
                return None
            case _:
                assert_never(self.state)

    @property
    def again(self) -> bool:
        """Return whether the same thing is due again, because the last reply was malformed."""
        return self.state in ("redrafting", "rejudging")

    @property
    def approved(self) -> Attempt[DraftT, CritiqueT] | None:
        """Return the approved attempt, if the loop ended with one."""
        return self.attempts[-1] if self.stop_reason == "approved" else None

    @property
    def best(self) -> Attempt[DraftT, CritiqueT] | None:
        """Return the approved attempt, else the first of the highest rank; judged come first."""
        return self.approved or max(self.attempts, key=_rank, default=None)

    def feed(self, event: RevisionEvent[DraftT, CritiqueT]) -> None:
        """Take in the outcome of the call that was due.

        Raises:
            InvalidTransition: the state has no transition for this event.
        """
        signal = self._signal(event)
        target = TRANSITIONS[self.state].get(signal)
        if target is None:
            raise InvalidTransition(f"the event {signal} cannot follow in the state {self.state}")
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
                return "refused_at_limit" if last else judgement.ruling
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


def _rank(attempt: Attempt[DraftT, CritiqueT]) -> tuple[bool, tuple[float, ...]]:
    return attempt.judgement is not None, attempt.judgement.rank if attempt.judgement else ()


def diagram() -> str:
    """Return the table as a Mermaid state diagram."""
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
