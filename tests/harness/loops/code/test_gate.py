"""The gate: what it refuses, in all kinds, and that it fails closed."""

import asyncio
import sys
from pathlib import Path

import pytest

from harness.loops.code.check_gate import ProtectedPaths, check_patterns, judge_change, run_commands
from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.session_lines import GateRules
from harness.loops.code.workspace import Workspace
from tests.harness.loops.code.scratch import git, python, repository, write
from tests.support.effort import sampled_rows
from tests.support.examples import is_safe

FILES = {"src/a.py": "a\n", "tests/t.py": "t\n", "real/r.py": "r\n", "x.lock": "x\n"}


def rules(**given: object) -> GateRules:
    return GateRules(**{"timeout": 20.0, **given})  # type: ignore[arg-type] # by name


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = repository(tmp_path / "r", FILES)
    (folder / "link").symlink_to("real")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "link")
    return folder


def changed(repo: Path, patterns: tuple[str, ...], change: str) -> list[str]:
    with Workspace(repo) as workspace:
        protected = ProtectedPaths(patterns, workspace)
        git(repo, "-c", f"alias.do=!set -e; {change}", "do")
        return [path.decode() for path in protected.changed_in(workspace.capture())]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("patterns", "change", "expected"),
    sampled_rows(
        [
            ((), "echo b > tests/t.py", []),
            (("tests/",), "echo b > tests/t.py", ["tests/t.py"]),
            (("tests/**",), "echo b > tests/new.py", ["tests/new.py"]),
            (("tests/",), "rm tests/t.py", ["tests/t.py"]),
            (("tests/",), "git mv tests/t.py src/t.py", ["tests/t.py"]),
            (("tests/",), "mv src/a.py tests/", ["tests/a.py"]),
            (("tests/",), "rm -r tests; ln -s src tests", ["tests", "tests/t.py"]),
            (("tests/",), "chmod +x tests/t.py", ["tests/t.py"]),
            (("tests/",), "ln -s tests way; echo b > way/t.py", ["tests/t.py"]),
            (("tests/",), "echo 'tests/' > .gitignore; echo b > tests/b", ["tests/b"]),
            (("*.lock",), "echo y > x.lock; mkdir d; echo y > d/y.lock", ["d/y.lock", "x.lock"]),
            (("/x.lock",), "mkdir d; echo y > d/x.lock", []),
            (("src/", "!src/b.py"), "echo b > src/c.py", ["src/c.py"]),
            (("src/*", "!src/b.py"), "echo b > src/b.py", []),
            (("link",), "echo b > real/r.py", ["real/r.py"]),
            (("link/**",), "echo b > real/new", ["real/new"]),
            (("link/r.py",), "echo b > real/r.py", ["real/r.py"]),
            (("/x",), "echo b > real/r.py", []),
            (("new/",), "ln -s src new", ["new"]),
            (
                ("tests/",),
                "echo b > ':!y'; echo b > ':(top)x'; echo b > tests/t.py",
                ["tests/t.py"],
            ),
            ((":*",), "echo b > ':!y'", [":!y"]),
            (("link",), "rm link; ln -s src link", ["link"]),
            (("link/",), "rm link; echo b > link", ["link"]),
            (("tests/",), "echo b > src/a.py", []),
        ],
        one_in=3,
    ),
)
def test_paths_that_must_not_change(
    repo: Path, patterns: tuple[str, ...], change: str, expected: list[str]
) -> None:
    assert changed(repo, patterns, change) == expected


def test_the_commit_of_a_nested_repository_is_protected_as_its_folder(repo: Path) -> None:
    repository(repo / "vendor")
    git(repo, "add", "vendor")
    with Workspace(repo) as workspace:
        protected = ProtectedPaths(("vendor/",), workspace)
        git(repo / "vendor", "commit", "-q", "--allow-empty", "-m", "by the actor")
        assert protected.changed_in(workspace.capture()) == [b"vendor"]


def test_a_pattern_that_can_match_nothing_is_refused(tmp_path: Path) -> None:
    check_patterns(("tests/", "/a", "!b", "*.lock", "\\#c", "d/**/e", "..."), tmp_path)
    for pattern, why in (
        ("./tests/", "not a valid .gitignore pattern"),
        ("../x", "not a valid .gitignore pattern"),
        ("!a//b", "not a valid .gitignore pattern"),
        ("/", "not a valid .gitignore pattern"),
        (".", "not a valid .gitignore pattern"),
        ("a\nb\x1b", "not a valid .gitignore pattern"),
        ("#a", "is a comment"),
        (f"{tmp_path}/tests", "name it from the top"),
    ):
        with pytest.raises(CodeLoopError, match=why) as caught:
            check_patterns(("fine", pattern), tmp_path)
        assert is_safe(str(caught.value))


