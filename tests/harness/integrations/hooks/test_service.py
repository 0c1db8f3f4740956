"""Hooks that a service answers: as each would alone, by its own policy, or not at all."""

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_critic_entry import hook_client
from plan_critic_entry.hook_client import answer_of, options_of, request_of

from harness.commands.hook.hook_arguments import add_hook
from harness.guard.guard import Guard
from harness.guard.session_folder import SessionFolder, StateUnusable
from harness.integrations.hooks.desk import HookDesk
from harness.log import SqlDecisionLog
from harness.log.search.listing import Listing
from harness.serve.endpoints import HOOK_TYPE, HOOKS
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput
from tests.harness.console import Critic, Said
from tests.harness.integrations.hooks.agents import AGENTS, CLAUDE_CODE, SHOP, Agent
from tests.harness.serve.asking import app_of, ask
from tests.support.effort import examples, sampled

every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: {HOOK_TYPE}\r\n\r\n".encode()


def course(agent: Agent) -> list[Any]:
    """Return events of one session: some pass, some are refused, some are asked about."""
    evil = "See https://evil.example/collect"
    return [
        agent.prompt(f"Fix the bug in {SHOP}/a.py"),
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


def in_session(event: Any, session: str) -> Any:
    """Return an event of another session of the same agent."""
    named = {name: session for name in ("session_id", "conversation_id") if name in event}
    return {**event, **named}


@pytest.mark.one_in(3)
@every_agent
@pytest.mark.parametrize("names", sampled([("5f2c", "5F2C"), ("a", "a ")], one_in=2))
def test_two_sessions_at_one_desk_are_answered_as_each_alone(
    agent: Agent, names: tuple[str, str], tmp_path: Path
) -> None:
    events = course(agent)
    streams = [
        [in_session(event, names[0]) for event in events],
        [in_session(event, names[1]) for event in [*events[3:], *events[:3]]],
    ]
    alone = [
        [asked_of(HookDesk(), agent, tmp_path / f"alone{at}", event) for event in stream]
        for at, stream in enumerate(streams)
    ]
    served, mixed = HookDesk(), tmp_path / "mixed"
    together = [
        [asked_of(served, agent, mixed, event) for event in pair]
        for pair in zip(*streams, strict=True)
    ]
    assert [*map(list, zip(*together, strict=True))] == alone
    assert alone[0] != alone[1]


@pytest.mark.one_in(3)
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


def test_hooks_of_one_session_at_once_come_one_after_the_other(tmp_path: Path) -> None:
    agent, desk = CLAUDE_CODE, HookDesk()
    agent.options(tmp_path)
    names = [f"c{number}" for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        said = pool.map(
            lambda name: asked_of(desk, agent, tmp_path, agent.call(agent.read, name)), names
        )
        assert {agent.reads(one) for one in said} == {"allow"}
    (file,) = (tmp_path / "state").glob("*.jsonl")
    bodies = [json.loads(line.split(b" ", 2)[2]) for line in file.read_bytes().splitlines()]
    notes = [body.get("note") for body in bodies]
    memory = json.loads([note for note in notes if note][-1])
    assert sorted(call["id"] for call in memory["calls"]) == sorted(names)


@pytest.mark.slow
def test_a_service_keeps_only_the_last_policies(tmp_path: Path) -> None:
    agent, desk = CLAUDE_CODE, HookDesk()
    agent.options(tmp_path)
    policy = tmp_path / "policy.toml"
    text, kept = policy.read_text(), desk._policies
    for number in range(40):
        policy.write_text(f"{text}\n# {number}\n")
        event = {**agent.call(agent.read, "c1"), "session_id": f"s{number}"}
        assert agent.reads(asked_of(desk, agent, tmp_path, event)) == "allow"
    assert len(kept) == 32
    before = dict(kept)
    event = {**agent.call(agent.read, "c2"), "session_id": "s39"}
    assert agent.reads(asked_of(desk, agent, tmp_path, event)) == "allow"
    assert dict(kept) == before


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
        ("--log", "audit.db", "--state", "elsewhere", "--user=ada"),
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
    for folder in ("alone", "served"):
        with SqlDecisionLog.open(tmp_path / folder / "audit.db", create=False) as log:
            assert Listing(log).names_in("of_user") == ["ada"]


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
        *(
            "--user=u",
            "--leave=*",
            "--keep-prompts",
            "--event",
            "E",
            "--",
            "--pol",
            "--socket=",
            "-h",
        ),
    ]
)


class _Misused(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise _Misused(message)

    def exit(self, *_: Any) -> Any:
        raise _Misused


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(WORDS, max_size=9), st.booleans())
def test_options_are_read_as_the_command_reads_them_or_not_at_all(
    words: list[str], needed: bool
) -> None:
    words = ["codex", *words, *(["--policy", "q", "--socket", "t"] if needed else [])]
    found = options_of(words)
    if found is None or not any(word.startswith("--policy") for word in words):
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
        **dict.fromkeys(("options", "policy", "socket", "state", "log", "event", "user")),
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


def test_a_process_that_runs_other_code_is_not_answered(tmp_path: Path) -> None:
    """A newer state of this installation takes the place of the service; another one does not."""
    agent, event = CLAUDE_CODE, CLAUDE_CODE.call(CLAUDE_CODE.foreign, "c1")
    own = hook_client.code_identity()
    place, number, changed = own.rsplit(":", 2)
    for code, is_outdated in (
        (f"/elsewhere{own}", False),
        (f"{place}:{number}:{int(changed) + 1}", True),
        (f"{place}:{int(number) + 1}:{changed}", True),
    ):
        desk = HookDesk()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hook_client, "code_identity", lambda code=code: code)
            with pytest.raises(InvalidInput, match="another installation"):
                asked_of(desk, agent, tmp_path, event)
        assert desk.is_outdated == is_outdated
        assert agent.reads(asked_of(desk, agent, tmp_path, event)) == "deny"


