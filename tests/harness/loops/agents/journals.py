"""Journals with a clock of the tests, and lines as a file holds them."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from harness.clock import FixedClock
from harness.loops.agents.journal import Journal, JournalMode

CLOCK = FixedClock(datetime(2026, 5, 9, 9, 30, tzinfo=UTC))


class Ticking:
    """A clock that goes on a second whenever it is asked."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 5, 9, tzinfo=UTC)

    def now(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


def journal_of(store: Any, mode: JournalMode = "resume", clock: Any = CLOCK) -> Journal:
    return Journal(store, clock, mode)


def replies(value: Any) -> Callable[[], Awaitable[Any]]:
    async def call() -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    return call


NEVER = replies(AssertionError("called"))


def step(journal: Journal, inputs: Any, value: Any, name: str = "add") -> Any:
    return asyncio.run(journal.step("S", name, inputs, replies(value)))


UNCHAINED: dict[str, Any] = {
    "at": "2026-05-09T09:30:00Z",
    "attempt": 1,
    "inputs": "0" * 64,
    "reply": 1,
    "session": "S",
    "status": "replied",
    "step": "a",
}


def changed(**fields: Any) -> dict[str, Any]:
    """Return a line with other fields; a field that is `-` is left out."""
    return {name: value for name, value in {**UNCHAINED, **fields}.items() if value != "-"}


def sealed(*entries: Any) -> tuple[bytes, ...]:
    """Return the lines of these entries, chained again by hand: bytes stay the same."""
    lines, head = list[bytes](), "0" * 64
    for entry in entries:
        if isinstance(entry, bytes):
            lines.append(entry)
            continue
        content = {name: value for name, value in entry.items() if name != "chain"}
        text = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
        head = hashlib.sha256(head.encode() + b"\n" + text).hexdigest()
        lines.append(json.dumps({**content, "chain": head}, separators=(",", ":")).encode())
    return tuple(lines)


def resealed(lines: Iterable[bytes]) -> tuple[bytes, ...]:
    """Some lines of a journal, chained anew: for what only somebody who does that can bring in."""
    return sealed(*map(json.loads, lines))
