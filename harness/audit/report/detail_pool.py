"""The details of decisions within a number of bytes: the newest stay, and what they share once."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from harness.audit.report.visible_text import data_text


class Details:
    """Keeps the details of the newest records, as JSON.

    Attributes:
        dropped: how many records have no details here, so that the page stays within its size.
    """

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes
        self._kept: deque[tuple[int, str, tuple[int, ...]]] = deque()
        self._numbers: dict[str, int] = {}
        self._shared: dict[int, tuple[str, int]] = {}
        self._next = 0
        self._used: dict[int, None] = {}
        self.dropped = 0

    def share(self, value: Any) -> int:
        """Return the number of a value in the pool. The details that are next added use it."""
        text = data_text(value)
        number = self._numbers.get(text)
        if number is None:
            self._next = number = self._next + 1
            self._numbers[text], self._shared[number] = number, (text, 0)
            self._left -= len(text)
        self._used[number] = None
        return number

    def add(self, seq: int, detail: Any) -> None:
        """Keep the details of a record, and forget the oldest while there are too many bytes."""
        text, used = data_text(detail), tuple(self._used)
        self._used.clear()
        for number in used:
            self._count(number, 1)
        self._kept.append((seq, text, used))
        self._left -= len(text)
        while self._left < 0 and self._kept:
            self._forget()

    def _forget(self) -> None:
        _, text, used = self._kept.popleft()
        self._left += len(text)
        self.dropped += 1
        for number in used:
            self._count(number, -1)

    def _count(self, number: int, by: int) -> None:
        text, users = self._shared[number]
        self._shared[number] = text, users + by
        if users + by == 0:
            del self._shared[number], self._numbers[text]
            self._left += len(text)

    def numbers(self) -> frozenset[int]:
        """Return the numbers of the records whose details are kept."""
        return frozenset(seq for seq, _, _ in self._kept)

    def blocks(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the JSON of every block of data of the page."""
        for number, (text, _) in self._shared.items():
            yield f"shared-{number}", text
        for seq, text, _ in self._kept:
            yield f"detail-{seq}", text
