"""The permit: what an executor must hold to run a plan, issued by the loop alone.

Rule 1: only a proposal that `verify` passed gets one.
Rule 2: it is good for exactly the bytes that were verified, once.
"""

from typing import Final

from critic import Plan, Proposal
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

    def redeem(self, proposal: Proposal) -> Plan:
        """The plan to execute, built afresh from the verified bytes. Works once.

        Raises:
            PermitError: the proposal differs from the verified one, even if it was changed in
                place after it was verified; or the permit was redeemed before.
        """
        if self._used:
            raise PermitError("this permit was redeemed before: a plan runs once per verdict")
        if digest(proposal) != self.digest:
            raise PermitError("this proposal is not the one that was verified (digest differs)")
        self._used = True
        return parse(Plan, self._plan)


def issue_permit(proposal: Proposal) -> Permit:
    """For the loop, after `verify` passed this very proposal."""
    return Permit(_ISSUER, proposal)
