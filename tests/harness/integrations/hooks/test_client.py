"""The process of a hook: it asks a service of its own user, or works alone."""

import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from plan_critic_entry import hook_client
from plan_critic_entry.hook_client import answer_of

from tests.harness.console import Said
from tests.harness.integrations.hooks.agents import CLAUDE_CODE, Agent
from tests.harness.serve.asking import serving
from tests.support.paths import ROOT

HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: {hook_client.MEDIA_TYPE}\r\n\r\n".encode()
PROGRAM = """
import sys
from plan_critic_entry.console import main
status = main()
sys.stderr.write(f"loaded {'harness' in sys.modules}")
sys.exit(status)
"""


def hook(
    agent: Agent, folder: Path, service: Path, event: Any, *more: str, program: str = PROGRAM
) -> tuple[Said, bool]:
    """Run a hook that names a service: what it said, and whether the service answered."""
    return run_hook([*agent.options(folder), "--socket", str(service), *more], event, program)


def run_hook(options: list[str], event: Any, program: str = PROGRAM) -> tuple[Said, bool]:
    """Run the script `critic` as an agent does: what it said, and whether a service answered."""
    done = subprocess.run(
        [sys.executable, "-c", program, *options],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'harness' / 'top-level'}"},
        input=event if isinstance(event, bytes) else json.dumps(event).encode(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    err, _, loaded = done.stderr.decode().rpartition("loaded ")
    return Said(done.returncode, done.stdout.decode(), err), loaded == "False"


@pytest.mark.slow
def test_where_a_service_runs_the_process_loads_nothing_of_the_critic(tmp_path: Path) -> None:
    agent, place = CLAUDE_CODE, tmp_path / "critic.sock"
    read, foreign = agent.call(agent.read, "c1"), agent.call(agent.foreign, "c2")
    with serving("--socket", place, folder=tmp_path):
        said, was_served = hook(agent, tmp_path, place, read)
        assert (agent.reads(said), was_served) == ("allow", True)
        said, was_served = hook(agent, tmp_path, place, foreign)
        assert (agent.reads(said), was_served) == ("deny", True)
        policy = tmp_path / "policy.toml"
        policy.write_text(policy.read_text().replace('"destructive"', '"none"'))
        said, was_served = hook(agent, tmp_path, place, read, "--event", "PreToolUse")
        assert (agent.reads(said), was_served) == ("deny", False)  # it is no policy any more
        said, was_served = hook(agent, tmp_path, place, b'{"a":1,"a":1}')
        assert (agent.reads(said), was_served) == ("deny", False)
        assert hook(agent, tmp_path, place, read, "--shadow")[0].status == 2
    said, was_served = hook(agent, tmp_path / "other", place, read)
    assert (agent.reads(said), was_served) == ("allow", False)


COMMAND_LINE = """
import sys
from harness.cli import main
status = main()
sys.stderr.write(f"loaded {'harness.integrations.hooks.hook_answer' in sys.modules}")
sys.exit(status)
"""


@pytest.mark.slow
def test_the_command_line_asks_the_service_too_and_nobody_asks_twice(tmp_path: Path) -> None:
    agent, place = CLAUDE_CODE, tmp_path / "critic.sock"
    foreign = agent.call(agent.foreign, "c1")
    more = ("--scope", "Bash", "--leave=x", "--keep-prompts", "--event", "PreToolUse")
    with serving("--socket", place, folder=tmp_path):
        said, was_served = hook(agent, tmp_path, place, foreign, *more, program=COMMAND_LINE)
    assert (agent.reads(said), was_served) == ("deny", True)
    for program in (PROGRAM, COMMAND_LINE):
        with impostor(tmp_path / "other.sock", b"HTTP/1.1 500 No\r\n\r\n") as heard:
            other = tmp_path / "other.sock"
            said, was_served = hook(agent, tmp_path, other, foreign, program=program)
        other.unlink()
        assert (agent.reads(said), was_served, len(heard)) == ("deny", False, 1)


ALLOWED = json.dumps(
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
).encode()
OK = b"0 %d 0\n" % len(ALLOWED) + ALLOWED
UNEXPECTED = [
    b"",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + OK,
    HEAD.replace(b"200", b"500") + OK,
    HEAD.replace(b"1.1", b"2.0") + OK,
    HEAD,
    HEAD + OK[:-1],
    HEAD + OK + b"x",
    HEAD + OK.replace(b"0 ", b"1 ", 1),
    HEAD + OK.replace(b"0 ", b"+0 ", 1),
    HEAD + ALLOWED,
    HEAD + b"0 -1 1\n",
    HEAD + b"0 2 0\n\xc3\xa9",
    HEAD + b"0 0 1\n\xff",
]


@pytest.mark.parametrize("response", UNEXPECTED)
def test_an_unexpected_answer_is_no_answer(response: bytes) -> None:
    with pytest.raises(ValueError):
        answer_of(response)
    assert answer_of(HEAD + OK) == (0, ALLOWED.decode(), "")


@contextmanager
def impostor(place: Path, response: bytes, pause: float = 0) -> Iterator[list[bytes]]:
    """Listen at a path, and answer whoever comes with some bytes, with a pause after each."""
    heard: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        place.chmod(0o600)
        server.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, suppress(OSError):  # who only looked has left
                    heard.append(connection.recv(65536))
                    for byte in response:
                        connection.sendall(bytes([byte]))
                        time.sleep(pause)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield heard
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.slow
def test_what_is_not_our_service_leaves_the_work_to_the_process(tmp_path: Path) -> None:
    agent, place = CLAUDE_CODE, tmp_path / "critic.sock"
    foreign = agent.call(agent.foreign, "c1")
    for at, response in enumerate((b"", HEAD.replace(b"200", b"500") + OK)):
        with impostor(tmp_path / f"{at}.sock", response) as heard:
            said, was_served = hook(agent, tmp_path, tmp_path / f"{at}.sock", foreign)
            assert len(heard) == 1
        assert (agent.reads(said), was_served) == ("deny", False)
    place.write_text("not a socket")
    said, was_served = hook(agent, tmp_path, place, foreign)
    assert (agent.reads(said), was_served) == ("deny", False)


def test_a_service_that_takes_too_long_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, place = CLAUDE_CODE, tmp_path / "critic.sock"
    event = json.dumps(agent.call(agent.read, "c1")).encode()
    monkeypatch.setattr(hook_client, "_SECONDS", 0.3)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(event)))
    began = time.monotonic()
    with impostor(place, HEAD + OK, pause=0.05) as heard:
        words = [*agent.options(tmp_path)[1:], "--socket", str(place)]
        assert hook_client.answered_by_service(words) is None
        assert time.monotonic() - began < 3
        assert len(heard) == 1
    assert sys.stdin.buffer.read() == event


def test_a_socket_that_others_could_answer_at_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, place = CLAUDE_CODE, tmp_path / "critic.sock"
    words = [*agent.options(tmp_path)[1:], "--socket", str(place)]
    with impostor(place, HEAD + OK) as heard:
        (tmp_path / "link").symlink_to(place)
        assert hook_client.answered_by_service([*words[:-1], str(tmp_path / "link")]) is None
        place.chmod(0o666)
        assert hook_client.answered_by_service(words) is None
        place.chmod(0o600)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert hook_client.answered_by_service(words) is None
        monkeypatch.undo()
        monkeypatch.setattr(hook_client, "_OTHERS", 0)
        users = iter([os.getuid(), os.getuid() + 1])  # of the file, and of who listens
        monkeypatch.setattr(os, "geteuid", lambda: next(users))
        assert hook_client.answered_by_service(words) is None
        monkeypatch.undo()
        assert [piece for piece in heard if piece] == []
