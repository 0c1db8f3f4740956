"""Agents: a critic starts where nothing that the actor wrote is loaded, and its flags exist."""

import shutil
import subprocess
from pathlib import Path

import pytest

from critic.command.agent_settings import AGENT_SETTINGS
from harness.loops.code.agent_commands import (
    PRESETS,
    agent_settings,
    agent_start,
    command_line,
    names_agent_settings,
    require_program,
)
from harness.process import CommandNotStarted
from tests.harness.loops.code.scratch import git, repository


@pytest.mark.parametrize(
    ("agent", "flags"),
    [
        ("claude", ("--safe-mode", "--setting-sources user", "--strict-mcp-config")),
        ("codex", ("--ignore-user-config", "--ignore-rules", "-c project_doc_max_bytes=0")),
        ("opencode", ("OPENCODE_DISABLE_PROJECT_CONFIG=1",)),
    ],
)
def test_a_critic_preset_is_told_to_load_nothing_from_the_repository(
    agent: str, flags: tuple[str, ...]
) -> None:
    critic, actor = (" ".join(command_line(agent, None, role)) for role in ("critic", "actor"))
    assert all(flag in critic and flag not in actor for flag in flags)


@pytest.mark.parametrize("agent", sorted(PRESETS))
def test_the_installed_agent_knows_the_flags_of_its_presets(agent: str) -> None:
    if shutil.which(agent) is None:
        pytest.skip(f"{agent} is not on PATH: its flags cannot be compared with its --help")
    for preset in PRESETS[agent].values():
        words = preset.split()
        words = words[words.index(agent) :]
        command = [word for word in words[:2] if not word.startswith("-")]
        shown = subprocess.run([*command, "--help"], capture_output=True, text=True, check=False)
        known = shown.stdout + shown.stderr
        flags = [word for word in words if word.startswith("-") and word != "-"]
        assert [flag for flag in flags if flag not in known] == []


def test_the_critic_of_opencode_runs_in_an_empty_repository_and_is_told_where_the_files_are(
    tmp_path: Path,
) -> None:
    words = command_line("opencode", "a/b", "critic")
    with agent_start(words, "review this", tmp_path) as start:
        assert [place.name for place in start.folder.iterdir()] == [".git"]
        assert git(start.folder, "rev-parse", "--show-toplevel").strip() == str(start.folder)
        assert str(tmp_path) in start.prompt
        assert start.prompt.endswith("\nreview this")
    assert not start.folder.exists()


@pytest.mark.parametrize("line", ["opencode run", "claude -p", "env A=1 opencode run"])
def test_every_other_agent_runs_in_the_folder_itself(tmp_path: Path, line: str) -> None:
    with agent_start(line.split(), "do this", tmp_path) as start:
        assert (start.folder, start.prompt) == (tmp_path, "do this")


def test_the_program_behind_env_must_exist(tmp_path: Path) -> None:
    require_program(("env", "A=1", "true"), tmp_path)
    with pytest.raises(CommandNotStarted, match="command not found: no-such-agent"):
        require_program(("env", "A=1", "no-such-agent", "B=2"), tmp_path)


def test_settings_of_agents_are_named_at_any_depth_and_where_an_agent_starts(
    tmp_path: Path,
) -> None:
    repo = repository(tmp_path / "r", {"a [b]/c/x": "x\n"})
    patterns = agent_settings(repo / "a [b]" / "c", repo)
    assert len(patterns) == 4 * len(AGENT_SETTINGS)
    expected = {"**/.claude/", "/.claude", "/a\\ \\[b]/.claude", "/a\\ \\[b]/c/.claude"}
    assert expected <= {*patterns}
    assert [names_agent_settings(pattern) for pattern in patterns] == [
        not pattern.startswith("**") for pattern in patterns
    ]
    (repo / ".git/info/exclude").write_text("".join(f"{line}\n" for line in patterns))
    for name in ("CLAUDE.md", ".claude/settings.json", "a [b]/c/.mcp.json", "d/e/AGENTS.md"):
        assert git(repo, "check-ignore", "--no-index", name).strip()
