"""Show the progress of long work: one line for each phase, live on a terminal only."""

import asyncio
import os
import time
from contextlib import suppress
from typing import Final, Self, TextIO

from evals.escaping import escape_line

_LONGEST: Final = 160


class Progress:
    """Prints the phases of a code loop as they begin and end.

    If the stream closes, progress stops; the loop goes on.
    """

    def __init__(self, stream: TextIO, limit: int) -> None:
        """Print to `stream` the phases of a loop of at most `limit` iterations."""
        self._stream, self._limit = stream, limit
        self._live = stream.isatty()
        self._began, self._title = 0.0, ""
        self._ticker: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._title and self._live:  # a phase that was interrupted
            self._put("\r\x1b[K")
        self._title = ""

    def say(self, line: str) -> None:
        """Print a line, which must be safe to print."""
        self._put(f"{line}\n")

    def begin(self, number: int, phase: str) -> None:
        """Report that a phase of iteration `number` begins."""
        self._began, self._title = time.monotonic(), f"[{number}/{self._limit}] {phase:<6}"
        if self._live:
            self._ticker = asyncio.get_running_loop().create_task(self._tick())

    def end(self, summary: str) -> None:
        """Report that the phase ended. `summary` may be any text, of any length."""
        if self._ticker is not None:
            self._ticker.cancel()
        # Cut before escaping: it may be megabytes long.
        cut = summary if len(summary) <= _LONGEST else f"{summary[:_LONGEST]}..."
        start = "\r\x1b[K" if self._live else ""
        self._put(f"{start}{self._title} {self._elapsed()} {escape_line(cut)}\n")
        self._title = ""

    async def _tick(self) -> None:
        while True:
            self._put(f"\r\x1b[K{self._title} {self._elapsed()}")
            await asyncio.sleep(1)

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            # Flushing the rest of the buffer at exit would fail: send it to nowhere.
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self._began:6.1f} s"
