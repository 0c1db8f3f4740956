"""A copy of the project to break: its files changed, its types and its whole suite run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.support.effort import IN_FULL
from tests.support.paths import ROOT

_COPIED: Final = (".github", "critic", "evals", "harness", "tests", "fixtures")
_COPIED_FILES: Final = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md")

# What other layers run already, and what looks for the very text that a planted bug replaces.
_NOT_THE_REST: Final = (
    "tests/critic/test_laws.py",
    "tests/critic/test_differential.py",
    "tests/evals/test_differential.py",
    "tests/harness/test_cases.py",
    "tests/assurance/test_planted.py",
)
_LONGEST_SECONDS: Final = 1_200
_NOTHING_FAILED: Final = (0, 5)
"""How pytest ends when all tests passed, or when there are none."""


class Copy:
    """The project under another root. The files of the real one are never touched."""

    def __init__(self, root: Path) -> None:
        self.root = root
        skipped = shutil.ignore_patterns("__pycache__", ".*")
        for folder in _COPIED:
            shutil.copytree(ROOT / folder, root / folder, ignore=skipped)
        for name in _COPIED_FILES:
            if (ROOT / name).exists():
                shutil.copy(ROOT / name, root / name)

    def write(self, texts: Mapping[str, str]) -> None:
        """Give files of the copy other texts."""
        for file, text in texts.items():
            place = self.root / file
            place.write_text(text, "utf-8")
            # A compiled file is told from its source by the second, which is not enough here.
            for compiled in place.parent.glob(f"__pycache__/{place.stem}.*.pyc"):
                compiled.unlink()

    def type_errors(self, *paths: str) -> list[str]:
        """Return the errors of mypy under these paths, without line numbers."""
        _, said = self._python("-m", "mypy", "--no-error-summary", *paths)
        lines = [line.split(":", 2) for line in said.splitlines() if ": error:" in line]
        return [f"{file}:{message}" for file, _, message in lines]

    def failing(self, *paths: str, first: bool, without: Sequence[str] = ()) -> list[str]:
        """Return the tests that fail under these paths, or the first one of them.

        `without` names tests to leave out; a file means all of its tests.
        """
        options = [*IN_FULL, "-n0", "-p", "no:cacheprovider", "-rfE", "--tb=no"]
        options += ["-x" if first else "--continue-on-collection-errors"]
        # Deselecting a file that cannot be read would have no effect: skip it.
        files = [path for path in without if "::" not in path]
        ignored = [f"--ignore={path}" for path in (*_NOT_THE_REST, *files)]
        left_out = [f"--deselect={test}" for test in without if "::" in test]
        status, said = self._python("-m", "pytest", *options, *ignored, *left_out, *paths)
        if status in _NOTHING_FAILED:
            return []
        marks = ("FAILED ", "ERROR ")
        lines = [line for line in said.splitlines() if line.startswith(marks)]
        found = [line.partition(" ")[2].partition(" - ")[0] for line in lines]
        return found or [f"pytest ended with {status}"]

    def _python(self, *args: str) -> tuple[int, str]:
        environment = {**os.environ, "PYTHONPATH": str(self.root), "COLUMNS": "300"}
        try:
            done = subprocess.run(
                [sys.executable, *args],
                cwd=self.root,
                env=environment,
                check=False,
                capture_output=True,
                timeout=_LONGEST_SECONDS,
                text=True,
            )
        except subprocess.TimeoutExpired:
            # No notice: it may be the machine that is too busy.
            return 0, ""
        return done.returncode, done.stdout
