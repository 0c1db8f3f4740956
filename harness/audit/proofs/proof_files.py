"""Proofs in files: that a record is in a log (C2SP tlog-proof), and that a log was only extended.

Rule 1: a proof names the checkpoint that it leads to, and counts for no other.
Rule 2: a record in a proof is believed for its hash alone, and an input of it for its digest: both
        are computed again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from harness.audit.proofs.checkpoint import (
    Checkpoint,
    leaf_of,
    name_checkpoint,
    parse_checkpoint,
    require_origin,
)
from harness.audit.proofs.merkle import (
    HASH_BYTES,
    consistency_ranges,
    inclusion_ranges,
    is_consistent,
    root_of_inclusion,
    subtree_roots,
)
from harness.audit.proofs.notes import (
    InvalidCheckpoint,
    SignedNote,
    from_base64,
    from_decimal,
    in_base64,
    read_note,
)
from harness.audit.proofs.proved_records import ProvedRecord, read_content
from harness.record import RawRecord

INCLUSION: Final = "c2sp.org/tlog-proof@v1"
"""The first line of a proof that a record is in a log."""

CONSISTENCY: Final = "old "
"""How a proof starts that a log was extended: what a C2SP witness is sent with a checkpoint."""

Leaves = Callable[[], Iterable[str]]
"""Returns the hashes of the records of a log, from the first one on."""

_MOST_HASHES: Final = 63


class ProofFile(NamedTuple):
    """A proof as it is in a file.

    Attributes:
        number: the number of the record, or of the records of the older tree.
        path: the hashes of the proof.
        note: the checkpoint that it leads to, as it is in the file, with or without signatures.
        content: the record, and its inputs if they are in it: see `content_of` of
            `harness.audit.proofs.proved_records`. Empty for an older tree.
    """

    number: int
    path: tuple[bytes, ...]
    note: str
    content: bytes = b""

    def file_text(self) -> str:
        """Return the proof as it is written to a file."""
        if self.content:
            head = f"{INCLUSION}\nextra {in_base64(self.content)}\nindex {self.number - 1}\n"
        else:
            head = f"{CONSISTENCY}{self.number}\n"
        return f"{head}{''.join(f'{in_base64(one)}{chr(10)}' for one in self.path)}\n{self.note}"

    def checkpoint(self, where: str) -> Checkpoint:
        """Return the checkpoint that it leads to. Nothing says that anybody signed it.

        Raises:
            InvalidCheckpoint: it is not spelled as it would be written, or something follows it.
        """
        text = read_note(self.note.encode(), where).text if self.is_signed else self.note[:-1]
        return parse_checkpoint(text, where)

    @property
    def is_signed(self) -> bool:
        """Return whether signatures stand below the checkpoint. None of them is verified."""
        return not self.note.endswith("\n\n")


def prove_record(
    leaves: Leaves, raw: RawRecord, content: bytes, checkpoint: Checkpoint, note: SignedNote | None
) -> ProofFile:
    """Return the proof that a record is in the tree of a checkpoint.

    Args:
        leaves: the hashes of the records.
        raw: the record.
        content: what the proof is to hold of it.
        checkpoint: what the proof leads to.
        note: the note that the checkpoint was read from, if it is in one.

    Raises:
        InvalidCheckpoint: the checkpoint is of fewer records, or of other ones.
    """
    (path,) = inclusion_paths(leaves, [raw], checkpoint)
    return ProofFile(raw.seq, path, _checkpoint_text(checkpoint, note), content)


def inclusion_paths(
    leaves: Leaves, raws: Sequence[RawRecord], checkpoint: Checkpoint
) -> list[tuple[bytes, ...]]:
    """Return the hashes that show each record in the tree of a checkpoint.

    Raises:
        InvalidCheckpoint: the checkpoint is of fewer records, or of other ones.
    """
    for raw in raws:
        if raw.seq > checkpoint.size:
            raise InvalidCheckpoint(
                f"record {raw.seq} is not among the {checkpoint.size} of the checkpoint: make a "
                "new one"
            )
    ranges = [inclusion_ranges(raw.seq - 1, checkpoint.size) for raw in raws]
    roots = iter(_roots(leaves, [*chain.from_iterable(ranges)], checkpoint.size))
    paths = [tuple(islice(roots, len(own))) for own in ranges]
    for raw, path in zip(raws, paths, strict=True):
        leaf = leaf_of(raw.hash)
        if root_of_inclusion(leaf, raw.seq - 1, checkpoint.size, path) != checkpoint.root:
            raise _of_another_log()
    return paths


def prove_extension(
    leaves: Leaves, old: Checkpoint, new: Checkpoint, note: SignedNote
) -> ProofFile:
    """Return the proof that the tree of `new` extends that of `old`.

    Raises:
        InvalidCheckpoint: it does not, or one of them is of other records.
    """
    if old.size > new.size:
        raise InvalidCheckpoint(
            f"the older checkpoint has {old.size} records, the newer one {new.size}: exchange them"
        )
    ranges = consistency_ranges(old.size, new.size) if old.size else []
    path = _roots(leaves, ranges, new.size)
    if not is_consistent(old.size, old.root, new.size, new.root, path):
        raise _of_another_log()
    return ProofFile(old.size, tuple(path), note.note_text())


def read_proof(data: bytes, where: str) -> ProofFile:
    """Return the proof that a file holds.

    Raises:
        InvalidCheckpoint: it holds none.
    """
    head, blank, note = data.decode(errors="replace").partition("\n\n")
    lines = head.split("\n")
    content = b""
    if lines[0] == INCLUSION:
        content = _read_content(lines[1:2], where)
        number = _read_number(lines[2:3], "index ", where) + 1
        hashes = lines[3:]
    else:
        number, hashes = _read_number(lines[:1], CONSISTENCY, where), lines[1:]
    path = tuple(from_base64(line) or b"" for line in hashes)
    if not blank or len(path) > _MOST_HASHES or any(len(one) != HASH_BYTES for one in path):
        raise InvalidCheckpoint(f"{where}: not a proof: its hashes are malformed")
    return ProofFile(number, path, note, content)


def _read_content(lines: list[str], where: str) -> bytes:
    encoded = lines[0].removeprefix("extra ") if lines and lines[0].startswith("extra ") else ""
    content = from_base64(encoded)
    if not content:
        raise InvalidCheckpoint(f"{where}: not a proof: it lacks the record that it is about")
    return content


def is_proof(data: bytes) -> bool:
    """Return whether a file starts like a proof of one kind or the other."""
    return data.startswith((f"{INCLUSION}\n".encode(), CONSISTENCY.encode()))


def leads_elsewhere(proof: ProofFile, checkpoint: Checkpoint, where: str) -> str:
    """Return why a proof is for another checkpoint, or an empty text.

    Raises:
        InvalidCheckpoint: its own checkpoint cannot be read, or is of another origin.
    """
    own = proof.checkpoint(where)
    if proof.is_signed:
        require_origin(own, checkpoint.origin, where)
    elif proof.note != _checkpoint_text(name_checkpoint(own._replace(origin="")), None):
        return f"{where}: the proof is for a checkpoint without a signature and under another name"
    if own.size == checkpoint.size:
        if (own.root, own.first) == (checkpoint.root, checkpoint.first):
            return ""
        return (
            f"{where}: the proof leads to other {own.size} records than those of this checkpoint: "
            "one of them is of another log"
        )
    return (
        f"{where}: the proof leads to a checkpoint of {own.size} records, this one is of "
        f"{checkpoint.size}: prove it again with --checkpoint"
    )


def included_record(proof: ProofFile, checkpoint: Checkpoint) -> ProvedRecord | str:
    """Return the record of a proof that shows it in the tree, or why it does not."""
    seq, read = proof.number, read_content(proof.number, proof.content)
    if isinstance(read, str):
        return read
    root = root_of_inclusion(leaf_of(read.own_hash), seq - 1, checkpoint.size, proof.path)
    if root != checkpoint.root:
        return f"it is of another record or tree: record {seq} does not lead to the checkpoint"
    return read


def stored_hashes(rows: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Yield the hashes of the records of a log from the first one on.

    Args:
        rows: the numbers of the records and their hashes, in order.

    Raises:
        InvalidCheckpoint: a record is missing.
    """
    for place, (seq, own_hash) in enumerate(rows, start=1):
        if seq != place:
            raise InvalidCheckpoint(f"record {place} is missing: replay the log")
        yield own_hash


def _roots(leaves: Leaves, ranges: list[tuple[int, int]], size: int) -> list[bytes]:
    try:
        return subtree_roots(map(leaf_of, leaves()), ranges)
    except ValueError:
        raise InvalidCheckpoint(
            f"the log does not hold the {size} records of the checkpoint: check it with `critic "
            "log check`"
        ) from None


def _of_another_log() -> InvalidCheckpoint:
    return InvalidCheckpoint(
        "the log does not lead to the checkpoint: find out why with `critic log check`"
    )


def _checkpoint_text(checkpoint: Checkpoint, note: SignedNote | None) -> str:
    return f"{checkpoint.text()}\n" if note is None else note.note_text()


def _read_number(lines: list[str], start: str, where: str) -> int:
    number = from_decimal(lines[0].removeprefix(start)) if lines else None
    if number is None or not lines[0].startswith(start):
        raise InvalidCheckpoint(f"{where}: not a proof: it lacks the line `{start}N`")
    return number
