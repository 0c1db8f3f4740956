"""The file of a session: lines that follow each other, read anew where another one stands there."""

from pathlib import Path

import pytest

from harness.guard.session_folder import SessionFolder, StateUnusable, _digest_of, _line_of
from harness.log.journal_rows import JournalStep


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
