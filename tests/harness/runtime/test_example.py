"""The example of the page on loops: a second run calls no model."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.documents import snippets
from tests.support.paths import ROOT


@pytest.mark.slow
def test_it_runs_and_resumes(tmp_path: Path) -> None:
    page = snippets(ROOT / ".github" / "docs" / "loops.md")
    (example,) = [
        part.text for part in page if "greeting.jsonl" in part.text and "writer" in part.text
    ]
    command = [sys.executable, "-W", "error", "-c", example]
    said = [
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
        for _ in range(2)
    ]
    last = "approved 1 Hello, Ada. 530\n"
    asked = "the writer is asked\nthe reviewer is asked\n"
    assert said == [asked * 2 + last, last]
