"""Ed25519 keys in files that a user names: a private one signs, public ones verify.

Rule 1: a private key that others could have read signs nothing.
Rule 2: no message holds anything of a private key.
"""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from harness.audit.proofs.notes import COSIGNATURE, ED25519, from_base64, is_key_name, key_id
from harness.errors import HarnessError, UsageError
from harness.whole_files import errors_naming, file_beside, show_path

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_OTHERS: Final = 0o077
"""The permissions of the group and of everybody."""

_LARGEST: Final = 64 * 1024  # bytes of a file with a key
_OPENSSH: Final = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_NOTE_KEY: Final = b"PRIVATE+KEY+"


class UnusableKey(HarnessError):
    """A file does not hold a key that can be used for this."""


class PublicKey(NamedTuple):
    """A key that verifies signatures.

    Attributes:
        where: the file that it was read from, escaped.
        raw: its 32 bytes.
        name: the name that signatures must have; empty if the file says none.
        kind: the type of signatures that it verifies; 0 for every known one.
    """

    where: str
    raw: bytes
    name: str = ""
    kind: int = 0

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Return whether this key made a signature of 64 bytes of a message."""
        primitives = _library().Ed25519PublicKey.from_public_bytes(self.raw)
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra

        try:
            primitives.verify(signature, message)
        except InvalidSignature:
            return False
        return True


class PrivateKey(NamedTuple):
    """A key that signs. Its representation shows the file alone."""

    where: str
    key: "Ed25519PrivateKey"

    @property
    def public(self) -> bytes:
        """Return the 32 bytes of the public key."""
        return self.key.public_key().public_bytes_raw()

    def __repr__(self) -> str:
        return f"PrivateKey({self.where})"


def new_key(path: Path) -> Path:
    """Make a private key in the file `path`, which only its owner may read, and return the file
    of the public key: `path` with `.pub`.

    Raises:
        UsageError: one of the files exists.
        OSError: a file cannot be written.
    """
    beside = file_beside(path, ".pub")
    for one in (path, beside):
        if os.path.lexists(one):
            raise UsageError(f"{show_path(one)} exists: choose another name, or remove it")
    key = _library().Ed25519PrivateKey.generate()
    form = _forms()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(
        form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo
    )
    _write(path, private, 0o600)
    try:
        _write(beside, public, 0o644)
    except BaseException:
        path.unlink(missing_ok=True)  # a key whose public half nobody has proves nothing
        raise
    return beside


def read_private_key(path: Path) -> PrivateKey:
    """Return the private key in a file: PEM (PKCS #8), or the form of OpenSSH.

    Raises:
        UnusableKey: it is not such a key, it is encrypted, or others may read the file.
        OSError: the file cannot be read.
    """
    where, data = show_path(path), _private_bytes(path)
    form = _forms()
    load = form.load_ssh_private_key if _OPENSSH in data else form.load_pem_private_key
    try:
        key = load(data, password=None)
    except TypeError:
        raise UnusableKey(f"{where}: the private key is encrypted: decrypt it first") from None
    except Exception:  # the library has many, and a message may quote the file
        if b"PUBLIC KEY" in data or data.startswith(b"ssh-"):
            raise UnusableKey(f"{where}: a public key cannot sign: name the private key") from None
        raise UnusableKey(f"{where}: not a private key: make one with `critic log key`") from None
    if not isinstance(key, _library().Ed25519PrivateKey):
        raise UnusableKey(f"{where}: not an Ed25519 key: make one with `critic log key`")
    return PrivateKey(where, key)


def read_public_key(path: Path) -> PublicKey:
    """Return the public key in a file: PEM, the form of OpenSSH, or that of signed notes.

    Raises:
        UnusableKey: it is not a public Ed25519 key.
        OSError: the file cannot be read.
    """
    where = show_path(path)
    with path.open("rb") as file:
        data = file.read(_LARGEST).strip()
    if b"PRIVATE KEY-----" in data or data.startswith(_NOTE_KEY):
        raise UnusableKey(f"{where}: a private key: name the public one, and show this to nobody")
    if named := parse_verifier_key(where, data):
        return named
    form = _forms()
    load = form.load_ssh_public_key if data.startswith(b"ssh-") else form.load_pem_public_key
    try:
        key = load(data)
    except Exception:
        raise UnusableKey(f"{where}: not a public key in PEM or of OpenSSH") from None
    if not isinstance(key, _library().Ed25519PublicKey):
        raise UnusableKey(f"{where}: not an Ed25519 key")
    return PublicKey(where, key.public_bytes_raw())


def parse_verifier_key(where: str, data: bytes) -> PublicKey | None:
    """Return the key of a line `<name>+<id>+<base64 of type and key>`, or None for other data.

    Raises:
        UnusableKey: the line is one, and its parts do not belong together.
    """
    name, plus, rest = data.decode(errors="replace").partition("+")
    if not plus or not is_key_name(name) or name.startswith("-"):
        return None
    told, _, encoded = rest.partition("+")
    raw = from_base64(encoded) or b""
    if len(raw) != 33 or raw[0] not in (ED25519, COSIGNATURE):
        raise UnusableKey(f"{where}: not a key of signed notes, or of a type other than Ed25519")
    if key_id(name, raw[0], raw[1:]).hex() != told:
        raise UnusableKey(f"{where}: the name of the key and its id do not belong together")
    return PublicKey(where, raw[1:], name, raw[0])


def _private_bytes(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        kept = os.fstat(descriptor)
        if not stat.S_ISREG(kept.st_mode):
            raise UnusableKey(f"{show_path(path)}: not a file")
        if os.name == "posix" and kept.st_mode & _OTHERS:
            raise UnusableKey(
                f"{show_path(path)}: others may read this private key: run chmod 600 on it, and "
                "make "
                "a new key if somebody may have"
            )
        return file.read(_LARGEST)


def _write(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with errors_naming(path), os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _library() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - an extra
    except ImportError:
        raise UsageError(
            "signatures need one more library: pip install 'plan-critic[checkpoint]'"
        ) from None
    return ed25519


def _forms() -> Any:
    _library()
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - an extra

    return serialization
