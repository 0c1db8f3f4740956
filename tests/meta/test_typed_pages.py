"""The Python of the pages passes strict type checkers, as that of a careful reader has to.

The blocks of a page are one program. `NOT_YET` names the pages that do not pass: one that does is
struck from it.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.meta.documents import PAGES, environment, snippets
from tests.support.paths import ROOT

NOT_YET: Final = frozenset({"README.md", ".github/docs/guide.md"})
"""Pages about the shop agent of the demo: its module is not here, and it returns unions."""


def written(folder: Path) -> dict[str, Path]:
    """Write the program of each page that has one, and return them by the names of the pages."""
    programs: dict[str, Path] = {}
    for page in PAGES:
        blocks = [block.text for block in snippets(page) if block.language == "python"]
        name = page.relative_to(ROOT).as_posix()
        if blocks:
            programs[name] = folder / f"page_{len(programs)}.py"
            programs[name].write_text("\n\n".join(blocks), encoding="utf-8")
    return programs


def faults(folder: Path, command: list[str], programs: dict[str, Path]) -> dict[str, list[str]]:
    """Return what a checker finds in each page that does not pass."""
    done = subprocess.run(
        [sys.executable, "-m", *command, *map(str, programs.values())],
        cwd=folder,
        env={**environment(folder), "MYPYPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if "error:" in line]
    found = {
        name: [line for line in lines if f"{path.name}:" in line] for name, path in programs.items()
    }
    assert sum(map(len, found.values())) == len(lines), done.stdout
    return {name: said for name, said in found.items() if said}


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_python_of_each_page_is_typed(checker: str, tmp_path: Path) -> None:
    programs = written(tmp_path)
    assert len(programs) > 10
    assert {*programs} >= NOT_YET
    typed = {name: path for name, path in programs.items() if name not in NOT_YET}
    settings = '{"typeCheckingMode": "standard", "reportPrivateImportUsage": false}'
    (tmp_path / "pyrightconfig.json").write_text(settings)
    command = {
        "mypy": ["mypy", "--strict", "--cache-dir", str(tmp_path / "cache")],
        "pyright": ["pyright", "--pythonpath", sys.executable],
    }[checker]
    assert faults(tmp_path, command, typed) == {}


@pytest.mark.slow
@pytest.mark.long
def test_a_page_that_passes_is_no_exception(tmp_path: Path) -> None:
    programs = {name: path for name, path in written(tmp_path).items() if name in NOT_YET}
    command = ["mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    assert faults(tmp_path, command, programs).keys() == NOT_YET
