"""A session as a case: its events, and what a person meant the ruling on each turn to be. Pure.

Rule 1: a case leaves out what the harness can know: the session, the digest that an answer is
        about, who approved. What it says of them stands.
Rule 2: an event that has no place in the session is a mistake of the case, unless a ruling before
        it came out otherwise than was meant: then that is what is told.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from evals.envelope import ARRAY, OPTIONAL, Envelope
from evals.json_value import JsonObject, Text
from harness.clock import FixedClock
from harness.expected_rulings import (
    ExpectedRuling,
    JudgedRuling,
    NamedViolation,
    expectation_error,
    judged_ruling,
)
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
    ("a person said no to this call in this session", "denied"),
    ("nobody is there to be asked", "on_ask"),
    (" questions were asked already, which is the limit", "max_questions"),
)
"""Why it is stricter than the verdict, by how the note of the ruling ends."""


class SessionCase(Envelope):
    """A session: its events, or the file that has them as JSON lines, and what was meant.

    `must` has one entry for each `calls` event. `policy` is the path of a policy file from the
    folder of the case file.
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


_ASKING: Final = ("calls", "plan")
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
        must: one entry for each `calls` event.
    """
    guard, asked = Guard(policy, clock=FixedClock(BEGINNING)), dict[str, str]()
    left = list(must)
    for at, event in enumerate(events):
        answer = guard.handle_line(json.dumps(_with_digest(event, asked)).encode())
        if isinstance(answer, Ruling | OpeningRuling) and answer.plan_digest is not None:
            asked[answer.session] = answer.plan_digest
        ruling = _read_answer(answer)
        if ruling is None and isinstance(answer, EventError):
            return PlayedCase(mistake=EventMistake(at, answer.error.path, answer.error.message))
        if ruling is None:
            continue
        meant = left.pop(0) if event["event"] in _ASKING else _MEANT_BY[event["yes"]]
        if wrong := _mismatch(meant, ruling):
            turn = f"calls {len(must) - len(left)}" if event["event"] in _ASKING else "the answer"
            is_stopped = meant.is_laxer(ruling)
            return PlayedCase(f"{turn}: {wrong}", at=at, is_stopped=is_stopped)
    return PlayedCase()


def _with_digest(event: Json, asked: Mapping[str, str]) -> Json:
    """Return an event; an answer with the digest of what was asked about last."""
    if event["event"] != "answer":
        return event
    return {"plan_digest": asked.get(event["session"], _NO_PLAN), **event}


def _mismatch(must: ExpectedRuling, ruling: JudgedRuling) -> str:
    return "" if must.fits(ruling) else f"must {must.text}, is {ruling.text}"


def _read_answer(answer: Answer) -> JudgedRuling | None:
    """Return what an event was answered; None if that is not a ruling."""
    if isinstance(answer, EventError) and answer.error.message.startswith(_HALTED):
        return JudgedRuling(
            "refuse", (NamedViolation(None, None, "on_refusal", None, answer.error.message),)
        )
    if not isinstance(answer, Ruling):
        return None
    found = list[NamedViolation]()
    if answer.critic_error is not None:
        found.append(NamedViolation(None, None, None, None, answer.critic_error))
    for one in answer.unknown or ():
        found.append(
            NamedViolation("surface", "violates_decision_spec", "unknown_tool", None, one.say)
        )
    if answer.verdict is not None and not answer.verdict.ok and answer.action != "allow":
        found += judged_ruling(answer.verdict).violations
    found += (
        NamedViolation(None, None, name, None, answer.note or "")
        for end, name in _NOTES
        if (answer.note or "").endswith(end)
    )
    return JudgedRuling(answer.action, tuple(found))
