"""One session at a time in a work tree."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.loops.code.session_lock import WorkTreeInUse, work_tree_lock
from tests.support.examples import is_safe
from tests.support.paths import ROOT


def test_a_second_session_is_refused_while_the_first_one_runs(tmp_path: Path) -> None:
    root, other = tmp_path / "r\x1b", tmp_path / "other"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    with work_tree_lock(root, tmp_path / "locks"):
        for same in (root, tmp_path / "link"):
            with (
                pytest.raises(WorkTreeInUse, match="another session is running in ") as caught,
                work_tree_lock(same, tmp_path / "locks"),
            ):
                pass
            assert is_safe(str(caught.value))
        with work_tree_lock(other, tmp_path / "locks"):
            pass
    with work_tree_lock(root, tmp_path / "locks"):
        pass


def test_a_session_that_was_killed_leaves_no_lock(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, time\nfrom harness.loops.code.session_lock import work_tree_lock\n"
        f"with work_tree_lock(pathlib.Path({str(tmp_path)!r}), pathlib.Path('locks')):\n"
        "    pathlib.Path('held').touch()\n    time.sleep(60)"
    )
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}) as process:
        while not (tmp_path / "held").exists():
            assert process.poll() is None
            time.sleep(0.01)
        with pytest.raises(WorkTreeInUse), work_tree_lock(tmp_path, tmp_path / "locks"):
            pass
        process.kill()
    with work_tree_lock(tmp_path, tmp_path / "locks"):
        pass
