"""A file is there as a whole or not at all, and a command that failed can run again."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from stat import S_IMODE

import pytest

from harness.cases import update_file
from harness.errors import UsageError
from harness.integrations.mcp.mcp_pins import PinFile
from harness.locking import lock_file
from harness.whole_files import LineFile, file_beside, new_file, replace_file
from tests.support.paths import FIXTURES, ROOT
from tests.support.preloaded import preloaded


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _made(path: Path) -> None:
    with new_file(path) as partial:
        partial.write_text("all", encoding="utf-8")


def _written(path: Path) -> None:
    replace_file(path, [b"a", b"ll"])


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
    def fail() -> bytes:
        raise KeyboardInterrupt if code is None else OSError(code, "full")

    path = tmp_path / "file"
    with pytest.raises((KeyboardInterrupt, OSError)) as caught:
        if writer is _made:
            with new_file(path) as partial:
                partial.write_text("half", encoding="utf-8")
                fail()
        else:
            replace_file(path, (fail() if part is None else part for part in (b"half", None)))
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


# --- killed at any moment ------------------------------------------------------------------------


# Run apart: each kill forks, and a process that has loaded all tests forks slowly.
_KILLED = """
import os, signal, sys
from itertools import count
from pathlib import Path
from harness import whole_files

line, lines = int(sys.argv[1]), count(1)

def trace(frame, event, _value):
    if frame.f_code.co_filename != whole_files.__file__:
        return None
    if event == "line" and next(lines) == line:
        os.kill(os.getpid(), signal.SIGKILL)
    return trace

sys.settrace(trace)
"""


def _at_every_moment(work: str, *args: str | Path) -> Iterator[int]:
    """Yield after each kill: at the first line of the module, at the second, until work ends."""
    run = preloaded("harness.whole_files")
    for line in count(1):
        done = run(_KILLED + work, str(line), *map(str, args))
        if done.returncode == 0:
            return
        assert done.returncode == -signal.SIGKILL, done.stderr
        yield line
    raise AssertionError


_OLD, _NEW = b"old" * 40_000, b"new" * 50_000
_REPLACE = """
new = b"new" * 50_000
whole_files.replace_file(Path(sys.argv[2]), (new[:70_000], new[70_000:]))
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("before", [None, 0o600, 0o640, 0o444])
def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new(
    tmp_path: Path, before: int | None
) -> None:
    path, seen = tmp_path / "file", set[bytes | None]()

    def begin() -> None:
        for one in tmp_path.iterdir():
            one.unlink()
        if before is not None:
            path.write_bytes(_OLD)
            path.chmod(before)

    begin()
    for _ in _at_every_moment(_REPLACE, path):
        content = path.read_bytes() if path.exists() else None
        seen.add(content)
        assert content in ((None if before is None else _OLD), _NEW)
        if before is not None:
            assert S_IMODE(path.stat().st_mode) == before
        assert all(name.startswith(".critic-") or name == "file" for name in _names(tmp_path))
        begin()
    assert path.read_bytes() == _NEW
    assert _NEW in seen, "it was killed after the new one had its name too"
    assert len(seen) == 2


