"""Compare a log with a checkpoint of it: what was altered, moved, cut, forked or exchanged.

Rule 1: the tree is built of the hashes as they are stored; each is compared with its record.
Rule 2: what the records contradict by themselves is named first. Where they contradict nothing,
        the root of the checkpoint shows that they are others than those that were signed.
Rule 3: what a record names by digest is compared with the digest, as long as it is not redacted.
Rule 4: of a redacted record the hash is proved, and nothing that is left of it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, NamedTuple

from evals.escaping import escape_name
from harness.audit.proofs.checkpoint import Checkpoint, leaf_of
from harness.audit.proofs.merkle import EMPTY_ROOT, Frontier
from harness.record import Gap, RawRecord
from harness.record.integrity import START, Link, StoredDocument, is_digest, link_error
from harness.replay.document_reading import PartedLog, RecordedLog, claims_for
from harness.replay.engine import Replayer
from harness.replay.index_check import IndexCheck, ListedLog
from harness.replay.log_page import Bodies, InputReader, Page
from harness.replay.problems import Problems
from harness.replay.record_notes import check_claims

DepartureKind = Literal[
    "altered", "removed", "reordered", "spliced", "truncated", "forked", "exchanged"
]
"""What became of a log since a checkpoint.

- `altered`: a record, or an input of it, has other bytes than its hash says.
- `removed`: records are missing before the last one, or what they name.
- `reordered`: the same records stand in other places.
- `spliced`: a record does not follow the one before it.
- `truncated`: records are missing at the end.
- `forked`: it starts as the log that was signed, and holds other records.
- `exchanged`: it is another log from its first record on.
"""

NOTHING: Final = Checkpoint("", 0, EMPTY_ROOT)
"""The checkpoint that every log extends."""

_PAGE: Final = 32  # records whose parts are fetched together
_UNBOUNDED: Final = 2**63
_SHOWN: Final = 5  # departures of one kind


class Departure(NamedTuple):
    """One way in which a log differs from what was signed, in one line that is safe to print."""

    kind: DepartureKind
    text: str


@dataclass
class LogComparison:
    """How a log differs from a checkpoint. True in an `if` only if it does not.

    Attributes:
        departures: the differences: at most a few of each kind.
        size: the number of its stored records.
        root: the root of the tree of their hashes.
        first: the hash of the first of them; empty if there is none.
        redacted: the numbers of the first redacted records.
        redactions: how many there are.
        without_members: how many records lack texts, a run, or what was asked, of which the digests
            are proved.
        without_inputs: how many records have inputs that are redacted, whole or in part.
        damage: where index and claims differ from the records, which no checkpoint covers.
            Records that depart from what was signed differ from them anyhow, and are not compared.
    """

    departures: list[Departure] = field(default_factory=list)
    size: int = 0
    root: bytes = EMPTY_ROOT
    first: str = ""
    redacted: list[int] = field(default_factory=list)
    redactions: int = 0
    without_members: int = 0
    without_inputs: int = 0
    damage: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not (self.departures or self.damage)

    def add(self, kind: DepartureKind, text: str) -> None:
        """Keep a departure, unless there are many of its kind."""
        same = sum(one.kind == kind for one in self.departures)
        if same < _SHOWN:
            self.departures.append(Departure(kind, text))
        elif same == _SHOWN:
            self.departures.append(Departure(kind, "and more"))

    def has_departure(self, *kinds: DepartureKind) -> bool:
        """Return whether there is a departure of one of these kinds."""
        return any(one.kind in kinds for one in self.departures)


def compare_log(
    log: RecordedLog,
    checkpoint: Checkpoint = NOTHING,
    watch: Callable[[Iterator[RawRecord]], Iterator[RawRecord]] = iter,
) -> LogComparison:
    """Compare the records of a log with each other and with a checkpoint. One pass, flat memory.

    Args:
        log: the log.
        checkpoint: what was signed of it; without, the records are compared with each other alone.
        watch: is given the records, to show progress.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read.
    """
    walk, inputs, claims = _Walk(checkpoint), _Inputs(log), _Claims(log)
    index = IndexCheck(log) if isinstance(log, ListedLog) else None
    replayer, rows = Replayer(log, None, judge=False), watch(log.raw())
    while page := list(islice(rows, _PAGE)):
        documents = replayer.documents(page)
        if index is not None:
            index.take(documents)
        claims.fetch(documents)
        for document in inputs.fetch_inputs(documents):
            walk.take(document)
            inputs.compare(document)
            claims.compare(document)
            if index is not None:
                index.compare(document, inputs.bodies)
    result = walk.end()  # an altered input says nothing of the chain
    result.departures += inputs.result.departures
    result.without_inputs = inputs.result.without_inputs
    if index is not None and not result.departures:
        result.damage = [*claims.problems, *index.damage()]
    return result


def compare_hashes(hashes: Iterable[tuple[int, str]], checkpoint: Checkpoint) -> str | Departure:
    """Return the hash of the last record of a checkpoint that is of at least one.

    Only numbers and hashes are compared: `compare_log` finds what became of a record as well.

    Args:
        hashes: the numbers of the stored records and their hashes, in their order. No more are
            read than the checkpoint is of.
        checkpoint: what was signed of the log.

    Returns:
        The hash, or how the log differs.
    """
    tree, first, last = Frontier(), "", ""
    for seq, own_hash in islice(hashes, checkpoint.size):
        if seq <= tree.size:
            return Departure("spliced", f"record {seq}: its number does not follow {tree.size}")
        if seq > tree.size + 1:
            return Departure("removed", Gap(tree.size + 1, seq - 1).text())
        if not is_digest(own_hash):
            return Departure("altered", f"record {seq}: {_no_hash(own_hash)}")
        tree.append(leaf_of(own_hash))
        first, last = first or own_hash, own_hash
        if checkpoint.first and checkpoint.first != first:
            return _exchanged_log(first, checkpoint)
    if tree.size < checkpoint.size:
        return _truncated_log(tree.size, checkpoint)
    return last if tree.root() == checkpoint.root else _forked_log(checkpoint)


def _exchanged_log(first: str, signed: Checkpoint) -> Departure:
    text = f"record 1 is {first[:12]}..., the checkpoint is of {signed.first[:12]}..."
    return Departure("exchanged", f"it is another log: {text}")


def _truncated_log(size: int, signed: Checkpoint) -> Departure:
    text = f"the checkpoint is of {signed.size} records, the log holds {size}"
    return Departure("truncated", text)


def _forked_log(signed: Checkpoint) -> Departure:
    text = f"the first {signed.size} records do not lead to the root of the checkpoint"
    return Departure("forked", f"{text}: others were signed in their place")


class _Inputs:
    """Compares what records name with its digests, in bounded memory.

    Attributes:
        bodies: what the record at hand names.
    """

    def __init__(self, log: RecordedLog) -> None:
        self.bodies = Bodies(log.stored if isinstance(log, PartedLog) else log.inputs)
        self._reader = InputReader()
        self.result = LogComparison()

    def fetch_inputs(self, documents: Sequence[StoredDocument]) -> Iterator[StoredDocument]:
        """Yield records, each while what it names is at hand."""
        self.bodies.make_room()
        fits = self.bodies.fetch(one for each in documents for one in each.digests.values())
        for document in documents:
            if not fits:
                self.bodies.forget()
                self.bodies.fetch(document.digests.values(), _UNBOUNDED)
            yield document

    def compare(self, document: StoredDocument) -> None:
        """Compare the inputs of a record."""
        redacted, result = False, self.result
        for name, digest in document.digests.items():
            read = self._reader.read(name, digest, self.bodies, parsed=False)
            if read.tampered:
                result.add("altered", f"record {document.raw.seq}: {read.tampered}")
            if read.incomplete:
                result.add("removed", f"record {document.raw.seq}: {read.incomplete}")
            redacted = redacted or bool(read.redacted)
        result.without_inputs += redacted


class _Claims:
    """Compares the claims of records with those that the log keeps, if it keeps any.

    Attributes:
        problems: what differs: the first few.
    """

    def __init__(self, log: RecordedLog) -> None:
        self._log, self._page = log, Page()
        self.problems: list[str] = []

    def fetch(self, documents: Sequence[StoredDocument]) -> None:
        """Fetch the claims of records, which are compared next."""
        self._page = Page(claims=claims_for(self._log, documents))

    def compare(self, document: StoredDocument) -> None:
        """Compare the claims of a record."""
        found = Problems()
        if self._page.claims is not None and len(self.problems) < _SHOWN:
            check_claims(document, self._page, found)
        self.problems += [f"record {document.raw.seq}: {one}" for one in found.tampered]


class _Walk:
    """One pass over the records of a log."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._tree = Frontier()
        self._root = EMPTY_ROOT
        self._before: Link = START
        self._moved = _Moved()
        self._first = ""
        self.result = LogComparison()

    def take(self, document: StoredDocument) -> None:
        """Compare the next record with those before it."""
        raw = document.raw
        if raw.seq > self._before.seq + 1:
            gap = Gap(self._before.seq + 1, raw.seq - 1)
            self.result.add("removed", gap.text())
            self._before = Link(gap.last, frozenset())
        self._compare(document)
        self._append(raw)
        self._before = Link(raw.seq, document.hashes, is_end=document.is_end)

    def _compare(self, document: StoredDocument) -> None:
        seq = document.raw.seq
        for text in _alterations(document):
            self.result.add("altered", f"record {seq}: {text}")
        if document.missing:
            self.result.add("removed", f"record {seq}: a part of it: {document.missing[0]}")
        if document.redacted and document.own_hash:
            self.result.without_members += 1
        elif document.redacted:
            self.result.redactions += 1
            self.result.redacted += [seq] if len(self.result.redacted) < _SHOWN else []
        told, was_moved = document.value.get("seq"), self._moved.last
        if self._moved.take(seq, told) or was_moved:
            return  # it does not follow the record before it, because one of them moved
        if error := link_error(document, self._before):
            self.result.add("spliced", f"record {seq}: {error}")

    def _append(self, raw: RawRecord) -> None:
        own_hash = raw.hash if is_digest(raw.hash) else ""
        self._first = self._first or own_hash
        self._tree.append(leaf_of(own_hash or "0" * 64))
        if self._tree.size == self._checkpoint.size:
            self._root = self._tree.root()

    def end(self) -> LogComparison:
        """Compare what was read with the checkpoint."""
        self._moved.report(self.result)
        result, signed = self.result, self._checkpoint
        sound = not result.has_departure("altered", "removed", "reordered", "spliced")
        result.size, result.root, result.first = self._tree.size, self._tree.root(), self._first
        if signed.first and self._first and sound and signed.first != self._first:
            result.add(*_exchanged_log(self._first, signed))
        elif result.size < signed.size:
            result.add(*_truncated_log(result.size, signed))
        elif sound and self._root != signed.root:
            result.add(*_forked_log(signed))
        return result


