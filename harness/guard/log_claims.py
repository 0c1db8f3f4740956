"""What a guard asks of the claims of a log, which are made once. Answers come at once."""

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
        """Return the number of the record that made each claim; leave out what none made."""
        ...

    def head(self) -> Head:
        """Return the number and the hash of the last record."""
        ...


def id_claim(session: str) -> str:
    """Return the claim on an id, which may be any text: a claim is short and printable."""
    return f"{OPENED}{sha256(session.encode()).hexdigest()}"


def require_stored(given: Any) -> Any:
    """Return what a log returned, which has to be there at once."""
    if not isawaitable(given):
        return given
    close = getattr(given, "close", None)
    if close is not None:
        close()
    raise HarnessError("the log is asynchronous: give the guard one that stores at once")
