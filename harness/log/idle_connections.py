"""Connections to a database that wait for the next transaction."""

import os
from contextlib import suppress
from typing import Final, Generic, Protocol, TypeVar


class _Closes(Protocol):
    def close(self) -> None: ...


_C = TypeVar("_C", bound=_Closes)


class IdleConnections(Generic[_C]):
    """Connections that wait. Threads may share them; a forked process has its own.

    One is taken for a transaction, and put back once that has ended well.
    """

    def __init__(self, most: int) -> None:
        """Keep at most so many."""
        self._most: Final = most
        self._process = os.getpid()
        self._waiting: list[_C] = []
        self._inherited: list[list[_C]] = []

    def take(self) -> _C | None:
        """Return the one that was put back last, or None."""
        if self._process != os.getpid():
            # They are those of the other process: to close them here would end them there.
            self._inherited.append(self._waiting)
            self._process, self._waiting = os.getpid(), []
        with suppress(IndexError):
            return self._waiting.pop()
        return None

    def put(self, connection: _C) -> None:
        """Let a connection wait; close it if enough do."""
        if len(self._waiting) < self._most:
            self._waiting.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Close those that wait."""
        while (connection := self.take()) is not None:
            connection.close()
