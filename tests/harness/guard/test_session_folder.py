"""The file of a session: lines that follow each other, read anew where another one stands there."""

import os
from pathlib import Path

import pytest

from harness.guard.session_folder import SessionFolder, StateUnusable, _digest_of, _line_of
from harness.log.journal_rows import JournalMoved, JournalStep


def numbers(folder: SessionFolder) -> list[int]:
    return [row.number for row in folder.journal("s")]


def lines_of(*steps: tuple[int, bytes]) -> bytes:
    """Return lines as a folder writes them, whatever their numbers are."""
    lines = list[bytes]()
    for number, body in steps:
        lines.append(_line_of(number, body, _digest_of(lines[-1]) if lines else b""))
    return b"".join(line + b"\n" for line in lines)


@pytest.mark.parametrize("later", [(1, 3), (1, 1), (1, 2, 4), (2, 1), (4, 6), (1, 2, 2)])
def test_lines_count_on_by_one_though_each_names_the_one_before(
    later: tuple[int, ...], tmp_path: Path
) -> None:
    folder = SessionFolder(tmp_path / "state")
    folder.append_step([], JournalStep("s", 1, b"{}"))
    file = tmp_path / "state" / "s.jsonl"
    file.write_bytes(lines_of(*((number, b"{}") for number in range(4, 7))))
    assert numbers(folder) == [4, 5, 6]
    file.write_bytes(lines_of(*((number, b"{}") for number in later)))
    with pytest.raises(StateUnusable):
        folder.journal("s")


def test_a_file_of_the_same_size_in_the_place_of_another_is_read_anew(tmp_path: Path) -> None:
    """Another process closed the session and opened it again."""
    one, other = SessionFolder(tmp_path), SessionFolder(tmp_path)
    tmp_path.chmod(0o700)
    one.append_step([], JournalStep("s", 1, b'{"a":1}'))
    assert other.last_step("s") == 1
    other.append_step([], JournalStep("s", 2, b"", is_end=True))
    other.append_step([], JournalStep("s", 1, b'{"b":1}'))
    one.append_step([], JournalStep("s", 2, b'{"b":2}'))
    assert [row.body for row in other.journal("s")] == [b'{"b":1}', b'{"b":2}']


@pytest.mark.parametrize("count", [1, 2])
def test_no_byte_of_a_file_is_another_one(count: int, tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path / "state")
    for number in range(count):
        folder.append_step([], JournalStep("s", number + 1, b'{"yes":false}'))
    file = tmp_path / "state" / "s.jsonl"
    whole = file.read_bytes()
    for at in (one for one, byte in enumerate(whole) if byte != ord("\n")):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(StateUnusable):
            folder.journal("s")
    file.write_bytes(whole)
    assert numbers(folder) == [*range(1, count + 1)]


@pytest.mark.parametrize("how", [{}, {"is_whole": True}, {"is_end": True}])
def test_the_next_step_is_the_next_number(how: dict[str, bool], tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path / "state")
    for number in (1, 2, 3):
        folder.append_step([], JournalStep("s", number, b"{}"))
    for number in (0, 1, 2, 3, 5, 6, 40):
        with pytest.raises(JournalMoved):
            folder.append_step([], JournalStep("s", number, b"{}", **how))
    assert [[row.number for row in folder.journal("s", after)] for after in range(4)] == [
        [1, 2, 3],
        [2, 3],
        [3],
        [],
    ]
    folder.append_step([], JournalStep("s", 4, b"{}", **how))
    assert folder.last_step("s") == (0 if "is_end" in how else 4)


def test_steps_of_several_processes_follow_one_another(tmp_path: Path) -> None:
    folders = [SessionFolder(tmp_path / "state") for _ in range(3)]
    for number in range(1, 10):
        writer = folders[number * number % 3]
        writer.append_step([], JournalStep("s", number, b"{}"))
        assert [one.last_step("s") for one in folders] == [number] * 3
        for one in folders:
            with pytest.raises(JournalMoved):
                one.append_step([], JournalStep("s", number, b"{}"))


@pytest.mark.parametrize("name", ["", "s.jsonl", "s.lock"])
@pytest.mark.parametrize("bit", [1 << at for at in range(6)])
def test_what_others_may_use_in_any_way_is_not_read(name: str, bit: int, tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path / "state")
    folder.append_step([], JournalStep("s", 1, b"{}"))
    place = tmp_path / "state" / name
    mode = place.stat().st_mode
    place.chmod(mode | bit)
    with pytest.raises(StateUnusable, match="not this user's alone"):
        folder.journal("s")
    place.chmod(mode)
    assert numbers(folder) == [1]


@pytest.mark.parametrize("data", [b"", b"1 ab", b"\n"])
def test_a_file_without_a_step_is_no_session_that_was_never_open(
    data: bytes, tmp_path: Path
) -> None:
    folder = SessionFolder(tmp_path / "state")
    folder.append_step([], JournalStep("s", 1, b"{}"))
    (tmp_path / "state" / "s.jsonl").write_bytes(data)
    for one in (folder, SessionFolder(tmp_path / "state")):
        for ask in (one.journal, one.last_step):
            with pytest.raises(StateUnusable):
                ask("s")


def test_a_link_to_the_file_of_another_session_is_not_followed(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path / "state")
    folder.append_step([], JournalStep("t", 1, b"{}"))
    (tmp_path / "state" / "s.jsonl").symlink_to("t.jsonl")
    with pytest.raises(OSError, match="symbolic links"):
        folder.journal("s")


def test_the_folder_of_another_user_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = SessionFolder(tmp_path / "state")
    folder.append_step([], JournalStep("s", 1, b"{}"))
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(StateUnusable, match="not this user's alone"):
        folder.journal("s")
