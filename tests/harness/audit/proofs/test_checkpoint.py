"""Signatures of checkpoints: each of a key holds, of several keys none takes another's place."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from harness.audit.proofs.checkpoint import (
    Checkpoint,
    SignedCheckpoint,
    cosign,
    read_checkpoint,
    sign_checkpoint,
    signers_of,
)
from harness.audit.proofs.keys import PrivateKey, PublicKey
from harness.audit.proofs.merkle import EMPTY_ROOT
from harness.audit.proofs.notes import COSIGNATURE, InvalidCheckpoint

NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
NAME: Final = "witness.example"


def private(name: str) -> PrivateKey:
    return PrivateKey(name, Ed25519PrivateKey.generate())


LOG, FIRST, SECOND = private("log"), private("first"), private("second")


def public(key: PrivateKey, name: str = "", kind: int = 0) -> PublicKey:
    return PublicKey(f"{key.where}.pub", key.public, name, kind)


WITNESSES: Final = [public(key, NAME, COSIGNATURE) for key in (FIRST, SECOND)]


def signed() -> SignedCheckpoint:
    return sign_checkpoint(Checkpoint("log.example", 0, EMPTY_ROOT), LOG)


def read(one: SignedCheckpoint, *keys: PublicKey, every: bool = True) -> SignedCheckpoint:
    return read_checkpoint(one.note.note_text().encode(), "here", keys, every=every)


def test_two_witnesses_of_one_name_sign_beside_each_other() -> None:
    both = cosign(cosign(signed(), FIRST, NAME, NOON), SECOND, NAME, NOON)
    again = cosign(both, FIRST, NAME, NOON + timedelta(hours=1))
    for one in (both, again):
        assert len(one.note.signatures) == 3
        read(one, public(LOG), *WITNESSES)
        assert signers_of(one, [public(LOG), *WITNESSES]).unknown == []
    assert again.note.signatures != both.note.signatures


def test_every_key_that_is_named_has_signed() -> None:
    once = cosign(signed(), FIRST, NAME, NOON)
    assert read(once, public(LOG), WITNESSES[0]).checkpoint == once.checkpoint
    assert read(once, *WITNESSES, every=False).checkpoint == once.checkpoint
    with pytest.raises(InvalidCheckpoint, match="not signed by second"):
        read(once, *WITNESSES)


def test_each_signature_of_a_key_holds() -> None:
    once = cosign(signed(), FIRST, NAME, NOON)
    good = once.note.signatures[-1]
    bad = good._replace(signature=good.signature[:-1] + bytes([good.signature[-1] ^ 1]))
    for signatures in ((good, bad), (bad, good), (bad,)):
        changed = once._replace(note=once.note._replace(signatures=signatures))
        with pytest.raises(InvalidCheckpoint, match="does not hold"):
            read(changed, WITNESSES[0])


def test_a_witness_signs_the_time_too() -> None:
    once = cosign(signed(), FIRST, NAME, NOON)
    good = once.note.signatures[-1]
    later = int.from_bytes(good.signature[:8]) + 1
    moved = good._replace(signature=later.to_bytes(8) + good.signature[8:])
    changed = once._replace(note=once.note._replace(signatures=(moved,)))
    with pytest.raises(InvalidCheckpoint, match="does not hold"):
        read(changed, WITNESSES[0])
