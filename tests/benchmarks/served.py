"""What the service costs: its answers over those of a bare endpoint, and hooks that it answers.

Rule 1: times of answers are by the clock, on loopback. Both servers run at once and take turns.
"""

import atexit
import json
import math
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from time import perf_counter_ns, sleep
from typing import Final

from tests.benchmarks.hooked import POLICY
from tests.benchmarks.startup import UNIT, environment, of_children
from tests.benchmarks.timing import Cost, Row, Unbuilt
from tests.support.paths import FIXTURES, ROOT

_BODY: Final = FIXTURES / "refund" / "plan_b.json"
_REQUESTS: Final = 200
_LARGE: Final = 1_000_000
_MS: Final = 1e6  # nanoseconds
_SERVED: Final = "critic hook, served"
_STARTED: Final = "critic hook, served by what an earlier hook started"
_WAIT_S: Final = 30
_SCRIPT: Final = "import sys; from plan_critic_entry.console import main; sys.exit(main())"
_EVENT: Final = {
    "hook_event_name": "PreToolUse",
    "session_id": "s1",
    "tool_use_id": "t1",
    "tool_name": "Read",
    "tool_input": {"file_path": "/shop/a.py"},
}


def served_rows(folder: Path) -> list[Row | Unbuilt]:
    """Return the rows, or none if the system does not count the CPU time of children."""
    try:
        nothing = of_children([sys.executable, "-c", "pass"])
    except ImportError:
        return []
    if find_spec("uvicorn") is None:
        return [Unbuilt(_SERVED, UNIT, 8.0, "pip install 'plan-critic[serve]'")]
    place, given = folder / "critic.sock", folder / "event.json"
    given.write_text(json.dumps(_EVENT))
    alone = [*hook_command(), "hook", "claude-code", "--policy", str(POLICY)]
    alone += ["--state", str(folder / "sessions")]
    start([sys.executable, "-m", "harness.cli", "serve", "--socket", str(place)])
    served = [*alone, "--socket", str(place)]
    return [
        Row(_SERVED, UNIT, 8.0, of_children(served, stdin=given), nothing),
        Row(_STARTED, UNIT, 3.0, of_children(_started(folder, alone, given), stdin=given), nothing),
        Row("critic hook, alone", UNIT, None, of_children(alone, stdin=given), nothing),
        *_answer_rows(),
    ]


def _started(folder: Path, alone: list[str], given: Path) -> list[str]:
    """Return a hook as it is installed, once the service that the first one starts has come.

    The service ends when its socket is gone.
    """
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    command = ["env", f"XDG_RUNTIME_DIR={runtime}", *alone, "--socket", "auto"]
    with given.open("rb") as event:
        subprocess.run(
            command,
            cwd=ROOT,
            stdin=event,
            stdout=subprocess.DEVNULL,
            env=environment(),
            check=True,
        )
    ends = perf_counter_ns() + _WAIT_S * 1e9
    while not (found := [*runtime.rglob("*.sock")]) and perf_counter_ns() < ends:
        sleep(0.05)
    atexit.register(found[0].unlink, missing_ok=True)
    return command


def _answer_rows() -> list[Row]:
    verify = start([sys.executable, "-m", "harness.cli", "serve", "--port", "0"])
    echo = start([sys.executable, "-m", "tests.benchmarks.echo"])
    beside = start([sys.executable, "-m", "harness.cli", "serve", "--port", "0"])
    return [
        *(
            Row(
                f"POST /v1/verify, {name}",
                "a bare echo of the same body",
                4.0,
                of_answers(verify, "/v1/verify", share),
                of_answers(echo, "/echo", share),
                "wall",
            )
            for name, share in (("p50", 0.5), ("p99", 0.99))
        ),
        Row(
            "POST /v1/verify beside bodies of 1 MB, p99",
            "1 ms",
            20.0,
            of_answers_beside(beside),
            lambda _batch: _MS,
            "wall",
        ),
    ]


def large_body() -> bytes:
    """Return a proposal of 1 MB: the small one, with much evidence."""
    body = json.loads(_BODY.read_bytes())
    items = body["compiled"]["manifests"]["evidence_manifest"]
    size = len(json.dumps({**items[0], "id": "more_1000"}, separators=(",", ":")))
    items += [{**items[0], "id": f"more_{number}"} for number in range(_LARGE // size)]
    return json.dumps(body, separators=(",", ":")).encode()


def of_answers_beside(url: str) -> Cost:
    """Return the time of small answers while another connection sends a large body after another.

    One in a hundred takes longer.
    """

    def cost(_batch: int) -> float:
        is_over = Event()
        with _connected(url) as connection, _connected(url) as other:
            large = _request(url, "/v1/verify", large_body())
            feeding = Thread(target=_feed, args=(other, large, is_over))
            feeding.start()
            try:
                small = _request(url, "/v1/verify", _BODY.read_bytes())
                taken = [_one(connection, small) for _ in range(_REQUESTS)]
            finally:
                is_over.set()
                feeding.join()
        return percentile(taken, 0.99)

    return cost


def _feed(connection: socket.socket, request: bytes, is_over: Event) -> None:
    while not is_over.is_set():
        _one(connection, request)


def hook_command() -> list[str]:
    """Return how the script of this checkout is started."""
    script = Path(sysconfig.get_path("scripts")) / "critic"
    return [str(script)] if script.exists() else [sys.executable, "-c", _SCRIPT]


def start(command: list[str]) -> str:
    """Start a server, which ends with this process, and return where it serves."""
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True
    )
    atexit.register(process.wait)
    atexit.register(process.kill)
    assert process.stdout is not None
    return process.stdout.readline().split()[-1]


def of_answers(url: str, path: str, share: float) -> Cost:
    """Return the time that this share of the answers takes at most, on one connection."""
    request = _request(url, path, _BODY.read_bytes())

    def cost(_batch: int) -> float:
        with _connected(url) as connection:
            taken = [_one(connection, request) for _ in range(_REQUESTS)]
        return percentile(taken, share)

    return cost


def _connected(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _request(url: str, path: str, body: bytes) -> bytes:
    host = url.removeprefix("http://")
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _one(connection: socket.socket, request: bytes) -> int:
    began = perf_counter_ns()
    connection.sendall(request)
    received = b""
    while not is_whole(received):
        piece = connection.recv(65536)
        assert piece, "the server closed the connection"
        received += piece
    assert received.startswith(b"HTTP/1.1 200"), received
    return perf_counter_ns() - began


def is_whole(received: bytes) -> bool:
    head, found, body = received.partition(b"\r\n\r\n")
    if not found:
        return False
    size = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return len(body) >= int(size)


def percentile(taken: Sequence[float], share: float) -> float:
    """Return what this share of the values does not exceed."""
    return sorted(taken)[math.ceil(share * len(taken)) - 1]
