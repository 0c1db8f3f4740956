"""The claims of a log, each of which is made once. A guard needs the answers at once."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from inspect import isawaitable
from typing import Any, Final, Protocol, runtime_checkable

from harness.errors import HarnessError
from harness.record import Head

OPENED: Final = "opened "
"""How the claim of a session on its id begins."""


@runtime_checkable
class KeepsClaims(Protocol):
    """A log in which only one record makes a claim."""

    def claims(self, claims: Iterable[str]) -> Mapping[str, int]:
        """Return the number of the record that made each claim, without those that nobody made."""
        ...

    def head(self) -> Head:
        """Return the number and the hash of the last record."""
        ...


def id_claim(session: str) -> str:
    """Return the claim on an id. The id may be any text; a claim is short and printable."""
    return f"{OPENED}{sha256(session.encode()).hexdigest()}"


def require_stored(given: Any) -> Any:
    """Return the result of a log, which must not be a coroutine."""
    if not isawaitable(given):
        return given
    close = getattr(given, "close", None)
    if close is not None:
        close()
    raise HarnessError("the log is asynchronous: give the guard one that stores at once")
