"""Read columns of plans from a Parquet file, a group of rows at a time.

Rule 1: a file that is not of this format, or of other rules, is refused before anything is judged.
Rule 2: pages have checksums, and the footer counts the rows in more than one place: both are
        checked, so that damage is an error and never another answer.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow
import pyarrow.parquet

from evals.escaping import escape_line
from harness.errors import HarnessError, escape_text
from harness.replay.log_check import LogCheck
from harness.rules import rules_digest
from harness.what_if.columns.column_writing import arrow_type
from harness.what_if.columns.kernel import UNKNOWN, Answers, Codes, Lists, Numbers, PlanMarks, Plans
from harness.what_if.columns.plan_columns import (
    CHECK_KEY,
    COLUMNS,
    FORMAT_KEY,
    HEAD_KEY,
    LAST_KEY,
    PLANS_FORMAT,
    RULES_KEY,
    ColumnKind,
    PlanRow,
)
from harness.what_if.plan_answers import ANSWERS
from harness.wire import InvalidInput, parse

_JUDGED: Final = (
    *(
        "seq",
        "attempt",
        "turn_id",
        "upto",
        "not_judged",
        "decision_key",
        "answer",
        "drifted",
        "of_guard",
    ),
    *("as_of_us", "spent_steps", "spent_tokens", "ctx", "compiled", "spec", "declared_outputs"),
    *("plan_steps", "repeated_calls", "out_of_order", "other_trace"),
)
"""The columns that every plan is judged by. The others are read where a plan is shown."""
_SAID: Final = ("damage", "notes")
_TAKEN_OUT: Final = "it lacks records of its log: export the log again"
_SLICE: Final = 500  # rows that are in memory in full
_ANSWERS: Final = {answer.text: code for code, answer in enumerate(ANSWERS)}


class PlansUnusable(HarnessError):
    """A file does not hold plans that this version can judge."""


class PlanFile:
    """A Parquet file of plans.

    Attributes:
        check: what was wrong with the log as a whole when it was exported.
    """

    def __init__(self, path: Path) -> None:
        """Open a file and check that its columns are those of this version.

        Raises:
            PlansUnusable: they are not, or the file is damaged.
        """
        self._where = escape_text(str(path))
        with self.blame_file():
            self._file = pyarrow.parquet.ParquetFile(
                path, page_checksum_verification=True, pre_buffer=False
            )
            _check_count(self._file.metadata)
        self.head: str | None = None
        self.check = self._check_schema(self._file.schema_arrow)

    def _check_schema(self, schema: Any) -> LogCheck:
        known = (schema.metadata or {}).items()
        about = {key.decode(errors="replace"): one.decode(errors="replace") for key, one in known}
        written = about.get(FORMAT_KEY)
        if written is None:
            raise PlansUnusable(
                f"{self._where}: it holds no plans: `critic log export LOG --to parquet --plans` "
                "writes them"
            )
        if written != PLANS_FORMAT:
            raise PlansUnusable(
                f"{self._where}: its plans are in format {escape_text(written)}, and this version "
                f"reads {PLANS_FORMAT}: install the version that wrote it, or export the log again"
            )
        kinds = {"seq": pyarrow.int64(), **{name: arrow_type(k) for name, k in COLUMNS.items()}}
        for name, kind in kinds.items():
            if name not in schema.names or schema.field(name).type != kind:
                raise PlansUnusable(
                    f"{self._where}: column {name} is not as this version writes it"
                )
        if about.get(RULES_KEY) != (rules_digest() or ""):
            raise PlansUnusable(
                f"{self._where}: its plans were judged by other rules than are installed: export "
                "the log again"
            )
        self._last = self._number(about[LAST_KEY]) if LAST_KEY in about else None
        self.head = about.get(HEAD_KEY)
        data = about.get(CHECK_KEY, "").encode()
        try:
            check = parse(LogCheck, data, len(data))
        except InvalidInput as error:
            raise PlansUnusable(f"{self._where}: {CHECK_KEY} in its metadata: {error}") from None
        lines = {name: tuple(map(escape_line, getattr(check, name))) for name in _SAID}
        return LogCheck(**lines)

    def _number(self, text: str) -> int:
        # Sixteen digits hold every number that a record may have.
        if not (text.isascii() and text.isdecimal() and len(text) <= 16):
            raise PlansUnusable(f"{self._where}: {LAST_KEY} in its metadata: not a number")
        return int(text)

    def groups(self) -> Iterator["PlanGroup"]:
        """Yield the rows, a group at a time.

        Raises:
            PlansUnusable: the file is damaged, or records of its log were taken out.
        """
        end = 0
        for number in range(self._file.num_row_groups):
            with self.blame_file():
                group = PlanGroup(self, number)
                if self._last is not None:
                    end = group.end_after(end)
            yield group
        if self._last is not None and end < self._last:
            raise PlansUnusable(f"{self._where}: {_TAKEN_OUT}")

    def repeated_turns(self) -> Numbers:
        """Return the turns that have more than one plan, in ascending order.

        Raises:
            PlansUnusable: the file is damaged.
        """
        groups = range(self._file.num_row_groups)
        columns = [self.table(number, ["turn_id"]).column(0).drop_null() for number in groups]
        found = np.concatenate([np.empty(0, np.int64), *(one.to_numpy() for one in columns)])
        found.sort()
        repeated: Numbers = np.unique(found[1:][found[1:] == found[:-1]])
        return repeated

    def table(self, number: int, names: Iterable[str]) -> Any:
        """Return some columns of a group.

        Raises:
            PlansUnusable: the file is damaged.
        """
        with self.blame_file():
            return self._file.read_row_group(number, columns=list(names), use_threads=False)

    @contextmanager
    def blame_file(self) -> Iterator[None]:
        """Take what fails inside for damage of the file.

        Raises:
            PlansUnusable: something did.
        """
        try:
            yield
        except (pyarrow.ArrowException, OSError, IndexError, ValueError) as error:
            raise PlansUnusable(
                f"{self._where}: it is damaged or cut off: export the log again "
                f"({escape_text(str(error))})"
            ) from None


class PlanGroup:
    """A group of rows, as columns.

    Attributes:
        judged: the rows with a plan.
        before: the answer on each plan; `UNKNOWN` where there is none.
        texts: the texts of each column by their numbers, for `ctx` and the like.
    """

    def __init__(self, file: PlanFile, number: int) -> None:
        self._file, self._number = file, number
        table = file.table(number, _JUDGED)
        self._columns = {name: _one_chunk(table.column(name)) for name in _JUDGED}
        self.seq: Numbers = self._numbers("seq")
        self.turn_id: Numbers = self._numbers("turn_id")
        self.is_decision: PlanMarks = ~self._known_rows("attempt")
        self.judged: PlanMarks = self._known_rows("answer")
        self.not_judged: PlanMarks = self._known_rows("not_judged")
        self.drifted: PlanMarks = self._marks("drifted")
        self.of_guard: PlanMarks = self._marks("of_guard")
        self.has_time: PlanMarks = self._known_rows("as_of_us")
        self.as_of_us: Numbers = self._numbers("as_of_us")
        self.before: Answers = self._answers()
        self._ends = np.where(self._known_rows("upto"), self._numbers("upto"), self.seq)
        if (self._ends < self.seq).any():  # fewer records than none would be counted
            raise ValueError("a row of missing records ends before it begins")
        for name in ("ctx", "compiled", "spec", "declared_outputs", "turn_id"):
            known = self._known_rows(name)
            if (self.judged & ~known).any():
                raise ValueError(f"a plan has no {name}")
            if (known & ~self.judged).any():  # it would be in no count
                raise ValueError(f"a row has a {name} and no answer")

    def __len__(self) -> int:
        return len(self.seq)

    def end_after(self, end: int) -> int:
        """Return the number of the last record up to here, if the first rows follow `end`.

        Raises:
            ValueError: a record has no row.
        """
        if ((self.seq - np.concatenate(([end], self._ends[:-1]))) > 1).any():
            raise ValueError(_TAKEN_OUT)
        return int(self._ends[-1]) if len(self) else end

    def plans(self) -> Plans:
        """Return the plans of all rows. Those without one are empty.

        Raises:
            ValueError: a number is out of its range.
        """
        steps, repeats = self._lists("plan_steps"), self._lists("repeated_calls")
        _check_range(steps.values, len(self.texts("plan_steps")))
        _check_range(repeats.values, np.repeat(steps.lengths(), repeats.lengths()))
        return Plans(
            steps,
            repeats,
            self.codes("declared_outputs"),
            self._numbers("spent_steps"),
            self._numbers("spent_tokens"),
            self._marks("out_of_order"),
            self._marks("other_trace"),
        )

    def other_decisions(self, decision_key: str) -> PlanMarks:
        """Return the rows of other decisions than this one, as far as their spec is known."""
        texts = self.texts("decision_key")
        number = texts.index(decision_key) if decision_key in texts else -1
        found: PlanMarks = self._known_rows("decision_key") & (self.codes("decision_key") != number)
        return found

    def codes(self, name: str) -> Codes:
        """Return the numbers of the texts in a column; 0 where there is none."""
        found: Codes = self._columns[name].indices.fill_null(0).to_numpy()
        return found

    def texts(self, name: str) -> list[str]:
        """Return the texts of a column, or of the elements of its lists, by their numbers."""
        column = self._columns[name]
        values = column.values if name == "plan_steps" else column
        found: list[str] = values.dictionary.to_pylist()
        return found

    def rows(self, rows: Numbers) -> Iterator[PlanRow]:
        """Yield some rows in full, a few in memory at a time."""
        if not rows.size:
            return
        table = self._file.table(self._number, COLUMNS)
        texts = {name: _texts_of(_one_chunk(table.column(name))) for name in COLUMNS}
        for start in range(0, len(rows), _SLICE):
            some = pyarrow.array(rows[start : start + _SLICE])
            columns = [
                _cells(_one_chunk(table.column(name)).take(some), kind, texts[name])
                for name, kind in COLUMNS.items()
            ]
            yield from map(PlanRow._make, zip(*columns, strict=True))

    def _known_rows(self, name: str) -> PlanMarks:
        column = self._columns[name]
        if not column.null_count:
            return np.ones(len(column), np.bool_)
        found: PlanMarks = column.is_valid().to_numpy(zero_copy_only=False)
        return found

    def _numbers(self, name: str) -> Numbers:
        found: Numbers = self._columns[name].fill_null(0).to_numpy()
        return found

    def _marks(self, name: str) -> PlanMarks:
        found: PlanMarks = self._columns[name].fill_null(False).to_numpy(zero_copy_only=False)
        return found

    def _lists(self, name: str) -> Lists:
        column = self._columns[name]
        values = column.values.indices if name == "plan_steps" else column.values
        if column.null_count or values.null_count:
            raise ValueError(f"column {name} has nulls")
        return Lists(column.offsets.to_numpy().astype(np.int64), values.to_numpy())

    def _answers(self) -> Answers:
        texts = self.texts("answer")
        if unknown := next((text for text in texts if text not in _ANSWERS), None):
            raise ValueError(f"an answer is {escape_text(unknown)}")
        table = np.array([*(_ANSWERS[text] for text in texts), UNKNOWN], np.uint8)
        codes = np.where(self.judged, self.codes("answer"), len(texts))
        return table.take(codes)


def _texts_of(column: Any) -> list[str]:
    """Return the texts in the dictionary of a column, or of its lists; none without one."""
    values = getattr(column, "values", column)
    return values.dictionary.to_pylist() if hasattr(values, "dictionary") else []


def _cells(column: Any, kind: ColumnKind, texts: list[str]) -> Iterable[Any]:
    """Return the cells of a column. Those of one text are one string: it may be large."""
    if kind == "text":
        return [None if code is None else texts[code] for code in column.indices.to_pylist()]
    if kind == "texts":
        codes, ends = column.values.indices.to_pylist(), column.offsets.to_pylist()
        return [tuple(texts[code] for code in codes[a:b]) for a, b in pairwise(ends)]
    if kind in ("strings", "numbers"):
        if column.null_count:
            raise ValueError("a row has nothing where a list belongs")
        return map(tuple, column.to_pylist())
    cells: list[Any] = column.to_pylist()
    return cells


def _check_count(about: Any) -> None:
    """Check that the footer, which has no checksum, counts the rows alike in all of its places."""
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    values = [group.column(0).num_values for group in groups]  # of a column without lists
    counts = [group.num_rows for group in groups]
    if counts != values or sum(counts) != about.num_rows:
        raise ValueError("its footer contradicts itself")


def _check_range(numbers: Codes | Numbers, end: Any) -> None:
    if numbers.size and (numbers.min() < 0 or (numbers >= end).any()):
        raise ValueError("a number in a list is out of its range")


def _one_chunk(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
