"""A record in a proof, with its inputs where they are asked for. Pure.

Rule 1: every byte stands under a hash: those of the record under its own, which leads to the
        checkpoint, and those of an input under the digest that the record names.
Rule 2: an input may be absent only in two ways, and both are told: all of them, or as null where
        the log has it redacted.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name
from evals.joined_json import join_object
from harness.audit.proofs.notes import InvalidCheckpoint
from harness.canonical import canonical_json
from harness.record import RawRecord, sha256
from harness.record.closed_words import SEALED, TEXT_MEMBER, close_record
from harness.record.integrity import StoredDocument, is_digest, read_text_of
from harness.record.parts import Whole
from harness.wire import InvalidInput, parse_finite_json

_WITH_INPUTS: Final = {"inputs", "record"}

DIGEST_ALONE: Final = "the proof holds its digest alone"
"""What is shown for an input of a proof without inputs."""

_REDACTED: Final = "redacted in the log that this was proved from"


class ProvedRecord(NamedTuple):
    """A record whose bytes have the hash that they claim, and its inputs.

    Attributes:
        own_hash: the hash of the record.
        record: the record as JSON; empty for a redacted one, of which the hash alone is proved.
        inputs: its inputs by name, each with the digest that the record names; None for one that
            is redacted. None instead of all of them: the proof holds their digests alone.
    """

    own_hash: str
    record: Mapping[str, Any] = {}
    inputs: Mapping[str, Any] | None = None

    @property
    def input_names(self) -> list[str]:
        """Return the names of the inputs that are there and have their digests."""
        return [name for name, value in (self.inputs or {}).items() if value is not None]

    def wire(self) -> dict[str, Any]:
        """Return the record as JSON, with the inputs that are there as `input_bodies`."""
        bodies = {name: (self.inputs or {})[name] for name in self.input_names}
        return {**self.record, "input_bodies": bodies} if bodies else dict(self.record)

    def shown_wire(self) -> dict[str, Any]:
        """Return `wire`, with the reason in the place of each input that is not there."""
        reason = DIGEST_ALONE if self.inputs is None else _REDACTED
        absent = dict.fromkeys(self.record.get("inputs", {}), reason)
        wire = self.wire()
        return {**wire, "input_bodies": absent | wire.get("input_bodies", {})}


def content_of(document: StoredDocument, inputs: Mapping[str, Whole] | None) -> bytes:
    """Return a record as a proof holds it: its bytes, or those with its inputs; or its hash.

    Args:
        document: the record. Of a redacted one the hash alone can be proved.
        inputs: its inputs by name, or None to leave all of them out.

    Raises:
        InvalidCheckpoint: the record, or an input, is not what was recorded.
    """
    raw = document.raw
    check_recorded(document)
    if document.redacted:
        if inputs is not None:
            raise InvalidCheckpoint(
                f"record {raw.seq} is redacted, and its hash alone is proved: leave out "
                "--with-inputs"
            )
        return raw.hash.encode()
    if inputs is None:
        return raw.body
    bodies = {name: input_bytes(raw.seq, document, name, one) for name, one in inputs.items()}
    return join_object({"inputs": join_object(bodies), "record": raw.body})


def check_recorded(document: StoredDocument) -> None:
    """Check that a record has its hash; nothing can be checked of a redacted one.

    Raises:
        InvalidCheckpoint: it has not.
    """
    raw = document.raw
    if (document.own_hash or not document.redacted) and document.own_hash != raw.hash:
        raise InvalidCheckpoint(f"record {raw.seq} is not what was recorded: replay the log")


def sealed_parts(document: StoredDocument) -> dict[str, bytes]:
    """Return what a record is sealed with as digests, as far as it is there, by digest."""
    parts = {name: document.value[name] for name in SEALED if name in document.value}
    if TEXT_MEMBER not in document.gone and (texts := close_record(document.value)[1]):
        parts[TEXT_MEMBER] = texts
    spelled = [canonical_json(one) for name, one in parts.items() if name not in document.gone]
    return {sha256(one): one for one in spelled}


def input_bytes(seq: int, document: StoredDocument, name: str, whole: Whole) -> bytes:
    """Return the bytes of an input of a record; of a redacted one those of null.

    Raises:
        InvalidCheckpoint: it is not what was recorded.
    """
    if whole.redacted:
        return b"null"
    if whole.data is None or sha256(whole.data) != document.digests.get(name):
        raise InvalidCheckpoint(
            f"input {name} of record {seq} is not what was recorded: replay the log"
        )
    return whole.data


def read_content(seq: int, content: bytes) -> ProvedRecord | str:
    """Return the record that a proof holds for a number, or what of it was altered.

    Nothing says yet that its hash leads to a checkpoint.
    """
    own_hash = content.decode(errors="replace")
    if is_digest(own_hash):
        return ProvedRecord(own_hash)
    try:
        value = parse_finite_json(content, len(content))
        spelled = canonical_json(value)
    except (InvalidInput, ValueError, RecursionError) as error:
        why = error if isinstance(error, InvalidInput) else "it has no canonical form"
        return f"its record was altered: it cannot be read: {why}"
    if not isinstance(value, dict) or spelled != content:
        return "its record was altered: it is not canonical JSON"
    if set(value) != _WITH_INPUTS:
        return _read_record(seq, value)
    read = _read_record(seq, value["record"])
    if isinstance(read, str):
        return read
    problem = _inputs_error(read.record, value["inputs"])
    return problem or read._replace(inputs=value["inputs"])


def _read_record(seq: int, record: Any) -> ProvedRecord | str:
    document = read_text_of(RawRecord(seq, "", canonical_json(record)))
    own_hash, told = document.own_hash, document.value.get("seq")
    if not own_hash or document.error or document.value.get("hash") != own_hash:
        return f"its record was altered: {document.error or 'it has another hash'}"
    if told != seq:
        return f"it is of another record: its place is {seq}, its record says {_show_value(told)}"
    return ProvedRecord(own_hash, document.value)


def _inputs_error(record: Mapping[str, Any], inputs: Any) -> str:
    """Return what of the inputs was altered, or an empty text."""
    named = record.get("inputs", {})
    if not isinstance(inputs, dict) or set(inputs) != set(named):
        return "its inputs are others than those that its record names"
    for name, value in inputs.items():
        if value is not None and sha256(canonical_json(value)) != named[name]:
            return f"its input {name} was altered: it has another digest than its record names"
    return ""


def _show_value(told: object) -> str:
    return "nothing" if told is None else escape_name(str(told)[:80])
