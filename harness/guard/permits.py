"""The permit of one call. The caller redeems it right before it makes the call.

Rule 1: it covers exactly the call in the ruling, compared by canonical bytes.
Rule 2: the first attempt to redeem it uses it up, even if that fails. It cannot be copied.
"""

from collections.abc import Mapping
from typing import Any, Final

from critic.session import Call
from harness.canonical import canonical_json
from harness.single_use import PermitError, SingleUse
from harness.wire import parse_json

_ISSUER: Final = object()


class CallPermit(SingleUse):
    """Single-use authorization of one call. Made by a guard that allowed the call.

    Attributes:
        call: the id of the call.
    """

    __slots__ = ("_args", "_missed", "_tool", "call")

    good_for = "one call"

    def __init__(self, issuer: object, call: Call) -> None:
        if issuer is not _ISSUER:
            raise PermitError("a permit is issued by a guard, not made by hand")
        self.call: Final = call.id
        self._tool: Final = call.tool
        self._args: Final = canonical_json(dict(call.args))
        self._missed = False
        super().__init__()

    def redeem(self, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments for the call, a new copy of those in the ruling.

        Works once: the first attempt uses the permit up, even if it fails. Thread-safe.

        Raises:
            PermitError: the tool or the arguments differ from those in the ruling, or the
                permit was used or withdrawn before.
        """
        self._use_up("a call is made once per ruling")
        if tool != self._tool or _bytes_or_none(args) != self._args:
            self._missed = True
            raise PermitError("this is not the call that was allowed: ask for a ruling on it")
        made: dict[str, Any] = parse_json(self._args, len(self._args))
        return made

    def give_up(self) -> bool:
        """Withdraw the permit. Return whether no call was made with it. Thread-safe."""
        return self._used.acquire(blocking=False) or self._missed


def permit_of(call: Call) -> CallPermit:
    """Return a permit for a call."""
    return CallPermit(_ISSUER, call)


def _bytes_or_none(args: Mapping[str, Any]) -> bytes | None:
    try:
        return canonical_json(dict(args))
    except Exception:  # not a mapping of JSON values
        return None
