"""The permit: what an executor must hold to run a plan, issued by the loop alone.

Rule 1: only a proposal that `verify` passes gets one, and it is verified here.
Rule 2: it is good for exactly the bytes that were verified. It cannot be copied.
Rule 3: the first attempt to redeem it uses it up, whether or not it succeeds.
Rule 4: it holds bytes, and nothing that the loop decides by.
Rule 5: a late plan is never redeemed whole: what its steps send is not known when it is verified.
        Each of its steps has permits of its own, once it is opened.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from critic import DecisionSpec, Plan, Proposal, RunContext, ToolCapability, verify_proposal
from evals.envelope import Envelope
from evals.plan import is_late_plan
from evals.side_table import Beside
from evals.unread import read_unread, unread_body
from harness.canonical import canonical_bytes, digest
from harness.record.inputs import HeldInputs, proposal_digest
from harness.runtime.step_permits import StepPermit
from harness.single_use import PermitError, SingleUse
from harness.wire import parse

if TYPE_CHECKING:
    from harness.runtime.opening_desk import OpeningDesk

_ISSUER: Final = object()
_DESKS: "Final[Beside[OpeningDesk]]" = Beside()
"""What opens the steps of late plans, beside their permits, from which nothing leads there."""

_REST: Final[Mapping[str, type[Envelope]]] = {"ctx": RunContext, "plan": Plan, "spec": DecisionSpec}
"""The members of a proposal beside the context, in the order of its canonical form."""


class Permit(SingleUse):
    """Single-use authorization to execute one verified proposal. Made by `issue_permit`.

    Attributes:
        digest: the digest of the verified proposal.
    """

    __slots__ = ("__weakref__", "_context", "_hash", "_plan", "_redeemed", "_tools", "digest")

    good_for = "one execution"

    def __init__(self, issuer: object, inputs: HeldInputs) -> None:
        if issuer is not _ISSUER:
            raise PermitError("a permit is issued by the canonical loop, not made by hand")
        self.digest: Final = inputs.digest
        self._plan: Final = inputs.plan.body
        self._context: Final = inputs.context.body
        self._hash: Final = inputs.context.hash()
        self._tools: Final = inputs.tools()
        self._redeemed = False
        super().__init__()

    @property
    def redeemed(self) -> bool:
        """Return whether a redemption succeeded: of the plan, or of a step of a late one."""
        desk = _DESKS.get(self)
        return self._redeemed or (desk is not None and desk.redeemed)

    async def step(self, step: int) -> StepPermit:
        """Return a permit for the next attempt of a step of a late plan.

        The step is opened before its first attempt: judged again with its values. Report each
        call when it ended, or what waits for it cannot be opened.

        Args:
            step: the position in the plan.

        Raises:
            StepRefused: the opening is refused. Nothing more of the plan may be sent.
            PermitError: the plan is not late; the step waits for one that has not ended; it
                completed, or its last attempt has not ended; or the execution ended.
        """
        desk = _DESKS.get(self)
        if desk is None:
            raise PermitError("the steps of this plan are not opened: redeem its permit")
        return await desk.permit_step(step)

    def withdraw(self) -> None:
        """Use the permit up: what it was issued for may not be done any more."""
        super().withdraw()
        desk = _DESKS.get(self)
        if desk is not None:
            desk.end()

    def redeem(self, proposal: Proposal) -> Plan:
        """Return the plan to execute, built afresh from the verified bytes. Thread-safe.

        Works once: the first call uses the permit up, even if it fails.

        Raises:
            PermitError: the proposal differs from the verified one, even if it was changed in
                place after it was verified; the plan is late (`critic.late`); or the permit was
                used before or was withdrawn.
        """
        self._use_up("a plan runs once per verdict")
        plan = self.read(proposal)
        if is_late_plan(plan):
            raise PermitError(
                "a late plan: its steps have to be opened one by one, and sent by then"
            )
        self._redeemed = True
        return plan

    def read(self, proposal: Proposal) -> Plan:
        """Return the verified plan, built afresh, to see what it is: nothing may be sent by it.

        Raises:
            PermitError: the proposal differs from the verified one.
        """
        if self._digest_or_none(proposal) != self.digest:
            raise PermitError("this proposal is not the one that was verified (digest differs)")
        return parse(Plan, self._plan)

    def capability(self, adapter_id: str, capability_id: str) -> ToolCapability | None:
        """Return a copy of a tool that the verified plan calls, or None if it calls no such tool.

        It costs the same however many tools there are; `proposal.compiled` is read as a whole.
        """
        body = self._tools.get((adapter_id, capability_id))
        return None if body is None else parse(ToolCapability, body, max_bytes=len(body))

    def _digest_or_none(self, proposal: Proposal) -> str | None:
        """Return None for a proposal that was changed, since it was built, into non-JSON values."""
        try:
            rest = self._bytes_if_unread(proposal)
            return digest(proposal) if rest is None else proposal_digest(self._hash, *rest)
        except Exception:
            return None

    def _bytes_if_unread(self, proposal: Proposal) -> list[bytes] | None:
        """Return the bytes of all but the context, if that is still unread, and else None.

        An unread context is the very one that was verified if it has the same bytes object.
        """
        fields = proposal.__dict__
        if type(proposal) is not Proposal or len(fields) != 1 + len(_REST):
            return None
        if unread_body(fields["compiled"]) is not self._context:
            return None
        if any(type(fields[name]) is not model for name, model in _REST.items()):
            return None
        return [canonical_bytes(fields[name]) for name in _REST]


def issue_permit(proposal: Proposal) -> Permit:
    """Return a permit for `proposal` as it is now.

    Raises:
        PermitError: `verify` refuses the proposal.
        TypeError: it is not exactly a Proposal.
        InvalidInput: it was changed in place into something else.
    """
    if type(proposal) is not Proposal and not read_unread(proposal, Proposal):
        raise TypeError(f"a permit is for a Proposal, not {type(proposal).__name__}")
    return permit_for(HeldInputs.of(proposal))


def permit_for(inputs: HeldInputs, desk: "OpeningDesk | None" = None) -> Permit:
    """Return a permit for inputs that are held, for the loop to hand to an executor.

    Args:
        inputs: what was verified.
        desk: what opens the steps of a late plan.

    Raises:
        PermitError: `verify` refuses the proposal.
    """
    verdict = verify_proposal(inputs.proposal)
    if not verdict:
        raise PermitError(f"verify refuses this proposal: {'; '.join(verdict.reasons)}")
    permit = Permit(_ISSUER, inputs)
    if desk is not None:
        _DESKS.keep(permit, desk)
    return permit


def redeem(permit: object, proposal: Proposal) -> Plan:
    """Return `permit.redeem(proposal)` after checking that the permit is a real one.

    Raises:
        PermitError: it is not exactly a Permit that was issued, or does not cover the proposal.
    """
    return _require_issued(permit).redeem(proposal)


def read_late_plan(permit: object, proposal: Proposal) -> Plan:
    """Return the late plan that a permit covers, whose steps are still to be opened.

    Raises:
        PermitError: it is not exactly a Permit that was issued, or does not cover the proposal.
    """
    return _require_issued(permit).read(proposal)


def _require_issued(permit: object) -> Permit:
    if type(permit) is not Permit or not hasattr(permit, "digest"):
        raise PermitError("this is not a permit that the canonical loop issued")
    return permit
