"""A folder with the tables of one log, as Parquet files that are only added to.

Rule 1: `tables.json` names the log, the record that was read last, and every file with its size and
        its digest. A file that it does not name does not count. It is written last.
Rule 2: nothing is added to a folder that is not of this log, is not what was written, or has what
        the log has no more: values that were taken out after it was read.
Rule 3: what an export that was interrupted left is written again by the next one.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.audit.tables.table_columns import LOG_COLUMNS, Row, TableName, table_schema
from harness.audit.tables.turn_tables import TurnTables, changed_after
from harness.errors import HarnessError, UsageError, escape_text
from harness.locking import lock_file
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.record import GENESIS, Head
from harness.record.integrity import is_digest
from harness.whole_files import replace_file, show_path

FORMAT: Final = "plan-critic.tables 4"
_NAMES: Final = "tables.json"
_LOCK: Final = ".tables.lock"
_PROBLEMS: Final = 100  # that are named
_ROWS: Final = 20_000  # rows of a group, which are in memory together


class TablesUnusable(HarnessError):
    """A folder has no tables of this log, or they are not what was written."""


@dataclass(frozen=True, slots=True)
class TableFolder:
    """What a folder says of itself.

    Attributes:
        path: the folder.
        first: the hash of the first record of its log.
        last: the last record of the log that was read.
        files: the names of its files, with their size in bytes and their SHA-256.
        problems: what was wrong with the log when it was read, a line each.
    """

    path: Path
    first: str
    last: Head
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def paths(self, table: TableName) -> list[str]:
        """Return the files of a table."""
        return [str(self.path / name) for name in self.files if name.startswith(f"{table}-")]

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        files = {name: {"bytes": size, "sha256": own} for name, (size, own) in self.files.items()}
        last = {"seq": self.last.seq, "hash": self.last.hash}
        wire = {"format": FORMAT, "first": self.first, "last": last, "files": files}
        return {**wire, "problems": list(self.problems)}


def open_tables(path: Path) -> TableFolder:
    """Return the tables in a folder, after a look at every file.

    Raises:
        TablesUnusable: it has none, or a file is not what was written.
        OSError: it cannot be read.
    """
    shown = show_path(path)
    try:
        folder = _folder_of(path, json.loads((path / _NAMES).read_bytes()))
    except FileNotFoundError:
        what = f"{shown} holds no tables of a log: there is no {_NAMES}"
        raise TablesUnusable(f"{what}: write them with `critic log export`") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        what = f"{shown}: {_NAMES} is not what was written"
        raise TablesUnusable(f"{what}: export the log to another folder") from None
    for name, (size, own) in folder.files.items():
        if told := _file_problem(path / name, size, own):
            again = "restore it, or export the log to another folder"
            raise TablesUnusable(f"{shown}: {escape_text(name)} {told}: {again}")
    return folder


def _folder_of(path: Path, value: Any) -> TableFolder:
    files = {name: (one["bytes"], one["sha256"]) for name, one in value["files"].items()}
    last = Head(value["last"]["seq"], value["last"]["hash"])
    folder = TableFolder(path, value["first"], last, files, tuple(map(str, value["problems"])))
    is_ours = value["format"] == FORMAT and type(last.seq) is int
    names = all(Path(name).name == name and name.endswith(".parquet") for name in files)
    if not (is_ours and names and is_digest(folder.first) and is_digest(last.hash)):
        raise ValueError
    return folder


def _file_problem(path: Path, size: Any, own: Any) -> str:
    try:
        there = path.stat().st_size
    except FileNotFoundError:
        return "is missing"
    if there != size:
        return f"has {there} bytes, and {size} were written"
    with path.open("rb") as file:
        same = hashlib.file_digest(file, "sha256").hexdigest() == own
    return "" if same else "is not what was written"


class Added(NamedTuple):
    """What was added to a folder: turns, of which some were there before, and records."""

    folder: TableFolder
    turns: int
    records: int


def add_to_tables(path: Path, log: SqlDecisionLog) -> Added:
    """Add what is new in a log to the tables in a folder, which is made if it is not there.

    Raises:
        TablesUnusable: the folder holds something else, or tables of another log, or of this one
            before it was rewritten or values were taken out; or a file is not what was written.
        UsageError: another process is writing to the folder; or this installation lacks Parquet.
        harness.log.log_errors.LogError: the log cannot be read any further.
        OSError: the folder cannot be written to.
    """
    try:
        import pyarrow  # noqa: F401, PLC0415 - large, and only for this
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'plan-critic[parquet]'") from None
    _require_own(path)
    path.mkdir(exist_ok=True)
    with _hold_lock(path):
        before = open_tables(path) if (path / _NAMES).exists() else None
        first, head = _first_hash(log), log.head()
        if before is not None:
            _require_same_log(before, log, first)
            _require_nothing_taken_out(before, log)
        if before is not None and before.last.seq == head.seq:
            return Added(before, 0, 0)
        if before is None:  # from now on, what an interrupted export leaves is known as ours
            before = TableFolder(path, first, Head(0, GENESIS))
            _write_names(before)
        return _add_files(before, log, head)


def _require_own(path: Path) -> None:
    """Refuse a folder that holds what no export of tables has written."""
    shown = show_path(path)
    if path.exists() and not path.is_dir():
        raise TablesUnusable(f"{shown} is not a folder: name one for the tables")
    if not path.exists() and not path.parent.is_dir():
        raise TablesUnusable(f"{shown}: no such folder: make the one that it is in")
    if not path.exists() or (path / _NAMES).exists():
        return
    others = sorted(one.name for one in path.iterdir() if not _is_left_over(one.name))
    if others:
        what = f"{shown} holds {escape_text(others[0])} and no {_NAMES}"
        raise TablesUnusable(f"{what}: name an empty folder, or one that is not there")


def _is_left_over(name: str) -> bool:
    """Return whether a name is one that an export leaves that was interrupted at its beginning."""
    return name == _LOCK or name.startswith(".critic-")


@contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    try:
        with lock_file(path / _LOCK, wait_s=0):
            yield
    except BlockingIOError:
        shown = show_path(path)
        raise UsageError(f"{shown}: another export is writing to it: wait for its end") from None


def _first_hash(log: SqlDecisionLog) -> str:
    first = next(log.hashes(), None)
    if first is None:
        raise TablesUnusable(f"{log.where} holds no records yet")
    if first[0] != 1:
        raise TablesUnusable(f"{log.where}: record 1 is missing, which tables name their log by")
    return first[1]


def _require_same_log(before: TableFolder, log: SqlDecisionLog, first: str) -> None:
    shown, last = show_path(before.path), before.last
    if before.first != first:
        what = f"{shown} is of another log: its first record is {before.first[:12]}..."
        raise TablesUnusable(f"{what}, here it is {first[:12]}...: name another folder")
    stored = {raw.seq: raw.hash for raw in log.raw_at([last.seq])}.get(last.seq, GENESIS)
    if stored != last.hash:
        what = f"{shown} has records up to {last.seq}:{last.hash[:12]}..., which the log lacks"
        raise TablesUnusable(f"{what}: it was cut short or rewritten: keep both, and see why")


def _require_nothing_taken_out(before: TableFolder, log: SqlDecisionLog) -> None:
    notes = Listing(log).rows(Filters(status="redacted"))
    for one in notes:
        if isinstance(one, Listed) and one.row.seq > before.last.seq:
            what = f"{show_path(before.path)} has what record {one.row.seq} took out of the log"
            raise TablesUnusable(f"{what}: name another folder, and delete this one")


def _add_files(before: TableFolder, log: SqlDecisionLog, head: Head) -> Added:
    tables = TurnTables(log, changed_after(before.last.seq), frozenset(), head.seq)
    written = {name: f"{name}-{before.last.seq + 1}-{head.seq}.parquet" for name in LOG_COLUMNS}
    with ExitStack() as stack:
        writers = {
            name: stack.enter_context(_TableWriter(before.path / f"{file}.partial", name))
            for name, file in written.items()
        }
        for rows in tables.rows():
            for name, writer in writers.items():
                writer.add(rows[name])
    files = dict(before.files)
    for file in written.values():
        partial, place = before.path / f"{file}.partial", before.path / file
        with partial.open("rb") as read:
            own = hashlib.file_digest(read, "sha256").hexdigest()
        files[file] = partial.stat().st_size, own
        partial.replace(place)
    problems = [*dict.fromkeys([*before.problems, *tables.problems()])][:_PROBLEMS]
    folder = TableFolder(before.path, before.first, head, files, tuple(problems))
    _write_names(folder)
    return Added(folder, len(tables), head.seq - before.last.seq)


def _write_names(folder: TableFolder) -> None:
    replace_file(folder.path / _NAMES, json.dumps(folder.wire(), indent=1).encode() + b"\n")


class _TableWriter:
    """Writes the rows of a table to a file, a group at a time."""

    def __init__(self, path: Path, name: TableName) -> None:
        import pyarrow.parquet  # noqa: PLC0415

        self._schema, self._rows = table_schema(name), list[Row]()
        self._writer = pyarrow.parquet.ParquetWriter(path, self._schema, compression="zstd")

    def add(self, rows: list[Row]) -> None:
        self._rows += rows
        if len(self._rows) >= _ROWS:
            self._write()

    def _write(self) -> None:
        import pyarrow  # noqa: PLC0415

        columns = [[row[name] for row in self._rows] for name in self._schema.names]
        arrays = [
            pyarrow.array(column, type=kind)
            for column, kind in zip(columns, self._schema.types, strict=True)
        ]
        self._writer.write_table(pyarrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows.clear()

    def __enter__(self) -> "_TableWriter":
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._write()
        self._writer.close()
