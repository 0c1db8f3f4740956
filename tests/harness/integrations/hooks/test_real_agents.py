"""The hooks in the real agents, with a scripted model on loopback: nothing leaves this machine.

The agents are those of `.ci/agents`, at pinned versions: `npm ci --prefix .ci/agents`. There are
no credentials.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from critic.command.agent_settings import PROTECTED
from harness.integrations.hooks.install import shipped_policy
from harness.integrations.hooks.lookup import codex_hash
from harness.policy import parse_policy
from tests.support.paths import ROOT
from tests.support.scripted_model import (
    Script,
    ScriptedModel,
    serving_model,
)

pytestmark = pytest.mark.slow

BIN = ROOT / ".ci" / "agents" / "node_modules" / ".bin"
CRITIC = Path(sys.executable).parent / "critic"
_BARE = {
    "HEAD": "ref: refs/heads/main",
    "config": "[core]\n+\tbare = false\n+\tworktree = ..\n"
    '+\tfsmonitor = "touch {W}/ran.txt; false"',
    "objects/k": "k",
    "refs/k": "k",
}
_PATCH = "".join(f"*** Add File: x/{name}\n+{text}\n" for name, text in _BARE.items())
_SHELL = {"command": "echo ran > ran.txt; cat ~/.netrc"}
_USUAL = {"command": "grep -c x a.py && cat a.py | wc -l && echo usual > usual.txt"}
_INSTRUCTIONS = r"(AGENTS|CLAUDE|GEMINI|QWEN)(\.[a-z]+)?\.md"
_VENDORS = ("@anthropic-ai", "@google", "@openai", "@qwen-code")
_WRITES = [
    ["write_file", {"file_path": f"{{W}}/{name}", "content": "x"}] for name in ("QWEN.md", "ok")
]
SCRIPTS: dict[str, Script] = {
    "claude": [
        [["Read", {"file_path": "{W}/a.py"}]],
        [["Bash", {**_SHELL, "description": "b"}]],
        [["Bash", {**_USUAL, "description": "u"}]],
        [
            ["Write", {"file_path": "{W}/.claude/x", "content": "x"}],
            ["Write", {"file_path": "{W}/ok", "content": "x"}],
        ],
    ],
    "codex": [
        [["exec_command", {"cmd": _SHELL["command"]}]],
        [["exec_command", {"cmd": _USUAL["command"]}]],
    ],
    "bare": [
        [["apply_patch", f"*** Begin Patch\n{_PATCH}*** End Patch\n"]],
        [["exec_command", {"cmd": "git status", "workdir": "{W}/x"}]],
    ],
    "fails": [[["view_image", {"path": "{W}/none.png"}]]],
    "gemini": [
        [["run_shell_command", _SHELL]],
        [["run_shell_command", _USUAL]],
        [["read_file", {"file_path": "{W}/a.py"}]],
    ],
    "qwen": [
        [["run_shell_command", {**_SHELL, "is_background": False}]],
        [["run_shell_command", {**_USUAL, "is_background": False}]],
        [["read_file", {"file_path": "{W}/a.py"}]],
        _WRITES,
    ],
}


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with serving_model(SCRIPTS) as served:
        yield served


@pytest.fixture
def work(home: Path) -> Path:
    """Return a repository with a file."""
    folder = home / "w"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "a.py").write_text("x = 1\n")
    return folder


def critic(home: Path, *args: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the installed `critic` for the user of a test."""
    words = [str(CRITIC), *map(str, args)]
    environment = {**os.environ, "HOME": str(home), "SHELL": "/bin/sh"}
    return subprocess.run(words, capture_output=True, text=True, env=environment, check=False)


