"""A folder of tables is that of its log, whenever it was brought up to date, and of no other."""

import random
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.audit.copies.redaction import Wanted, redact_log
from harness.audit.copies.value_search import SoughtValues
from harness.audit.tables.table_columns import LOG_COLUMNS, TableName
from harness.audit.tables.table_folder import TablesUnusable, add_to_tables, open_tables
from harness.audit.tables.table_query import ask_tables
from harness.errors import HarnessError, UsageError
from harness.locking import lock_file
from harness.log import SqlDecisionLog
from harness.record import Head
from tests.harness.log.decisions import NOON, decision, meddle
from tests.harness.log.guard_logs import write_guard_log
from tests.support.turns import fates_in

pytest.importorskip("duckdb")

Content = dict[TableName, list[tuple[Any, ...]]]
FATE = [*LOG_COLUMNS["turns"]].index("fate") - 1  # `upto` is left out


@cache
def _recorded(folder: Path) -> Path:
    write_guard_log(folder / "guard.db")
    return folder / "guard.db"


@pytest.fixture
def log(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A log of guards: questions with and without an answer, a shadow, turns without an end."""
    source = _recorded(tmp_path_factory.getbasetemp())
    return Path(shutil.copy(source, tmp_path / "log.db"))


def head_of(log: Path) -> Head:
    with SqlDecisionLog.open_for_reading(log) as kept:
        return kept.head()


def export(folder: Path, log: Path) -> int:
    """Bring tables up to date. Return how many turns were written."""
    with SqlDecisionLog.open_for_reading(log) as kept:
        return add_to_tables(folder, kept).turns


def as_it_was(log: Path, last: int) -> Path:
    """Return a copy of a log as it was when it had so many records."""
    copy = Path(shutil.copy(log, log.with_name(f"to-{last}.db")))
    statements = (
        f"DELETE FROM {table} WHERE seq > ?"  # noqa: S608
        for table in ("records", "record_index", "claims")
    )
    meddle(copy, *((one, (last,)) for one in statements))
    return copy


def content(folder: Path, names: Iterable[TableName] = LOG_COLUMNS) -> Content:
    """Return what tables hold, for whoever asks."""
    tables = open_tables(folder)
    found: Content = {}
    for name in names:
        with ask_tables(tables, f"SELECT * FROM {name} ORDER BY ALL") as answer:  # noqa: S608
            found[name] = list(answer.rows)
    return found


def said(log: Path, folder: Path) -> str:
    with pytest.raises(HarnessError) as caught:
        export(folder, log)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.slow
def test_tables_that_grew_are_those_that_are_written_at_once(log: Path, tmp_path: Path) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        last, fates = kept.head().seq, fates_in(kept)
    export(tmp_path / "whole", log)
    whole = content(tmp_path / "whole")
    assert sorted(row[FATE] for row in whole["turns"]) == sorted(fates.values())
    seed = random.randrange(2**32)  # noqa: S311
    for number in range(2):
        draw = random.Random(seed + number)  # noqa: S311
        cuts = sorted(draw.sample(range(1, last), 3))
        grown = tmp_path / f"grown-{number}"
        for cut in cuts:
            export(grown, as_it_was(log, cut))
        assert export(grown, log) < len(fates), f"seed {seed}, {cuts}: all was written again"
        assert content(grown) == whole, f"seed {seed}, cuts {cuts}"
        assert export(grown, log) == 0


def test_each_turn_is_right_at_every_end_of_the_log(log: Path, tmp_path: Path) -> None:
    grown, seen = tmp_path / "grown", set[str]()
    for last in (4, 14, 16, 24, 34, 42):
        before = as_it_was(log, last)
        export(grown, before)
        with SqlDecisionLog.open_for_reading(before) as kept:
            expected = sorted(fates_in(kept).values())
        assert sorted(row[FATE] for row in content(grown, ["turns"])["turns"]) == expected
        seen |= {*expected}
    assert {"open", "asked_open", "ran_after_yes"} <= seen


def test_a_log_of_another_a_cut_and_a_rewritten_one_add_nothing(log: Path, tmp_path: Path) -> None:
    folder, other = tmp_path / "tables", tmp_path / "other.db"
    export(folder, as_it_was(log, 30))
    before = _bytes_in(folder)
    with SqlDecisionLog.open(other) as kept:
        kept.append_all([decision(number) for number in range(40)])
    assert "is of another log" in said(other, folder)
    assert "cut short or rewritten" in said(as_it_was(log, 20), folder)
    meddle(log, ("UPDATE records SET hash = ? WHERE seq = 30", ("a" * 64,)))
    assert "cut short or rewritten" in said(log, folder)
    assert _bytes_in(folder) == before


def test_a_folder_with_what_was_taken_out_of_the_log_is_named(log: Path, tmp_path: Path) -> None:
    folder, new = tmp_path / "tables", tmp_path / "new.db"
    export(folder, log)
    with SqlDecisionLog.open_for_reading(log) as kept:
        wanted = Wanted(sought=SoughtValues(["iban-4711-22"]))
        redact_log(kept, new, wanted, by="ada", because="x", now=NOON)
    before = _bytes_in(folder)
    note = head_of(new).seq
    assert said(new, folder) == (
        f"{folder} has what record {note} took out of the log: "
        "name another folder, and delete this one"
    )
    assert _bytes_in(folder) == before
    export(tmp_path / "anew", new)
    with SqlDecisionLog.open(new) as kept:
        kept.append(decision(999))
    assert export(tmp_path / "anew", new) == 1
    again = tmp_path / "again.db"
    with SqlDecisionLog.open_for_reading(new) as kept:
        wanted = Wanted(sought=SoughtValues(["plan.md"]))
        redact_log(kept, again, wanted, by="ada", because="x", now=NOON)
    assert f"has what record {head_of(again).seq} took out" in said(again, tmp_path / "anew")


def _bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_was_changed_in_a_folder_is_named_and_stays(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    export(folder, as_it_was(log, 30))
    (file,) = folder.glob("calls-*")
    whole, names = file.read_bytes(), (folder / "tables.json").read_bytes()
    changed = {
        "bytes, and": whole[:-9],
        "is not what was written": whole[:40] + b"!" + whole[41:],
        "is missing": None,
    }
    for what, data in changed.items():
        file.unlink() if data is None else file.write_bytes(data)
        assert what in said(log, folder)
        with pytest.raises(TablesUnusable, match=what):
            open_tables(folder)
        file.write_bytes(whole)
    for damaged in (names[:50], b"[]", b"{}", names.replace(b"calls-", b"../calls-")):
        (folder / "tables.json").write_bytes(damaged)
        assert "tables.json is not what was written" in said(log, folder)
    (folder / "tables.json").write_bytes(names)
    assert export(folder, log) > 0


def test_a_folder_of_something_else_is_left_alone(log: Path, tmp_path: Path) -> None:
    foreign, file = tmp_path / "foreign", tmp_path / "file"
    foreign.mkdir()
    (foreign / "turns-1-42.parquet").write_bytes(b"PAR1 of somebody")
    file.write_bytes(b"x")
    assert "holds turns-1-42.parquet and no tables.json" in said(log, foreign)
    assert _bytes_in(foreign) == {"turns-1-42.parquet": b"PAR1 of somebody"}
    assert "is not a folder" in said(log, file)
    assert "no such folder" in said(log, tmp_path / "not" / "there")
    with pytest.raises(TablesUnusable, match="holds no tables of a log"):
        open_tables(foreign)


def test_files_that_the_list_does_not_name_do_not_count(log: Path, tmp_path: Path) -> None:
    folder, other = tmp_path / "tables", tmp_path / "other"
    export(folder, log)
    before = content(folder)
    shutil.copytree(folder, other)
    for file in other.glob("*.parquet"):
        shutil.copy(file, folder / file.name.replace("-1-", "-2-"))
    assert content(folder) == before


@pytest.mark.slow
def test_an_export_that_was_interrupted_is_made_good(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, early = tmp_path / "tables", as_it_was(log, 25)
    places = "harness.audit.tables.table_folder"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("_TableWriter._write", "replace_file"):
        for source in (early, log):
            with monkeypatch.context() as patched:
                patched.setattr(f"{places}.{name}", full)
                with pytest.raises(OSError, match="No space"):
                    export(folder, source)
            export(folder, source)
        export(tmp_path / "whole", log) if not (tmp_path / "whole").exists() else None
        assert content(folder) == content(tmp_path / "whole")
        shutil.rmtree(folder)


def test_two_exports_do_not_write_at_once(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    export(folder, log)
    with lock_file(folder / ".tables.lock"), pytest.raises(UsageError, match="another export"):
        export(folder, log)


def test_a_log_without_its_first_record_is_refused(log: Path, tmp_path: Path) -> None:
    meddle(log, ("DELETE FROM records WHERE seq = 1", ()))
    assert "record 1 is missing" in said(log, tmp_path / "tables")
    with SqlDecisionLog.open(tmp_path / "empty.db") as kept:
        assert kept.head().seq == 0
    assert "no records" in said(tmp_path / "empty.db", tmp_path / "tables")


def test_a_record_that_was_altered_is_told_and_the_rest_is_there(log: Path, tmp_path: Path) -> None:
    export(tmp_path / "before", log)
    before = content(tmp_path / "before")
    seq = next(one[0] for one in before["turns"] if [one[0]] in one)
    with SqlDecisionLog.open_for_reading(log) as kept:
        (raw,) = kept.raw_at([seq])
    meddle(log, ("UPDATE records SET body = ? WHERE seq = ?", (raw.body + b" ", seq)))
    with SqlDecisionLog.open_for_reading(log) as kept:
        added = add_to_tables(tmp_path / "tables", kept)
    assert any(f"record {seq} " in one for one in added.folder.problems)
    rows = content(tmp_path / "tables")["turns"]
    assert [one for one in rows if one[0] != seq] == [
        one for one in before["turns"] if one[0] != seq
    ]
    assert open_tables(tmp_path / "tables").last == head_of(log)


def test_what_is_appended_meanwhile_is_left_to_the_next_export(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, places = tmp_path / "tables", "harness.audit.tables.table_folder"
    head = head_of(log)
    export(folder, as_it_was(log, 25))

    def append(*_: object) -> None:
        with SqlDecisionLog.open(log) as kept:
            kept.append(decision(8))

    with monkeypatch.context() as patched:
        patched.setattr(f"{places}._require_same_log", append)
        export(folder, log)
    assert open_tables(folder).last == head
    assert export(folder, log) == 1
    export(tmp_path / "whole", log)
    assert content(folder) == content(tmp_path / "whole")


def test_tables_say_what_records_say_and_not_what_the_index_says(log: Path, tmp_path: Path) -> None:
    export(tmp_path / "before", log)
    meddle(log, ("UPDATE record_index SET facts = 513, kind = NULL WHERE status LIKE 'ref%'", ()))
    with SqlDecisionLog.open_for_reading(log) as kept:
        added = add_to_tables(tmp_path / "tables", kept)
    assert any("the index says" in one for one in added.folder.problems)
    assert content(tmp_path / "tables") == content(tmp_path / "before")
