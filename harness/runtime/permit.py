"""The permit: what an executor must hold to run a plan, issued by the loop alone.

Rule 1: only a proposal that `verify` passes gets one, and it is verified here.
Rule 2: it is good for exactly the bytes that were verified, once. It cannot be copied.
"""

from typing import Any, Final, NoReturn

from critic import Plan, Proposal, verify_proposal
from harness.canonical import canonical_bytes, digest
from harness.wire import parse

_ISSUER: Final = object()


class PermitError(Exception):
    """The permit does not cover this. Raised before any call is made."""


class Permit:
    """Leave to execute one verified proposal, once. Made by `issue_permit`, for the loop."""

    __slots__ = ("_plan", "_used", "digest")

    def __init__(self, issuer: object, proposal: Proposal) -> None:
        if issuer is not _ISSUER:
            raise PermitError("a permit is issued by the canonical loop, not made by hand")
        self.digest: Final = digest(proposal)
        self._plan: Final = canonical_bytes(proposal.plan)
        self._used = False

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError("a permit cannot be copied: it is good for one execution")

    def redeem(self, proposal: Proposal) -> Plan:
        """The plan to execute, built afresh from the verified bytes. Works once.

        Raises:
            PermitError: the proposal differs from the verified one, even if it was changed in
                place after it was verified; or the permit was redeemed before.
        """
        if self._used:
            raise PermitError("this permit was redeemed before: a plan runs once per verdict")
        if _digest_or_none(proposal) != self.digest:
            raise PermitError("this proposal is not the one that was verified (digest differs)")
        self._used = True
        return parse(Plan, self._plan)


def issue_permit(proposal: Proposal) -> Permit:
    """A permit for `proposal`, for the loop to hand to an executor.

    Raises:
        PermitError: `verify` refuses the proposal.
    """
    verdict = verify_proposal(proposal)
    if not verdict:
        raise PermitError(f"verify refuses this proposal: {'; '.join(verdict.reasons)}")
    return Permit(_ISSUER, proposal)


def redeem(permit: object, proposal: Proposal) -> Plan:
    """`permit.redeem(proposal)` for an executor that trusts nobody: the permit must be a real one.

    Raises:
        PermitError: it is not exactly a Permit that was issued, or does not cover the proposal.
    """
    if type(permit) is not Permit or not hasattr(permit, "digest"):
        raise PermitError("this is no permit that the canonical loop issued")
    return permit.redeem(proposal)


def _digest_or_none(proposal: Proposal) -> str | None:
    """None for a proposal that was changed, since it was built, into what is no JSON."""
    try:
        return digest(proposal)
    except Exception:
        return None
