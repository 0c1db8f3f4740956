"""The example of the README: it runs, and a second run needs no model."""

import subprocess
import sys
from pathlib import Path

from tests.meta.test_readme import python_block


def test_it_runs_and_resumes(tmp_path: Path) -> None:
    example = python_block("Loops with a model for a critic")
    command = [sys.executable, "-W", "error", "-c", example]
    said = [
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
        for _ in range(2)
    ]
    last = "approved 1 Hello, Ada. 530\n"
    asked = "the writer is asked\nthe reviewer is asked\n"
    assert said == [asked * 2 + last, last]
