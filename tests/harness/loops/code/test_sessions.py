"""Session files: what is written is read back, and a crash is distinguished from damage."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import get_args

import pytest

from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.session_files import (
    DamagedSession,
    SessionRunning,
    SessionWriter,
    Stats,
    find,
    identifiers,
    load,
    load_all,
    new_id,
    sessions_folder,
    statistics,
)
from harness.loops.code.session_lines import (
    AgentRun,
    ChangedFile,
    Diff,
    GateRules,
    Iteration,
    SessionEnd,
    SessionOutcome,
    SessionResumed,
    SessionStart,
)
from tests.harness.loops.code.scratch import SESSION
from tests.support.examples import HOSTILE, is_safe

NOW = datetime(2026, 5, 9, 9, 35, tzinfo=UTC)
START = SessionStart(
    session=SESSION,
    time=NOW,
    task=HOSTILE,
    folder="/x",
    actor=("a",),
    critic=("c",),
    max_iterations=3,
    gate=GateRules(timeout=1.5, commands=(("a", "b"),)),
    base_tree="0" * 40,
)
RUN = AgentRun(exit_code=-9, duration_ms=3, stdout=HOSTILE, stderr="")
END = SessionEnd(time=NOW, outcome="success", iterations=1, duration_ms=60_000)


def diff(content: bytes) -> Diff:
    files = (ChangedFile(path="p", status="added"),)
    return Diff.of(sha256(content).hexdigest(), len(content), 1, files, content)


ITERATION = Iteration(number=1, time=NOW, actor=RUN, diff=diff(b"+x\n"))


def written(folder: Path, *lines: SessionStart | Iteration | SessionEnd) -> Path:
    with SessionWriter(folder, SESSION) as record:
        for line in lines:
            record.write(line)
    return folder / f"{SESSION}.jsonl"


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    place = written(tmp_path / "new" / "folder", START, ITERATION, END)
    session = load(place.parent, SESSION)
    assert (session.start, session.iterations, session.end) == (START, (ITERATION,), END)
    assert session.state == "success"
    assert place.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        SessionWriter(place.parent, SESSION)


@pytest.mark.parametrize("tamper", [Path.unlink, lambda place: place.write_text("")])
def test_a_file_that_others_removed_or_changed_is_not_a_record(
    tmp_path: Path, tamper: Callable[[Path], object]
) -> None:
    with SessionWriter(tmp_path, SESSION) as record:
        record.write(START)
        tamper(tmp_path / f"{SESSION}.jsonl")
        with pytest.raises(OSError, match=r"it was (deleted|cut short) while it was open"):
            record.write(ITERATION)


def test_a_torn_line_is_cut_off_on_disk_before_the_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = written(tmp_path, START, ITERATION)
    whole = place.read_bytes()
    place.write_bytes(whole + b'{"type":"iterat' * 20_000)
    synced: list[int] = []

    def sync(file: int) -> None:
        synced.append(os.fstat(file).st_size)

    monkeypatch.setattr(os, "fsync", sync)
    with SessionWriter(tmp_path, SESSION, resume=True) as record:
        assert synced[0] == len(whole), "the cut is on disk before anything else is written"
        record.write(SessionResumed(time=NOW, max_iterations=4))
        assert synced[-1] == place.stat().st_size, "a line is on disk when it is written"
    session = load(tmp_path, SESSION)
    assert (session.iterations, session.max_iterations) == ((ITERATION,), 4)


def test_a_session_goes_on_after_a_crash_at_any_byte(tmp_path: Path) -> None:
    place = written(tmp_path, START, ITERATION)
    whole = place.read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(first, len(whole) + 1, 7):
        place.write_bytes(whole[:size])
        with SessionWriter(tmp_path, SESSION, resume=True) as record:
            record.write(SessionResumed(time=NOW, max_iterations=4))
        count = whole[:size].count(b"\n") - 1
        assert len(load(tmp_path, SESSION).iterations) == count


def test_a_session_is_written_by_one_process_at_a_time(tmp_path: Path) -> None:
    with SessionWriter(tmp_path, SESSION) as record:
        record.write(START)
        with pytest.raises(SessionRunning):
            SessionWriter(tmp_path, SESSION, resume=True)
    SessionWriter(tmp_path, SESSION, resume=True).close()


def test_a_session_without_any_line_leaves_no_file(tmp_path: Path) -> None:
    SessionWriter(tmp_path, SESSION).close()
    assert identifiers(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"+text\n", "ü\0".encode(), b"\xff\n"])
def test_a_diff_gives_back_its_bytes(content: bytes) -> None:
    assert diff(content).content() == content


def test_a_crash_at_any_byte_is_incomplete_and_loses_one_line_at_most(tmp_path: Path) -> None:
    place = written(tmp_path, START, ITERATION, END)
    whole = place.read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(first, len(whole), 7):
        place.write_bytes(whole[:size])
        session = load(tmp_path, SESSION)
        assert (session.state, session.start) == ("incomplete", START)
        assert len(session.iterations) == whole[:size].count(b"\n") - 1


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda lines: [b"", *lines], "line 1: the document: empty"),
        (lambda lines: lines[1:], "line 1: a session begins with its session_start"),
        (lambda _: [], "line 1: a session begins with"),
        (lambda lines: [lines[0], lines[0]], "line 2: a session begins once"),
        (lambda lines: [lines[0], lines[1], lines[1]], "line 3: iteration 1 is not the next one"),
        (lambda lines: [lines[0], lines[2]], "line 2: the session_end counts other iterations"),
        (lambda lines: [*lines, lines[2]], "line 4: there is a line after the session_end"),
        (lambda lines: [*lines, lines[1]], "line 4: there is a line after the session_end"),
        (
            lambda lines: [lines[0], b"{}", lines[2]],
            "line 2: /type: must be one of session_start, ",
        ),
        (lambda lines: [lines[0], b"[]"], "line 2: /type: must be one of"),
        (lambda lines: [lines[0], b'{"type":["x"]}'], "line 2: /type: must be one of"),
        (lambda lines: [lines[0], lines[1][:-9]], "line 2: the document: not strict JSON"),
        (
            lambda lines: [lines[0].replace(b"c0de", b"beef")],
            "line 1: it belongs to another session",
        ),
        (lambda lines: [lines[0], lines[1].replace(b"-9", b"true")], "line 2: /actor/exit_code: "),
        (
            lambda lines: [lines[0], lines[1].replace(b"+x", b"+y")],
            "line 2: the diff does not match",
        ),
        (lambda lines: [lines[0], lines[1].replace(b'"text"', b'"base64"')], "line 2: the diff"),
        (lambda lines: [lines[0].replace(b'"base', b'"x\\u001b":1,"base')], "line 1: /x\\u001b: "),
    ],
)
def test_damage_is_reported_with_its_line(
    tmp_path: Path, damage: Callable[[list[bytes]], list[bytes]], why: str
) -> None:
    place = written(tmp_path, START, ITERATION, END)
    lines = damage(place.read_bytes().splitlines())
    place.write_bytes(b"".join(line + b"\n" for line in lines))
    with pytest.raises(DamagedSession) as caught:
        load(tmp_path, SESSION)
    assert str(caught.value).startswith(f"session {SESSION} is damaged: {why}")
    assert is_safe(str(caught.value))
    ((_, found),) = load_all(tmp_path)
    assert isinstance(found, DamagedSession)


def test_a_session_that_cannot_be_read_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, START, ITERATION, END)
    unreadable = tmp_path / f"{new_id(NOW.replace(year=2030))}.jsonl"
    unreadable.write_bytes(b"")
    read_bytes = Path.read_bytes

    def denied(place: Path) -> bytes:
        if place == unreadable:
            raise PermissionError(13, "Permission denied")
        return read_bytes(place)

    monkeypatch.setattr(Path, "read_bytes", denied)
    (_, first), (_, second) = load_all(tmp_path)
    assert str(first) == f"session {unreadable.stem} cannot be read: Permission denied"
    assert not isinstance(second, DamagedSession)


def test_ids_are_found_by_their_beginning_and_never_used_as_paths(tmp_path: Path) -> None:
    with pytest.raises(CodeLoopError, match=" has none"):
        find(tmp_path / "gone", "2026")
    older, newer = new_id(NOW), new_id(NOW.replace(year=2027))
    for name in (older, newer, "notes", "20260509T093500.000Z-HEXA"):
        (tmp_path / f"{name}.jsonl").write_text("")
    (tmp_path / f"{new_id(NOW)}.jsonl").mkdir()
    assert identifiers(tmp_path) == [newer, older]
    assert (find(tmp_path, older[:4]), find(tmp_path, newer)) == (older, newer)
    with pytest.raises(CodeLoopError, match=f"is not unique: it begins {newer}, {older}"):
        find(tmp_path, "20")
    for prefix in ("", "../x", "notes", "/etc/passwd", "\x1b"):
        with pytest.raises(CodeLoopError, match=f"the newest are {newer}, {older}") as caught:
            find(tmp_path, prefix)
        assert is_safe(str(caught.value))


def test_sessions_lie_in_the_data_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert sessions_folder() == tmp_path / "critic" / "sessions"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert sessions_folder() == tmp_path / ".local" / "share" / "critic" / "sessions"


def test_statistics_of_those_that_ended() -> None:
    def end(outcome: SessionOutcome, iterations: int, seconds: int) -> SessionEnd:
        return SessionEnd(
            time=NOW, outcome=outcome, iterations=iterations, duration_ms=seconds * 1000
        )

    counted = statistics([end("success", 2, 60), None, end("success", 1, 30), end("failed", 3, 90)])
    assert counted.success_rate == 2 / 3
    assert (counted.avg_iterations, counted.avg_duration) == (2.0, 60.0)
    assert (counted.sessions, counted.incomplete) == (4, 1)
    assert counted.outcomes == {
        **dict.fromkeys(get_args(SessionOutcome), 0),
        "success": 2,
        "failed": 1,
    }
    nothing = dict.fromkeys(get_args(SessionOutcome), 0)
    assert statistics([]) == Stats(sessions=0, incomplete=0, outcomes=nothing)
