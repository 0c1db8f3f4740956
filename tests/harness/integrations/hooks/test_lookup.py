"""`critic hook check`: what each agent was seen to do in a folder, with the same files."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.integrations.hooks.install import INSTALLATIONS
from harness.integrations.hooks.lookup import codex_hash
from tests.harness.console import Critic, Said
from tests.harness.integrations.hooks.agents import AGENTS

every_name = pytest.mark.parametrize("name", [agent.name for agent in AGENTS])


@pytest.fixture
def work(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository in which an agent is started, by a shell that reads our command."""
    (home / "w" / ".git").mkdir(parents=True)
    (home / "w" / "sub").mkdir()
    monkeypatch.setenv("SHELL", "/bin/bash")
    for variable in ("GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"):
        monkeypatch.delenv(variable, raising=False)
    return home / "w"


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def trust(home: Path, name: str, folder: Path) -> None:
    """Write what the agent keeps of the trust of its user."""
    if name == "gemini":
        write(home / ".gemini" / "trustedFolders.json", {str(folder): "TRUST_FOLDER"})
    if name == "codex":
        config = home / ".codex" / "config.toml"
        known = config.read_text() if config.exists() else ""
        write(config, f'{known}[projects."{folder}"]\ntrust_level = "trusted"\n')


def review(home: Path, path: Path) -> None:
    """Write what Codex keeps of the hooks that were reviewed."""
    lines = []
    for event, entries in json.loads(path.read_text())["hooks"].items():
        label = "".join(f"_{one.lower()}" if one.isupper() else one for one in event)[1:]
        hook = entries[0]["hooks"][0]
        known = codex_hash(label, hook["command"], hook["timeout"])
        lines.append(f'[hooks.state."{path}:{label}:0:0"]\ntrusted_hash = "{known}"\n')
    config = home / ".codex" / "config.toml"
    write(config, (config.read_text() if config.exists() else "") + "".join(lines))


def installed(critic: Critic, home: Path, name: str, *more: str | Path) -> None:
    """Install, and take the steps of trust that the agent wants of its user."""
    assert critic("hook", "install", name, *more).status == 0
    trust(home, name, home / "w")
    if name == "codex":
        review(home, INSTALLATIONS[name].settings(Path(more[1]) if more else None))


@every_name
def test_nothing_installed_is_said(name: str, critic: Critic, work: Path) -> None:
    said = critic("hook", "check", name, work)
    assert said.status == 1
    assert "NOT guarded" in said.out
    assert f"critic hook install {name}" in said.lines[-1]


@every_name
def test_hooks_of_the_user_run_in_every_folder(
    name: str, critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, name)
    for folder in (work, work / "sub"):
        said = critic("hook", "check", name, folder)
        assert said.status == 0, said.out
        assert said.lines[-1] == f"{name} is guarded in {folder}"


@every_name
def test_hooks_of_a_folder_run_there_and_below_it_in_codex_alone(
    name: str, critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, name, "--project", work)
    assert critic("hook", "check", name, work).status == 0
    assert critic("hook", "check", name, work / "sub").status == (0 if name == "codex" else 1)


def test_codex_wants_the_folder_and_the_hooks_to_be_trusted(
    critic: Critic, home: Path, work: Path
) -> None:
    critic("hook", "install", "codex", "--project", work)
    review(home, work / ".codex" / "hooks.json")
    assert "is not trusted" in critic("hook", "check", "codex", work).out
    config = home / ".codex" / "config.toml"
    for level in ("untrusted", "Trusted", "ask", ""):
        write(config, f'[projects."{work}"]\ntrust_level = "{level}"\n')
        assert "is not trusted" in critic("hook", "check", "codex", work).out
    config.write_text("")
    trust(home, "codex", work)
    said = critic("hook", "check", "codex", work)
    assert (said.status, "not reviewed" in said.out) == (1, True)


