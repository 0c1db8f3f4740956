"""Read files with checkpoints and proofs."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from harness.audit.proofs.checkpoint import SignedCheckpoint, read_checkpoint
from harness.audit.proofs.keys import PublicKey, read_public_key
from harness.audit.proofs.notes import InvalidCheckpoint, SignedNote, read_note
from harness.whole_files import show_path

LARGEST_NOTE: Final = 1024 * 1024
"""The bytes of a checkpoint with its signatures, at most."""


LARGEST_PROOF: Final = 64 * 1024 * 1024
"""The bytes of a proof, at most: those of the largest record in base64."""


def public_keys(paths: Iterable[str]) -> list[PublicKey]:
    """Return the public keys in files.

    Raises:
        harness.audit.proofs.keys.UnusableKey: one is not a public key.
        OSError: a file cannot be read.
    """
    return [read_public_key(Path(one)) for one in paths]


def signed_checkpoint(path: str, keys: list[PublicKey]) -> SignedCheckpoint:
    """Return the checkpoint in a file, signed by every one of `keys`.

    Raises:
        InvalidCheckpoint: it cannot be read, a key has not signed it, or it was changed since.
        OSError: the file cannot be read.
    """
    return read_checkpoint(bytes_of(path, LARGEST_NOTE), show_path(path), keys)


def note_of(path: str) -> SignedNote:
    """Return the note in a file. Its signatures are not checked.

    Raises:
        InvalidCheckpoint: it is not a note.
        OSError: the file cannot be read.
    """
    return read_note(bytes_of(path, LARGEST_NOTE), show_path(path))


def bytes_of(path: str, most: int) -> bytes:
    """Return the bytes of a file.

    Raises:
        InvalidCheckpoint: it has more than `most`.
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise InvalidCheckpoint(f"{show_path(path)}: it has over {most} bytes")
    return data