def run(name: str, args: list[str], home: Path, folder: Path, **more: str) -> str:
    """Run an agent in a folder, and return what it said."""
    if not (BIN / name).exists():
        pytest.skip(f"{name} is not installed: npm ci --prefix .ci/agents")
    environment = {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SHELL": "/bin/sh",
        **more,
    }
    done = subprocess.run(
        [str(BIN / name), *args],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return done.stdout + done.stderr


def claude(model: ScriptedModel, home: Path, folder: Path, mode: str = "bypassPermissions") -> str:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    keys = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none", "IS_SANDBOX": "1"}
    said = f"SCRIPT=claude WORK={home / 'w'}"
    words = ["-p", said, "--model", "sonnet", "--permission-mode", mode]
    return played(model, "claude", run("claude", words, home, folder, **keys, **quiet))


def codex(model: ScriptedModel, home: Path, script: str, *options: str) -> str:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    known = config.read_text() if config.exists() else ""
    provider = f'name = "m"\nbase_url = "{model.url}/v1"\nenv_key = "KEY"\nwire_api = "responses"\n'
    head = 'model = "gpt-5.5"\nmodel_provider = "m"\n'
    config.write_text(f"{head}[model_providers.m]\n{provider}{known}")
    said = f"SCRIPT={script} WORK={home / 'w'}"
    words = ["exec", "--sandbox", "workspace-write", "--trust", *options, said]
    return played(model, script, run("codex", words, home, home / "w", KEY="none"))


def gemini(model: ScriptedModel, home: Path, folder: Path, *options: str, **more: str) -> str:
    settings(home / ".gemini" / "settings.json", "gemini-api-key")
    keys = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model.url, **more}
    said = f"SCRIPT=gemini WORK={home / 'w'}"
    words = ["-m", "gemini-2.5-pro", "--yolo", *options, "-p", said]
    return played(model, "gemini", run("gemini", words, home, folder, **keys))


def played(model: ScriptedModel, script: str, said: str) -> str:
    """Return what an agent said that has asked the model since the last time."""
    assert script in model.played, said
    model.played.clear()
    return said


def settings(path: Path, auth: str) -> None:
    """Add to settings how the agent authenticates, and that it reports nothing."""
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    known |= {"security": {"auth": {"selectedType": auth}}}
    known |= {"privacy": {"usageStatisticsEnabled": False}}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(known))


def ran(home: Path) -> bool:
    return any((home / "w").rglob("ran.txt"))


def ran_usual(home: Path) -> bool:
    """Return whether a usual command ran, which nobody has to be asked about."""
    return (home / "w" / "usual.txt").exists()


def replays(home: Path) -> None:
    said = critic(home, "replay", home / ".critic" / "audit.db")
    assert said.returncode == 0, said.stdout + said.stderr


def offers_known_tools(model: ScriptedModel, script: str, name: str) -> None:
    """Check that the shipped policy has the tools that an agent offered."""
    listed = set(parse_policy(shipped_policy(name), syntax="toml").policy.tools)
    assert model.tools[script] - UNSEEN <= listed


def lose_program(path: Path, called: str) -> None:
    """Let the command before a call name a program that is not there."""
    text = path.read_text()
    assert called in text
    path.write_text(text.replace(called, f"-none{called}"))


BYPASS = "--dangerously-bypass-hook-trust"
UNSEEN = {
    "exec_command",  # Codex names its shell Bash in events
    "write_stdin",  # fires no event
    "web_search",  # run by the provider
    "DeferredToolPlaceholder",  # never called
    "tool_call",  # events name the tool that it calls
}


@pytest.mark.parametrize("mode", ["acceptEdits", "bypassPermissions", "dontAsk"])
def test_claude_code_is_refused_and_allowed(
    model: ScriptedModel, home: Path, work: Path, mode: str
) -> None:
    critic(home, "hook", "install", "claude-code")
    claude(model, home, work, mode)
    assert not ran(home)
    assert not (work / ".claude" / "x").exists()
    assert (work / "ok").exists() is (mode != "dontAsk")
    assert ran_usual(home) is (mode != "dontAsk")
    assert "reads what has the name of a secret" in model.told["claude"]
    assert "needs approval" in model.told["claude"]
    offers_known_tools(model, "claude", "claude-code")
    replays(home)


def test_claude_code_is_guarded_in_a_sub_folder(
    model: ScriptedModel, home: Path, work: Path
) -> None:
    critic(home, "hook", "install", "claude-code")
    (work / "sub").mkdir()
    claude(model, home, work / "sub")
    assert not ran(home)


