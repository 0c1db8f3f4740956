"""Which of many names are left when others are taken out, in bounded memory.

Rule 1: few names are kept in memory. Many are written to a temporary database, and compared in
        their order at the end.
"""

import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Final

from harness.log.log_errors import LogUnavailable

_FEW: Final = 20_000
"""Names that are kept in memory."""

_TABLES: Final = ("CREATE TABLE names (name TEXT)", "CREATE TABLE others (name TEXT)")
_INSERT: Final = "INSERT INTO names (name) VALUES (?)"
_INSERT_OTHER: Final = "INSERT INTO others (name) VALUES (?)"
_NAMES: Final = "SELECT DISTINCT name FROM names ORDER BY name"
_OTHERS: Final = "SELECT name FROM others ORDER BY name"


class Remainder:
    """Names, without those that are taken out."""

    def __init__(self, names: Iterable[str], few: int = _FEW) -> None:
        """Take the names, and how many of them may be in memory."""
        remaining = iter(names)
        self._few = set(islice(remaining, few))
        self._many: _Written | None = None
        for name in remaining:
            self._many = _Written(chain(self._few, (name,), remaining), few)
            self._few.clear()

    def discard(self, others: Iterable[str]) -> None:
        """Take names out; those that are not there change nothing."""
        if self._many is None:
            self._few.difference_update(others)
        else:
            self._many.discard(others)

    def left(self, most: int) -> tuple[int, list[str]]:
        """Return how many are left, and the first of them in their order: at most so many."""
        names = iter(sorted(self._few)) if self._many is None else self._many.names_left()
        first = list(islice(names, most))
        return len(first) + sum(1 for _ in names), first


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        raise LogUnavailable(
            f"a temporary database failed ({name}): free space where temporary files are kept"
        ) from error


class _Written:
    """The same in a temporary database."""

    def __init__(self, names: Iterable[str], few: int) -> None:
        with _room():
            self._database = sqlite3.connect("", isolation_level=None)
            weakref.finalize(self, self._database.close)
            for statement in _TABLES:
                self._database.execute(statement)
            self._database.execute("BEGIN")
            self._database.executemany(_INSERT, ((name,) for name in names))
        self._few = few
        self._written = set[str]()  # of late: most are taken out again and again

    def discard(self, others: Iterable[str]) -> None:
        """Take names out."""
        new = set(others) - self._written
        with _room():
            self._database.executemany(_INSERT_OTHER, [(name,) for name in new])
        if len(self._written) > self._few:
            self._written.clear()
        self._written |= new

    def names_left(self) -> Iterator[str]:
        """Yield the names that are left, in their order."""
        with _room():
            yield from self._merge_names()

    def _merge_names(self) -> Iterator[str]:
        others = self._database.execute(_OTHERS)
        (other,) = next(others, (None,))
        for (name,) in self._database.execute(_NAMES):
            while other is not None and other < name:
                (other,) = next(others, (None,))
            if other != name:
                yield name
