"""Read what records say, and search for it: the index of a log has none of their texts.

A few records are in memory at a time. Their hashes are not compared.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from harness.audit.record_texts import RecordTexts, says, texts_of
from harness.audit.tables.turn_search import MOST
from harness.errors import UsageError
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.record import TurnKey
from harness.record.index_row import OF_NO_TURN, turn_key
from harness.record.integrity import StoredDocument
from harness.replay.document_reading import DocumentReader

_PAGE: Final = 32  # records in memory together


class TextReader(DocumentReader):
    """Reads the texts of some records of a log."""

    _checked = False

    def __init__(self, log: SqlDecisionLog) -> None:
        """Take the log. Nothing is read."""
        super().__init__(log)
        self._raw_at = log.raw_at
        self.problems: dict[str, None] = {}
        """What is wrong with the records that were read, each once."""

    def read(self, numbers: Iterable[int]) -> Iterator[tuple[int, RecordTexts]]:
        """Yield the listed texts of these records, with their numbers: see `documents_of`.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        yield from ((one.raw.seq, texts_of(one.value)) for one in self.documents_of(numbers))

    def documents_of(self, numbers: Iterable[int]) -> Iterator[StoredDocument]:
        """Yield these records; leave out what cannot be read.

        Raises:
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        left = iter(numbers)
        while page := list(islice(left, _PAGE)):
            self._bodies.make_room()
            for one in self.documents(self._raw_at(page)):
                if one.value:
                    yield one
                else:
                    self.problems[f"record {one.raw.seq} cannot be read"] = None


class FoundTexts(NamedTuple):
    """The records that say a text, and what is wrong with those that were read.

    `unseen` are the turns with records of which a part was taken out.
    """

    numbers: frozenset[int]
    problems: tuple[str, ...]
    unseen: frozenset[TurnKey]


def find_texts(log: SqlDecisionLog, filters: Filters, text: str) -> FoundTexts:
    """Find the records that pass filters and say a text, in upper or lower case.

    A record passes by its own time, or by that of its turn.

    Raises:
        UsageError: they are more than a search may find.
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    listing, reader, found, unseen = Listing(log), TextReader(log), set[int](), set[int]()
    for document in reader.documents_of(_select_numbers(listing, filters)):
        found |= {document.raw.seq} if says(document.value, text) else set()
        unseen |= {document.raw.seq} if document.redacted else set()
        if len(found) > MOST:
            raise UsageError(f"over {MOST} records say it: ask for fewer with other filters")
    lost = (one for one in listing.rows_of(unseen).values() if one.status not in OF_NO_TURN)
    turns = frozenset(map(turn_key, lost))
    return FoundTexts(frozenset(found), tuple(reader.problems), turns)


def _select_numbers(listing: Listing, filters: Filters) -> Iterator[int]:
    times = Filters(since=filters.since, until=filters.until)
    numbers = _list_numbers(listing, replace(filters, since=None, until=None))
    if times == Filters():
        return numbers
    in_time = {*_list_numbers(listing, times)}
    in_time.update(seq for turn in listing.turns(times).turns() for seq in turn.records)
    return filter(in_time.__contains__, numbers)


def _list_numbers(listing: Listing, filters: Filters) -> Iterator[int]:
    return (one.row.seq for one in listing.rows(filters) if isinstance(one, Listed))
