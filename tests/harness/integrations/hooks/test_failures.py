"""`critic hook`: no failure that can be caught is an allow, in any dialect."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.integrations.hooks.dialects import DIALECTS
from harness.wire import MAX_DOCUMENT_BYTES
from tests.harness.console import Critic
from tests.harness.integrations.hooks.agents import AGENTS, Agent
from tests.support.examples import is_safe

every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)


@every_agent
def test_a_call_event_without_one_of_its_members_is_never_allowed(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    needed = {"hook_event_name", "tool_name", "tool_input", DIALECTS[agent.name].session_key}
    for at, member in enumerate(agent.call(agent.read, "c1")):
        event = agent.call(agent.read, f"c{at}")
        less = {name: value for name, value in event.items() if name != member}
        decided = agent.decided(critic, tmp_path, less)
        assert decided == ("deny" if member in needed else "allow"), member
    for member in needed:
        odds: list[Any] = [None, 7, [], "", {"a": 1}, True]
        for odd in odds:
            if member == "tool_input" and odd == {"a": 1}:
                continue
            assert agent.decided(critic, tmp_path, {**event, member: odd}) == "deny", (member, odd)


DAMAGED = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b'{"a":1,"a":1}',
    b'{"a":' * 100_000,
    b'{"hook_event_name":"\\ud800"}',
    b'{"hook_event_name":"Whatever"}',
]


@pytest.mark.one_in(4)
@every_agent
@pytest.mark.parametrize("registered", [False, True])
def test_what_is_no_event_blocks(
    agent: Agent, critic: Critic, tmp_path: Path, *, registered: bool
) -> None:
    name = agent.call(agent.read, "c")["hook_event_name"]
    for data in DAMAGED:
        more = ("--event", name) if registered else ()
        said = critic(*agent.options(tmp_path), *more, stdin=data)
        assert agent.reads(said) == "deny", data[:20]
        assert said.status == (0 if registered else 2)
        assert is_safe(said.err.removesuffix("\n"))
        assert said.out.isascii()


@every_agent
def test_a_key_that_is_there_twice_blocks(agent: Agent, critic: Critic, tmp_path: Path) -> None:
    event = json.dumps(agent.call(agent.read, "c"))
    twice = event[:-1] + ', "tool_name": "Read"}'
    assert agent.decided(critic, tmp_path, twice.encode()) == "deny"


@every_agent
def test_another_event_than_the_registered_one_blocks(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    event = agent.prompt("hello")
    name = agent.call(agent.read, "c")["hook_event_name"]
    assert agent.decided(critic, tmp_path, event, "--event", name) == "deny"


@every_agent
def test_a_policy_that_cannot_be_used_refuses(agent: Agent, critic: Critic, tmp_path: Path) -> None:
    event = agent.call(agent.read, "c1")
    options = agent.options(tmp_path)
    policy = tmp_path / "policy.toml"
    for spoil in (policy.unlink, policy.mkdir):
        spoil()
        said = critic(*options, stdin=json.dumps(event).encode())
        assert agent.reads(said) == "deny"
    policy.rmdir()
    for text in ("", "[guard]", "\x00", '[guard]\nsafety_mode = "none"\n'):
        policy.write_text(text)
        said = critic(*options, stdin=json.dumps(event).encode())
        assert agent.reads(said) == "deny"
        assert "refused, because the guard failed" in said.out


@every_agent
def test_a_log_that_cannot_be_written_refuses(agent: Agent, critic: Critic, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("not a log")
    for log in (tmp_path / "log", tmp_path / "none" / "log", tmp_path):
        event = agent.call(agent.read, "c1")
        assert agent.decided(critic, tmp_path, event, "--log", str(log)) == "deny"


@every_agent
@pytest.mark.parametrize(
    "broken",
    [
        "kept_sessions.Guard",
        "hook_answer.parse_json",
        "kept_sessions.SessionFolder",
        "hook_answer.Guard.keep_note",
    ],
)
def test_an_exception_inside_refuses(
    agent: Agent, critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    options = agent.options(tmp_path)
    event = json.dumps(agent.call(agent.read, "c1")).encode()

    def fails(*_: Any, **__: Any) -> None:
        raise MemoryError("\x1b[31mno\nmore")

    monkeypatch.setattr(f"harness.integrations.hooks.{broken}", fails)
    said = critic(*options, stdin=event)
    monkeypatch.undo()
    assert agent.reads(said) == "deny"
    assert "\x1b" not in said.out + said.err


@every_agent
def test_misuse_of_the_command_blocks(agent: Agent, critic: Critic, tmp_path: Path) -> None:
    event = json.dumps(agent.call(agent.read, "c1")).encode()
    for args in (
        ["hook", agent.name],
        ["hook", agent.name, "--policy"],
        ["hook", "nobody", "--policy", "p"],
        ["hook"],
        [*agent.options(tmp_path), "--shadow"],
        ["hook", agent.name, "--policy", "-"],
    ):
        assert agent.reads(critic(*args, stdin=event)) == "deny", args


@pytest.mark.slow
@every_agent
def test_a_call_of_a_megabyte_is_judged_and_a_larger_one_blocks(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    key = "content" if "content" in agent.write.args else "command"
    start = agent.write.args[key]

    def decided(length: int, name: str) -> str:
        call = agent.write._replace(args={**agent.write.args, key: start + "+" * length})
        return agent.decided(critic, tmp_path, agent.call(call, name))

    assert decided(1_000_000, "c1") == "allow"
    assert [decided(2**20, "c2"), decided(MAX_DOCUMENT_BYTES, "c3")] == ["deny"] * 2


@every_agent
def test_deep_arguments_and_look_alike_names_are_refused(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = {"a": deep}
    for tool in (
        agent.read._replace(args={**agent.read.args, "deep": deep}),
        agent.read._replace(name=agent.read.name.replace("a", "\u0430")),  # Cyrillic
        agent.read._replace(name=agent.read.name + "\u200b"),
        agent.read._replace(name=agent.read.name + " "),
        agent.read._replace(name=agent.read.name.upper()),
        agent.read._replace(args={**agent.read.args, "n": 2**60}),
    ):
        said = critic(*agent.options(tmp_path), stdin=json.dumps(agent.call(tool, "c")).encode())
        assert agent.reads(said) == "deny", tool
        assert said.out.isascii()
