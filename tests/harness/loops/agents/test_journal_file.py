"""Damage is an error with its line; a line that a crash cut short is left out and noted."""

import asyncio
import json
import multiprocessing
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops.agents.journal import (
    Entry,
    JournalDamaged,
    MemoryStore,
)
from harness.loops.agents.journal_file import FileStore, JournalUnavailable
from harness.wire import parse
from tests.harness.loops.agents.journals import NEVER, UNCHAINED, changed, journal_of, sealed, step

OTHER = changed(step="b")
TEXT = sealed(UNCHAINED)[0]
DAMAGED: dict[str, Any] = {
    "empty-line": b"",
    "no-json": b"{",
    "no-entry": b"[]",
    "duplicate-key": TEXT.replace(b'"reply":1', b'"reply":1,"reply":2'),
    "not-a-number": TEXT.replace(b'"reply":1', b'"reply":NaN'),
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
    "no-chain": json.dumps(UNCHAINED).encode(),
    "chain-of-no-digest": TEXT.replace(b'"chain":"', b'"chain":"x'),
}


@pytest.mark.parametrize("line", DAMAGED.values(), ids=DAMAGED)
def test_damage_is_an_error_with_its_line(line: Any, tmp_path: Path) -> None:
    assert journal_of(MemoryStore(sealed(OTHER, UNCHAINED))).notes == []
    lines = sealed(OTHER, line, changed(step="c"))
    with pytest.raises(JournalDamaged, match=r"^line 2: "):
        journal_of(MemoryStore(lines))
    path = tmp_path / "journal"
    path.write_bytes(b"\n".join((*lines, b"")))
    with FileStore(path) as store, pytest.raises(JournalDamaged, match=r"^line 2: "):
        journal_of(store)


MANY = sealed(*(changed(step=name, reply={"score": 0.25}) for name in "abcde"))


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ((*MANY[:2], MANY[2].replace(b"0.25", b"0.95"), *MANY[3:]), 3),
        ((MANY[0].replace(b"T09:30:00Z", b"T09:30:01Z"), *MANY[1:]), 1),
        ((*MANY[:1], *MANY[2:]), 2),
        (MANY[1:], 1),
        ((*MANY[:2], MANY[3], MANY[2], MANY[4]), 3),
        ((*MANY[:3], sealed(changed(step="z"))[0], *MANY[3:]), 4),
    ],
    ids=["edited", "first-edited", "deleted", "first-deleted", "reordered", "inserted"],
)
def test_a_changed_journal_is_an_error_that_names_the_line(
    lines: tuple[bytes, ...], number: int
) -> None:
    with pytest.raises(JournalDamaged, match=rf"^line {number}: its digest does not match"):
        journal_of(MemoryStore(lines))


@given(st.data())
def test_no_single_byte_of_a_journal_can_be_changed_unnoticed(data: Any) -> None:
    text = bytearray(b"\n".join(MANY))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= data.draw(st.integers(1, 255))
    lines = tuple(bytes(text).split(b"\n"))
    if [*map(_read, lines)] == [*map(_read, MANY)]:  # another spelling of the same, such as t for T
        return
    with pytest.raises(JournalDamaged):
        journal_of(MemoryStore(lines))


def _read(line: bytes) -> Entry | None:
    try:
        return parse(Entry, line)
    except ValueError:
        return None


CUT = sealed(OTHER, UNCHAINED)


@pytest.mark.parametrize("cut", [1, 2, len(CUT[1]) // 2, len(CUT[1]) - 1, len(CUT[1])])
def test_a_line_cut_short_is_left_out_and_noted(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(CUT[0] + b"\n" + CUT[1][:cut])
    with FileStore(path) as store:
        journal = journal_of(store)
        assert [note.startswith("line 2 of ") for note in journal.notes] == [True]
        assert f"({cut} bytes)" in journal.notes[0]
        step(journal, "A", "again", name="a")
    lines = path.read_bytes().split(b"\n")
    assert (lines[0], len(lines), lines[2]) == (CUT[0], 3, b"")
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
        store.append(TEXT)


def test_the_name_of_a_new_file_is_synced_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))
    )
    for _ in range(2):
        with FileStore(tmp_path / "journal") as store:
            store.append(TEXT)
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
    path.write_bytes(TEXT + b"\n" + CUT[0][:9])
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


# --- several writers, and a file that is taken away ---------------------------------------------


@pytest.mark.parametrize("journals", [1, 4])
def test_threads_lose_no_line_and_damage_nothing(journals: int, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with FileStore(path) as store:
        shared = [journal_of(store) for _ in range(journals)]

        def record(number: int) -> None:
            shared[number % journals].keep("S", f"step{number}", number, reply="x" * number)

        with ThreadPoolExecutor(8) as threads:
            assert [*threads.map(record, range(80))] == [None] * 80
    with FileStore(path) as store:
        again = journal_of(store)
        assert len(store.lines()) == 80
        for number in range(80):
            entry = again.find("S", f"step{number}", number)
            assert entry is not None
            assert entry.reply == "x" * number


def test_threads_lose_no_line_in_memory_either() -> None:
    store = MemoryStore()
    journal = journal_of(store)
    with ThreadPoolExecutor(8) as threads:
        [*threads.map(lambda n: journal.keep("S", str(n), n, reply=n), range(200))]
    assert len(store.lines()) == 200
    journal_of(store)


def _keep_in_child(store: FileStore, answers: Any) -> None:
    try:
        journal_of(store).keep("S", "child", 1, reply=1)
    except JournalUnavailable as error:
        answers.put(str(error))
    else:
        answers.put("kept")


def _open_in_child(path: Path, answers: Any) -> None:
    try:
        FileStore(path).close()
    except JournalUnavailable as error:
        answers.put(str(error))
    else:
        answers.put("opened")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking beside threads
@pytest.mark.parametrize(
    ("how", "work", "why"),
    [
        ("fork", _keep_in_child, "another process opened it"),
        ("spawn", _open_in_child, "another process is writing to it"),
    ],
)
def test_a_second_process_writes_nothing(how: Any, work: Any, why: str, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    context = multiprocessing.get_context(how)
    answers = context.SimpleQueue()
    with FileStore(path) as store:
        journal = journal_of(store)
        step(journal, 1, "kept", name="before")
        child = context.Process(
            target=work, args=(store if how == "fork" else path, answers), daemon=True
        )
        child.start()
        child.join(60)
        assert why in answers.get()
        step(journal, 1, "kept", name="after")
    with FileStore(path) as store:
        assert len(store.lines()) == 2
        journal_of(store)


def _delete(path: Path) -> None:
    path.unlink()


def _replace(path: Path) -> None:
    new = path.with_name("new")
    new.write_bytes(path.read_bytes())
    new.replace(path)


def _truncate(path: Path) -> None:
    os.truncate(path, 5)


@pytest.mark.parametrize(
    ("meddle", "why"), [(_delete, "deleted"), (_replace, "replaced"), (_truncate, "cut short")]
)
def test_a_store_does_not_go_on_without_its_file(meddle: Any, why: str, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with FileStore(path) as store:
        journal = journal_of(store)
        step(journal, 1, "kept", name="before")
        meddle(path)
        with pytest.raises(JournalUnavailable, match=f"cannot be written: it was {why}"):
            step(journal, 1, "lost", name="after")
        assert len(store.lines()) == 1


def test_a_program_may_change_its_folder_while_the_journal_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with FileStore(Path("journal")) as store:
        store.append(TEXT)
        monkeypatch.chdir("/")
        store.append(TEXT)
    assert (tmp_path / "journal").read_bytes() == (TEXT + b"\n") * 2
