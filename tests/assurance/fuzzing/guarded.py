"""Entries of the guard and of the policy file: what they take, and what may come of it."""

from contextlib import suppress
from functools import cache
from typing import Any, Final

import orjson

from harness.guard import EventError, Guard, OutOfPlace, Ruling
from harness.policy import InvalidPolicy, Policy, parse_policy
from harness.wire import InvalidInput
from tests.support.paths import FIXTURES

_STREAMS: Final = FIXTURES / "sessions"


class Failed(Exception):
    """The guard answered that it failed, though nothing that it relies on did."""


@cache
def suites() -> tuple[dict[str, Any], ...]:
    """Return the recorded streams of events, each suite with its policy."""
    return tuple(orjson.loads(path.read_bytes()) for path in sorted(_STREAMS.glob("*.json")))


@cache
def _policies() -> tuple[Policy, ...]:
    return tuple(parse_policy(orjson.dumps(suite["policy"])).policy for suite in suites())


def event_streams() -> tuple[bytes, ...]:
    """Return streams of events, each a JSON array."""
    streams = (stream for suite in suites() for stream in suite["streams"])
    return tuple(orjson.dumps(stream["events"]) for stream in streams)


@cache
def states() -> tuple[bytes, ...]:
    """Return sessions that were handed over in the middle of their streams."""
    found = []
    for policy, suite in zip(_policies(), suites(), strict=True):
        for stream in suite["streams"]:
            guard = Guard(policy)
            events = stream["events"][:3]
            for event in events:
                guard.handle_line(_line(event))
            for name in {event.get("session", "") for event in events if isinstance(event, dict)}:
                with suppress(OutOfPlace):
                    found.append(guard.export(name))
    return tuple(found)


def _line(event: Any) -> bytes:
    """Return a line that is written as it stands, or an event in JSON."""
    return event.encode(errors="replace") if isinstance(event, str) else orjson.dumps(event)


def take_events(data: bytes) -> None:
    """Give a stream of events to guards of several policies: they never fail."""
    try:
        events = orjson.loads(data)
        lines = [_line(event) for event in events] if isinstance(events, list) else [data]
    except (orjson.JSONDecodeError, TypeError):  # TypeError: too deep to be written
        lines = [data]
    for policy in _policies():
        guard = Guard(policy)
        for line in lines:
            look_at(guard.handle_line(line))


def look_at(answer: Any) -> None:
    if answer is None:
        return
    answer.wire()
    if isinstance(answer, Ruling) and answer.critic_error is not None:
        raise Failed(answer.critic_error)
    if isinstance(answer, EventError) and answer.error.message.startswith("critic_error"):
        raise Failed(answer.error.message)


def take_state(data: bytes) -> None:
    """Go on with a session from these bytes, under each policy that it may be of."""
    errors = []
    for policy in _policies():
        guard = Guard(policy)
        try:
            look_at(guard.handle_line(_next_call(guard.resume(data))))
        except InvalidInput as error:
            errors.append(error)
    if len(errors) == len(_policies()):
        raise errors[0]


def _next_call(session: str) -> bytes:
    call = {"id": "next", "tool": "find_order", "args": {"order": "882"}}
    return orjson.dumps({"event": "calls", "session": session, "calls": [call]})


def policy_documents() -> tuple[bytes, ...]:
    """Return policies in JSON."""
    return tuple(orjson.dumps(suite["policy"]) for suite in suites())


def policy_texts() -> tuple[bytes, ...]:
    """Return policies in TOML."""
    return tuple(path.read_bytes() for path in sorted(FIXTURES.rglob("critic.toml")))


def take_policy(data: bytes) -> None:
    """Read a policy: what is wrong in it is told line by line."""
    try:
        parse_policy(data)
    except InvalidPolicy as error:
        if not error.faults or any(fault.line < 1 for fault in error.faults):
            raise Failed(f"a fault without its line: {error}") from None
        raise
