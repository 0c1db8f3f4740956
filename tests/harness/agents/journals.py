"""Journals with a clock of the tests, and lines as a file holds them."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from harness.agents.journal import Journal, JournalMode
from harness.clock import FixedClock

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


LINE = (
    b'{"at":"2026-05-09T09:30:00Z","attempt":1,"inputs":"' + b"0" * 64 + b'","reply":1,'
    b'"session":"S","status":"replied","step":"a"}'
)


def changed(**fields: Any) -> bytes:
    kept = {**json.loads(LINE), **fields}
    return json.dumps({name: kept[name] for name in kept if kept[name] != "-"}).encode()


OTHER = changed(step="b")
