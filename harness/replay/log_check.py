"""Check a decision log as a whole: its tables, its index, and what no record names. Pure."""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Annotated, Final, Protocol

from evals.envelope import ARRAY, Envelope
from evals.escaping import escape_name
from harness.record import RawRecord
from harness.record.parts import pieces_of, references
from harness.replay.engine import PartedLog, RecordedLog
from harness.replay.index_check import IndexCheck, IndexedLog
from harness.replay.integrity import read_text_of

_PAGE: Final = 32  # records whose parts are fetched together
_NAMED: Final = 3  # digests that a note names


class StoredLog(RecordedLog, PartedLog, IndexedLog, Protocol):
    """A log with its tables, and all that is stored beside its records."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Return how the tables differ from those that this version makes."""
        ...

    def stored_records(self) -> Iterator[RawRecord]:
        """Yield the stored rows as they are."""
        ...

    def digests(self) -> frozenset[str]:
        """Return the digests under which inputs and parts are stored."""
        ...

    def bodies(self) -> Iterator[tuple[str, bytes]]:
        """Yield the stored inputs and parts with their digests."""
        ...

    def all_claims(self) -> Iterator[tuple[str, int]]:
        """Yield every claim with the number of its record."""
        ...


class LogCheck(Envelope):
    """What is wrong with a log beside its records.

    `damage` says how the tables differ from those that this version makes (nothing is appended to
    such a log), which claims no record made, and where the index differs from the records.
    `notes` are worth a look and change nothing. True in an `if` only without damage.
    """

    damage: Annotated[tuple[str, ...], ARRAY] = ()
    notes: Annotated[tuple[str, ...], ARRAY] = ()

    def __bool__(self) -> bool:
        return not self.damage

    def text(self) -> str:
        """Return a line for each problem and each note, or "" if there are none."""
        lines = [f"the log is damaged: {problem}" for problem in self.damage]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def check_log(log: StoredLog) -> LogCheck:
    """Check the tables of a log, and look for inputs and claims that no record names.

    Raises:
        harness.log.errors.LogError: the log cannot be read.
    """
    # First what may be unnamed: a decision appended meanwhile brings its record with it.
    unnamed, claims = set(log.digests()), dict(log.all_claims())
    index = IndexCheck(log)
    rows = log.stored_records()
    while page := list(islice(rows, _PAGE)):
        pieces = pieces_of([raw.body for raw in page], log.stored)
        documents = [read_text_of(raw, pieces, checked=False) for raw in page]
        index.compare(documents)
        for document in documents:
            unnamed.difference_update(document.digests.values(), references(document.raw.body))
            for claim in document.claims:
                claims.pop(claim, None)
    for digest, body in log.bodies():
        unnamed.difference_update(part for part in references(body) if part != digest)
    damage = (*log.problems, *_listed("claim", "made", claims), *index.damage())
    return LogCheck(damage=damage, notes=tuple(_listed("input", "names", unnamed)))


def _listed(noun: str, verb: str, names: Collection[str]) -> Iterator[str]:
    if not names:
        return
    shown = ", ".join(escape_name(name) for name in sorted(names)[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    count = f"1 {noun}" if len(names) == 1 else f"{len(names)} {noun}s"
    yield f"{count} that no record {verb}: {shown}{more}"
