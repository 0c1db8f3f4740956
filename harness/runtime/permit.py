"""The permit: what an executor must hold to run a plan, issued by the loop alone.

Rule 1: only a proposal that `verify` passes gets one, and it is verified here.
Rule 2: it is good for exactly the bytes that were verified. It cannot be copied.
Rule 3: the first attempt to redeem it uses it up, whether or not it succeeds.
"""

from threading import Lock
from typing import Any, Final, NoReturn

from critic import Plan, Proposal, verify_proposal
from harness.canonical import canonical_bytes, digest
from harness.errors import HarnessError
from harness.wire import parse

_ISSUER: Final = object()


class PermitError(HarnessError):
    """The permit does not cover this execution. Raised before any call is made."""


class Permit:
    """Single-use authorization to execute one verified proposal. Made by `issue_permit`.

    Attributes:
        digest: the digest of the verified proposal.
    """

    __slots__ = ("_plan", "_redeemed", "_used", "digest")

    def __init__(self, issuer: object, proposal: Proposal) -> None:
        if issuer is not _ISSUER:
            raise PermitError("a permit is issued by the canonical loop, not made by hand")
        self.digest: Final = digest(proposal)
        self._plan: Final = canonical_bytes(proposal.plan)
        self._used: Final = Lock()  # acquired once, and never released
        self._redeemed = False

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError("a permit cannot be copied: it is good for one execution")

    @property
    def redeemed(self) -> bool:
        """Return whether a redemption succeeded."""
        return self._redeemed

    def redeem(self, proposal: Proposal) -> Plan:
        """Return the plan to execute, built afresh from the verified bytes. Thread-safe.

        Works once: the first call uses the permit up, even if it fails.

        Raises:
            PermitError: the proposal differs from the verified one, even if it was changed in
                place after it was verified; or the permit was used before or was withdrawn.
        """
        if not self._used.acquire(blocking=False):
            raise PermitError("this permit was used before: a plan runs once per verdict")
        if _digest_or_none(proposal) != self.digest:
            raise PermitError("this proposal is not the one that was verified (digest differs)")
        self._redeemed = True
        return parse(Plan, self._plan)

    def withdraw(self) -> None:
        """Use the permit up: the execution it was issued for is over."""
        self._used.acquire(blocking=False)


def issue_permit(proposal: Proposal) -> Permit:
    """Return a permit for `proposal`, for the loop to hand to an executor.

    Raises:
        PermitError: `verify` refuses the proposal.
    """
    verdict = verify_proposal(proposal)
    if not verdict:
        raise PermitError(f"verify refuses this proposal: {'; '.join(verdict.reasons)}")
    return Permit(_ISSUER, proposal)


def redeem(permit: object, proposal: Proposal) -> Plan:
    """Return `permit.redeem(proposal)` after checking that the permit is a real one.

    Raises:
        PermitError: it is not exactly a Permit that was issued, or does not cover the proposal.
    """
    if type(permit) is not Permit or not hasattr(permit, "digest"):
        raise PermitError("this is not a permit that the canonical loop issued")
    return permit.redeem(proposal)


def _digest_or_none(proposal: Proposal) -> str | None:
    """Return None for a proposal that was changed, since it was built, into non-JSON values."""
    try:
        return digest(proposal)
    except Exception:
        return None
