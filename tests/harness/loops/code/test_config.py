"""Settings: which layer wins, and what is not a setting."""

from pathlib import Path
from typing import Any

import pytest

from harness.loops.code import config
from harness.loops.code.agent_commands import command_line, require_program, split_command
from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.config import Layer, LayerKind, Settings, layer, layers, resolve
from harness.process import CommandNotStarted
from tests.support.examples import is_safe

LAYERED = {
    "agent": "claude",
    "model": "sonnet",
    "actor": {"agent": "opencode"},
    "critic": {"model": "opus"},
}


def settings(*values: dict[str, Any]) -> Settings:
    return resolve([layer("user", f"layer {number}", value) for number, value in enumerate(values)])


DEFAULTS = {
    "max_iterations": 3,
    "timeout": 60,
    "gate": {"commands": [], "protected": [], "timeout": 5},
}


def test_a_setting_of_one_role_beats_a_setting_of_both() -> None:
    found = settings(LAYERED, DEFAULTS)
    agents = (found.actor, found.critic)
    assert [(agent.agent, agent.model) for agent in agents] == [
        ("opencode", "sonnet"),
        ("claude", "opus"),
    ]
    assert found.origins["actor.model"] == "layer 0 (model)"
    assert found.origins["critic.model"] == "layer 0"
    assert found.origins["gate.max_lines"] == "not set"


def test_a_higher_layer_wins_over_a_role_below_it() -> None:
    found = settings({"agent": "codex", "max_iterations": 7}, LAYERED, DEFAULTS)
    assert (found.actor.agent, found.actor.model) == ("codex", "sonnet")
    assert (found.critic.agent, found.critic.model) == ("codex", "opus")
    assert (found.max_iterations, found.origins["max_iterations"]) == (7, "layer 0")


def test_the_command_line_wins_over_project_user_and_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    user = tmp_path / "xdg" / "critic" / "config.toml"
    project = tmp_path / ".critic.toml"
    command = layer("command line", "command line", {"critic": {"agent": "mine"}})
    user.parent.mkdir(parents=True)
    user.write_text('agent = "claude"\nmax_iterations = 9\ntimeout = 5\n[gate]\nmax_lines = 4\n')
    project.write_text('max_iterations = 8\n[gate]\nprotected = ["tests/"]\ncommands = ["a b"]\n')
    found = resolve(layers(command, tmp_path, None))
    assert (found.actor.agent, found.critic.agent) == ("claude", "mine")
    assert (found.max_iterations, found.timeout) == (8, 5)
    assert (found.gate.protected, found.gate.max_lines) == (("tests/",), 4)
    assert (found.gate.commands, found.gate.timeout) == ((("a", "b"),), 600)
    assert found.origins["gate.max_lines"] == f"user {user}"
    assert found.origins["max_iterations"] == f"project {project}"
    assert found.origins["gate.timeout"] == "default"
    named = tmp_path / "named.toml"
    named.write_text("max_iterations = 1\n")
    assert resolve(layers(command, tmp_path, named)).max_iterations == 1
    assert resolve(layers(command, tmp_path, named)).gate.protected == ()
    with pytest.raises(FileNotFoundError):
        layers(command, tmp_path, tmp_path / "gone.toml")


LIMITS = ("max_iterations", "timeout", "gate.timeout", "gate.max_lines", "gate.max_files")


def _limited(name: str, limit: int) -> dict[str, Any]:
    table, _, key = name.rpartition(".")
    return {table: {key: limit}} if table else {key: limit}


