"""A server on loopback that speaks as much of the OpenAI API as one streamed chat needs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        stub = self.server
        assert isinstance(stub, Stub)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        stub.asked.append({"path": self.path, **body})
        reply = stub.replies[len(stub.asked) - 1]
        if isinstance(reply, int):
            self.send_error(reply)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for data in (*_chunks(reply, stub.tokens if stub.counts else None, stub.ended), "[DONE]"):
            self.wfile.write(f"data: {data}\n\n".encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Stub(ThreadingHTTPServer):
    """Replies in order: a text, or the status of an error. Keeps what it was asked.

    Attributes:
        ended: the reason that it gives for the end of a text.
        tokens: how many it says that it read and wrote.
    """

    daemon_threads = True

    def __init__(self, *replies: str | int, counts: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = replies
        self.counts = counts
        self.ended = "stop"
        self.tokens = (20, 5)
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def serving(*replies: str | int, counts: bool = True) -> Iterator[Stub]:
    """Run the server within the context. With `counts`, it reports the tokens it used."""
    with Stub(*replies, counts=counts) as stub:
        thread = Thread(target=stub.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield stub
        finally:
            stub.shutdown()
            thread.join()


def _chunks(text: str, counts: tuple[int, int] | None, why: str) -> Iterator[str]:
    half = len(text) // 2
    deltas = [{"role": "assistant", "content": text[:half]}, {"content": text[half:]}, {}]
    for delta in deltas:
        ended = None if delta else why
        choices = [{"index": 0, "delta": delta, "finish_reason": ended}]
        yield json.dumps(_chunk(choices=choices))
    if counts:
        read, written = counts
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": sum(counts)}
        yield json.dumps(_chunk(choices=[], usage=usage))


def _chunk(**said: Any) -> dict[str, Any]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0}
    return {**head, "model": "gpt-4o-mini", **said}
