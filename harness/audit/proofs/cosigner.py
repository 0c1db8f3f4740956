"""A witness: it signs a checkpoint if the log was only extended since the last one that it saw.

Rule 1: what was seen is on the disk before the signature is given away, so that no two trees of
        one log that exclude each other are signed, however the process ends.
Rule 2: a witness that lost its file signs nothing: it could sign what excludes what it saw.
Rule 3: what was seen is believed for the witness's own signature on it.
"""

from datetime import datetime
from pathlib import Path

from harness.audit.proofs.checkpoint import (
    Checkpoint,
    SignedCheckpoint,
    cosign,
    read_checkpoint,
    require_origin,
)
from harness.audit.proofs.comparison import Departure
from harness.audit.proofs.keys import PrivateKey, PublicKey
from harness.audit.proofs.merkle import is_consistent
from harness.audit.proofs.notes import COSIGNATURE, InvalidCheckpoint
from harness.audit.proofs.proof_files import ProofFile
from harness.locking import lock_file
from harness.whole_files import file_beside, replace_file, show_path


class Cosigner:
    """A key with a name, and the file with the last checkpoint that it signed."""

    def __init__(self, key: PrivateKey, name: str, seen: Path, *, first: bool = False) -> None:
        """Take the parts. Nothing is read. `first`: the file may be missing."""
        self._key, self._name, self._seen, self._first = key, name, seen, first

    def sign(
        self, given: SignedCheckpoint, proof: ProofFile | None, moment: datetime
    ) -> SignedCheckpoint | Departure:
        """Sign a checkpoint whose log has signed it, and remember it; or say what is wrong.

        Raises:
            InvalidCheckpoint: it is of another log than the last one, a proof from there to it is
                needed, or what was seen was changed.
            OSError: the file cannot be read or written. Nothing was signed.
        """
        with lock_file(file_beside(self._seen, ".lock")):
            last = self._last_checkpoint()
            if last is not None:
                require_origin(given.checkpoint, last.origin, "the witness")
                if departure := _departure(last, given.checkpoint, proof):
                    return departure
            signed = cosign(given, self._key, self._name, moment)
            replace_file(self._seen, signed.note.note_text().encode(), private=True)
        return signed

    def _last_checkpoint(self) -> Checkpoint | None:
        where = show_path(self._seen)
        if self._seen.exists() and not self._seen.is_file():  # a device may never end
            raise InvalidCheckpoint(f"{where}: not a file: name the one that the witness keeps")
        try:
            data = self._seen.read_bytes()
        except FileNotFoundError:
            if self._first:
                return None
            raise InvalidCheckpoint(
                f"{where}: the witness has seen nothing so far: add --first if it is its first one"
            ) from None
        own = PublicKey("the witness", self._key.public, self._name, COSIGNATURE)
        return read_checkpoint(data, where, [own]).checkpoint


def _departure(last: Checkpoint, new: Checkpoint, proof: ProofFile | None) -> Departure | None:
    """Return how a checkpoint departs from the last one, or None if it extends it."""
    seen = f"the last one seen is of {last.size} records"
    if new.size < last.size:
        return Departure("truncated", f"the checkpoint is of {new.size} records, {seen}")
    path: tuple[bytes, ...] = ()
    if last.size not in (0, new.size):
        if proof is None or proof.number != last.size:
            raise InvalidCheckpoint(f"{seen}: give the proof from there (`critic log prove`)")
        path = proof.path
    if is_consistent(last.size, last.root, new.size, new.root, path):
        return None
    return Departure("forked", f"the checkpoint does not extend the records that were seen: {seen}")
