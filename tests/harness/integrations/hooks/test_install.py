"""`critic hook install`: settings that guard, keep what is there, and are never half written."""

import json
import os
import subprocess
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from plan_critic_entry import hook_client

from harness.integrations.hooks.dialects import DIALECTS
from harness.integrations.hooks.install import (
    _OTHERWISE,
    INSTALLATIONS,
    _command,
    is_as_installed,
    with_hooks,
)
from tests.harness.console import Critic, Said
from tests.harness.integrations.hooks.agents import (
    AGENTS,
    CLAUDE_CODE,
    CURSOR,
    GEMINI,
    QWEN_CODE,
    Agent,
)
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


@every_agent
def test_a_hook_is_as_installed_at_its_own_event_where_it_refuses_what_it_can(agent: Agent) -> None:
    """That goes on where it fails guards nothing, but at an event that cannot be refused."""
    installation, name = INSTALLATIONS[agent.name], agent.name
    written = with_hooks(name, {}, partial(_command, name, None))["hooks"]
    assert list(written) == list(installation.events)
    judged = DIALECTS[name].is_judged
    assert {*map(judged, installation.events)} == ({True} if agent is CURSOR else {True, False})
    for event, (entry,) in written.items():
        (handler,) = entry.get("hooks", [entry])
        own, _, otherwise = handler["command"].rpartition(" || ")
        assert (otherwise == ":") is not judged(event)
        assert [one for one in written if is_as_installed(name, one, handler)] == [event]
        for other, is_right in ((":", not judged(event)), ("true", False), (_OTHERWISE, True)):
            changed = {**handler, "command": f"{own} || {other}"}
            assert is_as_installed(name, event, changed) is is_right, (event, other)


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
        is_left = agent in (CLAUDE_CODE, QWEN_CODE) and expected == "allow"
        assert answer == ("silence" if is_left else expected)
    garbage = runs(found[agent.call(agent.read, "c1")["hook_event_name"]], "garbage")
    assert (garbage.status, agent.reads(garbage)) == (0, "deny")
    assert list((project / ".critic" / "sessions").glob("*.hold"))


@pytest.mark.slow
def test_a_plain_command_runs_in_the_agents_without_a_question(
    critic: Critic, tmp_path: Path
) -> None:
    for agent, event in ((AGENTS[1], "PreToolUse"), (AGENTS[2], "BeforeTool")):
        project = tmp_path / agent.name  # these agents name their sessions alike
        project.mkdir()
        install(critic, agent, project)
        command = commands(agent, project)[event]
        shell = agent.shell._replace(args={"command": "ls -l src"})
        asked = agent.call(shell, "c1") | {"cwd": str(project)}
        assert agent.reads(runs(command, asked)) == "allow"


@pytest.mark.slow
@pytest.mark.one_in(3)
@every_agent
def test_it_is_for_the_user_unless_a_folder_is_named(
    agent: Agent, critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "shop"
    for folder in (home, project):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(project)
    assert critic("hook", "install", agent.name).status == 0
    assert not list(project.iterdir())
    event = agent.call(agent.read, "c1")
    command = commands(agent, home)[event["hook_event_name"]]
    assert "--options" not in command
    assert agent.reads(runs(command, event)) in ("allow", "silence")
    assert list((home / ".critic" / "sessions").glob("*.hold"))
    assert (home / ".critic" / "audit.db").is_file()


def test_the_settings_of_a_user_are_where_the_agent_is_told_to_look(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "one"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "two"))
    for agent in ("claude-code", "codex"):
        critic("hook", "install", agent)
    assert (tmp_path / "one" / "settings.json").is_file()
    assert (tmp_path / "two" / "hooks.json").is_file()


