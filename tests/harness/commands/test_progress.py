"""Progress: live on a terminal, plain lines in a pipe."""

import asyncio
import io
import re

import pytest

from harness.commands.progress import Progress
from tests.support.examples import HOSTILE


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def told(stream: io.StringIO, said: str | None) -> str:
    async def phase() -> None:
        with Progress(stream, 3) as progress:
            progress.begin(2, "actor")
            await asyncio.sleep(0.01)
            if said is not None:
                progress.end(said)

    asyncio.run(phase())
    return stream.getvalue()


@pytest.mark.parametrize("said", ["exited with 0", HOSTILE, "x" * 1_000_000])
def test_a_pipe_gets_one_plain_line_for_each_phase(said: str) -> None:
    (line,) = told(io.StringIO(), said).splitlines()
    assert re.match(r"\[2/3\] actor +[0-9]+\.[0-9] s ", line)
    assert line.isascii()
    assert line.isprintable()
    assert len(line) < 1000


def test_a_terminal_sees_the_time_pass_and_then_the_same_line() -> None:
    shown = told(Terminal(), "exited with 0")
    live = r"\r\x1b\[K\[2/3\] actor +[0-9]+\.[0-9] s"
    assert re.fullmatch(f"({live})+ exited with 0\n", shown)


def test_a_phase_that_was_interrupted_leaves_no_half_line() -> None:
    assert told(Terminal(), None).endswith("\r\x1b[K")
    assert told(io.StringIO(), None) == ""
