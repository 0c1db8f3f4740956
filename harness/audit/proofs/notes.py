"""Signed notes as C2SP describes them: a text, and lines of signatures below it. Pure.

Rule 1: what is read is spelled exactly as it would be written, or it is refused.
Rule 2: a key is known by its name and four bytes of a hash, which only tell keys apart: what
        counts is the signature.
"""

import base64
import binascii
import hashlib
from typing import Final, NamedTuple

from harness.errors import HarnessError, escape_text

ED25519: Final = 1
"""The type of a signature of the text."""

COSIGNATURE: Final = 4
"""The type of a witness's signature of the text and a time (tlog-cosignature)."""

_DASH: Final = "\u2014 "
_MOST_SIGNATURES: Final = 100


class InvalidCheckpoint(HarnessError):
    """A checkpoint, or a proof for one, cannot be read or relied on."""


class NoteSignature(NamedTuple):
    """One signature of a note.

    Attributes:
        name: the name of the key.
        key_id: its four bytes.
        signature: what the key signed, in a form that its type says.
    """

    name: str
    key_id: bytes
    signature: bytes

    def line(self) -> str:
        """Return the line of the signature, with its end."""
        return f"{_DASH}{self.name} {in_base64(self.key_id + self.signature)}\n"


class SignedNote(NamedTuple):
    """A text that ends with a line, and its signatures."""

    text: str
    signatures: tuple[NoteSignature, ...]

    def note_text(self) -> str:
        """Return the note as it is written to a file."""
        return f"{self.text}\n{''.join(one.line() for one in self.signatures)}"


def read_note(data: bytes, where: str) -> SignedNote:
    """Return the note that bytes spell. No signature is verified.

    Raises:
        InvalidCheckpoint: they spell none; `where` names the file in the message.
    """
    try:
        whole = data.decode()
    except UnicodeDecodeError:
        raise InvalidCheckpoint(f"{where}: not a signed checkpoint: it is not UTF-8") from None
    if any(sign < " " and sign != "\n" for sign in whole):
        raise InvalidCheckpoint(f"{where}: not a signed checkpoint: it holds control characters")
    text, blank, signed = whole.rpartition("\n\n")
    if not (blank and signed.endswith("\n")):
        raise InvalidCheckpoint(
            f"{where}: not a signed checkpoint: it lacks an empty line with signatures below it"
        )
    lines = signed.removesuffix("\n").split("\n")
    if len(lines) > _MOST_SIGNATURES:
        raise InvalidCheckpoint(f"{where}: it has over {_MOST_SIGNATURES} signatures")
    return SignedNote(f"{text}\n", tuple(_signature(line, where) for line in lines))


def _signature(line: str, where: str) -> NoteSignature:
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    signed = from_base64(encoded)
    if not (line.startswith(_DASH) and space and is_key_name(name) and signed and len(signed) > 4):
        raise InvalidCheckpoint(
            f"{where}: not a signed checkpoint: a line of its signatures is malformed: "
            f"{escape_text(line[:80])}"
        )
    return NoteSignature(name, signed[:4], signed[4:])


def is_key_name(name: str) -> bool:
    """Return whether a text may name a key: not empty, no spaces, no plus, printable."""
    return bool(name) and "+" not in name and not any(map(str.isspace, name)) and name.isprintable()


def key_id(name: str, kind: int, public: bytes) -> bytes:
    """Return the four bytes that tell a key apart from others of its name."""
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]


def verifier_key(name: str, kind: int, public: bytes) -> str:
    """Return a public key as signed notes spell it: name, id, type and key."""
    return f"{name}+{key_id(name, kind, public).hex()}+{in_base64(bytes([kind]) + public)}"


def in_base64(data: bytes) -> str:
    """Return the standard base64 of bytes."""
    return base64.b64encode(data).decode("ascii")


def from_base64(text: str) -> bytes | None:
    """Return the bytes that a text spells in standard base64, or None if it is not their base64."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    return data if in_base64(data) == text else None


def from_decimal(text: str) -> int | None:
    """Return the number that a text spells, or None if it is not in plain decimal digits."""
    plain = text.isascii() and text.isdecimal() and len(text) <= 18
    return int(text) if plain and str(int(text)) == text else None
