"""The digest of the rules: of every file that decides, and of no other."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import rules
from harness.rules import rules_digest
from tests.support.paths import ROOT


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the sources, which the digest is taken of from now on."""
    for name in ("critic", "evals"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.setattr(rules, "files", lambda name: tmp_path / name)
    monkeypatch.setattr(rules, "rules_digest", rules_digest.__wrapped__)
    return tmp_path


def test_anybody_can_compute_it() -> None:
    """Spelled out with the standard library alone."""
    paths = [*ROOT.glob("critic/**/*.py"), *ROOT.glob("evals/**/*.py")]
    names = {path.relative_to(ROOT).as_posix(): path for path in paths}
    sources = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in names.items()
        if not name.startswith("critic/repairs/")
    }
    text = json.dumps(sources, sort_keys=True, separators=(",", ":"))
    assert rules_digest() == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "name", ["critic/checks/loop_check.py", "evals/cost.py", "critic/caveats.py"]
)
def test_changed_rules_change_it(copied: Path, name: str) -> None:
    assert rules.rules_digest() == rules_digest()
    file = copied / name
    file.write_bytes(file.read_bytes() + b"\n")
    assert rules.rules_digest() != rules_digest()


def test_new_and_missing_files_change_it(copied: Path) -> None:
    (copied / "evals" / "more.py").write_text("")
    added = rules.rules_digest()
    (copied / "evals" / "more.py").rename(copied / "critic" / "more.py")
    assert len({rules_digest(), added, rules.rules_digest()}) == 3


def test_advice_bytecode_and_line_ends_do_not_count(copied: Path) -> None:
    (copied / "critic" / "repairs" / "advise.py").write_text("")
    (copied / "evals" / "__pycache__").mkdir(exist_ok=True)
    (copied / "evals" / "__pycache__" / "cost.pyc").write_bytes(b"x")
    file = copied / "evals" / "cost.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert rules.rules_digest() == rules_digest()


def test_without_sources_there_is_none(copied: Path) -> None:
    """A program that was frozen, or compiled and stripped, still records and replays."""
    for file in copied.rglob("*.py"):
        file.unlink()
    assert rules.rules_digest() is None
    shutil.rmtree(copied / "evals")
    assert rules.rules_digest() is None


def test_it_is_computed_once_and_not_before_it_is_needed() -> None:
    script = "import harness.log.sql, harness.rules as r; print(r.rules_digest.cache_info().misses)"
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "0"
    rules_digest()
    before = rules_digest.cache_info().misses
    assert rules_digest() == rules_digest()
    assert rules_digest.cache_info().misses == before
