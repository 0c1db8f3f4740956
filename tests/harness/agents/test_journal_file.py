"""Damage is an error with its line; a line that a crash cut short is left out and said."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from harness.agents.journal import (
    JournalDamaged,
    MemoryStore,
)
from harness.agents.journal_file import FileStore, JournalUnavailable
from tests.harness.agents.journals import LINE, NEVER, OTHER, changed, journal_of, step

DAMAGED = {
    "empty-line": b"",
    "no-json": b"{",
    "no-entry": b"[]",
    "duplicate-key": LINE.replace(b'"reply":1', b'"reply":1,"reply":2'),
    "not-a-number": LINE.replace(b'"reply":1', b'"reply":NaN'),
    "unknown-field": changed(extra=1),
    "null-reply": changed(reply=None),
    "reply-missing": changed(reply="-"),
    "reply-with-error": changed(error="E"),
    "failed-without-error": changed(status="failed"),
    "unknown-status": changed(status="done"),
    "no-digest": changed(inputs="xyz"),
    "attempt-zero": changed(attempt=0),
    "attempt-skipped": changed(attempt=2),
    "no-zone": changed(at="2026-05-09T09:30:00"),
    "zeros": b"\0" * 20,
    "twice": OTHER,
    "replied-already": changed(step="b", attempt=2, status="failed", reply="-", error="E"),
}


@pytest.mark.parametrize("line", DAMAGED.values(), ids=DAMAGED)
def test_damage_is_an_error_with_its_line(line: bytes, tmp_path: Path) -> None:
    assert journal_of(MemoryStore((OTHER, LINE))).notes == []
    with pytest.raises(JournalDamaged, match=r"^line 2: "):
        journal_of(MemoryStore((OTHER, line, LINE)))
    path = tmp_path / "journal"
    path.write_bytes(b"\n".join((OTHER, line, LINE, b"")))
    with FileStore(path) as store, pytest.raises(JournalDamaged, match=r"^line 2: "):
        journal_of(store)


@pytest.mark.parametrize("cut", [1, 2, len(LINE) // 2, len(LINE) - 1, len(LINE)])
def test_a_line_cut_short_is_left_out_and_said(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(OTHER + b"\n" + LINE[:cut])
    with FileStore(path) as store:
        journal = journal_of(store)
        assert [note.startswith("line 2 of ") for note in journal.notes] == [True]
        assert f"({cut} bytes)" in journal.notes[0]
        step(journal, "A", "again", name="a")
    lines = path.read_bytes().split(b"\n")
    assert (lines[0], len(lines), lines[2]) == (OTHER, 3, b"")
    with FileStore(path) as store:
        assert journal_of(store).notes == []


def test_a_file_has_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with FileStore(path), pytest.raises(JournalUnavailable, match="another process is writing"):
        FileStore(path)
    FileStore(path).close()


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(JournalUnavailable, match="cannot be opened: Is a directory"):
        FileStore(tmp_path)
    with pytest.raises(JournalUnavailable, match="cannot be opened: No such file"):
        FileStore(tmp_path / "no" / "journal")
    store = FileStore(tmp_path / "journal")
    store.close()
    with pytest.raises(JournalUnavailable, match="cannot be written"):
        store.append(LINE)


def test_the_name_of_a_new_file_is_synced_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))
    )
    for _ in range(2):
        with FileStore(tmp_path / "journal") as store:
            store.append(LINE)
    assert synced == [True, False, False]


def test_a_line_is_synced_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    with FileStore(path) as store:
        journal = journal_of(store)

        def fails(_handle: int) -> None:
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", fails)
            with pytest.raises(JournalUnavailable, match="Input/output error"):
                step(journal, "A", 1)
        assert step(journal, "A", 2) == 2
    assert len(path.read_bytes().splitlines()) == 1


def test_a_second_journal_of_an_open_file_knows_what_the_first_kept(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(LINE + b"\n" + OTHER[:9])
    with FileStore(path) as store:
        first = journal_of(store)
        assert len(first.notes) == 1
        assert step(first, 1, "said") == "said"
        second = journal_of(store)
        assert second.notes == []
        assert asyncio.run(second.step("S", "add", 1, NEVER)) == "said"
    with FileStore(path) as store:
        assert len(store.lines()) == 2
        journal_of(store)
