"""Locks of files: one holder at a time, on a system of either kind, and one home for both."""

import ast
import os
import sys
from contextlib import ExitStack
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from harness.errors import UsageError
from harness.locking import has_locks, lock_file
from tests.support.paths import ROOT


class Msvcrt(ModuleType):
    """The locks of Windows, on bytes of a file, as far as one process sees them."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.__spec__ = ModuleSpec("msvcrt", None)
        self.held: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        place = os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR)
        if self.held.get(place, descriptor) != descriptor:
            raise PermissionError(13, "Permission denied")
        self.held[place] = descriptor


@pytest.fixture(params=["fcntl", "msvcrt"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Say what the system has."""
    if request.param == "msvcrt":
        monkeypatch.setitem(sys.modules, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", Msvcrt())
    return str(request.param)


def test_one_holder_keeps_all_others_out(way: str, tmp_path: Path) -> None:
    assert has_locks(), way
    with lock_file(tmp_path / "a", 0) as held:
        assert os.lseek(held, 0, os.SEEK_CUR) == 0
        with ExitStack() as others:
            others.enter_context(lock_file(tmp_path / "b", 0))
            with pytest.raises(BlockingIOError):
                others.enter_context(lock_file(tmp_path / "a", 0.02))


def test_a_system_with_neither_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("fcntl", "msvcrt"):
        monkeypatch.setitem(sys.modules, name, None)
    assert not has_locks()
    with pytest.raises(UsageError, match="needs locks of files"), lock_file(tmp_path / "a"):
        raise AssertionError("it is held")


@pytest.mark.slow
def test_no_other_module_imports_the_locks_of_a_system() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for package in ("harness", "critic", "evals")
        for path in (ROOT / package).rglob("*.py")
        if _names_in(path) & {"fcntl", "msvcrt"}
    }
    assert users == {"harness/locking.py"}


def _names_in(path: Path) -> set[str]:
    """Return what a module imports, and its texts: `import_module` takes one."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import():
                found |= {one.name for one in node.names}
            case ast.ImportFrom():
                found.add(node.module or "")
            case ast.Constant(value=str() as text):
                found.add(text)
            case _:
                pass
    return found