_APPEND = """
file = whole_files.LineFile(Path(sys.argv[2]))
with open(sys.argv[3], "ab", buffering=0) as acknowledged:
    for number in range(2):
        file.append(b"%d" % number * 70_000)
        acknowledged.write(b"%d" % number)
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_no_line_that_was_acknowledged(tmp_path: Path) -> None:
    path, told = tmp_path / "lines", tmp_path / "told"

    def begin() -> None:
        path.write_bytes(b"first\nx")
        told.write_bytes(b"")

    begin()
    for _ in _at_every_moment(_APPEND, path, told):
        again = LineFile(path)
        lines = [b"first", *(b"%d" % number * 70_000 for number in range(2))]
        kept = again.read().splitlines()
        assert kept == lines[: len(kept)]
        assert len(kept) > len(told.read_bytes())
        again.append(b"last")
        again.close()
        assert path.read_bytes() == b"".join(line + b"\n" for line in (*kept, b"last"))
        begin()


# --- locks ---------------------------------------------------------------------------------------


def test_a_second_holder_is_refused_or_waits(tmp_path: Path) -> None:
    lock, order = tmp_path / "lock", list[str]()
    with ThreadPoolExecutor(1) as others:

        def hold() -> None:
            with lock_file(lock):
                order.append("second")

        with lock_file(lock):
            for wait in (0.0, 0.1):
                begun = time.monotonic()
                with pytest.raises(BlockingIOError), lock_file(lock, wait):
                    order.append("not held")
                assert time.monotonic() - begun >= wait
            waiting = others.submit(hold)
            with pytest.raises(TimeoutError):
                waiting.result(0.1)
            order.append("first")
        waiting.result(30)
    assert order == ["first", "second"]
    assert S_IMODE(lock.stat().st_mode) == 0o600


def test_who_waits_long_enough_has_it_next(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as others, ExitStack() as held:
        held.enter_context(lock_file(tmp_path / "lock"))

        def hold() -> bool:
            with lock_file(tmp_path / "lock", 30.0):
                return True

        waiting = others.submit(hold)
        with pytest.raises(TimeoutError):
            waiting.result(0.1)
        held.close()
        assert waiting.result(30)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        with lock_file(tmp_path / "lock"):
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    with lock_file(tmp_path / "lock", 0):
        pass


def test_no_lock_is_taken_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic link"), lock_file(tmp_path / "lock", 0):
        pass
    assert not (tmp_path / "other").exists()


def test_a_file_of_lines_has_one_writer(tmp_path: Path) -> None:
    first = LineFile(tmp_path / "lines", exists=False)
    with pytest.raises(BlockingIOError):
        LineFile(tmp_path / "lines", exists=True)
    first.append(b"a")
    first.close()
    with pytest.raises(FileExistsError):
        LineFile(tmp_path / "lines", exists=False)
    with pytest.raises(FileNotFoundError):
        LineFile(tmp_path / "others", exists=True)
    with pytest.raises(ValueError, match="closed"):
        first.append(b"b")
    assert (tmp_path / "lines").read_bytes() == b"a\n"


def test_a_line_that_could_not_be_synced_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = LineFile(tmp_path / "lines")
    file.append(b"a")
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", _fails)
        with pytest.raises(OSError, match="Input/output"):
            file.append(b"b")
    file.append(b"c")
    file.close()
    assert (tmp_path / "lines").read_bytes() == b"a\nc\n"


def _fails(_handle: int) -> None:
    raise OSError(errno.EIO, "Input/output error")


def test_nothing_is_appended_behind_what_others_wrote(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "lines")
    file.append(b"a")
    with (tmp_path / "lines").open("ab") as other:
        other.write(b"theirs\n")
    with pytest.raises(OSError, match="others wrote to it"):
        file.append(b"b")
    file.close()
    assert (tmp_path / "lines").read_bytes() == b"a\ntheirs\n"


# --- rights, links, and systems without locks ----------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_new_file_has_the_rights_that_were_asked_for(tmp_path: Path, mode: int) -> None:
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "file", b"x", mode=mode)
    finally:
        os.umask(before)
    assert S_IMODE((tmp_path / "file").stat().st_mode) == mode & ~0o027


@pytest.mark.parametrize("before", [None, 0o600, 0o400, 0o644, 0o666, 0o777])
def test_a_private_file_is_closed_to_others_also_where_the_one_before_was_not(
    tmp_path: Path, before: int | None
) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(b"x")
        path.chmod(before)
    seen = set[int]()

    def pieces() -> Iterator[bytes]:
        (written,) = (one for one in tmp_path.iterdir() if one != path)
        seen.add(S_IMODE(written.stat().st_mode))
        yield b"secret"

    replace_file(path, pieces(), private=True)
    rights = 0o600 if before is None else before & 0o700
    assert {S_IMODE(path.stat().st_mode), *seen} == {rights}


def test_what_is_written_is_never_open_to_more_than_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"secret")
    path.chmod(0o600)
    modes = set[int]()

    def pieces() -> Iterator[bytes]:
        (written,) = (one for one in tmp_path.iterdir() if one != path)
        modes.add(S_IMODE(written.stat().st_mode))
        yield b"x"

    replace_file(path, pieces())
    assert modes == {0o600}


def test_a_link_to_settings_stays_a_link(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept.json", tmp_path / "project" / "pins.json"
    link.parent.mkdir()
    link.symlink_to(kept)
    kept.write_text('{"changed": {}, "pinned": {}}')
    PinFile(link).check("tool", {"name": "tool"})
    assert link.is_symlink()
    assert "tool" in kept.read_text()
    case = tmp_path / "case.json"
    case.write_bytes(next(iter(sorted((FIXTURES / "cases").rglob("*.json")))).read_bytes())
    (tmp_path / "project" / "case.json").symlink_to(case)
    case.write_bytes(b" " + case.read_bytes())
    assert update_file(tmp_path / "project" / "case.json")
    assert (tmp_path / "project" / "case.json").is_symlink()
    assert case.read_bytes()[:1] == b"{"


_WITHOUT = """
import sys
sys.modules["fcntl"] = None
from importlib import import_module
from pathlib import Path
for name in sys.argv[2:]:
    import_module(name)
from harness.errors import UsageError
from harness.locking import lock_file
from harness.whole_files import LineFile, replace_file
replace_file(Path(sys.argv[1]) / "file", b"x")
lines = LineFile(Path(sys.argv[1]) / "lines")
lines.append(b"a")
try:
    with lock_file(Path(sys.argv[1]) / "lock"):
        print("held")
except UsageError as error:
    print(error)
"""


@pytest.mark.slow
def test_without_locks_everything_is_imported_and_what_needs_one_says_so(tmp_path: Path) -> None:
    users = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "harness").rglob("*.py")
        if {"harness.whole_files", "harness.locking"} & {*path.read_text("utf-8").split()}
    ]
    assert len(users) > 8
    said = subprocess.run(
        [sys.executable, "-c", _WITHOUT, str(tmp_path), *users],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.splitlines() == [
        "this needs locks of files, which this system lacks: run it on Linux, macOS or Windows"
    ]
    assert (tmp_path / "lines").read_bytes() == b"a\n"
