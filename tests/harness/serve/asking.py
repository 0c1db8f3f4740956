"""Ask a service: within this process, or a real one on loopback."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx

from critic import Refused
from evals.envelope import Envelope
from harness.clock import FixedClock
from harness.guard import EventError, Guard, Ruling, SessionReport
from harness.policy import Policy
from harness.serve.app import CriticApp
from harness.serve.service import ServiceSettings
from harness.wire import build
from tests.support.guarding import NOON, Json, policy_of
from tests.support.paths import ROOT

BASE: Final = "http://127.0.0.1"
JSON: Final = {"content-type": "application/json"}


def app_of(policy: Json | Policy | None = None, **settings: Any) -> CriticApp:
    """Return a service at noon."""
    made = policy_of(policy) if isinstance(policy, dict) else policy
    return CriticApp(ServiceSettings(policy=made, **{"clock": FixedClock(NOON), **settings}))


def ask(app: CriticApp, path: str, body: Any = None, **how: Any) -> httpx.Response:
    """Send one request to a service in this process: a POST if there is a body."""
    return asyncio.run(_asked(app, path, body, **how))


async def _asked(
    app: CriticApp, path: str, body: Any, method: str = "", headers: Any = None, **how: Any
) -> httpx.Response:
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        asked = method or ("GET" if body is None else "POST")
        sent = {} if body is None else {"content": written(body)}
        given = {**(JSON if body is not None else {}), **(headers or {})}
        return await client.request(asked, path, headers=given, **sent, **how)


def as_recorded(verdict: Json) -> Json:
    """Return the verdict of an answer as a log has it: without what it tells a model."""
    if verdict.get("ok") is False and "violations" in verdict:
        return build(Refused, verdict).bare.wire()
    return verdict


def written(body: Any) -> Any:
    """Return a body as it is sent: JSON of a value, bytes as they are."""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def event_path(session: str) -> str:
    """Return where the events of a session go."""
    return f"/v1/sessions/{quote(session, safe='')}/events"


class GuardOverHttp:
    """A guard that is asked over HTTP, as far as a stream of events needs one."""

    def __init__(self, app: CriticApp) -> None:
        """Ask a service."""
        self._app: Final = app

    def handle_line(self, data: bytes) -> Envelope | None:
        """Post an event to its session, and return the answer as a guard does."""
        answer = ask(self._app, event_path(_session_in(data)), data)
        if answer.status_code == 204:
            assert answer.content == b""
            return None
        wire = answer.json()
        if "error" in wire:
            assert answer.status_code in (400, 409)
            return build(EventError, {"error": wire["error"]})
        assert answer.status_code == 200
        model: type[Envelope] = Ruling if "action" in wire else SessionReport
        return build(model, wire)


def _session_in(data: bytes) -> str:
    try:
        named = json.loads(data)["session"]
    except (ValueError, KeyError, TypeError):
        named = None
    return named if isinstance(named, str) and named else "s"


def over_http(wire: Json, **settings: Any) -> Guard:
    """Return what stands for a guard of a policy, for streams of events."""
    guard: Any = GuardOverHttp(app_of(wire, **settings))
    return guard  # type: ignore[no-any-return]


class ServiceProcess:
    """A `critic serve` that runs: where it listens, and what it printed."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        """Take a process that serves."""
        self.process: Final = process
        self.url: Final = url

    def client(self, **options: Any) -> httpx.Client:
        """Return a client of it."""
        return httpx.Client(base_url=self.url, headers=JSON, trust_env=False, **options)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Stop it, and return its exit status and the rest of what it printed."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@contextmanager
def serving(*args: str | Path, folder: Path) -> Iterator[ServiceProcess]:
    """Run `critic serve` with these arguments until the block ends."""
    with started(*args, folder=folder) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("serving on "):
            raise AssertionError(line + process.communicate(timeout=60)[1])
        yield ServiceProcess(process, line.split()[-1])


@contextmanager
def started(*args: str | Path, folder: Path) -> "Iterator[subprocess.Popen[str]]":
    """Start `critic serve`, and kill it at the end of the block."""
    command = [sys.executable, "-W", "error", "-m", "harness.cli", "serve", *map(str, args)]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
