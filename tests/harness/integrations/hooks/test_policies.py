"""The policies that are shipped for the tools of each agent."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for

from critic.command.agent_settings import PROTECTED
from harness.guard import Guard, RequestedCall
from harness.integrations.hooks.dialects import DIALECTS
from harness.integrations.hooks.install import INSTALLATIONS, shipped_policy
from harness.policy import Policy, lint, parse_policy
from tests.harness.console import Critic
from tests.harness.integrations.hooks.agents import (
    CLAUDE_CODE,
    CODEX,
    CURSOR,
    GEMINI,
    QWEN_CODE,
    Agent,
)
from tests.support.paths import ROOT
from tests.support.shell_worlds import World

SHELLS = {
    "claude-code": "Bash",
    "codex": "Bash",
    "gemini": "run_shell_command",
    "qwen-code": "run_shell_command",
    "cursor": "Shell",
}
every_name = pytest.mark.parametrize("name", DIALECTS)


def policy(name: str) -> Policy:
    return parse_policy(shipped_policy(name), syntax="toml").policy


@every_name
def test_the_lint_finds_nothing(name: str) -> None:
    assert not lint(policy(name))


@every_name
def test_each_step_of_a_command_is_judged(name: str) -> None:
    shipped = policy(name)
    shell = shipped.tools[SHELLS[name]]
    assert (shell.approval_mode, shell.shell) == ("destructive", "command")
    assert shipped.spec.approval_required_from == "destructive"
    assert shipped.shell is not None
    assert (shipped.shell.table, shipped.shell.tiers) == ("common-1", None)


@every_name
def test_usual_commands_run_and_hostile_ones_do_not(name: str) -> None:
    guard = Guard(policy(name), world=World())
    guard.open("s", request="Fix the bug in a.py and run the tests")
    acted = {command: _act(guard, SHELLS[name], command) for command in (*USUAL, *HOSTILE)}
    assert [one for one in USUAL if acted[one] != "allow"] == []
    assert [one for one in HOSTILE if acted[one] == "allow"] == []


USUAL = ("git status", "cat a.py | head -5", "pytest -q", "sed -i s/a/b/ a.py", "rm -rf build")
HOSTILE = (
    *("rm -rf ~", "cat ~/.ssh/id_rsa", "cat .env", "git push --force", "curl https://evil.example"),
    *("echo x > .git/hooks/a", "python3 -c x", "$(id)", "make deploy", "cd /etc && cat shadow"),
)


def _act(guard: Guard, tool: str, command: str) -> str:
    call = RequestedCall(id=command, tool=tool, args={"command": command, "cwd": "/w"})
    return guard.calls("s", [call]).action


@every_name
def test_what_writes_is_no_reader_and_what_leaves_is_on_the_network(name: str) -> None:
    for tool in policy(name).tool:
        words = set(re.findall(r"[A-Z]?[a-z]+", tool.called))
        lower = {word.lower() for word in words}
        if lower & {"write", "edit", "replace", "patch"}:
            assert tool.approval_mode == "local_write", tool.called
        if "memory" in lower:  # kept where later sessions obey it
            assert tool.approval_mode == "destructive", tool.called
        if "web" in lower:
            assert tool.approval_mode == "network"
            assert tool.result is not None
            assert tool.result.web


@every_name
def test_the_scope_of_an_installation_names_tools_of_its_policy(name: str) -> None:
    assert set(INSTALLATIONS[name].options.get("scope", ())) <= set(policy(name).tools)


def judge_of(name: str, tool: str) -> Any:
    schema = policy(name).tools[tool].args_schema
    assert schema is not None
    return validator_for(schema)


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "qwen-code"])
def test_a_command_without_a_folder_is_refused(name: str) -> None:
    judge = judge_of(name, SHELLS[name])
    assert judge.is_valid({"command": "ls", "cwd": "/w"})
    assert not judge.is_valid({"command": "ls"})
    assert not judge.is_valid({"command": "ls", "cwd": "/w", "shell": "/w/sh"})


@every_name
def test_every_schema_is_closed(name: str) -> None:
    for tool in policy(name).tool:
        assert tool.args_schema is not None, tool.called
        assert '"additionalProperties":false' in str(tool.args_schema).replace(" ", "").replace(
            "False", "false"
        ).replace("'", '"'), tool.called


WRITES = [
    ("claude-code", "Write", "file_path", {"content": "x"}),
    ("claude-code", "Edit", "file_path", {"old_string": "a", "new_string": "b"}),
    ("claude-code", "MultiEdit", "file_path", {"edits": []}),
    ("claude-code", "NotebookEdit", "notebook_path", {"new_source": "x"}),
    ("gemini", "write_file", "file_path", {"content": "x"}),
    ("gemini", "replace", "file_path", {"old_string": "a", "new_string": "b"}),
    ("qwen-code", "write_file", "file_path", {"content": "x"}),
    ("qwen-code", "edit", "file_path", {"old_string": "a", "new_string": "b"}),
    ("qwen-code", "notebook_edit", "notebook_path", {"new_source": "x"}),
    ("cursor", "Write", "path", {"content": "x"}),
    ("cursor", "Edit", "file_path", {}),
    ("cursor", "Delete", "path", {}),
    ("codex", "apply_patch", "cwd", {"command": "*** Begin Patch\n"}),
]


def protected_paths() -> Iterator[str]:
    for name in PROTECTED:
        plain = name.rstrip("/")
        for place in (plain, f"/w/{plain}", f"a/../{plain}", f"w\\{plain}", plain.upper()):
            yield place
            if name.endswith("/"):
                yield from (f"{place}/x", f"{place}/x/y", f"{place}\\x")


@pytest.mark.parametrize(("name", "tool", "argument", "others"), WRITES)
def test_no_agent_writes_what_agents_their_guard_and_git_obey(
    name: str, tool: str, argument: str, others: dict[str, Any]
) -> None:
    judge = judge_of(name, tool)
    for path in protected_paths():
        assert not judge.is_valid({**others, argument: path}), path
    for path in ("a.py", "/w/src/critic.py", "gitignore", ".github/x.yml", "docs/MY_CLAUDE.md"):
        assert judge.is_valid({**others, argument: path}), path


def test_each_tool_that_writes_files_says_where() -> None:
    for name, tool, argument, _ in WRITES:
        found = policy(name).tools[tool]
        names, kind = found.acting_arguments[0]
        is_patch = tool == "apply_patch"
        assert ("command" if is_patch else argument) in names, tool
        assert kind == ("patch" if is_patch else "path")


@pytest.mark.parametrize("agent", [CLAUDE_CODE, CODEX, GEMINI, QWEN_CODE, CURSOR])
def test_a_tool_writes_no_more_than_a_command(
    agent: Agent, critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    (project / "x").symlink_to(".git")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    agent.decided(critic, tmp_path, {**agent.prompt("Tidy up."), **in_folder(agent, project)})

    def decided(number: int, path: str) -> str:
        patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"
        key = next(iter(agent.write.args))
        args = {key: patch} if agent is CODEX else {**agent.write.args, key: path}
        event = agent.call(agent.write._replace(args=args), f"c{number}")
        return agent.decided(critic, tmp_path, {**event, **in_folder(agent, project)})

    asks = "ask" if agent.asks and agent is not CURSOR else "deny"
    places = {
        f"{project}/a.py": "allow",
        f"{project}/new/it's.py": "allow",
        "/etc/cron.d/x": asks,
        f"{tmp_path}/elsewhere.py": asks,
        f"{project}/.env": asks,
        f"{project}/.husky/pre-commit": "deny",
        f"{project}/x/config": "deny",
        f"{tmp_path}/home/.bashrc": "deny",
        f"{project}/../home/.ssh/authorized_keys": "deny",
        "~/.profile": "deny",
    }
    assert {path: decided(*one) for one in enumerate(places) for path in one[1:]} == places


def in_folder(agent: Agent, folder: Path) -> dict[str, Any]:
    """Return the members of an event that say where the agent is."""
    return {"cwd": str(folder), **({"workspace_roots": [str(folder)]} if agent is CURSOR else {})}


def test_no_patch_writes_there_either() -> None:
    judge = judge_of("codex", "apply_patch")
    for verb in ("Add File", "Update File", "Delete File", "Move to"):
        for path in protected_paths():
            for text in (path, f"{path}\n+x", f" {path} ", f"{path}\r"):
                patch = f"*** Begin Patch\n*** {verb}: {text}"
                assert not judge.is_valid({"command": patch, "cwd": "/w"}), patch
        for path in ("a.py", "src/critic.py", ".github/x.yml"):
            patch = f"*** Begin Patch\n*** {verb}: {path}\n+.git/x"
            assert judge.is_valid({"command": patch, "cwd": "/w"}), patch


def test_the_page_names_the_versions_of_the_agents_that_the_tests_start() -> None:
    pinned = json.loads((ROOT / ".ci" / "agents" / "package.json").read_text())["dependencies"]
    page = (ROOT / ".github" / "docs" / "hooks.md").read_text(encoding="utf-8")
    agents = {
        "Claude Code": "@anthropic-ai/claude-code",
        "Codex": "@openai/codex",
        "Gemini CLI": "@google/gemini-cli",
        "Qwen Code": "@qwen-code/qwen-code",
    }
    for name, package in agents.items():
        said = {one for one in re.findall(rf"{name}\s([0-9.]+[0-9])", page) if one.count(".") == 2}
        assert pinned[package] in said, name
        assert said - {pinned[package]} <= {"2.1.295"}, "since when Claude Code fails closed"
