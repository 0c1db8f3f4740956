"""The policies that are shipped for the tools of each agent."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import validator_for

from harness.integrations.hooks.dialects import DIALECTS
from harness.integrations.hooks.install import INSTALLATIONS, shipped_policy
from harness.policy import Policy, lint, parse_policy

SHELLS = {
    "claude-code": "Bash",
    "codex": "Bash",
    "gemini": "run_shell_command",
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
    schema = policy(name).tools[SHELLS[name]].args_schema
    assert schema is not None
    judge = validator_for(schema)
    for command in (text, f"ls {text}", f"git status{text}", f"cat a{text}"):
        if judge.is_valid({"command": command}):
            assert re.fullmatch(r"[A-Za-z0-9_./ -]+", command)