def test_every_refusal_of_a_change_is_reported(repo: Path) -> None:
    with Workspace(repo) as workspace:
        given = rules(protected=("tests/",), max_lines=2, max_files=1)
        protected = ProtectedPaths(given.protected, workspace)
        write(repo, {"tests/t.py": "1\n2\n", "tests/\x1bu.py": "u\n"})
        found = judge_change(given, protected, workspace.capture())
        write(repo, {"tests/t.py": "t\n"})
        (repo / "tests/\x1bu.py").unlink()
        write(repo, {"src/a.py": "b\n"})
        assert judge_change(given, protected, workspace.capture()) == ()
    assert [refusal.kind for refusal in found] == [
        *("protected_path_changed", "diff_too_large", "diff_too_large")
    ]
    assert found[0].reason == "tests/\\u001bu.py and 1 more must not change: put it back as it was"
    assert [refusal.reason for refusal in found[1:]] == [
        "changed lines: 4, allowed: 2: change less",
        "changed files: 2, allowed: 1: change less",
    ]


def test_commands_must_pass_and_what_is_none_refuses(tmp_path: Path) -> None:
    given = rules(
        commands=(
            ("true",),
            python("print('so much\\x1b'); sys.exit(4)"),
            ("no-such-check",),
        ),
    )
    slow = rules(commands=(("sleep", "60"),), timeout=0.2)
    found = [
        refusal for each in (given, slow) for refusal in asyncio.run(run_commands(each, tmp_path))
    ]
    assert [refusal.kind for refusal in found] == ["command_failed", "gate_error", "command_failed"]
    assert found[0].reason.endswith("exited with 4")
    assert found[0].detail == "so much\x1b"
    assert "command not found: no-such-check" in found[1].reason
    assert found[2].reason == "the check sleep 60 ran out of 0.2 s"
    assert all(is_safe(refusal.reason) for refusal in found)


def test_a_check_may_add_files_and_change_none(repo: Path) -> None:
    given = rules(protected=("tests/",), max_files=1, max_lines=1)
    with Workspace(repo) as workspace:
        protected = ProtectedPaths(given.protected, workspace)

        def checked(by_actor: dict[str, str], by_check: dict[str, str]) -> list[str]:
            write(repo, by_actor)
            workspace.begin_checks()
            write(repo, by_check)
            change = workspace.capture()
            return [refusal.reason for refusal in judge_change(given, protected, change)]

        report = {"report.xml": "1\n2\n", "out/x": "x\n"}
        assert checked({"new": "n\n"}, report) == []
        change = workspace.capture()
        assert change.by_checks == (b"out/x", b"report.xml")
        assert (change.files, change.lines, len(change.paths)) == (1, 1, 3)
        assert b"report.xml" in (change.diff.content() or b"")
        # What the actor makes of it later is the actor's.
        assert checked({"report.xml": "3\n"}, {}) == [
            "changed lines: 2, allowed: 1: change less",
            "changed files: 2, allowed: 1: change less",
        ]
        (repo / "report.xml").unlink()
        (why,) = checked({}, {"tests/new.py": "n\n"})
        assert why == "tests/new.py must not change: put it back as it was"
        (repo / "tests/new.py").unlink()
        for name in ("new", "src/a.py"):
            (why, *_) = checked({}, {name: "other\n"})
            assert why.startswith(f"{name} must not change: but a check changes it: run the checks")


def test_a_file_that_a_check_brings_back_or_removes_is_changed(repo: Path) -> None:
    with Workspace(repo) as workspace:
        (repo / "src/a.py").unlink()
        workspace.begin_checks()
        write(repo, {"src/a.py": "a\n"})
        assert workspace.capture().changed_by_checks == (b"src/a.py",)
        workspace.begin_checks()
        (repo / "src/a.py").unlink()
        assert workspace.capture().changed_by_checks == (b"src/a.py",)
        assert workspace.capture().changed_by_checks == ()


def test_a_change_of_the_repository_itself_is_refused(repo: Path) -> None:
    given = rules()
    with Workspace(repo) as workspace:
        protected = ProtectedPaths((), workspace)
        write(repo, {".git/hooks/pre-commit": "x\n", ".git/config": "[core]\n"})
        (found,) = judge_change(given, protected, workspace.capture())
    assert found.kind == "protected_path_changed"
    assert found.reason == ".git/config and 1 more must not change: put it back as it was"
    assert found.detail == ".git/config\n.git/hooks/pre-commit"


def test_compiled_files_of_python_are_neither_left_nor_believed(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("print('source')\n")
    words = (sys.executable, "-c", "import sys, module; sys.exit(sys.pycache_prefix is None)")
    assert asyncio.run(run_commands(rules(commands=(words,)), tmp_path)) == ()
    assert [place.name for place in tmp_path.iterdir()] == ["module.py"]
