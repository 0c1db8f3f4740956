"""Hooks that a service answers: as each would alone, by its own policy, or not at all."""

import argparse
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
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_critic_entry import hook_client
from plan_critic_entry.hook_client import answer_of, options_of, request_of

from harness.commands.hook_arguments import add_hook
from harness.hooks.desk import HookDesk
from harness.serve.hooks import HOOK_TYPE, HOOKS
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput
from tests.harness.console import Critic, Said
from tests.harness.hooks.agents import AGENTS, CLAUDE_CODE, Agent
from tests.harness.serve.asking import app_of, ask, serving
from tests.support.paths import ROOT

every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: {HOOK_TYPE}\r\n\r\n".encode()


def course(agent: Agent) -> list[Any]:
    """Return events of one session: some pass, some are refused, some are asked about."""
    evil = "See https://evil.example/collect"
    return [
        agent.prompt("Fix the bug in /home/ada/shop/a.py"),
        agent.call(agent.read, "c1"),
        agent.result(agent.read, "c1", evil),
        agent.call(agent.write, "c2"),
        agent.call(agent.foreign, "c3"),
        agent.result(agent.foreign, "c3", "x"),
        agent.call(agent.protected, "c4"),
        agent.call(agent.shell, "c5"),
        agent.result(agent.shell, "c5", "b.py"),
        agent.prompt("and now the tests"),
    ]


def asked_of(desk: HookDesk, agent: Agent, folder: Path, event: Any, *more: str) -> Said:
    """Return what a service answers, as the process of a hook would print it."""
    words = [*agent.options(folder)[1:], *more, "--socket", "critic.sock"]
    options = options_of(words)
    assert options is not None
    policy = Path(dict(options)["--policy"]).read_bytes()
    request = request_of(words[0], options, policy, json.dumps(event).encode())
    return Said(*answer_of(HEAD + desk.answer(request.partition(b"\r\n\r\n")[2])))


