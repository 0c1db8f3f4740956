"""What a pack holds: a signed checkpoint, records, their inputs, and the proofs of the records.

Rule 1: texts are kept as they were hashed. A record stands without its `hash`, which is that of its
        text; an input stands under its digest.
Rule 2: nothing of a pack counts before all of it was checked, what nothing names too.
Rule 3: an input that is redacted in the log is named as such, and no other one may be absent.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from evals.envelope import ARRAY, MEMBERS, OPTIONAL, Envelope
from harness.audit.proofs.checkpoint import Checkpoint, leaf_of
from harness.audit.proofs.keys import PublicKey, parse_verifier_key
from harness.audit.proofs.merkle import root_of_inclusion
from harness.audit.proofs.notes import InvalidCheckpoint, from_base64
from harness.audit.proofs.proved_records import ProvedRecord
from harness.canonical import canonical_json
from harness.record import sha256
from harness.record.closed_words import REDACTED, SEALED, open_record
from harness.record.drafts import Digest
from harness.record.integrity import is_digest
from harness.record.record_kinds import Seq
from harness.wire import InvalidInput, parse_finite_json


class PackedRecord(Envelope):
    """A record of a pack.

    Attributes:
        seq: its number.
        path: the hashes that lead from it to the root of the checkpoint, in base64.
        body: its sealed form in canonical JSON; absent for a record that is redacted in pieces.
        hash: the hash of a redacted record; absent for others.
    """

    seq: Seq
    path: Annotated[tuple[str, ...], ARRAY]
    body: Annotated[str | None, OPTIONAL] = None
    hash: Annotated[Digest | None, OPTIONAL] = None


class Pack(Envelope):
    """What a pack holds.

    Attributes:
        version: that of the program that wrote it.
        note: the checkpoint with its signatures, as it is in a file.
        keys: the public keys of who signed it, as signed notes spell them.
        records: in the order of their numbers.
        inputs: the inputs, texts and runs that records name, as text, by digest.
        redacted: the digests of those that are redacted in the log.
    """

    version: str
    note: str
    keys: Annotated[tuple[str, ...], ARRAY, Field(min_length=1)]
    records: Annotated[tuple[PackedRecord, ...], ARRAY, Field(min_length=1)]
    inputs: Annotated[Mapping[str, str], MEMBERS]
    redacted: Annotated[tuple[Digest, ...], ARRAY] = ()


def packed_keys(pack: Pack, where: str) -> list[PublicKey]:
    """Return the keys that a pack holds.

    Raises:
        harness.audit.proofs.keys.UnusableKey: one is malformed.
        InvalidCheckpoint: one is not a key.
    """
    keys = [parse_verifier_key(f"the pack {where}", line.encode()) for line in pack.keys]
    if None in keys:
        raise InvalidCheckpoint(f"{where}: a key in the pack is not valid")
    return [key for key in keys if key is not None]


def check_pack(pack: Pack, checkpoint: Checkpoint) -> dict[int, ProvedRecord] | str:
    """Return the records of a pack by number, or what of it was altered.

    Args:
        pack: the pack.
        checkpoint: the one in its note, whose signatures were verified.
    """
    for digest, text in pack.inputs.items():
        if sha256(text.encode(errors="surrogatepass")) != digest:
            where = f"{digest[:12]}..." if is_digest(digest) else "it stands under no digest"
            return f"an input was altered: {where}"
    numbers = [one.seq for one in pack.records]
    if numbers != sorted(set(numbers)):
        return "its records are not in order"
    proved, named = dict[int, ProvedRecord](), set[str]()
    for one in pack.records:
        read = _read_packed(one, pack)
        if isinstance(read, str):
            return read
        if not _is_included(one, read, checkpoint):
            return f"record {one.seq} is another one: it does not lead to the checkpoint"
        proved[one.seq] = read
        named.update(_digests_named(one))
    if unnamed := {*pack.inputs, *pack.redacted} - named:
        return f"it holds an input that no record names: {min(unnamed)[:12]}"
    return proved


def _is_included(one: PackedRecord, read: ProvedRecord, checkpoint: Checkpoint) -> bool:
    path = [from_base64(line) or b"" for line in one.path]
    leaf = leaf_of(read.own_hash)
    return root_of_inclusion(leaf, one.seq - 1, checkpoint.size, path) == checkpoint.root


def _read_packed(one: PackedRecord, pack: Pack) -> ProvedRecord | str:
    where = f"record {one.seq}"
    if one.body is None:
        return ProvedRecord(one.hash) if one.hash else f"{where} is neither there nor redacted"
    body = one.body.encode(errors="surrogatepass")
    value, digest = _canonical_object(body), sha256(body)
    if value is None or one.hash is not None or "hash" in value or value.get("seq") != one.seq:
        return f"{where} was altered: it is not a record of this number in canonical JSON"
    parts = _read_parts(value, pack)
    if isinstance(parts, str):
        return f"{where}: {parts}"
    inputs: dict[str, object] = {}
    for name, named in value.get("inputs", {}).items():
        if named in pack.redacted and named not in pack.inputs:
            inputs[name] = None
            continue
        inputs[name] = _canonical_object(pack.inputs.get(named, "").encode(errors="surrogatepass"))
        if inputs[name] is None:
            return f"{where}: input {name} is missing"
    gone = [value[name] for name in SEALED if name in value and name not in parts]
    lacking = {REDACTED: gone} if gone else {}
    try:
        record = {**open_record(value, parts), **lacking, "hash": digest}
        return ProvedRecord(digest, record, inputs)
    except (ValueError, RecursionError) as error:
        return f"{where} was altered: {error}"


def _read_parts(sealed: Mapping[str, Any], pack: Pack) -> dict[str, Any] | str:
    """Return what a record is sealed with, as far as it is there, or why it is not."""
    parts: dict[str, Any] = {}
    for name in SEALED:
        digest = sealed.get(name)
        if name not in sealed or (digest in pack.redacted and digest not in pack.inputs):
            continue
        text = pack.inputs.get(digest, "") if isinstance(digest, str) else ""
        value = _canonical_value(text.encode(errors="surrogatepass"))
        if value is None:
            return f"{name} is missing"
        parts[name] = value[0]
    return parts


def _digests_named(one: PackedRecord) -> set[str]:
    """Return the digests that a record of a pack names, whose body was read."""
    sealed = {} if one.body is None else parse_finite_json(one.body.encode())
    return {
        *sealed.get("inputs", {}).values(),
        *(sealed[name] for name in SEALED if name in sealed),
    }


def _canonical_object(data: bytes) -> dict[str, Any] | None:
    read = _canonical_value(data)
    return read[0] if read and isinstance(read[0], dict) else None


def _canonical_value(data: bytes) -> tuple[Any] | None:
    """Return the value that canonical bytes spell, alone in a tuple; None if they are not such."""
    try:
        value = parse_finite_json(data, len(data))
        is_canonical = canonical_json(value) == data
    except (InvalidInput, ValueError, RecursionError):
        return None
    return (value,) if is_canonical else None
