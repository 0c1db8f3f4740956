"""A project of somebody else's: the built wheel, installed with pip in a fresh environment.

Needs the package index that pip is configured with, for the dependencies.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from harness.testing._laws.verify_laws import OF_SOURCED
from harness.testing.laws import LAWS
from tests.support.paths import ROOT
from tests.support.wheel import PIP

PROJECT = ROOT / "fixtures" / "examples" / "parcels"
LEFT_BY_TOOLS = shutil.ignore_patterns("__pycache__", ".hypothesis", ".pytest_cache")


def done(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a user would, without what this very test run brings along."""
    dropped = ("PYTHON", "PYTEST", "COV", "VIRTUAL_ENV", "HYPOTHESIS")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def succeeded(*command: str | Path, cwd: Path) -> str:
    result = done(*command, cwd=cwd)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return result.stdout


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment with the wheel, its extra, and pytest-xdist.

    What is imported is compiled then, not all that is installed.
    """
    root = tmp_path_factory.mktemp("downstream")
    venv.create(root / "venv", with_pip=False)
    inside = root / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = (f"plan-critic[testing] @ {wheel.as_uri()}", "pytest-xdist")
    succeeded(*PIP, "--python", inside, "install", "--no-compile", *wanted, cwd=root)
    return inside


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the project, far from this checkout, that tries a few examples of each law.

    That the laws hold of its manifest is tried at length in `tests.assurance`.
    """
    copy = Path(shutil.copytree(PROJECT, tmp_path / "parcels", ignore=LEFT_BY_TOOLS))
    (copy / "conftest.py").write_text(
        "from hypothesis import settings\n\n"
        "settings.register_profile('few', max_examples=3, deadline=None)\n"
        "settings.load_profile('few')\n"
    )
    return copy


# One test, so that the environment is built once, on any worker.
def test_a_project_proves_its_own_manifest(python: Path, project: Path) -> None:
    cases = project / "tests" / "cases"
    where = succeeded(python, "-c", "import critic; print(critic.__file__)", cwd=project)
    assert Path(where).is_relative_to(python.parents[1])

    pytest_ = (python, "-m", "pytest", "-p", "no:cacheprovider", "--critic-replay", cases)
    told = succeeded(*pytest_, "-n", "2", cwd=project)
    laws = len(LAWS) - len(OF_SOURCED)  # its spec has no provenance
    assert f"{laws + 6} passed" in told, told

    one = cases / "destroy.json"
    right = one.read_bytes()
    one.write_bytes(right.replace(b"step 1 mode destructive", b"step 1 mode network"))
    only_cases = (*pytest_, cases)
    failed = done(*only_cases, cwd=project)
    assert failed.returncode == 1
    assert "1 failed, 3 passed" in failed.stdout
    found = [line for line in failed.stdout.splitlines() if line.startswith("+")]
    assert any("step 1 mode destructive > safety_mode delegated" in line for line in found)

    renewed = succeeded(*only_cases, "--critic-update", cwd=project)
    assert "updated tests/cases/destroy.json" in renewed
    assert one.read_bytes() == right
    leaves_other_projects_alone(python, project.parent / "other")


def leaves_other_projects_alone(python: Path, other: Path) -> None:
    """Check a project with packages named like ours: its tests run, our plugin refuses options."""
    for name in ("critic", "evals", "harness"):
        (other / name).mkdir(parents=True)
        (other / name / "__init__.py").write_text("OWN = True\n")
    (other / "test_own.py").write_text(
        "import critic, evals, harness\n\n"
        "def test_own():\n    assert critic.OWN and evals.OWN and harness.OWN\n"
    )
    pytest_ = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    told = succeeded(*pytest_, cwd=other)
    without = succeeded(*pytest_, "-p", "no:plan-critic", cwd=other)
    assert told.splitlines()[:-1] == without.splitlines()[:-1]
    refused = done(*pytest_, "--critic-replay", ".", cwd=other)
    assert refused.returncode == 4
    assert "package harness of plan-critic is shadowed by " in refused.stderr
    script = python.with_name("critic")
    doctor = done(script, "doctor", cwd=other)
    assert doctor.returncode == 1
    assert "package harness is shadowed in this folder by " in doctor.stdout
    assert "ok: " in done(script, "verify", ROOT / "fixtures/refund/plan_b.json", cwd=other).stdout


def test_the_cases_of_the_project_are_about_its_own_manifest() -> None:
    """Run here, so that a change of the engine shows without an environment."""
    program = (
        "import json, pathlib, sys; sys.path.insert(0, '.'); import parcels; "
        "inputs = [json.loads(p.read_bytes())['input'] "
        "for p in pathlib.Path('tests/cases').glob('*.json')]; "
        "assert len(inputs) == 4; "
        "assert all(one['compiled'] == parcels.MANIFEST.wire() for one in inputs)"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", program], cwd=PROJECT, env=environ, check=True)