def test_a_hook_that_was_changed_after_its_review_does_not_run(
    critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, "codex")
    path, config = home / ".codex" / "hooks.json", home / ".codex" / "config.toml"
    reviewed = path.read_text(), config.read_text()
    critic("hook", "install", "codex", "--log", home / "other.db")
    assert critic("hook", "check", "codex", work).status == 0
    for settings, states in (
        (reviewed[0].replace('"timeout": 60', '"timeout": 61'), reviewed[1]),
        (reviewed[0].replace(" codex --event", " codex  --event"), reviewed[1]),
        (reviewed[0], reviewed[1].replace("trusted_hash", "enabled = false\ntrusted_hash")),
        (reviewed[0], reviewed[1].replace(":0:0", ":1:0")),
        (reviewed[0], f"features.hooks = false\n{reviewed[1]}"),
        (reviewed[0], f"features.codex_hooks = false\n{reviewed[1]}"),
        (reviewed[0], "[[broken"),
    ):
        path.write_text(settings)
        config.write_text(states)
        said = critic("hook", "check", "codex", work)
        assert said.status == 1, (settings, states)
        if settings != reviewed[0]:
            assert "changed since it was reviewed" in said.out


def test_the_hash_is_that_of_codex() -> None:
    """As `hooks/list` of the app server of Codex 0.169.0 says it of the same hook."""
    known = "sha256:1e59e9eca21452beecdb7b979a99203587e61c96c003336a698f160d888bbfd9"
    command = "critic hook codex || { echo 'é' >&2; exit 2; }"
    assert codex_hash("pre_tool_use", command, 60) == known