@every_agent
def test_a_service_and_processes_that_take_turns_answer_as_one_that_works_alone(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    desk = HookDesk()
    alone, taking_turns, served = (tmp_path / name for name in ("alone", "turns", "served"))
    for at, event in enumerate(course(agent)):
        stdin = json.dumps(event).encode()
        expected = critic(*agent.options(alone), stdin=stdin)
        assert asked_of(desk, agent, served, event) == expected
        if at % 2:
            assert asked_of(desk, agent, taking_turns, event) == expected
        else:
            assert critic(*agent.options(taking_turns), stdin=stdin) == expected


def test_every_option_tells_a_service_what_it_tells_a_process(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places are relative to the folder of the hook, wherever the service was started."""
    agent, desk = CLAUDE_CODE, HookDesk()
    for folder in ("alone", "served"):
        agent.options(tmp_path / folder)
    for more in (
        ("--keep-prompts",),
        ("--leave", "Re*"),
        ("--scope", "Bash", "--scope=Read"),
        ("--log", "audit.db", "--state", "elsewhere"),
    ):
        for event in (agent.call(agent.read, "c1"), agent.call(agent.shell, "c2")):
            options = ["hook", agent.name, "--policy", "policy.toml", *more]
            monkeypatch.chdir(tmp_path / "alone")
            expected = critic(*options, stdin=json.dumps(event).encode())
            monkeypatch.chdir(tmp_path / "served")
            parsed = options_of([*options[1:], "--socket", "s"])
            assert parsed is not None
            policy = Path("policy.toml").read_bytes()
            request = request_of(agent.name, parsed, policy, json.dumps(event).encode())
            monkeypatch.chdir("/")
            body = desk.answer(request.partition(b"\r\n\r\n")[2])
            assert Said(*answer_of(HEAD + body)) == expected
    names = [
        {str(path.relative_to(tmp_path / folder)) for path in (tmp_path / folder).rglob("*")}
        for folder in ("alone", "served")
    ]
    assert names[0] == names[1]
    assert "audit.db" in names[0]


def test_a_request_that_is_not_whole_or_not_known_is_not_answered(tmp_path: Path) -> None:
    agent, desk = CLAUDE_CODE, HookDesk()
    words = [*agent.options(tmp_path)[1:], "--socket", "s"]
    options = options_of(words)
    assert options is not None
    policy = (tmp_path / "policy.toml").read_bytes()
    event = json.dumps(agent.call(agent.read, "c1")).encode()
    body = request_of(agent.name, options, policy, event).partition(b"\r\n\r\n")[2]
    spoiled = [body[:size] for size in range(0, len(body), 997)] + [
        body[:-1],
        b"--else=1\0" + body,
        b"agent=codex\0" + body,
        body.replace(b"agent=claude-code", b"agent=nobody"),
        body.replace(b"policy_bytes=", b"policy_bytes=-"),
        body.replace(b"folder=/", b"folder="),
    ]
    for one in spoiled:
        with pytest.raises(InvalidInput):
            desk.answer(one)
    assert not (tmp_path / "state").exists()
    assert b'"allow"' in desk.answer(body)


WORDS = st.sampled_from(
    [
        *("--policy", "p", "--socket", "s", "--state=d", "--state", "--log", "-l", "--scope", "a"),
        *("--leave=*", "--keep-prompts", "--event", "E", "--", "--pol", "--socket=", "-h"),
    ]
)


class _Misused(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise _Misused(message)

    def exit(self, *_: Any) -> Any:
        raise _Misused


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=9), st.booleans())
def test_options_are_read_as_the_command_reads_them_or_not_at_all(
    words: list[str], needed: bool
) -> None:
    words = ["codex", *words, *(["--policy", "q", "--socket", "t"] if needed else [])]
    found = options_of(words)
    if found is None:
        return
    parser = _Parser()
    commands: Any = parser.add_subparsers(dest="command")
    add_hook(commands)
    args = parser.parse_args(["hook", *words])
    listed = {
        name: [value for one, value in found if one == f"--{name}"] for name in ("scope", "leave")
    }
    once = {name.removeprefix("--"): value for name, value in found}
    expected = {
        **dict.fromkeys(("policy", "socket", "state", "log", "event")),
        **once,
        **listed,
        "action": "codex",
        "command": "hook",
        "keep_prompts": ("--keep-prompts", "") in found,
    }
    expected.pop("keep-prompts", None)
    assert vars(args) == expected


def test_the_client_and_the_service_mean_the_same() -> None:
    assert (hook_client.HOOKS_PATH, hook_client.MEDIA_TYPE) == (HOOKS, HOOK_TYPE)
    assert hook_client.MOST_BYTES == MAX_DOCUMENT_BYTES


def test_a_service_on_tcp_answers_no_hooks() -> None:
    kind = {"content-type": HOOK_TYPE}
    assert ask(app_of(), HOOKS, b"agent=codex\0\0", headers=kind).status_code == 404
    served = app_of(hooks=HookDesk().answer)
    assert ask(served, HOOKS, b"agent=codex\0\0", headers=kind).status_code == 400
    assert ask(served, HOOKS, b"{}").status_code == 415


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
    """Run the script `critic` as an agent does: what it said, and whether a service answered."""
    options = [*agent.options(folder), "--socket", str(service), *more]
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
sys.stderr.write(f"loaded {'harness.hooks.hook' in sys.modules}")
sys.exit(status)
"""


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


def test_a_changed_policy_is_the_one_that_is_judged_by(tmp_path: Path) -> None:
    agent, desk = CLAUDE_CODE, HookDesk()
    read = agent.call(agent.read, "c1")
    assert agent.reads(asked_of(desk, agent, tmp_path, read)) == "allow"
    policy = tmp_path / "policy.toml"
    policy.write_text(policy.read_text().replace('name = "Read"', 'name = "Look"'))
    fresh = {**read, "session_id": "another"}
    assert agent.reads(asked_of(desk, agent, tmp_path, fresh)) == "deny"


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
