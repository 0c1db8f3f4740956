"""The files by which a hook answers: no call of the agent writes them, wherever they are."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from plan_critic_entry.hook_client import answer_of, options_of, request_of

from harness.integrations.hooks.desk import HookDesk
from harness.integrations.hooks.install import shipped_policy
from tests.harness.console import Critic, Said
from tests.harness.integrations.hooks.agents import CLAUDE_CODE, Tool
from tests.harness.integrations.hooks.test_service import HEAD

OPTIONS = """\
[claude-code]
policy = "rules.toml"
state = "kept"
log = "../decisions.db"
socket = "none.sock"
"""
OWN = (
    *("conf/rules.toml", "conf/options.toml", "conf/kept/x.json"),
    *("decisions.db", "decisions.db-wal"),
)
Ask = Callable[[Tool], str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shop = tmp_path / "shop"
    for folder in (shop / ".git", shop / "conf", tmp_path / "home"):
        folder.mkdir(parents=True)
    (shop / "conf" / "rules.toml").write_bytes(shipped_policy("claude-code"))
    (shop / "conf" / "options.toml").write_text(OPTIONS)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(shop)
    return shop


@pytest.fixture(params=["alone", "service"])
def ask(request: pytest.FixtureRequest, project: Path, critic: Critic) -> Ask:
    calls = iter(range(99))
    desk, words = HookDesk(), ["claude-code", "--options", "conf/options.toml"]

    def said(event: object) -> Said:
        data = json.dumps(event).encode()
        if request.param == "alone":
            return critic("hook", *words, stdin=data)
        options = options_of(words)
        assert options is not None
        policy = Path(dict(options)["--policy"]).read_bytes()
        asked = request_of(words[0], options, policy, data)
        return Said(*answer_of(HEAD + desk.answer(asked.partition(b"\r\n\r\n")[2])))

    said({**CLAUDE_CODE.prompt("Tidy up."), "cwd": str(project)})

    def decided(tool: Tool) -> str:
        event = {**CLAUDE_CODE.call(tool, f"c{next(calls)}"), "cwd": str(project)}
        return CLAUDE_CODE.reads(said(event))

    return decided


def test_no_call_writes_what_the_hook_reads_and_writes(ask: Ask, project: Path) -> None:
    for path in OWN:
        write = Tool("Write", {"file_path": f"{project}/{path}", "content": ""})
        assert ask(write) == "deny", path
        assert ask(Tool("Bash", {"command": f"echo x > {path}"})) == "deny", path
    assert ask(Tool("Bash", {"command": "rm -rf conf"})) == "deny"
    assert ask(Tool("Bash", {"command": "cat conf/rules.toml"})) == "allow"
    for path in ("conf/new.toml", "decisions.txt"):
        assert ask(Tool("Bash", {"command": f"echo x > {path}"})) == "allow", path