@pytest.mark.parametrize("kind", ["project", "config"])
@pytest.mark.parametrize("name", LIMITS)
def test_a_file_of_the_project_can_only_lower_a_limit_of_the_users_own(
    name: str, kind: LayerKind
) -> None:
    def resolved(project: int, user: int | None, command: int | None = None) -> tuple[object, str]:
        values: dict[LayerKind, int | None]
        values = {"command line": command, kind: project, "user": user}
        given = [
            layer(place, place, {"agent": "claude", **_limited(name, value)})
            for place, value in values.items()
            if value is not None
        ]
        found = resolve([*given, Layer("default", "default", config.DEFAULTS)])
        value = found.gate if name.startswith("gate.") else found
        return getattr(value, name.rpartition(".")[2]), found.origins[name]

    assert resolved(8, 7) == (7, "user")
    assert resolved(6, 7) == (6, kind)
    assert resolved(7, 7) == (7, kind)
    assert resolved(8, None) == (8, kind), "only the user's own limit binds it, not a default"
    assert resolved(8, 7, 9) == (9, "command line")
    assert resolved(8, 7, 1) == (1, "command line")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('agnt = "x"', "unknown key agnt at the top: known are agent, model, max_iterations, "),
        ('[actor]\ncommand = "x"', "unknown key command in [actor]: known are agent, model"),
        ("[gate]\nmax = 1", "unknown key max in [gate]: known are commands, protected, "),
        ('"a\\u001b" = 1', "unknown key a\\u001b at the top"),
        ("max_iterations = 0", "max_iterations: input should be greater than or equal to 1"),
        ("max_iterations = -1", "max_iterations: input should be greater than or equal to 1"),
        ("max_iterations = true", "max_iterations: must be an integer"),
        ('max_iterations = "3"', "max_iterations: must be an integer"),
        ("timeout = 0", "timeout: "),
        ("timeout = nan", "timeout: "),
        ("agent = 3", "agent: must be a string"),
        ('agent = " "', "agent: "),
        ("actor = 3", "actor: must be an object"),
        ('[gate]\ncommands = "x"', "gate.commands: must be an array"),
        ('[gate]\nprotected = ["x", 3]', "gate.protected.1: must be a string"),
        ("agent = ", "not valid TOML: "),
        ("[gate", "not valid TOML: Expected ']' at the end"),
        ("\x00", "not valid TOML: "),
        (f"max_iterations = {'9' * 5_000}", "not valid TOML: "),
        (f"agent = {'[' * 100_000}", "not valid TOML: nested too deeply"),
        ("[gate]\nallow_agent_settings = true", "gate.allow_agent_settings: not allowed in this "),
        ("[gate]\nallow_agent_settings = false", "gate.allow_agent_settings: not allowed in this "),
    ],
)
def test_a_file_that_is_not_of_settings_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / ".critic.toml").write_text(text)
    with pytest.raises(CodeLoopError) as caught:
        layers(layer("command line", "command line", {}), tmp_path, None)
    assert str(caught.value).startswith(f"project {tmp_path}/.critic.toml: {why}")
    assert is_safe(str(caught.value))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".critic.toml").write_bytes(b"\xff")
    with pytest.raises(CodeLoopError, match="not valid TOML"):
        layers(layer("command line", "command line", {}), tmp_path, None)


CLAUDE = "claude -p --safe-mode --setting-sources user --strict-mcp-config"
CODEX = "codex exec --sandbox read-only --ignore-user-config --ignore-rules"
CODEX += " -c project_doc_max_bytes=0"
OPENCODE = "env OPENCODE_DISABLE_PROJECT_CONFIG=1 OPENCODE_PERMISSION="
OPENCODE += '{"external_directory":"allow","edit":"deny","bash":"deny"} opencode run --agent plan'


