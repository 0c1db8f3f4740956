"""The README and the overview claim only what is there: figures, commands, Python."""

import re
import shlex
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from harness.cli import build_parser
from tests.assurance.table import kept_figures, rendered, shown
from tests.support.effort import IN_FULL, LEFT_TO_CI
from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
OVERVIEW = (ROOT / ".github" / "docs" / "overview.md").read_text(encoding="utf-8")


def test_the_figures_shown_are_those_measured_on_this_very_code() -> None:
    fix = "figures of other code: run the layers again, or `python -m tests.assurance --table`"
    assert shown() == rendered(kept_figures()), fix


def test_every_command_of_the_table_is_one() -> None:
    page = (ROOT / ".github" / "docs" / "commands.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `critic ([\w-]+)", page, flags=re.MULTILINE))
    usage = build_parser().format_help()
    listed = set(re.findall(r"^    ([\w-]+)(?:  |$)", usage, flags=re.MULTILINE))
    assert named == listed


def python_block(heading: str) -> str:
    """Return the one Python block below a heading of the overview."""
    section = OVERVIEW.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    return str(code)


@pytest.mark.parametrize(
    ("document", "passes"), [("plan_a.json", False), ("plan_b.json", True), ("", False)]
)
def test_the_ten_lines_of_python_guard(document: str, passes: bool) -> None:
    code = python_block("Ten lines")
    path = ROOT / "fixtures" / "refund" / document
    data = path.read_bytes() if document else b"{}"
    script = f"{code}\nprint(guard({data!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == str(passes)


@pytest.mark.slow
def test_the_ten_lines_of_python_type_check(tmp_path: Path) -> None:
    path = tmp_path / "guard.py"
    path.write_text(python_block("Ten lines"), encoding="utf-8")
    mypy = (sys.executable, "-m", "mypy", "--strict")
    done = subprocess.run([*mypy, str(path)], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_every_import_of_the_overview_works() -> None:
    imports = re.findall(r"^\|.*?`(from [\w.]+ import [\w, ]+)`", OVERVIEW, flags=re.MULTILINE)
    assert len(imports) > 6
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(imports)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


SEARCHED = (
    *("prompt injection", "tool call", "guardrail", "human-in-the-loop", "approval", "audit log"),
    *("policy", "production", "LangGraph", "OpenAI Agents", "Pydantic AI", "MCP"),
)


def test_the_readme_is_read_in_minutes_and_has_the_words_that_are_searched_for() -> None:
    words = [word for word in README.split() if any(map(str.isalnum, word))]
    assert len(words) <= 600  # the bars of tables are not words
    assert [word for word in SEARCHED if word.lower() not in README.lower()] == []


def test_the_readme_shows_code_before_any_policy_and_no_benchmark() -> None:
    fences = re.findall(r"^```(\w+)$", README, flags=re.MULTILINE)
    assert fences == ["sh", "python", "console", "sh"]
    assert "orjson" not in README
    assert "benchmark" not in README


def test_the_readme_shows_the_rows_of_the_page_that_says_how_they_were_measured() -> None:
    page = (ROOT / ".github" / "docs" / "guard-measured.md").read_text(encoding="utf-8")
    rows = [line for line in README.splitlines() if re.match(r"\| (guesses|after `try`)", line)]
    assert len(rows) == 2
    assert all(row in page.splitlines() for row in rows)


def test_ci_runs_exactly_the_test_command() -> None:
    command = next(line for line in README.splitlines() if line.endswith("-m pytest"))
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert command in script.splitlines()


def test_ci_tries_what_the_test_command_does_not_and_each_week_all() -> None:
    pages = (
        (".ci/run", LEFT_TO_CI),
        (".ci/weekly", IN_FULL),
        (".github/CONTRIBUTING.md", IN_FULL),
    )
    for page, options in pages:
        command = shlex.join([".venv/bin/python", "-m", "pytest", *options])
        assert command in (ROOT / page).read_text(encoding="utf-8")


def test_each_week_every_layer_of_the_assurance_is_run_in_full() -> None:
    script = (ROOT / ".ci" / "weekly").read_text(encoding="utf-8").splitlines()
    assert ".venv/bin/python -m tests.assurance --dry" in script


def test_the_package_says_where_it_runs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    kinds = {one.partition(" :: ")[0] for one in project["classifiers"]}
    assert {"Operating System", "Programming Language", "Typing"} <= kinds


def test_the_marked_tests_are_left_out_by_default_and_only_they() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    addopts = shlex.split(options["tool"]["pytest"]["ini_options"]["addopts"])
    chosen = [
        word
        for option, word in pairwise(addopts)
        if option in ("-m", "-k", "--ignore", "--deselect", "--ignore-glob")
    ]
    assert chosen == ["not slow"]
