"""Progress on a terminal, and none in a pipe: drawn by tqdm on standard error, under all lines."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TextIO, TypeVar

_T = TypeVar("_T")


def with_progress(
    answers: Iterator[_T], total: int, counts: Mapping[str, int] = MappingProxyType({})
) -> Iterator[_T]:
    """Return answers or records, with a progress bar on a terminal and none in a pipe.

    `counts` are the counts of earlier answers.
    """
    if not sys.stderr.isatty():
        return answers
    from tqdm import tqdm  # noqa: PLC0415 - slow to load, and only shown on a terminal

    tqdm.monitor_interval = 0  # no thread of its own: a process with threads is unsafe to copy
    begun = sum(counts.values())
    return iter(tqdm(answers, total=total, initial=begun, unit=" records", leave=False))


def print_above(text: str) -> None:
    """Print a line, above the progress bar if there is one."""
    if "tqdm" in sys.modules:
        sys.modules["tqdm"].tqdm.write(text, file=sys.stdout)
    else:
        sys.stdout.write(f"{text}\n")


class StepClock:
    """A step and its seconds on the last line of a terminal, while the step runs.

    If the terminal closes, nothing is drawn and the step continues.
    """

    def __init__(self, stream: TextIO, title: str) -> None:
        """Draw on `stream`. `title` is printed as it is: let it be safe."""
        import asyncio  # noqa: PLC0415 - slow to load, and loaded by whoever has a loop

        from tqdm import tqdm  # noqa: PLC0415 - as above

        tqdm.monitor_interval = 0
        form = "{desc} {elapsed_s:6.1f} s"
        # With a delay, nothing is drawn before the first tick.
        self._bar = tqdm(file=stream, bar_format=form, leave=False, delay=1e-9)
        self._bar.set_description_str(title, refresh=False)
        self._ticks = asyncio.get_running_loop().create_task(self._tick())

    def clear(self) -> None:
        """Clear the line, for another one to take its place."""
        with suppress(OSError):
            self._bar.clear()

    def close(self) -> None:
        """Stop the clock and clear its line."""
        self._ticks.cancel()
        with suppress(OSError):
            self._bar.close()

    async def _tick(self) -> None:
        from asyncio import sleep  # noqa: PLC0415 - as above

        while True:
            with suppress(OSError):
                self._bar.refresh()
            await sleep(1)
