"""Write rows of plans as columns of Arrow, with a dictionary for each column of texts."""

from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Final

from harness.canonical import canonical_json
from harness.replay.log_check import LogCheck
from harness.rules import rules_digest
from harness.what_if.columns.plan_columns import (
    CHECK_KEY,
    COLUMNS,
    FORMAT_KEY,
    LAST_KEY,
    PLANS_FORMAT,
    RULES_KEY,
    ColumnKind,
    PlanRow,
)

ROWS: Final = 65_536
"""Rows of a group: what is judged at once stays in the caches of a processor."""

_MOST_TEXT: Final = 64 * 2**20  # characters of the dictionaries of a group

_PART: Final = "the export has only the records of its log that were asked for"

_MAGIC: Final = b"PAR1"


def is_parquet(place: str) -> bool:
    """Return whether a place is a Parquet file, by how it begins."""
    try:
        if not Path(place).is_file():  # a pipe would be waited for
            return False
        with Path(place).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):  # a name may hold what no path can
        return False


def writer_options() -> dict[str, Any]:
    """Return how a file of plans is written: repeated texts once, pages with their checksums."""
    return {
        "write_page_checksum": True,
        "compression": "zstd",
        "dictionary_pagesize_limit": 2**30,  # each text stands in a group once, however large
        "use_dictionary": _in_dictionaries(),
        "column_encoding": {"seq": "DELTA_BINARY_PACKED"},
    }


def _in_dictionaries() -> list[str]:
    """Return the paths of the columns in which few values repeat."""
    path = {"text": "{}", "texts": "{}.list.element"}
    return [path[kind].format(name) for name, kind in COLUMNS.items() if kind in path]


def plan_metadata(check: LogCheck, last: int | None) -> dict[str, str]:
    """Return what the metadata of a file says of its plans, and of their log as a whole.

    Args:
        check: what is wrong with the log.
        last: the number of the last record; None if the file holds only some of them.
    """
    notes = (*check.notes, _PART) if last is None else check.notes
    check = LogCheck(damage=check.damage, notes=notes)
    return {
        **({} if last is None else {LAST_KEY: str(last)}),
        FORMAT_KEY: PLANS_FORMAT,
        RULES_KEY: rules_digest() or "",
        CHECK_KEY: canonical_json(check.wire()).decode(),
    }


def plan_fields() -> list[Any]:
    """Return the fields of the columns, for a schema of Arrow."""
    import pyarrow  # noqa: PLC0415 - large, and only for this

    return [pyarrow.field(name, arrow_type(kind)) for name, kind in COLUMNS.items()]


def arrow_type(kind: ColumnKind) -> Any:
    """Return what a column of a kind is to Arrow."""
    import pyarrow  # noqa: PLC0415

    text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    return {
        "int64": pyarrow.int64(),
        "bool": pyarrow.bool_(),
        "string": pyarrow.string(),
        "strings": pyarrow.list_(pyarrow.string()),
        "text": text,
        "texts": pyarrow.list_(text),
        "numbers": pyarrow.list_(pyarrow.int32()),
    }[kind]


class PlanBatch:
    """Rows that are written together: a few, so that memory does not grow with a log."""

    def __init__(self) -> None:
        self._cells: list[list[Any]] = [[] for _ in COLUMNS]
        self._texts: dict[str, dict[str, int]] = {name: {} for name in COLUMNS}
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Return whether the rows should be written before more are added."""
        return len(self._cells[0]) >= ROWS or self._size >= _MOST_TEXT

    def add(self, row: PlanRow) -> None:
        """Add a row."""
        values: tuple[Any, ...] = row
        for (name, kind), cells, value in zip(COLUMNS.items(), self._cells, values, strict=True):
            if kind == "text" and value is not None:
                cells.append(self._code(name, value))
            elif kind == "texts":
                cells.append([self._code(name, text) for text in value])
            else:
                cells.append(value)

    def _code(self, name: str, text: str) -> int:
        """Return the number of a text, so that each is in memory once."""
        codes = self._texts[name]
        if text not in codes:
            codes[text] = len(codes)
            self._size += len(text)
        return codes[text]

    def arrays(self) -> list[Any]:
        """Return the columns of the rows."""
        named = zip(COLUMNS.items(), self._cells, strict=True)
        return [self._array(name, kind, cells) for (name, kind), cells in named]

    def _array(self, name: str, kind: ColumnKind, cells: list[Any]) -> Any:
        import pyarrow  # noqa: PLC0415

        if kind not in ("text", "texts"):
            return pyarrow.array(cells, type=arrow_type(kind))
        texts = pyarrow.array(list(self._texts[name]), pyarrow.string())
        if kind == "text":
            indices = pyarrow.array(cells, pyarrow.int32())
            return pyarrow.DictionaryArray.from_arrays(indices, texts)
        starts = [0, *accumulate(map(len, cells))]
        flat = pyarrow.array(list(chain.from_iterable(cells)), pyarrow.int32())
        values = pyarrow.DictionaryArray.from_arrays(flat, texts)
        return pyarrow.ListArray.from_arrays(pyarrow.array(starts, pyarrow.int32()), values)
