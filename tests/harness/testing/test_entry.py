"""Projects with folders named like ours: nothing of plan-critic gets in their way."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.effort import sampled
from tests.support.paths import ROOT

BESIDE = ROOT / "harness" / "top-level"
PLUGIN = ("-p", "plan_critic_entry.pytest_plugin")
NAMES = ("critic", "evals", "harness")
KINDS = {
    "a namespace": None,
    "a package": "value = 1\n",
    "a broken package": "this is not Python (\n",
    "a raising package": "raise RuntimeError('set X first')\n",
}


def a_project(folder: Path, content: str | None, *names: str) -> Path:
    """Return a project with one passing test and folders of these names."""
    for name in names:
        (folder / name).mkdir(parents=True)
        if content is not None:
            (folder / name / "__init__.py").write_text(content)
    (folder / "test_one.py").write_text("def test_one():\n    pass\n")
    return folder


def spawn(folder: Path, *command: str, path: tuple[Path, ...] = ()) -> tuple[int, str]:
    """Return the exit status of a Python command in a folder, and all it printed."""
    dropped = ("PYTEST", "COV", "PYTHON")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    places = os.pathsep.join(map(str, (*path, BESIDE, ROOT)))
    environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": places}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def run_tests(folder: Path, *args: str) -> tuple[int, str]:
    """`python -m pytest`, which puts the folder first on the import path."""
    status, told = spawn(folder, "-m", "pytest", "-p", "no:cacheprovider", *args)
    return status, re.sub(r"in [0-9.]+s", "in no time", told)


@pytest.mark.parametrize("kind", sampled(sorted({*KINDS} - {"a broken package"}), one_in=3))
def test_the_plugin_changes_nothing_in_a_project_with_folders_like_ours(
    tmp_path: Path, kind: str
) -> None:
    project = a_project(tmp_path, KINDS[kind], *NAMES)
    with_plugin = run_tests(project, *PLUGIN)
    assert with_plugin == run_tests(project)
    assert with_plugin[0] == 0


# Each kind and each name once: the message is made of both, and one does not depend on the other.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), list(zip(NAMES, sorted({*KINDS} - {"a namespace"}), strict=True))
)
def test_replaying_in_a_shadowed_project_names_the_package_and_the_fix(
    tmp_path: Path, name: str, kind: str
) -> None:
    project = a_project(tmp_path, KINDS[kind], name)
    status, told = run_tests(project, *PLUGIN, "--critic-replay", "test_one.py")
    assert status == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in told.splitlines() if line]
    assert line.startswith("ERROR: --critic-replay: ")
    assert f"package {name} of plan-critic is shadowed by {str(tmp_path / name)!r}: rename" in line


def test_laws_in_a_shadowed_project_name_the_package_and_the_fix(tmp_path: Path) -> None:
    project = a_project(tmp_path, KINDS["a package"], "evals")
    (project / "test_one.py").write_text(
        "import pytest\n\n@pytest.mark.critic_laws()\ndef test_one(critic_law):\n    critic_law()\n"
    )
    status, told = run_tests(project, *PLUGIN)
    assert status != 0
    assert "critic_laws: package evals of plan-critic is shadowed by" in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_a_folder_without_modules_shadows_nothing(tmp_path: Path) -> None:
    project = a_project(tmp_path, None, *NAMES)
    status, told = run_tests(project, *PLUGIN, "--critic-replay", "test_one.py")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "test_one.py: is neither a case file (*.json, *.toml) nor a decision log" in told


@pytest.mark.parametrize(
    ("name", "command"), [("critic", "verify"), ("evals", "doctor"), ("harness", "verify")]
)
def test_the_script_in_a_shadowed_project_says_so(tmp_path: Path, name: str, command: str) -> None:
    project = a_project(tmp_path, KINDS["a broken package"], name)
    script = "import sys; from plan_critic_entry.console import main; sys.exit(main())"
    status, told = spawn(project, "-c", script, command, path=(project,))
    assert status in (1, 2)
    assert f"package {name} " in told
    assert f"shadowed by {str(tmp_path / name)!r}: " in told  # and no package that installed it
    assert "Traceback" not in told


def test_the_doctor_names_the_folders_here_that_would_shadow_ours(tmp_path: Path) -> None:
    project = a_project(tmp_path, KINDS["a package"], *NAMES[1:])
    # As pip's script runs: the current folder is not on the import path.
    script = "import sys; sys.path.remove(''); from plan_critic_entry.console import main; main()"
    _, told = spawn(project, "-c", script, "doctor")
    assert "package critic is shadowed" not in told
    for name in NAMES[1:]:
        place = repr(str(tmp_path / name))
        assert f"ERROR package {name} is shadowed in this folder by {place}" in told


@pytest.mark.slow
def test_the_doctor_names_a_folder_here_that_ours_shadows(tmp_path: Path) -> None:
    project = a_project(tmp_path, None, *NAMES)
    script = "import sys; sys.path.remove(''); from plan_critic_entry.console import main; main()"
    assert "all sound" in spawn(project, "-c", script, "doctor")[1]
    (project / "evals" / "mine.py").write_text("")
    told = spawn(project, "-c", script, "doctor")[1]
    assert f"ERROR package evals of plan-critic shadows {str(tmp_path / 'evals')!r}" in told
