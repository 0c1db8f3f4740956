"""What is good for one attempt, whether or not it succeeds: the lock under both kinds of permit."""

from threading import Lock
from typing import Any, ClassVar, Final, NoReturn

from harness.errors import HarnessError


class PermitError(HarnessError):
    """The permit does not cover this execution. Raised before any call is made."""


class SingleUse:
    """An authorization that is used up by the first attempt to use it. It cannot be copied."""

    __slots__ = ("_used",)

    good_for: ClassVar[str] = "one use"
    """What one permit is for, as a reason says it."""

    def __init__(self) -> None:
        self._used: Final = Lock()  # acquired once, and never released

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError(f"a permit cannot be copied: it is good for {self.good_for}")

    def _use_up(self, otherwise: str) -> None:
        """Use the permit up. Thread-safe: of two attempts one is refused.

        Raises:
            PermitError: it was used up before; the reason ends with `otherwise`.
        """
        if not self._used.acquire(blocking=False):
            raise PermitError(f"this permit was used before: {otherwise}")

    def withdraw(self) -> None:
        """Use the permit up: what it was issued for may not be done any more."""
        self._used.acquire(blocking=False)
