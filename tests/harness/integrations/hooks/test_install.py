"""`critic hook install`: settings that guard, keep what is there, and are never half written."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.integrations.hooks.install import INSTALLATIONS
from tests.harness.console import Critic, Said
from tests.harness.integrations.hooks.agents import AGENTS, CLAUDE_CODE, CURSOR, Agent
from tests.support.paths import ROOT

every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)


def settings(agent: Agent, project: Path) -> Path:
    return project / INSTALLATIONS[agent.name].file


def install(critic: Critic, agent: Agent, project: Path, *more: str) -> Said:
    return critic("hook", "install", agent.name, "--project", project, *more)


def commands(agent: Agent, project: Path) -> dict[str, str]:
    """Return the command of each event, as the agent finds it."""
    hooks = json.loads(settings(agent, project).read_text())["hooks"]
    last = {event: entries[-1] for event, entries in hooks.items() if type(entries) is list}
    return {
        event: entry["command"] if agent is CURSOR else entry["hooks"][0]["command"]
        for event, entry in last.items()
    }


def runs(command: str, event: Any) -> Said:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(  # noqa: S602 - as the agents run it
        command,
        shell=True,
        input=json.dumps(event),
        capture_output=True,
        text=True,
        env=environment,
        cwd="/",
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
@every_agent
def test_what_is_installed_guards(agent: Agent, critic: Critic, tmp_path: Path) -> None:
    project = tmp_path / "a project; with 'marks'"
    project.mkdir()
    assert install(critic, agent, project).status == 0
    found = commands(agent, project)
    assert {event for event in found if event in agent.prompt("x").values()}
    for event, expected in (
        (agent.call(agent.read, "c1"), "allow"),
        (agent.call(agent.foreign, "c2"), "deny"),
    ):
        answer = agent.reads(runs(found[event["hook_event_name"]], event))
        # What is allowed is left to the agent, where it can be told so.
        assert answer == ("silence" if (agent, expected) == (CLAUDE_CODE, "allow") else expected)
    garbage = runs(found[agent.call(agent.read, "c1")["hook_event_name"]], "garbage")
    assert (garbage.status, agent.reads(garbage)) == (0, "deny")
    assert list((project / ".critic" / "sessions").glob("*.jsonl"))


def test_a_plain_command_runs_in_the_agents_without_a_question(
    critic: Critic, tmp_path: Path
) -> None:
    for agent, event in ((AGENTS[1], "PreToolUse"), (AGENTS[2], "BeforeTool")):
        install(critic, agent, tmp_path)
        command = commands(agent, tmp_path)[event]
        shell = agent.shell._replace(args={"command": "git status"})
        assert agent.reads(runs(command, agent.call(shell, "c1"))) == "allow"


def test_each_agent_has_its_own_flag_or_says_that_there_is_none(
    critic: Critic, tmp_path: Path
) -> None:
    said = {agent.name: install(critic, agent, tmp_path).out for agent in AGENTS}
    claude = json.loads(settings(CLAUDE_CODE, tmp_path).read_text())["hooks"]["PreToolUse"]
    assert claude[-1]["hooks"][0]["onFailure"] == "block"
    cursor = json.loads(settings(CURSOR, tmp_path).read_text())
    assert cursor["version"] == 1
    assert all(entry["failClosed"] for entries in cursor["hooks"].values() for entry in entries)
    for name in ("codex", "gemini"):
        assert "no setting that refuses" in said[name]


def test_the_socket_of_a_service_is_named_where_it_is(critic: Critic, tmp_path: Path) -> None:
    agent = AGENTS[0]
    (tmp_path / "run").mkdir()
    for _ in range(2):
        install(critic, agent, tmp_path, "--socket", f"{tmp_path}/run/../critic.sock")
        for command in commands(agent, tmp_path).values():
            words = shlex.split(command)
            assert words[words.index("--socket") + 1] == str(tmp_path / "critic.sock")


@every_agent
def test_installing_again_changes_nothing(agent: Agent, critic: Critic, tmp_path: Path) -> None:
    install(critic, agent, tmp_path)
    path = settings(agent, tmp_path)
    before = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
    assert "there already" in install(critic, agent, tmp_path).out
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) == before


@every_agent
def test_what_was_there_is_kept(agent: Agent, critic: Critic, tmp_path: Path) -> None:
    install(critic, agent, tmp_path)
    path = settings(agent, tmp_path)
    ours = json.loads(path.read_text())
    event = agent.call(agent.read, "c")["hook_event_name"]
    theirs = {"matcher": "x", "hooks": [{"type": "command", "command": "true"}], "command": "true"}
    mixed = {
        "z": 1,
        "hooks": {"Else": [theirs], "Odd": {"a": 1}, event: [theirs, *ours["hooks"][event]]},
        "permissions": {"deny": ["x"]},
    }
    path.write_text(json.dumps(mixed))
    path.chmod(0o640)
    install(critic, agent, tmp_path, "--log", str(tmp_path / "audit.db"))
    after = json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o640
    assert (after["z"], after["permissions"]) == (1, {"deny": ["x"]})
    assert (after["hooks"]["Else"], after["hooks"]["Odd"]) == ([theirs], {"a": 1})
    assert after["hooks"][event][0] == theirs
    assert len(after["hooks"][event]) == 2
    assert "--log" in shlex.split(commands(agent, tmp_path)[event])


def test_the_url_of_a_log_is_kept_as_it_is(critic: Critic, tmp_path: Path) -> None:
    url = "postgresql://agent@h:5432/audit"
    install(critic, CURSOR, tmp_path, "--log", url)
    for command in commands(CURSOR, tmp_path).values():
        assert url in shlex.split(command)


@every_agent
@pytest.mark.parametrize(
    "text",
    ["{", "[]", "// a comment\n{}", '{"hooks": []}', '{"a":1,"a":2}', '{"hooks": {"EVENT": {}}}'],
)
def test_settings_that_cannot_be_read_are_left_as_they_are(
    agent: Agent, critic: Critic, tmp_path: Path, text: str
) -> None:
    path = settings(agent, tmp_path)
    path.parent.mkdir(parents=True)
    text = text.replace("EVENT", agent.call(agent.read, "c")["hook_event_name"])
    path.write_text(text)
    said = install(critic, agent, tmp_path)
    assert said.status == 2
    assert "correct it first" in said.err
    assert path.read_text() == text
    assert not (tmp_path / ".critic").exists()


def test_a_policy_that_is_there_is_used_and_has_to_be_one(critic: Critic, tmp_path: Path) -> None:
    policy = tmp_path / "mine.toml"
    policy.write_text("no")
    said = install(critic, CLAUDE_CODE, tmp_path, "--policy", str(policy))
    assert said.status == 2
    assert not settings(CLAUDE_CODE, tmp_path).exists()
    policy.unlink()
    install(critic, CLAUDE_CODE, tmp_path, "--policy", str(policy))
    text = policy.read_text() + "\n# mine\n"
    policy.write_text(text)
    install(critic, CLAUDE_CODE, tmp_path, "--policy", str(policy))
    assert policy.read_text() == text
    assert str(policy) in commands(CLAUDE_CODE, tmp_path)["PreToolUse"]


def test_a_write_that_fails_leaves_the_settings_whole(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settings(CLAUDE_CODE, tmp_path)
    path.parent.mkdir()
    path.write_text("{}")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fails)
    assert install(critic, CLAUDE_CODE, tmp_path).status == 2
    assert path.read_text() == "{}"
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


def test_hooks_that_are_turned_off_are_told(critic: Critic, tmp_path: Path) -> None:
    path = settings(CLAUDE_CODE, tmp_path)
    path.parent.mkdir()
    path.write_text('{"disableAllHooks": true}')
    assert "disableAllHooks" in install(critic, CLAUDE_CODE, tmp_path).out


def test_a_project_that_is_not_there_is_told(critic: Critic, tmp_path: Path) -> None:
    said = install(critic, CLAUDE_CODE, tmp_path / "none")
    assert (said.status, said.out) == (2, "")
    assert critic("hook", "install", "nobody").status == 2
