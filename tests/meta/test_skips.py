"""A test that needs a program is skipped without it, but not where every program is there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.skips import ALL_THERE, fail_if_missing

PROGRAM = "needs a PostgreSQL server: there is no initdb"
DATA = "the corpus lies beside the project, not in it"


def skipped(reason: str) -> pytest.TestReport:
    place = ("test_it.py", 1, f"Skipped: {reason}")
    return pytest.TestReport("test_it.py::test", ("", 1, ""), {}, "skipped", place, "call")


@pytest.mark.parametrize(
    ("reason", "there", "outcome"),
    [(PROGRAM, True, "failed"), (PROGRAM, False, "skipped"), (DATA, True, "skipped")],
)
def test_what_is_missing_fails_where_all_is_there(
    reason: str, there: bool, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ALL_THERE, raising=False)
    if there:
        monkeypatch.setenv(ALL_THERE, "1")
    report = skipped(reason)
    fail_if_missing(report)
    assert report.outcome == outcome
    assert reason in str(report.longrepr)


@pytest.mark.slow
def test_a_run_fails_there_by_what_it_would_skip() -> None:
    """Without node the tests of pyright are skipped."""
    program = [sys.executable, "-m", "pytest", "-n0", "-m", "", "tests/evals/test_types.py"]
    folders = [str(Path(sys.executable).parent), "/usr/bin-of-no-node"]
    wanted = ["-k", "pyright", "-p", "no:cacheprovider"]
    environment = {**os.environ, ALL_THERE: "1", "PATH": os.pathsep.join(folders)}
    done = subprocess.run(
        [*program, *wanted], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout
    assert f"{ALL_THERE}, but it was skipped" in done.stdout
