"""Every command and snippet of every page works as it is shown, and every link leads somewhere."""

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

import pytest

from harness.cases import Case, case_files, read_case
from tests.meta.api_page import FRONTS
from tests.meta.documents import (
    PAGES,
    RUN,
    SHOWN_ONLY,
    Snippet,
    console_lines,
    environment,
    file_of,
    furnish,
    matches,
    shell,
    snippets,
)
from tests.support.paths import ROOT
from tests.support.postgres import PostgresServer

NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
# The test command is what runs these tests, and the index does not have the package yet.
NOT_RUN = re.compile(r"""-m pytest$|^pip install ['"]?plan-critic""")


@pytest.fixture
def ended(tmp_path: Path) -> Iterator[None]:
    """End what a page started in its folder, and left running because it failed halfway."""
    yield
    for file in tmp_path.rglob("*.pid"):
        with suppress(OSError, ValueError):
            number = int(file.read_text())
            if Path(f"/proc/{number}/cwd").resolve().is_relative_to(tmp_path.resolve()):
                os.kill(number, signal.SIGKILL)


@pytest.fixture
def peer(name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a server to the programs of a page that needs one."""
    if name.endswith("/postgres.md"):
        server: PostgresServer = request.getfixturevalue("postgres")
        for variable, value in server.environment.items():
            monkeypatch.setenv(variable, value)


@pytest.mark.slow
@pytest.mark.usefixtures("ended")
@pytest.mark.parametrize("name", NAMES)
def test_the_page_works_as_shown(name: str, tmp_path: Path, peer: None) -> None:
    page, folder = snippets(ROOT / name), furnish(ROOT / name, tmp_path)
    assert {snippet.language for snippet in page} <= RUN | SHOWN_ONLY
    for snippet in page:
        problem = _problem(snippet, folder)
        assert not problem, f"{name} line {snippet.line}: {problem}"
    blocks = [part for part in page if part.language == "python" and not file_of(part)]
    program = "\n\n".join(part.text for part in blocks)
    if "harness.testing" in program:
        program = f"import few_examples; few_examples.load()\n{program}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{name}: {done.stderr[-2000:]}"


_IMPORT = re.compile(r"^ *(?:from|import) +((?:critic|evals|harness)\b[\w.]*)", re.MULTILINE)


def test_no_page_imports_anything_deeper_than_a_front() -> None:
    imported = {
        (name, module)
        for name in NAMES
        for snippet in snippets(ROOT / name)
        for module in _IMPORT.findall(snippet.text)
    }
    assert len(imported) > 10
    assert {(name, module) for name, module in imported if module not in FRONTS} == set()


def _problem(snippet: Snippet, folder: Path) -> str:
    match snippet.language:
        case "console":
            return _console_problem(snippet.text, folder)
        case "sh":
            lines = [line for line in snippet.text.splitlines() if not NOT_RUN.search(line)]
            done = shell("set -e\n" + "\n".join(lines), folder)
            return "" if done.returncode == 0 else done.stdout[-2000:]
        case "python" if name := file_of(snippet):
            (folder / name).write_text(snippet.text, encoding="utf-8")
        case "json":
            json.loads(snippet.text)
        case "toml":
            tomllib.loads(snippet.text)
    return ""


def _console_problem(text: str, folder: Path) -> str:
    for command, expected in console_lines(text):
        printed = shell(command, folder).stdout.splitlines()
        if not matches(expected, printed):
            return f"`{command}` prints\n" + "\n".join(printed)
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_every_link_within_the_project_leads_somewhere(name: str) -> None:
    page = ROOT / name
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("https://"):
            continue
        path = target.partition("#")[0]
        assert not path or (page.parent / path).exists(), f"{name}: {target}"


def test_the_reasons_and_caveats_explained_are_those_that_are_given() -> None:
    page = (ROOT / ".github" / "docs" / "verdicts.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\| `([^`]{25,})` \| [^|]* \|$", page, flags=re.MULTILINE)
    assert len(explained) > 20
    cases = (read_case(path) for path in case_files(ROOT / "fixtures" / "cases"))
    given = "\n".join(sorted(set(chain.from_iterable(map(_lines_of_verdict, cases)))))
    given += "\n".join(path.read_text("utf-8") for path in (ROOT / "critic").rglob("*.py"))
    assert [text for text in explained if not re.search(_pattern(text), given)] == []


def _lines_of_verdict(case: Case) -> Iterator[str]:
    verdict = case.expect.verdict if case.expect else None
    if case.command == "verify" and isinstance(verdict, dict):
        yield from verdict.get("caveats", ())
        yield from (violation["reason"] for violation in verdict.get("violations", ()))


def _pattern(text: str) -> str:
    """Return what an explained reason stands for: X, a, b, /a, /p and the like are any text."""
    parts = re.split(r"X\.Y|\bX\b|/?\b[abp]\b|\(type\)|network|\.\.\.", text)
    return ".+".join(map(re.escape, parts))


def test_every_path_that_contributing_names_exists() -> None:
    page = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:critic|evals|harness|tests|fixtures|\.github|\.ci)/[^`\s]*)`", page)
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_decision_has_its_number_and_says_what_was_weighed() -> None:
    pages = sorted((ROOT / ".github" / "decisions").glob("*.md"))
    for number, page in enumerate(pages, start=1):
        text = page.read_text(encoding="utf-8")
        assert page.name.startswith(f"{number:04}-"), page.name
        assert text.startswith(f"# {number}. "), page.name
        for part in ("**Context.** ", "**Options.** ", "**Outcome.** "):
            assert text.count(part) == 1, f"{page.name}: {part}"


def test_a_changed_output_is_noticed(tmp_path: Path) -> None:
    folder = furnish(ROOT / ".github" / "docs" / "embed.md", tmp_path)
    shown = "$ critic verify plan_b.json\nplan_b.json: ok: 3 steps\n"
    assert "2 steps" in _console_problem(shown, folder)
    assert matches(["a", "...", "z…"], ["a", "b", "c", "zebra"])
    assert not matches(["a", "...", "z"], ["b", "z"])
