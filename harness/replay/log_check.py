"""Check a decision log as a whole: its tables, its index, and what no record names. Pure."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Annotated, Final, Protocol, TypeVar

from evals.envelope import ARRAY, Envelope
from evals.escaping import escape_name
from harness.record import Head, RawRecord
from harness.record.integrity import START, StoredDocument
from harness.record.parts import references
from harness.replay.document_reading import PartedLog, RecordedLog
from harness.replay.engine import Replayer, expected_head
from harness.replay.findings import RecordFinding, findings_of_rows
from harness.replay.index_check import IndexCheck, IndexedLog
from harness.replay.log_page import Page
from harness.replay.recheck import RecordedInputs
from harness.replay.result import ReplayResult

_T = TypeVar("_T")

_NAMED: Final = 3  # digests that a note names


class NamesLeft(Protocol):
    """Names, without those that are taken out."""

    def discard(self, others: Iterable[str], /) -> None:
        """Take names out; those that are not there change nothing."""
        ...

    def left(self, most: int, /) -> tuple[int, list[str]]:
        """Return how many are left, and the first of them in their order: at most so many."""
        ...


class StoredLog(RecordedLog, PartedLog, IndexedLog, Protocol):
    """A log with its tables, and all that is stored beside its records."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Return how the tables differ from those that this version makes."""
        ...

    def stored_records(self) -> Iterator[RawRecord]:
        """Yield the stored rows as they are."""
        ...

    def unnamed(self) -> NamesLeft:
        """Return the digests of all inputs and parts, to take out those that something names."""
        ...

    def unmade(self) -> NamesLeft:
        """Return all claims, to take out those that a record made."""
        ...

    def bodies(self) -> Iterator[tuple[str, bytes]]:
        """Yield the stored inputs and parts with their digests."""
        ...


class LogCheck(Envelope):
    """The faults of a log outside its records.

    `damage` says how the tables differ from those that this version makes (nothing is appended to
    such a log), which claims no record made, and where the index differs from the records.
    `notes` are worth a look and change nothing. True in an `if` only without damage.
    """

    damage: Annotated[tuple[str, ...], ARRAY] = ()
    notes: Annotated[tuple[str, ...], ARRAY] = ()

    def __bool__(self) -> bool:
        return not self.damage

    def with_damage(self, damage: Iterable[str]) -> "LogCheck":
        """Return the same with more damage, said first."""
        return LogCheck(damage=(*damage, *self.damage), notes=self.notes)

    def text(self) -> str:
        """Return a line for each problem and each note, or "" if there are none."""
        lines = [f"the log is damaged: {problem}" for problem in self.damage]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def check_log(log: StoredLog) -> LogCheck:
    """Check the tables of a log, and look for inputs and claims that no record names.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read.
    """
    reader = _Reader(log, None, judge=False)
    for _ in reader.read(log.stored_records()):
        pass
    return reader.check()


class CheckedReplay:
    """A replay of a log that checks it as a whole beside, and reads each record once."""

    def __init__(
        self, log: StoredLog, *, head: tuple[int, str] | None = None, judge: bool = True
    ) -> None:
        """Take the log. `head` and `judge` are as for `replay`.

        Raises:
            ValueError: `head` is not a number with a hash.
        """
        self._log, self._expected, self._judge = log, expected_head(head), judge
        self._reader: _Reader | None = None

    def answers(self) -> Iterator[ReplayResult]:
        """Yield what `replay` does.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        yield from self._begin().answers(self._log.stored_records())

    def findings(self, find: Callable[[RecordedInputs], _T]) -> Iterator[RecordFinding[_T]]:
        """Yield what `harness.replay.findings` does.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        reader = self._begin()
        yield from findings_of_rows(reader.replay_rows(self._log.stored_records(), START), find)

    def _begin(self) -> "_Reader":
        self._reader = _Reader(self._log, self._expected, judge=self._judge, checked=True)
        return self._reader

    def check(self) -> LogCheck:
        """Return what `check_log` does. All answers or findings have been taken before.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read.
        """
        return check_log(self._log) if self._reader is None else self._reader.check()


class _Reader(Replayer):
    """Replays a log, or only reads it, and checks it as a whole."""

    def __init__(
        self, log: StoredLog, expected: Head | None, *, judge: bool, checked: bool = False
    ) -> None:
        super().__init__(log, expected, judge=judge)
        self._stored_log, self._checked = log, checked
        # First what may be unnamed: a decision appended meanwhile brings its record with it.
        self._unnamed, self._unmade = log.unnamed(), log.unmade()
        self._index = IndexCheck(log)

    def read(self, rows: Iterator[RawRecord]) -> Iterator[tuple[StoredDocument, Page]]:
        """Yield every stored record with what it names, and note what it names."""
        return self._read_documents(rows)

    @contextmanager
    def _hold_reading(self) -> Iterator[None]:
        with self._stored_log.fetching() as stored, self._bodies.fetched_by(stored):
            yield

    def documents(self, raws: Iterable[RawRecord]) -> list[StoredDocument]:
        documents = super().documents(raws)
        self._index.take(documents)
        return documents

    def _read_documents(self, rows: Iterator[RawRecord]) -> Iterator[tuple[StoredDocument, Page]]:
        for document, page in super()._read_documents(rows):
            named = chain(document.digests.values(), references(document.raw.body))
            self._unnamed.discard(named)
            self._unmade.discard(document.claims)
            self._index.compare(document, page.bodies)
            yield document, page

    def check(self) -> LogCheck:
        """Return what was found, when all records have been read."""
        log, unnamed = self._stored_log, self._unnamed
        for digest, body in log.bodies():
            unnamed.discard(part for part in references(body) if part != digest)
        damage = (*log.problems, *_list_left("claim", "made", self._unmade), *self._index.damage())
        return LogCheck(damage=damage, notes=tuple(_list_left("input", "names", unnamed)))


def _list_left(noun: str, verb: str, names: NamesLeft) -> Iterator[str]:
    total, first = names.left(_NAMED)
    if not total:
        return
    shown = ", ".join(map(escape_name, first))
    more = f" and {total - len(first)} more" if total > len(first) else ""
    count = f"1 {noun}" if total == 1 else f"{total} {noun}s"
    yield f"{count} that no record {verb}: {shown}{more}"
