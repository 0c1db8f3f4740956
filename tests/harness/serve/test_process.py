"""`critic serve` as a process: where it listens, how it starts, and how it ends."""

import json
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness.errors import UsageError
from harness.log import SqlDecisionLog
from harness.serve.running import (
    IdleLimit,
    bind_tcp,
    bind_unix,
    is_loopback,
    release_unix,
    run_app,
)
from tests.harness.console import Critic
from tests.harness.serve.asking import JSON, ServiceProcess, event_path, serving, started
from tests.support.examples import HOSTILE, PLAN_A, PLAN_B, is_safe
from tests.support.guarding import call, desk, open_, result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("serve")
    (made / "critic.json").write_text(json.dumps(desk()))
    return made


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[ServiceProcess]:
    with serving("--policy", "critic.json", "--port", "0", folder=folder) as running:
        yield running


@pytest.mark.slow
def test_plans_are_judged_over_a_real_socket(service: ServiceProcess) -> None:
    with service.client() as client:
        refused = client.post("/v1/verify", content=PLAN_A.read_bytes())
        passed = client.post("/v1/verify", content=PLAN_B.read_bytes())
        assert (refused.status_code, refused.json()["kind"]) == (200, "missing_evidence")
        assert (passed.status_code, passed.json()["ok"]) == (200, True)
        base = client.get("/.well-known/authzen-configuration").json()["policy_decision_point"]
        assert base == service.url


def raw(url: str, request: bytes) -> bytes:
    """Send bytes to a service, and return what it sends until it closes."""
    at = httpx.URL(url)
    with socket.create_connection((at.host, at.port), timeout=30) as connection:
        connection.sendall(request)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    return received


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"400"),
        (b"POST /v1/verify HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n", b"400"),
        (
            b"POST /v1/verify HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"content-length: 99999999999\r\n\r\n{",
            b"413",
        ),
        (b"GET /healthz HTTP/1.1\r\nhost: evil.example.org\r\nconnection: close\r\n\r\n", b"421"),
        (b"GET /healthz HTTP/1.0\r\nhost: localhost\r\n\r\n", b"200"),
        (b"GET /\x1b[31m HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", b"400"),
    ],
)
def test_what_is_not_http_or_too_large_is_refused_and_the_connection_closed(
    service: ServiceProcess, request_: bytes, status: bytes
) -> None:
    answer = raw(service.url, request_)
    assert answer.startswith((b"HTTP/1.1 " + status, b"HTTP/1.0 " + status))
    assert b"\x1b" not in answer
    assert b"Traceback" not in answer


