"""The policies that are shipped for the tools of each agent."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import validator_for

from critic.command.agent_settings import PROTECTED
from harness.integrations.hooks.dialects import DIALECTS
from harness.integrations.hooks.install import INSTALLATIONS, shipped_policy
from harness.policy import Policy, lint, parse_policy

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
def test_a_shell_is_destructive_and_restricted(name: str) -> None:
    shipped = policy(name)
    shell = shipped.tools[SHELLS[name]]
    assert shell.approval_mode == "destructive"
    needs_a_person = shipped.spec.approval_required_from == "destructive"
    has_a_pattern = shell.args_schema is not None and "pattern" in str(shell.args_schema)
    assert needs_a_person == bool(DIALECTS[name].asks)
    assert needs_a_person or has_a_pattern


@every_name
def test_what_writes_is_no_reader_and_what_leaves_is_on_the_network(name: str) -> None:
    for tool in policy(name).tool:
        words = set(re.findall(r"[A-Z]?[a-z]+", tool.called))
        lower = {word.lower() for word in words}
        if lower & {"write", "edit", "replace", "patch", "save"}:
            assert tool.approval_mode == "local_write", tool.called
        if "web" in lower:
            assert tool.approval_mode == "network"
            assert tool.result is not None
            assert tool.result.web


@every_name
def test_the_scope_of_an_installation_names_tools_of_its_policy(name: str) -> None:
    assert set(INSTALLATIONS[name].options.get("scope", ())) <= set(policy(name).tools)


@pytest.mark.parametrize("name", ["codex", "gemini"])
@given(text=st.text(alphabet=st.sampled_from("ls cat-/.aZ09;&|<>$`'\"\\\n\r\t(){}*?~#!=%^\u2028")))
def test_a_command_that_may_run_has_nothing_that_a_shell_understands(name: str, text: str) -> None:
    judge = judge_of(name, SHELLS[name])
    for command in (text, f"ls {text}", f"wc{text}", f"cat a{text}"):
        if judge.is_valid({"command": command, "cwd": "/w"}):
            assert re.fullmatch(r"[A-Za-z0-9_./ -]+", command)


def judge_of(name: str, tool: str) -> Any:
    schema = policy(name).tools[tool].args_schema
    assert schema is not None
    return validator_for(schema)


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_no_program_runs_that_obeys_files_in_its_folder(name: str) -> None:
    judge = judge_of(name, SHELLS[name])
    for command in ("git status", "git diff", "git log", "git show", "make", "npm test", "env ls"):
        assert not judge.is_valid({"command": command, "cwd": "/w"})
    assert judge.is_valid({"command": "ls -l src", "cwd": "/w"})


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
