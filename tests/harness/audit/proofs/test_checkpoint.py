"""Signatures of checkpoints: each of a key holds, of several keys none takes another's place."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from harness.audit.proofs.checkpoint import (
    Checkpoint,
    SignedCheckpoint,
    cosign,
    parse_checkpoint,
    read_checkpoint,
    require_origin,
    sign_checkpoint,
    signers_of,
)
from harness.audit.proofs.keys import PrivateKey, PublicKey
from harness.audit.proofs.merkle import EMPTY_ROOT
from harness.audit.proofs.notes import COSIGNATURE, ED25519, InvalidCheckpoint

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


OTHER: Final = "log.other"


@pytest.mark.parametrize("name", ["", "log.example", NAME, OTHER])
@pytest.mark.parametrize("kind", [0, ED25519, COSIGNATURE])
@pytest.mark.parametrize("own", [LOG, FIRST, SECOND])
def test_a_key_counts_for_its_own_signatures_alone(own: PrivateKey, kind: int, name: str) -> None:
    """By the name and by the kind that its line says, where it says them."""
    once = cosign(signed(), FIRST, NAME, NOON)
    made = {LOG.where: ("log.example", ED25519), FIRST.where: (NAME, COSIGNATURE)}
    named, typed = made.get(own.where, (OTHER, 0))
    key = public(own, name, kind)
    counts = own is not SECOND and name in ("", named) and kind in (0, typed)
    told = signers_of(once, [key])
    assert (len(told.known), len(told.unknown)) == ((1, 1) if counts else (0, 2))
    if counts:
        assert read(once, key).checkpoint == once.checkpoint
    else:
        with pytest.raises(InvalidCheckpoint, match="is not signed by"):
            read(once, key)


@pytest.mark.parametrize("text", [b"", b"cosignature/v1\n", b"cosignature/v1\ntime 0\n"])
def test_a_witness_has_signed_the_text_and_the_time_and_nothing_less(text: bytes) -> None:
    once = cosign(signed(), FIRST, NAME, NOON)
    good = once.note.signatures[-1]
    made = good.signature[:8] + FIRST.key.sign(text + once.note.text.encode())
    changed = once._replace(note=once.note._replace(signatures=(good._replace(signature=made),)))
    with pytest.raises(InvalidCheckpoint, match="does not hold"):
        read(changed, WITNESSES[0])


@pytest.mark.parametrize("other", ["LOG.example", "log.example/", "log.exampl", "", "log.example "])
def test_an_origin_is_one_name_as_it_is_spelled(other: str) -> None:
    checkpoint = signed().checkpoint
    require_origin(checkpoint, "log.example", "here")
    with pytest.raises(InvalidCheckpoint, match="of another origin"):
        require_origin(checkpoint, other, "here")


def test_a_log_without_records_has_one_root() -> None:
    empty = signed().checkpoint
    assert parse_checkpoint(empty.text(), "here") == empty
    for size, root in ((0, bytes(32)), (0, EMPTY_ROOT[:-1]), (1, EMPTY_ROOT[:-1])):
        with pytest.raises(InvalidCheckpoint, match="not the root of its tree"):
            parse_checkpoint(empty._replace(size=size, root=root).text(), "here")
    assert parse_checkpoint(empty._replace(size=1, root=bytes(32)).text(), "here").size == 1


@pytest.mark.parametrize("name", ["", NAME, OTHER])
def test_a_signature_under_another_name_is_nobodys(name: str) -> None:
    """Also with the id of the key, which hashes the name that it has."""
    once = cosign(signed(), FIRST, NAME, NOON)
    renamed = tuple(one._replace(name=OTHER) for one in once.note.signatures)
    changed = once._replace(note=once.note._replace(signatures=renamed))
    key = public(FIRST, name)
    assert signers_of(changed, [key, public(LOG)]).known == {}
    with pytest.raises(InvalidCheckpoint, match="is not signed by"):
        read(changed, key)
