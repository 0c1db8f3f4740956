"""A file is there as a whole or not at all, and a command that failed can run again."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.whole_files import file_beside, new_file, write_whole


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _made(path: Path) -> None:
    with new_file(path) as partial:
        partial.write_text("all", encoding="utf-8")


def _written(path: Path) -> None:
    write_whole(path, ["a", "ll"])


WRITERS = (_made, _written)


@pytest.mark.parametrize("write", WRITERS)
def test_it_has_its_name_when_it_is_whole(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "file")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "all"
    assert _names(tmp_path) == ["file"]


@pytest.mark.parametrize("code", [None, errno.ENOSPC])
@pytest.mark.parametrize("writer", WRITERS)
def test_nothing_is_left_of_one_that_failed(
    tmp_path: Path, code: int | None, writer: Callable[[Path], None]
) -> None:
    def fail() -> str:
        raise KeyboardInterrupt if code is None else OSError(code, "full")

    path = tmp_path / "file"
    with pytest.raises((KeyboardInterrupt, OSError)) as caught:
        if writer is _made:
            with new_file(path) as partial:
                partial.write_text("half", encoding="utf-8")
                fail()
        else:
            write_whole(path, (fail() if part is None else part for part in ("half", None)))
    assert _names(tmp_path) == []
    assert getattr(caught.value, "filename", str(path)) == str(path)
    writer(path)
    assert _names(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["file", "file.partial"])
def test_a_new_file_replaces_none(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=f"{name} exists: choose another name"):
        _made(tmp_path / "file")
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"
    assert _names(tmp_path) == [name]


def test_a_file_that_comes_meanwhile_stays(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="file exists: choose another name"),
        new_file(tmp_path / "file"),
    ):
        with pytest.raises(UsageError, match=r"file\.partial exists"):
            _made(tmp_path / "file")
        (tmp_path / "file").write_text("theirs", encoding="utf-8")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "theirs"
    assert _names(tmp_path) == ["file"]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("name", ["", ".", "/", "none/file", "text/file"])
def test_a_name_that_is_none_of_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, write: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match=r"is a folder|no such folder|is not a file"):
        write(Path(name))
    with pytest.raises(UsageError, match=r"is a folder|no such folder"):
        file_beside(Path(name), ".x")
    assert _names(tmp_path) == ["text"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("write", WRITERS)
def test_a_folder_that_may_not_be_written_is_named(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError) as caught:
        write(tmp_path / "file")
    assert caught.value.filename == str(tmp_path / "file")
