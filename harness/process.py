"""Run one command line to its end with a prompt: its output, its exit code, its duration.

Rule 1: nothing that the command started in its process group outlives it: not on a timeout, not
        when the caller is cancelled, not when it ends by itself. (A process that moved to a session
        of its own is out of reach.)
Rule 2: no amount of output fills the memory or blocks the command: head and tail are kept.
"""

import asyncio
import codecs
import os
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from evals.escaping import escape_line
from harness.errors import HarnessError, escape_text

_PROMPT_MARK: Final = "{prompt}"
"""Replaced by the prompt in every argument. Without it, the prompt goes to stdin."""

KEPT_BYTES: Final = 1 << 20
"""The kept size of stdout, and of stderr: half of it from the head, half from the tail."""

TIMED_OUT: Final = 124
"""The exit code of a command that ran out of time, as timeout(1) has it."""

# Long enough for an agent to save its state, short enough for a person who pressed Ctrl-C.
_GRACE_SECONDS: Final = 2.0


class CommandNotStarted(HarnessError):
    """The command line could not be run at all. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command.

    `stdout` and `stderr` are text, with U+FFFD for bytes that are not UTF-8. `truncated` means that
    a part of either is missing; a line in the text says so. `exit_code` is negative for the signal
    that ended the command, and `TIMED_OUT`, never 0, if it ran out of time.
    """

    stdout: str
    stderr: str
    exit_code: int
    seconds: float
    timed_out: bool = False
    truncated: bool = False


async def run_command(
    argv: Sequence[str],
    *,
    prompt: str,
    cwd: Path,
    timeout: float | None = None,
    on_output: Callable[[str], None] | None = None,
    on_error_output: Callable[[str], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> CommandResult:
    """Run `argv` in `cwd` and wait for its end, at most `timeout` seconds.

    The prompt is given on stdin, or in place of `{prompt}` where an argument holds that. A command
    that does not read its stdin is not an error. `on_output` gets the pieces of stdout as they
    come, `on_error_output` those of stderr. `environment` is added to that of this process.

    Raises:
        CommandNotStarted: the command or the folder does not exist, or may not be used.
    """
    words, stdin = _place_prompt(argv, prompt)
    outputs = _Output(on_output), _Output(on_error_output)
    started = time.monotonic()
    process = await _start(words, stdin, cwd, outputs, environment or {})
    timed_out = False
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        await _end_group(process, outputs)
    return CommandResult(
        stdout=outputs[0].text(),
        stderr=outputs[1].text(),
        exit_code=TIMED_OUT if timed_out else process.returncode or 0,
        seconds=time.monotonic() - started,
        timed_out=timed_out,
        truncated=any(output.left_out for output in outputs),
    )


def _place_prompt(argv: Sequence[str], prompt: str) -> tuple[list[str], bytes]:
    """Return the words to run and the bytes for stdin. A lone surrogate becomes `?`."""
    if not argv or not argv[0]:
        raise CommandNotStarted("no command given: name a program and its arguments")
    clean = prompt.encode("utf-8", "replace")
    program, *rest = argv
    if not any(_PROMPT_MARK in word for word in rest):
        return [*argv], clean
    # No argument can hold a NUL. A `{prompt}` in the prompt itself is not replaced.
    text = clean.decode().replace("\0", "\ufffd")
    return [program, *(word.replace(_PROMPT_MARK, text) for word in rest)], b""


async def _start(
    words: list[str],
    stdin: bytes,
    cwd: Path,
    outputs: tuple["_Output", "_Output"],
    environment: Mapping[str, str],
) -> asyncio.subprocess.Process:
    if not cwd.is_dir():
        raise CommandNotStarted(f"no such folder to run a command in: {escape_text(str(cwd))}")
    # A file for stdin cannot block and cannot break, whether it is read or not. Our own pipes
    # for the rest: on those of asyncio, some versions of Python wait for their last holder.
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        ends = [os.pipe() for _ in outputs]
        loop = asyncio.get_running_loop()
        try:
            for output, (read, _) in zip(outputs, ends, strict=True):
                await loop.connect_read_pipe(output.itself, os.fdopen(read, "rb", buffering=0))
            return await asyncio.create_subprocess_exec(
                *words,
                stdin=given,
                stdout=ends[0][1],
                stderr=ends[1][1],
                cwd=cwd,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise CommandNotStarted(_advice(words[0], error)) from None
        finally:
            for _, write in ends:
                os.close(write)


def _advice(program: str, error: Exception) -> str:
    name = escape_text(program)
    match error:
        case FileNotFoundError():
            return (
                f"command not found: {name}: install it, put it on PATH, or give its path "
                "(for a script, the program that its first line names must exist too)"
            )
        case PermissionError():
            return f"{name} may not be run: make it executable (chmod +x)"
        case OSError(errno=7):  # E2BIG
            return f"{name}: the prompt is too long for an argument: let it read stdin instead"
        case OSError(errno=8):  # ENOEXEC
            return f"{name} is not a program: start the script with a line such as #!/bin/sh"
        case _:
            return f"{name} cannot be run: {escape_line(str(error))}"


async def _end_group(
    process: asyncio.subprocess.Process, outputs: tuple["_Output", "_Output"]
) -> None:
    """End what is left of the group: with SIGTERM first, then with SIGKILL."""
    try:
        _send(process.pid, signal.SIGTERM)
        async with asyncio.timeout(_GRACE_SECONDS):
            await process.wait()
            for output in outputs:
                await output.closed.wait()
    except TimeoutError:
        pass
    finally:
        _send(process.pid, signal.SIGKILL)
        await process.wait()
        for output in outputs:
            output.close()


def _send(group: int, number: signal.Signals) -> None:
    # The group is empty, or on some systems holds only processes that are still to be waited for.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


class _Output(asyncio.Protocol):
    """The head and the tail of one stream."""

    def __init__(self, tell: Callable[[str], None] | None) -> None:
        self.closed = asyncio.Event()
        self.left_out = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._tell = tell
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._transport: asyncio.BaseTransport | None = None

    def itself(self) -> Self:
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        half = KEPT_BYTES // 2
        room = half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if (over := len(self._tail) - half) > 0:
            del self._tail[:over]
            self.left_out += over
        if self._tell is not None and (text := self._decoder.decode(data)):
            self._tell(text)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.closed.set()

    def close(self) -> None:
        """Stop reading, even if a process still holds the other end."""
        if self._transport is not None:
            self._transport.close()

    def text(self) -> str:
        """Return what was kept, with a line that says how much is missing."""
        if not self.left_out:
            return (self._head + self._tail).decode("utf-8", "replace")
        gap = f"\n[... {self.left_out} bytes left out ...]\n"
        return f"{_decode_output(self._head)}{gap}{_decode_output(self._tail)}"


def _decode_output(data: bytearray) -> str:
    return data.decode("utf-8", "replace")