def _alterations(document: StoredDocument) -> Iterator[str]:
    """Yield how the bytes of a record contradict its hash."""
    raw, told = document.raw, document.value.get("hash")
    if not is_digest(raw.hash):
        yield _no_hash(raw.hash)
    if document.error:
        yield document.error
    elif document.own_hash and not raw.hash == told == document.own_hash:
        yield f"its content has hash {document.own_hash[:12]}..., it claims another"
    elif document.redacted and told != raw.hash:
        yield "what is left of it claims another hash than it is stored under"


def _no_hash(stored: str) -> str:
    return f"it is stored under {escape_name(stored[:80])}, which is not a hash"


class _Moved:
    """The records that say that their number is another than that of their place."""

    def __init__(self) -> None:
        self.last = False
        self._first = (0, 0)
        self._number = 0
        self._sums = [0, 0]

    def take(self, place: int, told: object) -> bool:
        """Note a record, and return whether it stands in the place of another."""
        self.last = type(told) is int and told != place
        if not (self.last and isinstance(told, int)):
            return False
        self._first = self._first if self._number else (place, told)
        self._number += 1
        # Records that only changed places leave the sum of their numbers, and of the squares.
        self._sums = [self._sums[0] + place - told, self._sums[1] + place**2 - told**2]
        return True

    def report(self, result: LogComparison) -> None:
        """Say what became of the records that moved."""
        if not self._number:
            return
        place, told = self._first
        text = f"in the place of record {place} stands record {told}"
        text += f", and {self._number - 1} more moved" if self._number > 1 else ""
        if not any(self._sums):
            result.add("reordered", text)
        elif told > place:
            result.add("removed", f"{text}: records are missing before it")
        else:
            result.add("spliced", f"{text}: a record was put in before it")
