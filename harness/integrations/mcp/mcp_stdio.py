"""The filter between the standard streams of this process and a server that it starts.

Each direction has a thread that reads and one that writes, so that neither side can block the
other by not reading. One message is a line.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Lock, Thread
from typing import IO, Final

from harness.errors import UsageError, escape_text
from harness.integrations.mcp.mcp_filter import McpFilter
from harness.integrations.mcp.mcp_messages import dump_message
from harness.integrations.mcp.mcp_replies import Sent
from harness.wire import MAX_DOCUMENT_BYTES

_PIECE: Final = 1 << 16
_GRACE_S: Final = 5


def serve_stdio(argv: Sequence[str], filtered: McpFilter, client: tuple[int, int]) -> int | None:
    """Serve until the client or the server ends.

    Args:
        argv: the command of the server.
        client: the descriptors to read the client from, and to write to it.

    Returns:
        None where the client ended it, else the exit status of the server.

    Raises:
        UsageError: the command cannot be started.
    """
    process, stdin, stdout = _start_server(argv)
    lock, client_ended = Lock(), []
    to_client, to_server = _Writer(client[1]), _Writer(stdin.fileno())

    def deliver(hear: Callable[[], list[Sent]]) -> None:
        with lock:
            for one in hear():
                (to_client if one.to == "client" else to_server).put(dump_message(one.message))

    def read_client() -> None:
        for line in _read_lines(client[0]):
            deliver(lambda line=line: filtered.from_client(line))  # type: ignore[misc]
        client_ended.append(True)
        to_server.end()
        stdin.close()
        _end_server(process)

    Thread(target=read_client, daemon=True).start()
    for line in _read_lines(stdout.fileno()):
        deliver(lambda line=line: filtered.from_server(line))  # type: ignore[misc]
    deliver(filtered.close)
    to_client.end()
    _end_server(process)
    return None if client_ended else process.returncode


def _start_server(argv: Sequence[str]) -> tuple["subprocess.Popen[bytes]", IO[bytes], IO[bytes]]:
    try:
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        shown = escape_text(argv[0])
        raise UsageError(f"cannot start the server {shown}: {escape_text(why)}") from None
    if process.stdin is None or process.stdout is None:
        raise UsageError("the server has no standard streams")
    return process, process.stdin, process.stdout


def _end_server(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the server to end, which it is asked for ever more firmly."""
    for insist in (process.terminate, process.kill):
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            insist()
    process.wait()


def _read_lines(descriptor: int, limit: int = MAX_DOCUMENT_BYTES) -> Iterator[bytes]:
    """Yield lines as they come. A line over the limit is cut there: it is not a message then."""
    kept = bytearray()
    while piece := _read(descriptor):
        *complete, rest = piece.split(b"\n")
        for line in complete:
            yield bytes(kept + line)
            kept.clear()
        kept += rest[: max(0, limit + 1 - len(kept))]
    if kept:
        yield bytes(kept)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _PIECE)
    except OSError:  # the other side is gone
        return b""


class _Writer:
    """Writes lines in a thread of its own. What cannot be written any more is dropped."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: Final = descriptor
        self._lines: Final[SimpleQueue[bytes | None]] = SimpleQueue()
        self._thread: Final = Thread(target=self._write, daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        self._lines.put(line + b"\n")

    def end(self) -> None:
        """Wait until all that was put is written, though not for ever."""
        self._lines.put(None)
        self._thread.join(_GRACE_S)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            rest = memoryview(line)
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:  # the other side is gone
                return
