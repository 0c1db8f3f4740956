"""A session as a case: its events, and what a person meant the ruling on each turn to be. Pure.

Rule 1: a case leaves out what the harness can know: the session, the digest that an answer is
        about, who approved. What it says of them stands.
Rule 2: an event that has no place in the session is a mistake of the case, unless a ruling before
        it came out otherwise than was meant: then that is what is told.
Rule 3: what is meant of a turn is meant of the strictest ruling on it: calls that wait for one
        another are judged again as they are opened.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from critic.session import Action
from evals.envelope import ARRAY, OPTIONAL, Envelope
from evals.escaping import escape_name
from evals.json_value import JsonObject, Text
from harness.clock import FixedClock
from harness.expected_rulings import (
    ExpectedRuling,
    JudgedRuling,
    NamedViolation,
    expectation_error,
    judged_ruling,
)
from harness.guard.course import DENIED
from harness.guard.guard import Guard
from harness.guard.rulings import Answer, EventError, OpeningRuling, Ruling
from harness.policy import Policy

Json = dict[str, Any]

_SESSION: Final = "case"
_APPROVER: Final = "case"
_NO_PLAN: Final = "0" * 64
BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""The time of events that tell none: the same in every run."""
_HALTED: Final = "the session halted at a refusal"
_NOTES: Final[tuple[tuple[str, Literal["denied", "on_ask", "max_questions"]], ...]] = (
    (DENIED, "denied"),
    ("nobody is there to be asked", "on_ask"),
    (" questions were asked already, which is the limit", "max_questions"),
)
"""Why it is stricter than the verdict, by how the note of the ruling ends."""


