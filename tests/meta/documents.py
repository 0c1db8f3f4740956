"""Run what the documents show: every snippet of every page, in a folder with the examples.

- `console`: each `$ command` is run by bash, and prints exactly the lines below it; a line `...`
  matches any lines.
- `python`: the blocks of a page are one program, one after the other, warnings being errors. A
  block that begins with `# NAME.py` is a file of that name instead, for the commands below it.
- `sh`: run by bash, and must succeed.
- `json`, `toml`: must parse. `text`, `mermaid`, `diff`: only to look at.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.paths import FIXTURES, ROOT

PAGES: Final = (
    ROOT / "README.md",
    *sorted((ROOT / ".github").glob("*.md")),
    *sorted((ROOT / ".github" / "docs").glob("*.md")),
    *sorted((FIXTURES / "examples").glob("*/README.md")),
)
FROM_NOTHING: Final = (ROOT / "README.md", ROOT / ".github" / "docs" / "guide.md")
SHOWN_ONLY: Final = frozenset({"text", "mermaid", "diff"})
RUN: Final = frozenset({"console", "python", "sh", "json", "toml"})

_FILE_NAME: Final = re.compile(r"# (\w+\.py)$", re.MULTILINE)
_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SCRIPTS: Final = Path(sys.executable).parent
_TIME_LIMIT: Final = 300
_BESIDE: Final = ROOT / "tests" / "meta" / "beside"


class Snippet(NamedTuple):
    """One fenced block: its language, its text, and the line of the page that it begins at."""

    language: str
    text: str
    line: int


def file_of(snippet: Snippet) -> str | None:
    """Return the name of the file that a snippet of Python is, if it is one."""
    found = _FILE_NAME.match(snippet.text) if snippet.language == "python" else None
    return found[1] if found else None


def snippets(page: Path) -> list[Snippet]:
    """Return the fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(found[1], found[2], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def furnish(page: Path, folder: Path) -> Path:
    """Copy what a page is about into `folder`, and return the folder to run its snippets in.

    The README and the guide begin in an empty folder, an example has its own files, every other
    page the refund documents.
    """
    skipped = shutil.ignore_patterns("__pycache__", ".*")
    if page in FROM_NOTHING:
        return folder
    if page.parent.parent == FIXTURES / "examples":
        return Path(shutil.copytree(page.parent, folder / page.parent.name, ignore=skipped))
    shutil.copytree(FIXTURES / "refund", folder, ignore=skipped, dirs_exist_ok=True)
    return folder


def environment(folder: Path, scripts: Path = _SCRIPTS) -> dict[str, str]:
    """Return the environment of a user who has the scripts of an installation on the path.

    What a program keeps for its user, such as settings of agents and sessions of the code loop,
    goes below `folder`. Laws try few examples: see `tests.meta.beside`.
    """
    dropped = ("PYTEST", "COV", "HYPOTHESIS", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    git = {
        f"GIT_{who}_{what}": "ada@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    home = folder / "home"
    home.mkdir(exist_ok=True)
    user = {"HOME": str(home), "XDG_DATA_HOME": str(folder / ".user"), "COLUMNS": "100"}
    paths = {
        "PATH": os.pathsep.join([str(scripts), kept["PATH"]]),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(_BESIDE), kept.get("PYTHONPATH")])),
    }
    return {**kept, **git, **user, **paths, "PYTEST_ADDOPTS": "-p few_examples -p no:schemathesis"}


def shell(command: str, folder: Path, scripts: Path = _SCRIPTS) -> subprocess.CompletedProcess[str]:
    """Run a command as a user of bash would; standard error comes in line with the output."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(folder, scripts),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_TIME_LIMIT,
    )


def console_lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console block with the lines that it must print."""
    command, expected = "", list[str]()
    for line in text.splitlines():
        if command.endswith("\\"):
            command = f"{command[:-1]}{line.removeprefix('> ')}"
        elif line.startswith("$ "):
            if command:
                yield command, expected
            command, expected = line[2:], []
        else:
            expected.append(line)
    yield command, expected


def matches(expected: list[str], printed: list[str]) -> bool:
    """Compare lines; `...` matches any lines, also none, and `…` any text in a line."""
    parts = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace("…", ".*") + r"\n"
        for line in expected
    ]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in printed)) is not None
