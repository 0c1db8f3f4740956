"""Checkpoints: what a log was at a time, signed, in the form of C2SP tlog-checkpoint.

Rule 1: nothing of a checkpoint counts before every key that was named has signed it.
Rule 2: leaf n is the `hash` of record n + 1, in 32 bytes. That hash covers the whole record, and
        the digests of its inputs in it; it stays when a part of them is redacted.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from harness.audit.proofs.keys import PrivateKey, PublicKey
from harness.audit.proofs.merkle import EMPTY_ROOT, HASH_BYTES, leaf_hash
from harness.audit.proofs.notes import (
    COSIGNATURE,
    ED25519,
    InvalidCheckpoint,
    NoteSignature,
    SignedNote,
    from_base64,
    from_decimal,
    in_base64,
    is_key_name,
    key_id,
    read_note,
    verifier_key,
)
from harness.errors import escape_text
from harness.record.integrity import is_digest

_FIRST: Final = "record 1 "
"""How the extension line starts that names the hash of the first record."""


class Checkpoint(NamedTuple):
    """The tree of a log at a time.

    Attributes:
        origin: the name of the log.
        size: the number of its records.
        root: the root of the tree of their hashes.
        first: the hash of record 1, which no other log has; empty if it is not said.
    """

    origin: str
    size: int
    root: bytes
    first: str = ""

    def text(self) -> str:
        """Return the text that is signed."""
        named = f"{_FIRST}{self.first}\n" if self.first else ""
        return f"{self.origin}\n{self.size}\n{in_base64(self.root)}\n{named}"


class SignedCheckpoint(NamedTuple):
    """A checkpoint, and the note that it was read from or signed in."""

    checkpoint: Checkpoint
    note: SignedNote


def leaf_of(own_hash: str) -> bytes:
    """Return the leaf of the record with this hash.

    Raises:
        ValueError: it is not a SHA-256 of 64 hexadecimal digits.
    """
    if not is_digest(own_hash):
        raise ValueError("not the hash of a record")
    return leaf_hash(bytes.fromhex(own_hash))


def name_checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint with the name of its log: after its first record, if it has none.

    Raises:
        InvalidCheckpoint: a log without records is not named, or the name has spaces or a plus.
    """
    if not checkpoint.origin and not checkpoint.first:
        raise InvalidCheckpoint("the log has no records to name it after: give --origin")
    origin = checkpoint.origin or f"critic-log/{checkpoint.first[:32]}"
    if not is_key_name(origin):
        raise InvalidCheckpoint(f"{escape_text(origin)}: an origin has no spaces and no plus")
    return checkpoint._replace(origin=origin)


def sign_checkpoint(checkpoint: Checkpoint, key: PrivateKey) -> SignedCheckpoint:
    """Sign a checkpoint as its log. The key has the name of the log."""
    text = checkpoint.text()
    own = NoteSignature(
        checkpoint.origin,
        key_id(checkpoint.origin, ED25519, key.public),
        key.key.sign(text.encode()),
    )
    return SignedCheckpoint(checkpoint, SignedNote(text, (own,)))


def cosign(
    signed: SignedCheckpoint, key: PrivateKey, name: str, moment: datetime
) -> SignedCheckpoint:
    """Add the signature of a witness, in the place of an older one of the same key."""
    seconds = int(moment.timestamp())
    own_id = key_id(name, COSIGNATURE, key.public)
    made = seconds.to_bytes(8) + key.key.sign(_cosigned_text(seconds, signed.note.text))
    others = [one for one in signed.note.signatures if (one.name, one.key_id) != (name, own_id)]
    cosigned = (*others, NoteSignature(name, own_id, made))
    return signed._replace(note=signed.note._replace(signatures=cosigned))


def read_checkpoint(
    data: bytes, where: str, keys: Sequence[PublicKey], *, every: bool = True
) -> SignedCheckpoint:
    """Return the checkpoint that bytes spell, signed by every one of `keys`.

    Args:
        data: the bytes.
        where: what messages call them.
        keys: the keys of who signed it. Without any, no signature is verified.
        every: whether each key must have signed it, or only one; the signature of each holds.

    Raises:
        InvalidCheckpoint: it cannot be read, a key has not signed it, or it was changed since.
    """
    note = read_note(data, where)
    checkpoint = parse_checkpoint(note.text, where)
    own = [key for key in keys if every or _signatures_of(key, note, checkpoint)]
    for key in own or keys[:1]:
        _require_signed(note, checkpoint, key, where)
    return SignedCheckpoint(checkpoint, note)