@every_agent
def test_whatever_fails_before_the_hook_answers_is_refused_by_the_shell(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    install(critic, agent, tmp_path)
    event = agent.call(agent.read, "c1")
    command = commands(agent, tmp_path)[event["hook_event_name"]]
    program, _, rest = command.partition(" hook ")
    for broken in ("/no/such/critic", *(f"sh -c 'kill -{one} $$'" for one in ("KILL", "ALRM"))):
        said = runs(command.replace(program, broken, 1), event)
        assert said.status == 2, broken
        assert "critic: refused, because the hook failed" in said.err
    assert rest.startswith(f"{agent.name} --options ")


@pytest.mark.parametrize("agent", AGENTS[:-1], ids=lambda agent: agent.name)
def test_a_hook_that_fails_at_the_end_of_a_turn_does_not_hold_the_agent(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    install(critic, agent, tmp_path)
    name = "AfterAgent" if agent is GEMINI else "Stop"
    command = commands(agent, tmp_path)[name]
    program, _, _ = command.partition(" hook ")
    assert runs(command.replace(program, "/no/such/critic", 1), {}).status == 0


def test_an_agent_waits_longer_than_a_hook_takes(critic: Critic, tmp_path: Path) -> None:
    waits = {}
    for agent in AGENTS:
        install(critic, agent, tmp_path)
        entries = json.loads(settings(agent, tmp_path).read_text())["hooks"]
        (entry,) = entries[agent.call(agent.read, "c")["hook_event_name"]]
        waits[agent.name] = (entry["hooks"][0] if "hooks" in entry else entry)["timeout"]
    for name in ("gemini", "qwen-code"):  # they count milliseconds
        waits[name] /= 1000
    assert min(waits.values()) > hook_client._MOST_SECONDS


def test_agents_with_a_setting_for_a_hook_that_fails_have_it(
    critic: Critic, tmp_path: Path
) -> None:
    for agent in AGENTS:
        install(critic, agent, tmp_path)
    claude = json.loads(settings(CLAUDE_CODE, tmp_path).read_text())["hooks"]["PreToolUse"]
    assert claude[-1]["hooks"][0]["onFailure"] == "block"
    cursor = json.loads(settings(CURSOR, tmp_path).read_text())
    assert cursor["version"] == 1
    assert all(entry["failClosed"] for entries in cursor["hooks"].values() for entry in entries)


def options(agent: Agent, project: Path) -> dict[str, Any]:
    """Return the options of an agent, as they are in the file."""
    table: dict[str, Any] = tomllib.loads((project / ".critic" / "hook.toml").read_text())
    found: dict[str, Any] = table[agent.name]
    return found


@every_agent
def test_no_option_changes_what_the_agent_runs(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    install(critic, agent, tmp_path)
    path = settings(agent, tmp_path)
    before = path.read_bytes()
    (tmp_path / "run").mkdir()
    install(critic, agent, tmp_path, "--socket", f"{tmp_path}/run/../critic.sock")
    install(critic, agent, tmp_path, "--log", "postgresql://agent@h:5432/audit")
    install(critic, agent, tmp_path, "--state", f"{tmp_path}/elsewhere")
    assert path.read_bytes() == before
    found = options(agent, tmp_path)
    assert found["socket"] == str(tmp_path / "critic.sock")
    assert found["log"] == "postgresql://agent@h:5432/audit"
    assert found["state"] == str(tmp_path / "elsewhere")
    assert found["policy"] == f"{agent.name}.toml"


def test_an_entry_of_ours_keeps_its_place_among_others(critic: Critic, tmp_path: Path) -> None:
    agent = AGENTS[1]
    install(critic, agent, tmp_path)
    path = settings(agent, tmp_path)
    changed = json.loads(path.read_text())
    theirs = {"hooks": [{"type": "command", "command": "true"}]}
    ours = changed["hooks"]["PreToolUse"]
    changed["hooks"]["PreToolUse"] = [theirs, *ours, theirs, *ours]
    path.write_text(json.dumps(changed))
    install(critic, agent, tmp_path)
    assert json.loads(path.read_text())["hooks"]["PreToolUse"] == [theirs, *ours, theirs]


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
    install(critic, agent, tmp_path)
    after = json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o640
    assert (after["z"], after["permissions"]) == (1, {"deny": ["x"]})
    assert (after["hooks"]["Else"], after["hooks"]["Odd"]) == ([theirs], {"a": 1})
    assert after["hooks"][event][0] == theirs
    assert len(after["hooks"][event]) == 2
    assert f" hook {agent.name} --options " in commands(agent, tmp_path)[event]


@every_agent
@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "// a comment\n{}",
        '{"hooks": []}',
        '{"a":1,"a":2}',
        '{"a":1e400}',
        '{"hooks": {"EVENT": {}}}',
    ],
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
    assert options(CLAUDE_CODE, tmp_path)["policy"] == str(policy)


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


@pytest.mark.parametrize("name", ["policy", "state", "log"])
def test_what_guards_an_agent_is_warned_of_where_it_may_write(
    critic: Critic, tmp_path: Path, name: str
) -> None:
    (tmp_path / ".git").mkdir()
    told = "an agent that works there may write it, and so change what guards it"
    place = tmp_path / "team" / "guard"
    said = install(critic, CLAUDE_CODE, tmp_path, f"--{name}", str(place))
    assert said.status == 0
    assert f"warning: --{name} {place}: {told}: put it into the folder .critic" in said.out
    for inside in (tmp_path / ".critic" / "guard", tmp_path.parent / "team-guard"):
        said = install(critic, CLAUDE_CODE, tmp_path, f"--{name}", str(inside))
        assert (said.status, told in said.out) == (0, False)