def test_a_shell_that_reads_the_command_otherwise_is_said(
    critic: Critic, home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(critic, home, "codex")
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    said = critic("hook", "check", "codex", work)
    assert (said.status, "fish" in said.out) == (1, True)


@pytest.mark.parametrize(
    ("file", "setting"),
    [
        (".claude/settings.json", {"disableAllHooks": True}),
        (".claude/settings.local.json", {"disableAllHooks": True}),
        (".gemini/settings.json", {"hooksConfig": {"enabled": False}}),
        (".gemini/settings.json", {"hooksConfig": {"disabled": ["critic"]}}),
    ],
)
def test_a_folder_may_turn_off_the_hooks_of_the_user(
    file: str, setting: Any, critic: Critic, home: Path, work: Path
) -> None:
    name = "gemini" if "gemini" in file else "claude-code"
    installed(critic, home, name)
    write(work / file, setting)
    said = critic("hook", "check", name, work)
    assert said.status == 1
    assert str(work / file) in said.out


@pytest.mark.parametrize(
    ("rules", "status"),
    [
        ({}, 1),
        ({"w": "DO_NOT_TRUST"}, 1),
        ({"w": "TRUST_FOLDER"}, 0),
        ({".": "TRUST_FOLDER"}, 0),
        ({"w/sub": "TRUST_PARENT"}, 0),
        ({".": "TRUST_FOLDER", "w": "DO_NOT_TRUST"}, 1),
        ({"w/sub": "TRUST_FOLDER"}, 1),
    ],
)
def test_gemini_trusts_by_the_longest_rule(
    rules: dict[str, str], status: int, critic: Critic, home: Path, work: Path
) -> None:
    critic("hook", "install", "gemini")
    named = {str(home / place): level for place, level in rules.items()}
    write(home / ".gemini" / "trustedFolders.json", named)
    assert critic("hook", "check", "gemini", work).status == status


def test_the_environment_of_gemini_decides_about_trust(
    critic: Critic, home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    critic("hook", "install", "gemini")
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    assert critic("hook", "check", "gemini", work).status == 0
    trust(home, "gemini", work)
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "false")
    assert critic("hook", "check", "gemini", work).status == 1
    monkeypatch.delenv("GEMINI_CLI_TRUST_WORKSPACE")
    path = home / ".gemini" / "settings.json"
    untrusting = {**json.loads(path.read_text()), "security": {"folderTrust": {"enabled": False}}}
    write(path, untrusting)
    (home / ".gemini" / "trustedFolders.json").unlink()
    assert critic("hook", "check", "gemini", work).status == 0


@every_name
def test_a_hook_that_could_only_fail_is_said(
    name: str, critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, name)
    policy = home / ".critic" / f"{name}.toml"
    policy.write_text("no")
    assert "refuses everything" in critic("hook", "check", name, work).out
    policy.unlink()
    assert critic("hook", "check", name, work).status == 1
    (home / ".critic" / "hook.toml").unlink()
    assert critic("hook", "check", name, work).status == 1


@pytest.mark.parametrize("name", ["claude-code", "gemini", "cursor"])
def test_entries_that_do_not_guard_every_call_do_not_count(
    name: str, critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, name)
    path = INSTALLATIONS[name].settings(None)
    whole = path.read_text()
    settings = json.loads(whole)
    for entries in settings["hooks"].values():
        entries[-1]["matcher"] = "Bash"
    for text in (
        json.dumps(settings),
        whole.replace(" || {", " ; {"),
        whole.replace(f" hook {name}", f" hook x{name}"),
        json.dumps({"hooks": {}}),
        "{",
        "[]",
    ):
        path.write_text(text)
        assert critic("hook", "check", name, work).status == 1, text
    path.write_text(whole)
    assert critic("hook", "check", name, work).status == 0


def change_handlers(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change each hook of ours in the settings of an agent."""
    settings = json.loads(path.read_text())
    for entries in settings["hooks"].values():
        for entry in entries:
            for handler in entry.get("hooks", [entry]):
                change(handler)
    path.write_text(json.dumps(settings))


@every_name
@pytest.mark.parametrize(
    "change",
    [
        (" || { echo 'critic: refused, because the hook failed' >&2; exit 2; }", " || true"),
        ("exit 2", "exit 0"),
        ("; exit 2; }", "; exit 2; } || true"),
        ("^", "echo "),
        ("$", "; exit 0"),
        ("$", " >/dev/null"),
        ("$", " & exit 0"),
        (" || {", " >/dev/null || {"),
        (" || {", " || exit 0 || {"),
        (" || {", " --leave '*' || {"),
        ("^", "/bin/echo "),
        (r"^\S+ -P -m harness.cli", "/bin/echo -P -m harness.cli"),
        (r"^\S+ -P -m harness.cli", sys.executable + " -m harness.cli"),
        (r"^\S+ -P -m harness.cli", "./critic"),
        (r"--event \S+", "--event Stop"),
        (r"--event \S+", ""),
        (" --event", " --options hook.toml --event"),
    ],
)
def test_a_command_that_refuses_nothing_does_not_guard(
    name: str, change: tuple[str, str], critic: Critic, home: Path, work: Path
) -> None:
    old, new = change
    installed(critic, home, name)
    path = INSTALLATIONS[name].settings(None)

    def spoil(handler: dict[str, Any]) -> None:
        handler["command"] = re.sub(old.replace(" || {", r" \|\| \{"), new, handler["command"])

    change_handlers(path, spoil)
    if name == "codex":
        review(home, path)
    assert_not_guarded(critic("hook", "check", name, work))
    critic("hook", "install", name)
    if name == "codex":
        (home / ".codex" / "config.toml").unlink()
        review(home, path)
    assert critic("hook", "check", name, work).status == 0


def assert_not_guarded(said: Said) -> None:
    assert said.status == 1, said.out
    assert "NOT guarded" in said.lines[-2]
    assert "install" in said.lines[-1]


@every_name
@pytest.mark.parametrize(
    "fields",
    [
        {"type": "prompt"},
        {"async": True},
        {"asyncRewake": True},
        {"if": "Bash(git *)"},
        {"once": True},
        {"timeout": 1},
        {"timeout": 0.001},
        {"timeout": None},
        {"shell": "powershell"},
        {"onFailure": "allow"},
        {"failClosed": False},
        {"failClosed": 1},
    ],
    ids=str,
)
def test_a_field_that_install_does_not_write_does_not_guard(
    name: str, fields: dict[str, Any], critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, name)
    change_handlers(INSTALLATIONS[name].settings(None), lambda handler: handler.update(fields))
    assert critic("hook", "check", name, work).status == 1


def test_a_group_of_hooks_with_a_field_of_its_own_does_not_guard(
    critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, "claude-code")
    path = home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    settings["hooks"]["PreToolUse"][0]["if"] = "Bash(git *)"
    write(path, settings)
    assert_not_guarded(critic("hook", "check", "claude-code", work))


@pytest.mark.parametrize("name", ["claude-code", "gemini", "qwen-code"])
def test_what_earlier_versions_installed_still_guards(
    name: str, critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, name)
    otherwise = "{ echo 'critic: refused, because the hook failed' >&2; exit 2; }"

    def change(handler: dict[str, Any]) -> None:
        handler["command"] = re.sub(" :$", f" {otherwise}", handler["command"])

    change_handlers(INSTALLATIONS[name].settings(None), change)
    assert critic("hook", "check", name, work).status == 0


@every_name
def test_the_script_guards_as_the_module_does(
    name: str, critic: Critic, home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = home / "a place" / "critic"
    write(script, "#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    installed(critic, home, name)
    assert critic("hook", "check", name, work).status == 0


@every_name
def test_a_shadow_does_not_guard(name: str, critic: Critic, home: Path, work: Path) -> None:
    installed(critic, home, name)
    policy = home / ".critic" / f"{name}.toml"
    policy.write_text(policy.read_text().replace("[guard]", "[guard]\nshadow = true"))
    said = critic("hook", "check", name, work)
    assert said.status == 1
    assert f"{policy} is a shadow: it refuses nothing" in said.out
    assert said.lines[-1] == f"what to do: take shadow out of {policy}"


def test_tools_that_are_left_to_other_hooks_are_said(
    critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, "claude-code")
    options = home / ".critic" / "hook.toml"
    plain = options.read_text()
    options.write_text(f'{plain}leave = ["WebFetch"]\n')
    said = critic("hook", "check", "claude-code", work)
    assert (said.status, "runs, and leaves WebFetch to other hooks" in said.out) == (0, True)
    options.write_text(f'{plain}leave = ["*"]\n')
    said = critic("hook", "check", "claude-code", work)
    assert said.status == 1
    assert said.lines[-1] == f"what to do: take leave out of {options}"


@every_name
def test_the_advice_is_about_the_problem(name: str, critic: Critic, home: Path, work: Path) -> None:
    installed(critic, home, name)
    policy, options = home / ".critic" / f"{name}.toml", home / ".critic" / "hook.toml"
    known = policy.read_text(), options.read_text()

    policy.unlink()
    said = critic("hook", "check", name, work)
    assert f"refuses everything: {policy}: no such file or directory" in said.out
    assert "Errno" not in said.out
    assert said.lines[-1] == f"what to do: `critic hook install {name}` writes it anew"

    policy.write_text("[guard\n")
    said = critic("hook", "check", name, work)
    assert f"refuses everything: {policy}: " in said.out
    assert said.lines[-1] == f"what to do: correct it: `critic policy check {policy}`"

    policy.write_text(known[0])
    options.write_text("[guard\n")
    said = critic("hook", "check", name, work)
    assert f"refuses everything: {options}: " in said.out
    assert said.lines[-1] == f"what to do: correct {options}"

    for text in ("", '[other]\npolicy = "a.toml"\n', None):
        if text is None:
            options.unlink()
        else:
            options.write_text(text)
        said = critic("hook", "check", name, work)
        assert f"refuses everything: {options} has no [{name}]" in said.out
        assert said.lines[-1] == f"what to do: `critic hook install {name}` writes them"


def test_the_advice_about_a_folder_names_it(critic: Critic, home: Path, work: Path) -> None:
    project = work / "a place"
    project.mkdir()
    installed(critic, home, "claude-code", "--project", project)
    (project / ".critic" / "claude-code.toml").unlink()
    said = critic("hook", "check", "claude-code", project)
    again = f"critic hook install claude-code --project '{project}'"
    assert said.lines[-1] == f"what to do: `{again}` writes it anew"


def test_a_switch_that_is_off_is_what_the_advice_is_about(
    critic: Critic, home: Path, work: Path
) -> None:
    installed(critic, home, "claude-code")
    local = work / ".claude" / "settings.local.json"
    write(local, {"disableAllHooks": True})
    said = critic("hook", "check", "claude-code", work)
    assert said.lines[-1] == f"what to do: take disableAllHooks out of {local}"
    installed(critic, home, "gemini")
    settings = work / ".gemini" / "settings.json"
    write(settings, {"hooksConfig": {"enabled": False}})
    said = critic("hook", "check", "gemini", work)
    assert said.lines[-1] == f"what to do: change it in {settings}"


def test_settings_that_cannot_be_read_are_said(critic: Critic, home: Path, work: Path) -> None:
    installed(critic, home, "claude-code")
    path = home / ".claude" / "settings.json"
    path.write_text("{")
    said = critic("hook", "check", "claude-code", work)
    assert f"{path}: is not a JSON object" in said.out
    assert said.lines[-1] == f"what to do: correct {path}"


def test_a_folder_that_is_not_there_is_invalid(critic: Critic, work: Path) -> None:
    assert critic("hook", "check", "codex", work / "none").status == 2
