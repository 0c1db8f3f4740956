"""The Python of the pages passes strict type checkers, as that of a careful reader has to.

The blocks of a page are one program, but for those that are files of their own. Beside them stands
the agent that README and guide begin with, as `critic demo --shop` writes it.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.meta.documents import PAGES, environment, file_of, snippets
from tests.support.paths import FIXTURES, ROOT

SHOP: Final = FIXTURES / "examples" / "shop_agent"


def written(folder: Path) -> dict[str, Path]:
    """Write the programs of the pages, and return them by the page and the file that one names."""
    texts: dict[str, list[str]] = {}
    for page in PAGES:
        for block in snippets(page):
            if block.language == "python":
                name = f"{page.relative_to(ROOT).as_posix()} {file_of(block) or ''}".rstrip()
                texts.setdefault(name, []).append(block.text)
    programs = {name: folder / f"program_{at}.py" for at, name in enumerate(texts)}
    for name, path in programs.items():
        path.write_text("\n\n".join(texts[name]), encoding="utf-8")
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
@pytest.mark.parametrize(
    "checker",
    [
        # It reads every library of the pages anew, for a minute: of strict checkers CI has one.
        pytest.param("mypy", marks=pytest.mark.long),
        "pyright",
    ],
)
def test_the_python_of_each_page_is_typed(checker: str, tmp_path: Path) -> None:
    programs = written(tmp_path)
    assert len(programs) > 10
    assert {"README.md support.py", ".github/docs/guide.md approve.py"} <= {*programs}
    for module in ("shop.py", "script.py"):
        programs[module] = Path(shutil.copy(SHOP / module, tmp_path))
    settings = '{"typeCheckingMode": "standard", "reportPrivateImportUsage": false}'
    (tmp_path / "pyrightconfig.json").write_text(settings)
    command = {
        "mypy": ["mypy", "--strict", "--cache-dir", str(tmp_path / "cache")],
        "pyright": ["pyright", "--pythonpath", sys.executable],
    }[checker]
    assert faults(tmp_path, command, programs) == {}