class Signers(NamedTuple):
    """Who signed a checkpoint.

    Attributes:
        known: the keys that were given and signed it: the line of signed notes, and the file.
        unknown: the names of further signatures, which nothing was compared with.
    """

    known: Mapping[str, str]
    unknown: Sequence[str]


def signers_of(signed: SignedCheckpoint, keys: Sequence[PublicKey]) -> Signers:
    """Return who signed a checkpoint that was read with these keys."""
    note, checkpoint = signed.note, signed.checkpoint
    known, counted = dict[str, str](), list[NoteSignature]()
    for key in keys:
        for one in _signatures_of(key, note, checkpoint):
            kind = _signature_kind(one, checkpoint, key)
            known[verifier_key(one.name, kind, key.raw)] = key.where
            counted.append(one)
    return Signers(known, [one.name for one in note.signatures if one not in counted])


def parse_checkpoint(text: str, where: str) -> Checkpoint:
    """Return what the text of a checkpoint says.

    Raises:
        InvalidCheckpoint: it is not the text of a checkpoint.
    """
    lines = text.split("\n")
    if len(lines) < 4 or not all(lines[:-1]) or lines[-1]:
        raise InvalidCheckpoint(
            f"{where}: not a checkpoint: it lacks the lines with origin, size and root"
        )
    if not all(map(str.isprintable, lines)):
        raise InvalidCheckpoint(f"{where}: not a checkpoint: a line of it cannot be printed")
    size, root = from_decimal(lines[1]), from_base64(lines[2])
    if size is None:
        raise InvalidCheckpoint(f"{where}: not a checkpoint: line 2 is not a number of records")
    if root is None or len(root) != HASH_BYTES or (size == 0 and root != EMPTY_ROOT):
        raise InvalidCheckpoint(f"{where}: not a checkpoint: line 3 is not the root of its tree")
    named = [line.removeprefix(_FIRST) for line in lines[3:-1] if line.startswith(_FIRST)]
    first = named[0] if named and is_digest(named[0]) else ""
    return Checkpoint(lines[0], size, root, first)


def require_origin(checkpoint: Checkpoint, origin: str, where: str) -> None:
    """Raise `InvalidCheckpoint` for the checkpoint of another log than `origin`."""
    if checkpoint.origin != origin:
        raise InvalidCheckpoint(
            f"{where}: the checkpoint is of another origin: {escape_text(checkpoint.origin)}, "
            f"not {escape_text(origin)}"
        )


def _require_signed(note: SignedNote, checkpoint: Checkpoint, key: PublicKey, where: str) -> None:
    own = _signatures_of(key, note, checkpoint)
    if not own:
        raise InvalidCheckpoint(
            f"{where}: the checkpoint is not signed by {key.where}: name the public key of who "
            "signed it"
        )
    if not all(_holds(one, _signature_kind(one, checkpoint, key), key, note.text) for one in own):
        raise InvalidCheckpoint(
            f"{where}: the signature of {key.where} does not hold: the checkpoint was changed "
            "after it was signed"
        )


def _signatures_of(key: PublicKey, note: SignedNote, checkpoint: Checkpoint) -> list[NoteSignature]:
    return [one for one in note.signatures if _signature_kind(one, checkpoint, key)]


def _signature_kind(one: NoteSignature, checkpoint: Checkpoint, key: PublicKey) -> int:
    """Return the type of a signature that a key is said to have made; 0 for that of another."""
    # A log signs under its own name, and a witness under any.
    names = {ED25519: key.name or checkpoint.origin, COSIGNATURE: key.name or one.name}
    for kind, name in names.items():
        known = key.kind in (0, kind) and one.name == name
        if known and one.key_id == key_id(name, kind, key.raw):
            return kind
    return 0


def _holds(one: NoteSignature, kind: int, key: PublicKey, text: str) -> bool:
    if kind == ED25519:
        return key.verifies(one.signature, text.encode())
    seconds, made = int.from_bytes(one.signature[:8]), one.signature[8:]
    return key.verifies(made, _cosigned_text(seconds, text))


def _cosigned_text(seconds: int, text: str) -> bytes:
    """Return what a witness signs at a time."""
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()
