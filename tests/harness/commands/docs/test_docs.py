"""`critic docs` prints the pages, in a checkout and in an installation of the wheel."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from harness.cli import main
from tests.support.paths import ROOT

PAGES = {page.stem: page for page in (ROOT / ".github" / "docs").glob("*.md")}


def test_all_pages_are_listed_with_their_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs"]) == 0
    listed = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert [name for name, _ in listed] == sorted(PAGES)
    assert ["guard", "The guard"] in listed


@pytest.mark.parametrize("given", ["policy", "policy.md"])
def test_a_page_is_printed_as_it_is(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", given]) == 0
    assert capsys.readouterr().out == PAGES["policy"].read_text("utf-8")


@pytest.mark.parametrize("given", ["polcy", "../SECURITY", "a\nb", ""])
def test_another_name_is_told(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", given]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert ("did you mean policy?" in told.err) == (given == "polcy")


@pytest.mark.slow
def test_the_wheel_has_the_pages(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = "from harness.cli import main; main(['docs', 'langchain'])"
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True
    )
    assert told.stdout.decode() == PAGES["langchain"].read_text("utf-8")
    kept = {page.name for page in (tmp_path / "harness" / "_docs").glob("*.md")}
    assert kept == {page.name for page in PAGES.values()}