@pytest.mark.slow
def test_what_is_in_progress_is_answered_before_it_ends(folder: Path, tmp_path: Path) -> None:
    """The ruling is asked for in two halves, and SIGTERM comes between them."""
    log = tmp_path / "audit.db"
    with serving(
        *("--policy", "critic.json", "--port", "0", "--log", log), folder=folder
    ) as running:
        with running.client() as client:
            assert client.post(event_path("s"), content=json.dumps(open_())).status_code == 204
        body = json.dumps(call("list_mail")).encode()
        at = httpx.URL(running.url)
        with socket.create_connection((at.host, at.port), timeout=60) as connection:
            head = (
                "POST /v1/sessions/s/events HTTP/1.1\r\nhost: localhost\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            connection.sendall(head.encode() + body[:10])
            ended: list[Any] = []
            stopping = threading.Thread(target=lambda: ended.append(running.stop()))
            threading.Timer(0.5, stopping.start).start()
            threading.Event().wait(1.5)
            connection.sendall(body[10:])
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        stopping.join()
    assert answer.startswith(b"HTTP/1.1 200")
    assert b'"action":"allow"' in answer
    assert ended == [(0, "", "")]
    with SqlDecisionLog.open_for_reading(log) as kept:
        assert kept.head().seq == 2  # the ruling, and that its calls began


@pytest.mark.slow
def test_what_was_answered_is_on_record_whenever_it_is_stopped(
    folder: Path, tmp_path: Path
) -> None:
    log, answered = tmp_path / "audit.db", list[str]()
    with serving(
        *("--policy", "critic.json", "--port", "0", "--log", log), folder=folder
    ) as running:
        threads = [threading.Thread(target=_ask_on, args=(running, n, answered)) for n in range(4)]
        for thread in threads:
            thread.start()
        while len(answered) < 12:
            threading.Event().wait(0.05)
        status, _, err = running.stop()
        for thread in threads:
            thread.join()
    assert (status, err) == (0, "")
    with SqlDecisionLog.open_for_reading(log) as kept:
        on_record = {str(record.wire()) for record in kept.records()}
    assert all(any(digest in record for record in on_record) for digest in answered)


def _ask_on(running: ServiceProcess, number: int, answered: list[str]) -> None:
    """Ask for rulings until nobody answers, and note those that came."""
    name = f"s{number}"
    try:
        with running.client(timeout=60) as client:
            client.post(event_path(name), content=json.dumps(open_(name)))
            for turn in range(1000):
                asked = call("list_mail", name, id=f"c{turn}")
                ruling = client.post(event_path(name), content=json.dumps(asked))
                if ruling.status_code == 200:
                    answered.append(ruling.json()["plan_digest"])
                ended = json.dumps(result("x", name, id=f"c{turn}"))
                client.post(event_path(name), content=ended)
    except httpx.HTTPError:
        pass


@pytest.mark.slow
def test_an_interrupt_is_told_by_the_status(folder: Path) -> None:
    with serving("--port", "0", folder=folder) as running:
        assert running.stop(signal.SIGINT)[0] == 130


@pytest.mark.slow
def test_a_unix_socket_is_for_its_owner_and_removed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "critic.sock"
    with serving("--socket", path, folder=tmp_path) as running:
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600
        assert running.url == f"unix:{path}"
        transport = httpx.HTTPTransport(uds=str(path))
        with httpx.Client(transport=transport, base_url="http://critic", headers=JSON) as client:
            answer = client.post("/v1/verify", content=PLAN_A.read_bytes())
            assert answer.json()["kind"] == "missing_evidence"
        with started("--socket", path, folder=tmp_path) as second:
            _, err = second.communicate(timeout=60)
            assert second.returncode == 2
            assert "a server listens here already" in err
        assert running.stop() == (0, "", "")
    assert not path.exists()


def test_a_socket_that_a_killed_server_left_is_taken_over(tmp_path: Path) -> None:
    path = str(tmp_path / "critic.sock")
    bind_unix(path).close()
    assert Path(path).exists()
    with bind_unix(path):
        bound = os.lstat(path)
    with bind_unix(path):
        release_unix(path, bound)
        assert Path(path).exists()
        release_unix(path, os.lstat(path))
        assert not Path(path).exists()


def misuses(folder: Path, critic: Critic) -> Iterator[tuple[tuple[Any, ...], str]]:
    other, shared = folder / "other", folder / "shared-tokens"
    other.write_text("x")
    shared.write_text("abc")
    shared.chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        yield ("--port", port), "cannot listen: Address already in use"
    for host in ("0.0.0.0", "::", "", "192.0.2.1"):  # noqa: S104
        yield ("--host", host, "--port", "0"), "--tokens"
    yield ("--host", "no such host", "--port", "0"), "no such address"
    yield ("--host", HOSTILE, "--port", "0"), "no such address"
    yield ("--socket", other), "there is something else here"
    yield ("--socket", folder / "none" / "s"), "cannot listen"
    yield ("--socket", folder / ("s" * 200)), "cannot listen"
    yield ("--tokens", folder / "none", "--port", "0"), "cannot read the tokens"
    yield ("--tokens", shared, "--port", "0"), "chmod 600"
    yield ("--policy", other, "--port", "0"), "not a policy"
    yield ("--log", other, "--port", "0"), "not a decision log"


def test_what_cannot_be_served_is_said_in_one_line(critic: Critic, folder: Path) -> None:
    for args, words in misuses(folder, critic):
        said = critic("serve", *args)
        assert (said.status, said.out) == (2, ""), args
        assert words in said.err, args
        assert said.err.startswith("critic: ")
        assert is_safe(said.err.removesuffix("\n")), args


@pytest.mark.parametrize(
    "args",
    [
        *(("--port", "65536"), ("--port", "-1"), ("--timeout", "0"), ("--max-bytes", "1k")),
        *(("--host", "::1", "--socket", "x"), ("--public-url", "critic.example.org")),
        ("--public-url", "https://a b"),
    ],
)
def test_misuse_of_the_options_is_reported(critic: Critic, args: tuple[str, ...]) -> None:
    said = critic("serve", *args)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("usage: critic serve")


def test_without_its_libraries_it_says_what_to_install(
    critic: Critic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = critic("serve")
    assert (said.status, said.out) == (2, "")
    assert "pip install 'plan-critic[serve]'" in said.err


def test_with_tokens_it_serves_elsewhere(folder: Path) -> None:
    with bind_tcp("0.0.0.0", 0, has_tokens=True) as bound:  # noqa: S104
        assert bound.getsockname()[0] == "0.0.0.0"  # noqa: S104
        # By this the event loop knows that small answers are not to be held back.
        assert bound.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "a.example"])
@pytest.mark.parametrize("address", ["127.0.0.1", "192.0.2.7"])
def test_a_name_is_worth_the_address_that_it_stands_for(
    host: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever names this machine otherwise cannot have a service reached without a token."""
    found = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, 0))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [found])
    if address == "127.0.0.1":
        bind_tcp(host, 0, has_tokens=False).close()
        return
    with pytest.raises(UsageError, match="others can reach this address"):
        bind_tcp(host, 0, has_tokens=False)


@pytest.mark.slow
def test_loopback_is_told_from_elsewhere() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost", "LOCALHOST")))
    assert not any(map(is_loopback, ("", "0.0.0.0", "::", "10.0.0.1", "127.0.0.1.x", "é")))  # noqa: S104


class Over(IdleLimit):
    """Ends a service at once."""

    def __init__(self) -> None:
        """Wait for nothing."""

    def is_over(self, requests: int) -> bool:
        return requests == 0


def test_small_answers_wait_for_short_turns_of_other_threads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    usual, seen = sys.getswitchinterval(), list[float]()

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        for stage in ("startup", "shutdown"):
            await receive()
            seen.append(sys.getswitchinterval())
            await send({"type": f"lifespan.{stage}.complete"})

    bound = bind_tcp("127.0.0.1", 0, has_tokens=False)
    assert run_app(app, bound, 1, lifespan="on", limit=Over()) == 0
    assert all(one <= usual / 5 for one in seen)
    assert (len(seen), sys.getswitchinterval()) == (2, usual)
    assert capsys.readouterr().out.startswith("serving on http://127.0.0.1:")
