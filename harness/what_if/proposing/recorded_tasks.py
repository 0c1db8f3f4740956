"""Read recorded sessions as tasks: what the user asked for, the calls, and what they returned.

Answers and closes are left out: whoever judges a task says yes to each question. A session that
was closed and opened again goes on with an `open` among its events.
"""

from collections.abc import Iterable
from typing import NamedTuple

from evals.escaping import escape_name
from harness.guard.session_events import (
    CallsEvent,
    OpenEvent,
    ReadyEvent,
    RequestedCall,
    ResultEvent,
    SaidEvent,
    SessionPlanEvent,
    event_of,
)
from harness.wire import InvalidInput, parse_json

TurnEvent = CallsEvent | SessionPlanEvent
TaskEvent = OpenEvent | SaidEvent | TurnEvent | ReadyEvent | ResultEvent

_LEFT_OUT = ("answer", "close")
_LARGEST = 16 * 1024 * 1024


class RecordedTask(NamedTuple):
    """A recorded session: how it was opened first, and what came after, further openings too."""

    id: str
    opening: OpenEvent
    events: tuple[TaskEvent, ...]

    @property
    def tools(self) -> frozenset[str]:
        """The tools that were called, by the names that the agent gave."""
        return frozenset(call.tool for event in self.turns for call in requested_calls(event))

    def narrow_scope(self) -> "RecordedTask":
        """Return the task for a policy of its own tools alone: its scope names no others."""
        return self._replace(
            opening=self._narrow(self.opening),
            events=tuple(
                self._narrow(one) if isinstance(one, OpenEvent) else one for one in self.events
            ),
        )

    def _narrow(self, opening: OpenEvent) -> OpenEvent:
        if opening.scope is None:
            return opening
        named = tuple(name for name in opening.scope if name in self.tools)
        return opening.model_copy(update={"scope": named})

    @property
    def turns(self) -> list[TurnEvent]:
        """The turns, in their order: calls, and plans."""
        return [event for event in self.events if isinstance(event, TurnEvent)]


def requested_calls(event: TurnEvent) -> tuple[RequestedCall, ...]:
    """Return what a turn asks for."""
    return event.calls if isinstance(event, CallsEvent) else event.steps


def read_tasks(lines: Iterable[tuple[int, bytes]]) -> list[RecordedTask]:
    """Return the sessions of an event file, in the order in which they open.

    Args:
        lines: one event each, with their numbers; blank ones are skipped.

    Raises:
        InvalidInput: a line is not an event, or comes before its session opened, with its number.
    """
    openings: dict[str, OpenEvent] = {}
    events: dict[str, list[TaskEvent]] = {}
    for number, line in lines:
        if line.strip():
            _add_event(line, number, openings, events)
    return [RecordedTask(name, one, tuple(events[name])) for name, one in openings.items()]


def _add_event(
    line: bytes, number: int, openings: dict[str, OpenEvent], events: dict[str, list[TaskEvent]]
) -> None:
    try:
        value = parse_json(line, _LARGEST)
        if isinstance(value, dict) and value.get("event") in _LEFT_OUT:
            return
        event = event_of(value)
    except InvalidInput as error:
        raise InvalidInput(error.path, f"line {number}: {error.message}") from None
    name, place = event.session, f"line {number}: session {escape_name(event.session)}"
    if isinstance(event, OpenEvent):
        if name in openings and not event.again:
            raise InvalidInput("", f"{place} opens twice")
        if name not in openings:
            # There is no log here that it could go on from.
            openings[name], events[name] = event.model_copy(update={"again": None}), []
            return
    elif name not in openings:
        raise InvalidInput("", f"{place} does not begin with open")
    if isinstance(event, TaskEvent):
        events[name].append(event)