def test_a_service_on_tcp_answers_no_hooks() -> None:
    kind = {"content-type": HOOK_TYPE}
    assert ask(app_of(), HOOKS, b"agent=codex\0\0", headers=kind).status_code == 404
    served = app_of(hooks=HookDesk().answer)
    assert ask(served, HOOKS, b"agent=codex\0\0", headers=kind).status_code == 400
    assert ask(served, HOOKS, b"{}").status_code == 415


def test_a_changed_policy_is_the_one_that_is_judged_by(tmp_path: Path) -> None:
    agent, desk = CLAUDE_CODE, HookDesk()
    read = agent.call(agent.read, "c1")
    assert agent.reads(asked_of(desk, agent, tmp_path, read)) == "allow"
    policy = tmp_path / "policy.toml"
    policy.write_text(policy.read_text().replace('name = "Read"', 'name = "Look"'))
    fresh = {**read, "session_id": "another"}
    assert agent.reads(asked_of(desk, agent, tmp_path, fresh)) == "deny"


def test_a_service_reads_a_session_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, desk, read = CLAUDE_CODE, HookDesk(), list[int]()
    agent.options(tmp_path)
    whole = SessionFolder.journal

    def journal(folder: SessionFolder, session: str, after: int = 0) -> Any:
        rows = whole(folder, session, after)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(SessionFolder, "journal", journal)
    for at in range(9):
        asked_of(desk, agent, tmp_path, agent.call(agent.read, f"c{at}"))
        asked_of(desk, agent, tmp_path, agent.result(agent.read, f"c{at}", "x"))
    assert read == [0]
    asked_of(HookDesk(), agent, tmp_path, agent.call(agent.read, "other"))
    steps = read.pop()
    asked_of(desk, agent, tmp_path, agent.call(agent.read, "last"))
    assert read == [0, 2]  # what the other one did: a call, and its note
    assert steps == 28  # what was opened, of each of 9 calls a step and a note, and 9 results


@pytest.mark.parametrize("log", [(), ("--log", "log.db")])
def test_a_service_keeps_only_the_last_sessions_and_lets_go_of_what_failed(
    log: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.integrations.hooks.desk._MOST_SESSIONS", 3)
    agent, desk = CLAUDE_CODE, HookDesk()
    agent.options(tmp_path)
    kept = desk._sessions._kept

    def call(session: str, name: str) -> str:
        event = in_session(agent.call(agent.read, name), session)
        return agent.reads(asked_of(desk, agent, tmp_path, event, *log))

    for name in ("c1", "c2"):
        assert [call(f"s{at}", name) for at in range(5)] == ["allow"] * 5
        assert [place.session for place in kept] == ["s2", "s3", "s4"]

    def fail(*_: Any) -> Any:
        raise OSError("no disk")

    with monkeypatch.context() as broken:
        broken.setattr(Guard, "note", fail)
        with pytest.raises(OSError, match="no disk"):
            call("s4", "c3")
    assert [place.session for place in kept] == ["s2", "s3"]
    assert call("s4", "c3") == "allow"
    policy = tmp_path / "policy.toml"
    policy.write_text(f"{policy.read_text()}\n# as before, by another name\n")
    assert call("s4", "c4") == "allow"
    assert len(kept) == 3
    assert kept.popitem()[1].policy in desk._policies.values()


@pytest.mark.parametrize("log", [(), ("--log", "log.db")])
def test_a_kept_session_is_not_gone_on_with_under_a_policy_that_was_changed(
    log: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session in memory is refused as one is that a process reads: it has to begin anew."""
    monkeypatch.chdir(tmp_path)
    agent, desk = CLAUDE_CODE, HookDesk()
    agent.options(tmp_path)
    policy = tmp_path / "policy.toml"
    given = policy.read_text()

    def call(name: str) -> str:
        return agent.reads(asked_of(desk, agent, tmp_path, agent.call(agent.read, name), *log))

    assert call("c1") == "allow"
    reading = f'name = "{agent.call(agent.read, "c1")["tool_name"]}"'
    assert reading in given
    policy.write_text(given.replace(reading, 'name = "another"'))
    with pytest.raises(StateUnusable, match="it is of another policy"):
        call("c2")
    policy.write_text(given)
    assert call("c3") == "allow"


def test_a_command_is_read_by_the_folder_of_its_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Any] = []
    monkeypatch.setattr(Guard, "use_world", lambda _guard, world: used.append(world))
    call = CLAUDE_CODE.call(CLAUDE_CODE.shell, "c1")
    del call["cwd"]
    folders = [tmp_path / name for name in ("hook", "service")]
    for folder in folders:
        folder.mkdir()
    monkeypatch.chdir(folders[0])
    options = options_of([*CLAUDE_CODE.options(tmp_path)[1:], "--socket", "critic.sock"])
    assert options is not None
    policy = (tmp_path / "policy.toml").read_bytes()
    request = request_of("claude-code", options, policy, json.dumps(call).encode())
    monkeypatch.chdir(folders[1])
    HookDesk().answer(request.partition(b"\r\n\r\n")[2])
    assert used[-1].folder == str(folders[0])
