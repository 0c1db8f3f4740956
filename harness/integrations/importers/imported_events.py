"""Session events of what was recorded, and what they leave out. Pure.

Each event is checked as the guard would: nothing is written that it could not read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name
from harness.guard.session_events import CallsEvent, OpenEvent, ResultEvent, SaidEvent, SessionEvent
from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    RecordedResult,
    RecordedText,
)
from harness.tool_results import parsed_result
from harness.wire import InvalidInput, build

NOBODY: Final[Mapping[str, str]] = {}
"""Of whom nothing is known."""


class ImportedEvents(NamedTuple):
    """The events of a session, and a line for each thing that they leave out."""

    events: list[SessionEvent]
    notes: list[str]


def session_events(
    session: str,
    recorded: Iterable[Recorded],
    request: str | None = None,
    whom: Mapping[str, str] = NOBODY,
) -> ImportedEvents:
    """Return the events of a session.

    Args:
        request: the words of the user, where the record has none.
        whom: the `user` and the `tenant` that the session was for, where they are known.

    Raises:
        InvalidInput: something recorded makes no event.
    """
    collector = _Collector(session, request, whom)
    for one in recorded:
        collector.take(one)
    return ImportedEvents(collector.finish_events(), list(collector.notes()))


class _Collector:
    """Makes events one by one. The session opens with the first words of the user."""

    def __init__(self, session: str, request: str | None, whom: Mapping[str, str]) -> None:
        self._session, self._request, self._whom = session, request, whom
        self._system: str | None = None
        self._events: list[SessionEvent] = []
        self._waiting: set[str] = set()
        self._left: Counter[str] = Counter()

    def take(self, one: Recorded) -> None:
        match one:
            case RecordedText(words, True):
                self._take_system(words)
            case RecordedText(words):
                self._add_words(words)
            case RecordedBatch(calls):
                self._open()
                asked = [{"id": call.id, "tool": call.tool, "args": call.args} for call in calls]
                self._add(CallsEvent, calls[0].path, calls=asked)
                self._waiting |= {call.id for call in calls}
            case RecordedResult():
                self._add_result(one)
            case LeftOut(what):
                self._left[what] += 1

    def _take_system(self, words: str) -> None:
        if self._system is None and not self._events:
            self._system = words
        elif words != self._system:
            self._left["a later system prompt"] += 1

    def _add_words(self, words: str) -> None:
        if self._events:
            self._add(SaidEvent, "", text=words)
        else:
            self._request = words
            self._open()

    def _open(self) -> None:
        if self._events:
            return
        if self._request is None:
            self._left["the request: there are no words of the user before the first call"] += 1
        known = {} if self._system is None else {"system": self._system}
        self._add(OpenEvent, "", request=self._request or "", **known, **self._whom)

    def _add_result(self, one: RecordedResult) -> None:
        if one.id not in self._waiting:
            self._left["a result of a call that is not there, or has ended"] += 1
            return
        self._waiting.discard(one.id)
        ended: dict[str, Any] = {"status": "completed" if one.error is None else "failed"}
        output = None if one.output is None else parsed_result(one.output)
        given = {"output": output, "error": one.error}
        known = {name: value for name, value in given.items() if value is not None}
        self._add(ResultEvent, one.path, id=one.id, **ended, **known)

    def _add(self, event: type[SessionEvent], path: str, **members: Any) -> None:
        name = event.model_fields["event"].default
        wire = {"event": name, "session": self._session, **members}
        try:
            self._events.append(build(event, wire))
        except InvalidInput as error:
            message = f"{error.message} (at {error.path or 'the event'} of the event {name})"
            raise InvalidInput(path, message) from None

    def finish_events(self) -> list[SessionEvent]:
        self._open()
        if self._waiting:
            self._left["how a call ended"] += len(self._waiting)
        return self._events

    def notes(self) -> Iterator[str]:
        shown = escape_name(self._session)
        for what, count in self._left.items():
            times = "" if count == 1 else f" ({count} times)"
            yield f"session {shown}: left out: {what}{times}"