@pytest.mark.parametrize(
    ("agent", "model", "actor", "critic"),
    [
        ("claude", None, "claude -p --permission-mode acceptEdits", CLAUDE),
        (
            *("claude", "opus"),
            "claude -p --permission-mode acceptEdits --model opus",
            f"{CLAUDE} --model opus",
        ),
        ("codex", None, "codex exec --sandbox workspace-write -", f"{CODEX} -"),
        (
            *("codex", "o3"),
            "codex exec --sandbox workspace-write --model o3 -",
            f"{CODEX} --model o3 -",
        ),
        ("opencode", None, "opencode run", OPENCODE),
        ("opencode", "a/b", "opencode run --model a/b", f"{OPENCODE} --model a/b"),
        ("mine --x 'y z'", "m", "mine|--x|y z", "mine|--x|y z"),
        ("mine -m{model} {prompt}", "m", "mine|-mm|{prompt}", "mine|-mm|{prompt}"),
    ],
)
def test_presets_and_command_lines(agent: str, model: str | None, actor: str, critic: str) -> None:
    for role, line in (("actor", actor), ("critic", critic)):
        words = line.split("|") if "|" in line else line.split()
        assert command_line(agent, model, role) == tuple(words)  # type: ignore[arg-type] # a role


def test_what_is_not_a_command_line_is_refused(tmp_path: Path) -> None:
    for line, why in (("a 'b", "No closing quotation"), ("", "no command"), ("a\0", "no command")):
        with pytest.raises(CodeLoopError, match=why):
            split_command(line, "gate")
    with pytest.raises(CodeLoopError, match="no model is set"):
        command_line("mine {model}", None, "actor")
    with pytest.raises(CodeLoopError, match="no critic: name one with --critic"):
        settings({"actor": {"agent": "a"}}, DEFAULTS)
    for words in (("no-such-agent",), ("./agent",)):
        with pytest.raises(CommandNotStarted, match="command not found"):
            require_program(words, tmp_path)
    (tmp_path / "agent").write_text("")
    (tmp_path / "agent").chmod(0o700)
    require_program(("./agent",), tmp_path)


def test_a_link_that_leads_nowhere_is_not_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / ".critic.toml").symlink_to("gone.toml")
    with pytest.raises(FileNotFoundError):
        layers(layer("command line", "command line", {}), tmp_path, None)


def test_gates_and_protected_paths_of_all_layers_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    user, project = tmp_path / "xdg" / "critic" / "config.toml", tmp_path / ".critic.toml"
    user.parent.mkdir(parents=True)
    user.write_text('agent = "a"\n[gate]\nprotected = ["tests/"]\ncommands = ["lint", "test"]\n')
    project.write_text('[gate]\nprotected = ["/db", "!tests/"]\ncommands = ["test", "types"]\n')
    given = {"gate": {"commands": ["true"], "protected": ["docs/"]}}
    command = layer("command line", "command line", given)
    result = resolve(layers(command, tmp_path, None))
    assert result.gate.commands == (("test",), ("types",), ("lint",), ("true",))
    # The pattern of the project that lifts a protection comes before those of the user.
    assert result.gate.protected == ("/db", "!tests/", "tests/", "docs/")
    origins = (f"project {project}", f"project {project}", f"user {user}", "command line")
    assert result.protected_origins == origins
    assert result.command_origins == origins
    project.write_text("[gate]\nprotected = []\ncommands = []\n")
    result = resolve(layers(command, tmp_path, None))
    assert result.gate.protected == ("tests/", "docs/")
    assert result.gate.commands == (("lint",), ("test",), ("true",))


def test_the_user_may_let_the_actor_change_settings_of_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    user, named = tmp_path / "xdg" / "critic" / "config.toml", tmp_path / "named.toml"
    user.parent.mkdir(parents=True)
    user.write_text('agent = "a"\n')
    nothing = layer("command line", "command line", {})
    assert resolve(layers(nothing, tmp_path, None)).allow_agent_settings is False
    user.write_text('agent = "a"\n[gate]\nallow_agent_settings = true\n')
    result = resolve(layers(nothing, tmp_path, None))
    assert result.allow_agent_settings is True
    assert result.origins["gate.allow_agent_settings"] == f"user {user}"
    named.write_text("[gate]\nallow_agent_settings = true\n")
    with pytest.raises(CodeLoopError, match="not allowed in this file: use --allow-agent-settings"):
        layers(nothing, tmp_path, named)
