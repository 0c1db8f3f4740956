"""Ask the tables of a log in SQL, with DuckDB, which may read these files and nothing else.

Rule 1: one statement, which selects. It is parsed before it is run.
Rule 2: the database is in memory. It has no file, no network, no extension that is not built in, no
        object of this program, and its settings are locked before the statement is run.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from evals.kinds import MODES
from harness.audit.tables.table_columns import LOG_COLUMNS, TableName
from harness.audit.tables.table_folder import TableFolder, TablesUnusable
from harness.errors import HarnessError, UsageError, escape_text
from harness.whole_files import show_path

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_PAGE: Final = 1000  # rows in memory together


class QueryRefused(HarnessError):
    """A statement is not one that selects, cannot be read, or cannot be answered."""


@dataclass(frozen=True, slots=True)
class Selected:
    """What a statement selects: the names of its columns, and its rows as they are read."""

    columns: Sequence[str]
    rows: Iterator[tuple[Any, ...]]


@contextmanager
def ask_tables(folder: TableFolder, sql: str) -> Iterator[Selected]:
    """Answer a statement. The rows can be read as long as this is open.

    Raises:
        QueryRefused: it does not select, is more than one, cannot be read, or cannot be answered.
        UsageError: DuckDB is not there.
    """
    try:
        import duckdb  # noqa: PLC0415 - large, and only for this
    except ImportError:
        raise UsageError("questions need DuckDB: pip install 'plan-critic[query]'") from None
    with TemporaryDirectory(prefix="critic-query-") as beside:
        connection = duckdb.connect(":memory:")
        try:
            _prepare(connection, folder, beside)
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                what = "one statement that selects is answered, and nothing else"
                raise QueryRefused(f"{what}: begin with SELECT, FROM or WITH")
            found = connection.execute(statements[0])
            columns = [str(one[0]) for one in found.description or ()]
            yield Selected(columns, _rows(found))
        except duckdb.Error as error:
            raise QueryRefused(f"SQL: {_in_one_line(str(error))}") from None
        finally:
            connection.close()


def _rows(found: "DuckDBPyConnection") -> Iterator[tuple[Any, ...]]:
    while page := found.fetchmany(_PAGE):
        yield from page


def _prepare(connection: "DuckDBPyConnection", folder: TableFolder, beside: str) -> None:
    """Make the views, and take away all that the statement does not need."""
    paths = [str(Path(one).absolute()) for name in LOG_COLUMNS for one in folder.paths(name)]
    if not paths:
        shown = show_path(folder.path)
        raise TablesUnusable(f"{shown}: its first export was interrupted: export the log again")
    for name, value in {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",
        "enable_progress_bar": "false",
        "temp_directory": _quote(beside),
        "allowed_paths": _quote_all(paths),
        "enable_external_access": "false",
    }.items():
        connection.execute(f"SET {name} = {value}")
    ranks = f"list_position({_quote_all(MODES)}, name) - 1"
    connection.execute(f"CREATE MACRO rank_of(name) AS {ranks}")
    turns = _files(folder, "turns")
    connection.execute("CREATE SCHEMA beside")
    connection.execute(
        "CREATE TABLE beside.replaced_rows AS SELECT seq, upto FROM "  # noqa: S608 - of our own names
        f"(SELECT seq, upto, max(upto) OVER (PARTITION BY seq) AS newest FROM {turns}) "
        "WHERE upto < newest"
    )
    for name in LOG_COLUMNS:
        connection.execute(
            f"CREATE VIEW {name} AS SELECT * EXCLUDE (upto) "  # noqa: S608
            f"FROM {_files(folder, name)} ANTI JOIN beside.replaced_rows USING (seq, upto)"
        )
    connection.execute("SET lock_configuration = true")


def _files(folder: TableFolder, name: TableName) -> str:
    paths = [str(Path(one).absolute()) for one in folder.paths(name)]
    return f"read_parquet({_quote_all(paths)})"


def _quote_all(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_quote, texts))}]"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _in_one_line(message: str) -> str:
    """Return what DuckDB says, without the line that it points into."""
    said = message.partition("\nLINE ")[0]
    return escape_text(" ".join(said.split()))