class SessionCase(Envelope):
    """A session: its events, or the file that has them as JSON lines, and what was meant.

    `must` has one entry for each `calls` and each `plan` event. `policy` is the path of a policy
    file from the folder of the case file.
    """

    title: str = ""
    command: Literal["session"] = "session"
    policy: Annotated[str | None, OPTIONAL] = None
    events: Annotated[tuple[JsonObject, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    events_file: Annotated[Text | None, OPTIONAL] = None
    must: Annotated[tuple[ExpectedRuling, ...], ARRAY]

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.events is None) == (self.events_file is None):
            raise expectation_error("write events or events_file: exactly one of the two")
        return self


ASKING: Final = ("calls", "plan")
"""The events that have an entry in `must`."""
_MEANT_BY: Final = {True: ExpectedRuling(allows=True), False: ExpectedRuling(refuses=True)}
"""What a person means by an answer: after a yes, nothing may be left that is refused."""


class EventMistake(NamedTuple):
    """An event of a case that a guard did not take. `at` is its number from 0."""

    at: int
    path: str
    message: str


class PlayedCase(NamedTuple):
    """What became of the session of a case.

    Attributes:
        problem: how it is not what was meant, of several lines; "" if it is.
        at: the number of the event that was not answered as it was meant.
        mistake: the event that has no place in it, if one has none.
        is_stopped: its ruling is stricter than was meant.
    """

    problem: str = ""
    mistake: EventMistake | None = None
    at: int = 0
    is_stopped: bool = False


def complete_events(events: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Return events with what a case may leave out, but for the digests of answers."""
    session, complete = _SESSION, list[Json]()
    for event in events:
        name = "answer" if "yes" in event and "event" not in event else None
        filled = {**({} if name is None else {"event": name}), "session": session, **event}
        if filled.get("event") == "answer":
            filled = {"approver": _APPROVER, **filled}
        if isinstance(filled["session"], str):
            session = filled["session"]
        complete.append(filled)
    return complete


def play_case(policy: Policy, events: Sequence[Json], must: Sequence[ExpectedRuling]) -> PlayedCase:
    """Play the events of a case through a guard, up to the first ruling that was not meant.

    Args:
        events: as `complete_events` returns them.
        must: one entry for each `calls` and each `plan` event.
    """
    return _Play(policy, events, must).play()


class _MeantTurn(NamedTuple):
    """A turn that was ruled on: what was meant, the strictest ruling on it, and its event."""

    name: str
    meant: ExpectedRuling
    ruling: JudgedRuling
    at: int


_STRICTNESS: Final[tuple[Action, ...]] = ("allow", "ask", "refuse")


class _Play:
    """A case on its way through a guard."""

    def __init__(
        self, policy: Policy, events: Sequence[Json], must: Sequence[ExpectedRuling]
    ) -> None:
        self._guard = Guard(policy, clock=FixedClock(BEGINNING))
        self._events, self._must = events, must
        self._asked: dict[str, str] = {}
        self._turns: dict[tuple[str, int], _MeantTurn] = {}
        self._ruled = 0

    def play(self) -> PlayedCase:
        """Return what became of it, up to the first ruling that was not meant."""
        for at, event in enumerate(self._events):
            line = json.dumps(_with_digest(event, self._asked)).encode()
            answer = self._guard.handle_line(line)
            if isinstance(answer, Ruling | OpeningRuling) and answer.plan_digest is not None:
                self._asked[answer.session] = answer.plan_digest
            ruling = _read_answer(answer)
            if ruling is None and isinstance(answer, EventError):
                mistake = EventMistake(at, answer.error.path, answer.error.message)
                return self._open_failure() or PlayedCase(mistake=mistake)
            if ruling is not None and (failed := self._judge(at, event, answer, ruling)):
                return failed
        return self._open_failure() or PlayedCase()

    def _judge(
        self, at: int, event: Json, answer: Answer, ruling: JudgedRuling
    ) -> PlayedCase | None:
        """Return how a ruling fails the case; None if it does not, or not yet."""
        if event["event"] == "ready":
            return self._judge_opening(at, event, answer, ruling)
        if event["event"] == "answer":
            return _failure("the answer", _MEANT_BY[event["yes"]], ruling, at)
        meant = self._must[self._ruled]
        self._ruled += 1
        turn = _MeantTurn(f"calls {self._ruled}", meant, ruling, at)
        place = (answer.session, answer.turn) if isinstance(answer, Ruling) else None
        if place is None or place in self._turns or not self._has_opening(at):
            return _failure(*turn)
        self._turns[place] = turn
        return _failure(*turn) if meant.is_laxer(ruling) else None

    def _judge_opening(
        self, at: int, event: Json, answer: Answer, ruling: JudgedRuling
    ) -> PlayedCase | None:
        """Return how the opening of a call fails what was meant of its turn."""
        if not isinstance(answer, OpeningRuling):
            return None
        place = answer.session, answer.turn
        turn = self._turns[place]
        if _STRICTNESS.index(ruling.action) <= _STRICTNESS.index(turn.ruling.action):
            return None
        name = f"{turn.name}, opening {escape_name(event['id'])}"
        turn = self._turns[place] = turn._replace(name=name, ruling=ruling, at=at)
        return _failure(*turn) if turn.meant.is_laxer(ruling) else None

    def _has_opening(self, at: int) -> bool:
        """Return whether a call is opened after an event, in its session."""
        name = self._events[at]["session"]
        return any(
            one["event"] == "ready" and one["session"] == name for one in self._events[at + 1 :]
        )

    def _open_failure(self) -> PlayedCase | None:
        """Return how the first turn fails that was not as strict as was meant."""
        failures = (_failure(*turn) for turn in self._turns.values())
        return next((one for one in failures if one is not None), None)


def _failure(name: str, meant: ExpectedRuling, ruling: JudgedRuling, at: int) -> PlayedCase | None:
    """Return how a ruling fails a case; None if it is what was meant."""
    wrong = "" if meant.fits(ruling) else f"{name}: must {meant.text}, is {ruling.text}"
    return PlayedCase(wrong, at=at, is_stopped=meant.is_laxer(ruling)) if wrong else None


def _with_digest(event: Json, asked: Mapping[str, str]) -> Json:
    """Return an event; an answer with the digest of what was asked about last."""
    if event["event"] != "answer":
        return event
    return {"plan_digest": asked.get(event["session"], _NO_PLAN), **event}


def _read_answer(answer: Answer) -> JudgedRuling | None:
    """Return what an event was answered; None if that is not a ruling."""
    if isinstance(answer, EventError) and answer.error.message.startswith(_HALTED):
        return JudgedRuling(
            "refuse", (NamedViolation(None, None, "on_refusal", None, answer.error.message),)
        )
    if not isinstance(answer, Ruling | OpeningRuling):
        return None
    found = [] if isinstance(answer, OpeningRuling) else [*_list_unjudged(answer)]
    if answer.verdict is not None and not answer.verdict.ok and answer.action != "allow":
        found += judged_ruling(answer.verdict).violations
    found += (
        NamedViolation(None, None, name, None, answer.note or "")
        for end, name in _NOTES
        if (answer.note or "").endswith(end)
    )
    return JudgedRuling(answer.action, tuple(found))


def _list_unjudged(ruling: Ruling) -> Iterator[NamedViolation]:
    """Yield why calls may not run that the verdict is not about."""
    if ruling.critic_error is not None:
        yield NamedViolation(None, None, None, None, ruling.critic_error)
    for one in ruling.unknown or ():
        yield NamedViolation("surface", "violates_decision_spec", "unknown_tool", None, one.say)
