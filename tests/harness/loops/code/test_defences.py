"""What an actor tries against its review, from the command line, with scripted agents."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.loops.code.session_files import sessions_folder
from harness.loops.code.session_lock import work_tree_lock
from tests.harness.console import Critic, Said
from tests.harness.loops.code.scratch import (
    DONE,
    WRITES,
    asked,
    git,
    line,
    lines_of,
    python,
    repository,
    says,
    write,
)

pytestmark = pytest.mark.slow

Loop = Callable[..., Said]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return repository(tmp_path / "r", {"sub/a.txt": "a\n", ".gitignore": "*.local.json\n"})


@pytest.fixture
def loop(critic: Critic, repo: Path) -> Loop:
    def run(*flags: str, actor: tuple[str, ...] = WRITES, folder: Path = repo) -> Said:
        agents = ("--actor", line(actor), "--critic", line(says(DONE)))
        return critic("loop", "make it so", "--dir", folder, *agents, "-n", "1", *flags)

    return run


def makes(*names: str) -> tuple[str, ...]:
    """Return an actor that writes these files over what was there."""
    code = "place = pathlib.Path({!r}); place.parent.mkdir(parents=True, exist_ok=True)\n"
    return python("".join(code.format(name) + "place.write_text('x')\n" for name in names))


def record_of(repo: Path) -> list[dict[str, object]]:
    (place,) = (repo.parent / "data" / "critic" / "sessions").iterdir()
    return lines_of(place)


SETTINGS = (
    *("CLAUDE.md", "AGENTS.md", "GEMINI.md", "sub/CLAUDE.md", ".mcp.json", "opencode.jsonc"),
    *(".claude/settings.json", ".claude/settings.local.json", "sub/.claude/x.json"),
    *(".codex/config.toml", ".opencode/plugin/x.js", "deep/er/.cursor/rules/a.mdc"),
    *(".git/hooks/pre-push", ".git/info/attributes", ".git/rebase-merge/git-rebase-todo"),
)


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_an_agent_or_git_loads_are_refused(loop: Loop, repo: Path, name: str) -> None:
    said = loop(actor=makes(name))
    assert said.status == 1
    assert f"protected_path_changed: {name} must not change" in said.err
    assert not (repo.parent / "asked").exists()


def test_the_user_may_allow_all_of_them(loop: Loop) -> None:
    made = makes(*SETTINGS, *(f"{name}.local.json" for name in SETTINGS))
    said = loop("--allow-agent-settings", actor=made)
    assert said.status == 0, said.err


def test_so_are_ignored_settings_beside_the_folder_that_agents_start_in(
    critic: Critic, repo: Path
) -> None:
    agents = ("--actor", line(makes(".claude/settings.local.json")), "--critic", "true")
    said = critic("loop", "make it so", "--dir", repo / "sub", *agents, "-n", "1")
    assert "protected_path_changed: sub/.claude/settings.local.json must not" in said.err


def test_so_is_an_ignored_link_in_the_place_of_settings(loop: Loop, repo: Path) -> None:
    write(repo, {".gitignore": ".claude\n"})
    said = loop(actor=python("os.symlink('sub', '.claude')"))
    assert (said.status, "protected_path_changed: .claude must not" in said.err) == (1, True)


def test_settings_of_git_are_refused_unless_the_user_allows_them(loop: Loop) -> None:
    said = loop(actor=("git", "config", "core.pager", "evil"))
    assert (said.status, ".git/config must not change" in said.err) == (1, True)
    flags = ("--accept-unreviewed", "--allow-agent-settings")
    assert loop(*flags, actor=("git", "config", "a.b", "c")).status == 0


def test_ignored_packages_may_bring_instructions_for_agents(loop: Loop, repo: Path) -> None:
    write(repo, {".gitignore": "node_modules/\n"})
    assert loop(actor=makes("node_modules/p/CLAUDE.md", "made.txt")).status == 0


def test_only_the_user_may_allow_settings_of_agents(loop: Loop, repo: Path) -> None:
    write(repo, {".critic.toml": "[gate]\nallow_agent_settings = true\n"})
    said = loop()
    assert said.status == 2
    assert "gate.allow_agent_settings: not allowed in this file" in said.err
    (repo / ".critic.toml").unlink()
    write(repo.parent, {"config/critic/config.toml": "[gate]\nallow_agent_settings = true\n"})
    assert loop(actor=makes("AGENTS.md")).status == 0


def test_a_dry_run_shows_each_gate_and_each_protected_path_with_its_origin(
    loop: Loop, repo: Path
) -> None:
    write(repo, {".critic.toml": '[gate]\ncommands = ["make lint"]\nprotected = ["/db/"]\n'})
    lines = loop("--dry-run", "--gate", "make test", "--protect", "docs/").lines
    assert [entry for entry in lines if entry.startswith(("  gate.commands", "  gate.prot"))][
        :-1
    ] == [
        f"  gate.commands   make lint  [project {repo}/.critic.toml]",
        "  gate.commands   make test  [command line]",
        f"  gate.protected  /db/  [project {repo}/.critic.toml]",
        "  gate.protected  docs/  [command line]",
        "  gate.protected  /.critic.toml  [always]",
    ]
    assert lines[-1].startswith("  gate.protected  AGENTS.md, AGENTS.override.md, CLAUDE.md, ")
    assert lines[-1].endswith("  [always, unless --allow-agent-settings]")
    assert "  gate.allow_agent_settings no  [default]" in lines
    lines = loop("--dry-run", "--allow-agent-settings").lines
    assert "  gate.allow_agent_settings yes  [command line]" in lines
    assert not any("AGENTS.md" in entry for entry in lines)


@pytest.mark.parametrize(
    "code",
    [
        "import shutil; shutil.rmtree('.git')",
        "import shutil; shutil.rmtree('.git'); subprocess.run(['git', 'init', '-q'], check=True)",
        "os.rename('.git', '../away'); open('.git', 'w').write('gitdir: ../away')",
    ],
)
def test_a_repository_that_is_removed_or_replaced_is_not_a_success(
    loop: Loop, repo: Path, code: str
) -> None:
    shutil.rmtree(repo / ".git")
    (repo / ".gitignore").unlink()
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "start")
    for flags in ((), ("--allow-agent-settings",)):
        before = repo.parent / "before"
        shutil.copytree(repo / ".git", before)
        said = loop(*flags, actor=python(code))
        assert said.status == 1
        assert "refused: protected_path_changed: .git must not change" in said.err
        git_dir = repo / ".git"
        shutil.rmtree(git_dir) if git_dir.is_dir() else git_dir.unlink(missing_ok=True)
        shutil.rmtree(repo.parent / "away", ignore_errors=True)
        before.rename(git_dir)


def test_a_hook_that_is_written_during_the_review_is_refused(critic: Critic, repo: Path) -> None:
    reviewer = python(f"open('.git/hooks/pre-push', 'w').write('x'); print({DONE!r})")
    flags = ("--actor", line(WRITES), "--critic", line(reviewer), "-n", "1", "--dir", repo)
    said = critic("loop", "make it so", *flags)
    assert said.status == 1
    assert ".git/hooks/pre-push must not change" in said.err


def test_a_nested_repository_is_named_to_the_critic_and_on_record(
    loop: Loop, critic: Critic, repo: Path
) -> None:
    repository(repo / "vendor")
    assert loop(actor=makes("vendor/evil.py", "made.txt")).status == 0
    assert "not seen: nested repository 'vendor'" in asked(repo)[0]
    assert record_of(repo)[1]["not_seen"] == ["vendor"]
    session = critic("sessions", "list").lines[0].split()[0]
    assert "  not seen: nested repository vendor" in critic("sessions", "show", session).lines


def test_a_second_loop_in_one_work_tree_is_refused(loop: Loop, repo: Path) -> None:
    with work_tree_lock(repo, sessions_folder().parent / "locks"):
        said = loop(folder=repo / "sub")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"critic: another session is running in {repo}: wait for its end")
    assert said.err.count("\n") == 1
    assert loop().status == 0


def test_a_file_too_large_to_review_is_refused_and_the_session_has_its_end(
    loop: Loop, repo: Path
) -> None:
    said = loop(actor=python("open('big', 'wb').truncate(513 << 20)"))
    assert said.status == 1
    assert "capture_failed: big has 513 MiB, and a file of more than 100 MiB" in said.err
    assert record_of(repo)[-1]["outcome"] == "max_iterations_reached"


def test_an_error_of_this_program_leaves_no_session_without_its_end(
    loop: Loop, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("invalid literal\x1b")

    monkeypatch.setattr("harness.loops.code.workspace.Workspace.capture", broken)
    assert loop().status == 2
    end = record_of(repo)[-1]
    assert (end["type"], end["outcome"]) == ("session_end", "failed")
    assert end["reason"] == "internal error: ValueError: invalid literal\\u001b"


@pytest.mark.parametrize("iterations", [1, 2])
def test_the_tests_of_a_project_without_a_gitignore_can_be_gate_and_protected(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, iterations: int
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # what frameworks bring is slow
    folder = repository(
        tmp_path / "r",
        {
            "adder.py": "def add(a, b):\n    return a - b\n",
            "tests/test_adder.py": "import adder\n\ndef test():\n    assert adder.add(2, 2) == 4\n",
        },
    )
    pytest_words = (sys.executable, "-m", "pytest", "-q")
    # Like most actors this one runs the tests itself, first with the old code.
    work = f"run = lambda: subprocess.run({pytest_words!r})\nrun()\n"
    work += "place = pathlib.Path('adder.py')\n"
    if iterations == 2:
        work += "if not os.path.exists('../once'): open('../once', 'w'); sys.exit()\n"
    work += "place.write_text(place.read_text().replace('-', '+'))\n"
    flags = ("--gate", line(pytest_words), "--protect", "tests/", "--max-files", "1")
    agents = ("--actor", line(python(work)), "--critic", line(says(DONE)), "--dir", folder)
    said = critic("loop", "fix add", *agents, *flags)
    assert (said.status, said.lines[0].split(",")[0]) == (
        0,
        f"success after {iterations} iteration{'s'[: iterations - 1]}",
    ), said.err
    (session,) = (tmp_path / "data" / "critic" / "sessions").iterdir()
    assert [entry["path"] for entry in lines_of(session)[-2]["diff"]["files"]] == ["adder.py"]
    assert [place.name for place in (folder / "tests").iterdir()] == ["test_adder.py"]


def test_what_a_check_adds_is_shown_to_the_critic_and_does_not_count(
    loop: Loop, repo: Path
) -> None:
    check = python("pathlib.Path('report.xml').write_text('<x/>')")
    assert loop("--gate", line(check), "--max-files", "1").status == 0
    assert "added by a check: 'report.xml'" in asked(repo)[0]
    assert record_of(repo)[1]["by_checks"] == ["report.xml"]


def test_what_a_check_does_to_protected_or_reviewed_files_is_refused(
    loop: Loop, repo: Path
) -> None:
    check = python("pathlib.Path('sub/new').write_text('x')")
    said = loop("--gate", line(check), "--protect", "sub/")
    assert (said.status, "protected_path_changed: sub/new" in said.err) == (1, True)
    check = python("pathlib.Path('made.txt').write_text('other')")
    said = loop("--accept-unreviewed", "--gate", line(check))
    assert (said.status, "changed_while_judged: made.txt" in said.err) == (1, True)
