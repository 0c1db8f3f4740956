"""The guide leads from an empty folder to production, with what is installed from the wheel."""

import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.meta.documents import console_lines, file_of, matches, shell, snippets
from tests.support.paths import ROOT

GUIDE: Final = ROOT / ".github" / "docs" / "guide.md"


def test_the_guide_has_twelve_steps_and_is_read_in_minutes() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    steps = [line for line in text.splitlines() if line.startswith("## ")]
    assert [step.split()[1] for step in steps] == [f"{number}." for number in range(1, 13)]
    assert len([word for word in text.split() if any(map(str.isalnum, word))]) <= 2500
    assert "prompt injection" in text


class Command(NamedTuple):
    """A command of the guide: the line, what it must print, and the files that stand before it."""

    line: str
    expected: list[str] | None
    files: dict[str, str]


def commands() -> Iterator[Command]:
    files: dict[str, str] = {}
    for snippet in snippets(GUIDE):
        if name := file_of(snippet):
            files = {**files, name: snippet.text}
        elif snippet.language == "sh":
            for line in snippet.text.splitlines():
                yield Command(line, None, files)
        elif snippet.language == "console":
            for line, expected in console_lines(snippet.text):
                yield Command(line, expected, files)


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """Return the scripts of a new environment that has the wheel, and what it depends on."""
    made = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
    packages = made / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--prefix", made, "--ignore-installed", wheel], check=True)
    # The packages that it needs, but not the checkout, which only a `.pth` file leads to.
    needed = (folder for folder in sys.path if folder.endswith("site-packages"))
    (packages / "needed.pth").write_text("\n".join(needed))
    return made / "bin"


@pytest.mark.slow
def test_twelve_commands_lead_to_a_refused_attack_and_an_honest_task(
    installed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    first, seen = list(commands())[:12], list[str]()
    assert first[0].line.startswith("python3 -m venv")
    assert first[1].line == 'pip install "plan-critic[pydantic-ai]"'
    for command in first[2:]:
        for name, text in command.files.items():
            (folder / name).write_text(text)
        printed = shell(command.line, folder, installed).stdout.splitlines()
        if command.expected is not None:
            assert matches(command.expected, printed), "\n".join([command.line, *printed])
        seen += printed
    assert "a01 turn 2: refuse" in seen  # the refund that a web page asks for
    assert "Done." in seen  # the agent did what its user asked for