def test_a_check_foretells_that_claude_code_runs_no_hook(
    model: ScriptedModel, home: Path, work: Path
) -> None:
    critic(home, "hook", "install", "claude-code")
    (work / ".claude").mkdir()
    (work / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    assert critic(home, "hook", "check", "claude-code", work).returncode == 1
    claude(model, home, work)
    assert ran(home)


def test_claude_code_refuses_where_the_hook_is_missing(
    model: ScriptedModel, home: Path, work: Path
) -> None:
    critic(home, "hook", "install", "claude-code")
    path = home / ".claude" / "settings.json"
    lose_program(path, " hook claude-code --event PreToolUse")
    claude(model, home, work)
    assert not ran(home)
    assert not (work / "ok").exists()


def test_codex_is_refused_and_allowed(model: ScriptedModel, home: Path, work: Path) -> None:
    critic(home, "hook", "install", "codex")
    codex(model, home, "codex", BYPASS)
    assert work.is_dir()
    assert not ran(home)
    assert ran_usual(home)
    assert "blocked by PreToolUse hook" in model.told["codex"]
    offers_known_tools(model, "codex", "codex")
    replays(home)


def test_a_check_foretells_whether_codex_runs_a_hook(
    model: ScriptedModel, home: Path, work: Path
) -> None:
    critic(home, "hook", "install", "codex")
    assert critic(home, "hook", "check", "codex", work).returncode == 1
    codex(model, home, "codex")
    assert ran(home)
    (work / "ran.txt").unlink()
    path, config = home / ".codex" / "hooks.json", home / ".codex" / "config.toml"
    reviewed = ""
    for event, entries in json.loads(path.read_text())["hooks"].items():
        label = "".join(f"_{one.lower()}" if one.isupper() else one for one in event)[1:]
        hook = entries[0]["hooks"][0]
        known = codex_hash(label, hook["command"], hook["timeout"])
        reviewed += f'[hooks.state."{path}:{label}:0:0"]\ntrusted_hash = "{known}"\n'
    config.write_text(reviewed)
    critic(home, "hook", "install", "codex", "--log", home / "other.db")
    assert critic(home, "hook", "check", "codex", work).returncode == 0
    codex(model, home, "codex")
    assert not ran(home)
    assert (home / "other.db").exists()


def test_codex_runs_no_git_in_a_folder_that_it_wrote(
    model: ScriptedModel, home: Path, work: Path
) -> None:
    critic(home, "hook", "install", "codex")
    codex(model, home, "bare", BYPASS)
    assert (work / "x" / "HEAD").exists()
    assert not ran(home)


def test_a_call_of_codex_that_fails_leaves_nothing_open(
    model: ScriptedModel, home: Path, work: Path
) -> None:
    critic(home, "hook", "install", "codex")
    codex(model, home, "fails", BYPASS)
    assert work.is_dir()
    replays(home)


def test_codex_refuses_where_the_hook_is_missing(
    model: ScriptedModel, home: Path, work: Path
) -> None:
    critic(home, "hook", "install", "codex")
    path = home / ".codex" / "hooks.json"
    lose_program(path, " hook codex --event PreToolUse")
    codex(model, home, "codex", BYPASS)
    assert work.is_dir()
    assert not ran(home)


def test_gemini_is_refused_and_allowed(model: ScriptedModel, home: Path, work: Path) -> None:
    critic(home, "hook", "install", "gemini")
    gemini(model, home, work, GEMINI_CLI_TRUST_WORKSPACE="true")
    assert not ran(home)
    assert ran_usual(home)
    assert "Tool execution blocked" in model.told["gemini"]
    offers_known_tools(model, "gemini", "gemini")
    replays(home)


def test_gemini_is_guarded_without_trust_and_in_a_sub_folder(
    model: ScriptedModel, home: Path, work: Path
) -> None:
    critic(home, "hook", "install", "gemini")
    (work / "sub").mkdir()
    gemini(model, home, work / "sub", "--skip-trust")
    assert not ran(home)
    assert "Tool execution blocked" in model.told["gemini"]


def test_gemini_refuses_where_the_hook_is_missing(
    model: ScriptedModel, home: Path, work: Path
) -> None:
    critic(home, "hook", "install", "gemini")
    path = home / ".gemini" / "settings.json"
    lose_program(path, " hook gemini --event BeforeTool")
    gemini(model, home, work, GEMINI_CLI_TRUST_WORKSPACE="true")
    assert not ran(home)


def test_qwen_code_is_refused_and_allowed(model: ScriptedModel, home: Path, work: Path) -> None:
    critic(home, "hook", "install", "qwen-code")
    settings(home / ".qwen" / "settings.json", "openai")
    keys = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_MODEL": "m"}
    run("qwen", ["--yolo", "-p", f"SCRIPT=qwen WORK={work}"], home, work, **keys)
    assert not ran(home)
    assert ran_usual(home)
    assert not (work / "QWEN.md").exists()
    assert (work / "ok").exists()
    offers_known_tools(model, "qwen", "qwen-code")
    replays(home)


def test_every_file_of_instructions_that_an_agent_knows_is_protected() -> None:
    # Python takes a minute for it: the programs have hundreds of megabytes.
    found = subprocess.run(
        ["grep", "-rahowE", _INSTRUCTIONS, "--exclude=*.md", "--exclude=*.map", *_VENDORS],
        cwd=BIN.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    known = set(found.stdout.split())
    assert known >= {"AGENTS.override.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md"}
    assert known <= set(PROTECTED)
