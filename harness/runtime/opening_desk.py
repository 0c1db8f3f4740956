"""The desk that opens the steps of a late plan while it is executed, and issues their permits.

Rule 1: a step is opened once, before its first attempt, by the checks that judged the plan. Only
        one that passes gets permits, each for one attempt.
Rule 2: the first refusal ends the plan, but for one question to a person. Calls that were not
        opened, are not what was opened, or had no permit, end it too.
Rule 3: nothing is opened once the run returned more than a record can hold.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from critic import Approval, Opening, Plan, Refused, ToolCall, ToolStep, digest
from critic.late.opened_steps import JudgedStep
from critic.late.openings import OpeningError, StepOpener
from evals.retries import MOST_RETRIES
from harness.canonical import canonical_json
from harness.record.inputs import HeldInputs
from harness.record.parts import MOST_RETURNED
from harness.runtime.awaiting import maybe_await
from harness.runtime.step_permits import Approver, StepPermit, StepRefused, issue_step_permit
from harness.single_use import PermitError
from harness.wire import detached_copy

_MOST_ATTEMPTS: Final = 1 + MOST_RETRIES


def _ignore(_opening: Opening) -> None:
    """Do nothing with an opening."""


class OpeningDesk:
    """Opens the steps of one execution of a late plan. Asked by one event loop.

    Attributes:
        openings: those that were made, in order.
        redeemed: whether any permit of a step was redeemed.
    """

    def __init__(
        self,
        inputs: HeldInputs,
        calls: Callable[[], tuple[ToolCall, ...]],
        now: Callable[[], datetime | None],
        approver: Approver | None = None,
        tell: Callable[[Opening], None] = _ignore,
    ) -> None:
        """Begin with a verified plan of which nothing ran.

        Args:
            calls: returns the calls that ended so far.
            now: tells the time, or None; it does not raise.
            tell: is given each opening.
        """
        self._opener: Final = StepOpener(inputs.proposal)
        self._calls, self._now, self._approver, self._tell = calls, now, approver, tell
        self._lock: Final = asyncio.Lock()
        self._sent: dict[int, ToolStep] = {}
        self._bodies: dict[int, bytes] = {}
        self._issued: dict[int, list[StepPermit]] = {}
        self._made = Counter[int]()
        self._returned = 0
        self._latest: datetime | None = inputs.proposal.ctx.as_of
        self._ended: str | None = None
        self.openings: Final[list[Opening]] = []
        self.redeemed = False

    @property
    def is_refused(self) -> bool:
        """Return whether the last opening was refused."""
        return bool(self.openings) and not self.openings[-1].verdict.ok

    def end(self) -> None:
        """End the execution: withdraw all permits, and open nothing more."""
        self._ended = self._ended or "the execution ended"
        for permit in (one for issued in self._issued.values() for one in issued):
            permit.withdraw()

    async def permit_step(self, step: int) -> StepPermit:
        """Return a permit for the next attempt of a step, which is opened before the first one.

        Raises:
            StepRefused: it is refused. Nothing more is opened.
            PermitError: it cannot be opened now, or the execution ended.
        """
        if type(step) is not int:
            raise PermitError("a step is named by its position in the plan, a whole number")
        async with self._lock:
            if self._ended is not None:
                raise PermitError(f"step {step} is not opened: {self._ended}")
            self._take_calls()
            if step in self._sent:
                self._require_retry(step)
            else:
                await self._open(step)
            permit = issue_step_permit(step, self._sent[step], self._note_redeemed)
            self._issued.setdefault(step, []).append(permit)
            return permit

    def _note_redeemed(self) -> None:
        self.redeemed = True

    def _take_calls(self) -> None:
        """Note the calls that ended since, each of which has to be what was opened.

        Raises:
            PermitError: one is not.
        """
        for call in self._calls()[len(self._opener.calls) :]:
            try:
                self._opener.end_call(call)
            except OpeningError as error:
                self._ended = str(error)
                raise PermitError(self._ended) from error
            self._made[call.step] += 1
            self._returned += len(canonical_json(call.output))
            if (why := self._fault_of(call)) is not None:
                self._ended = why
                raise PermitError(why)

    def _fault_of(self, call: ToolCall) -> str | None:
        """Return why nothing is opened after a call that ended, or None."""
        if canonical_json(call.args) != self._bodies[call.step]:
            return f"a call of step {call.step} has other args than it was opened with"
        if self._made[call.step] > len(self._issued.get(call.step, ())):
            return f"step {call.step} was called more often than there were permits for it"
        if self._returned > MOST_RETURNED:
            return f"its calls returned over {MOST_RETURNED} bytes, which no record can hold"
        return None

    def _require_retry(self, step: int) -> None:
        made = [call for call in self._opener.calls if call.step == step]
        if len(made) < len(self._issued[step]):
            raise PermitError(f"step {step} was opened, and its last attempt has not ended")
        if made[-1].status == "completed":
            raise PermitError(f"step {step} completed: it is never repeated")
        if len(made) >= _MOST_ATTEMPTS:
            raise PermitError(f"step {step} was tried {len(made)} times")

    async def _open(self, step: int) -> None:
        judged = self._judge(step, ())
        verdict = judged.verdict
        if isinstance(verdict, Refused):
            self._ended = f"the opening of step {step} was refused"
            approval = await self._ask(step, judged, verdict)
            if approval is None:
                raise StepRefused(step, verdict)
            self._take_calls()
            judged = self._judge(step, (approval,))
            if isinstance(judged.verdict, Refused):
                raise StepRefused(step, judged.verdict)
            self._ended = None
        sent = judged.settled.sent
        assert sent is not None  # noqa: S101 - only what is settled passes
        self._sent[step], self._bodies[step] = sent, canonical_json(sent.args)

    def _judge(self, step: int, approvals: tuple[Approval, ...]) -> JudgedStep:
        """Open a step now, and keep the opening.

        Raises:
            PermitError: it cannot be opened now.
        """
        as_of, after = self._time(), len(self._opener.calls)
        try:
            judged = self._opener.open_now(step, as_of, approvals)
        except OpeningError as error:
            raise PermitError(str(error)) from error
        facts: dict[str, Any] = {} if as_of is None else {"as_of": as_of}
        facts |= {"approvals": approvals} if approvals else {}
        opening = Opening(step=step, after=after, verdict=judged.verdict, **facts)
        self.openings.append(opening)
        self._tell(opening)
        return judged

    def _time(self) -> datetime | None:
        """Return the time, which does not go back; None from a clock that fails."""
        now = self._now()
        if now is None:
            return None
        self._latest = now if self._latest is None else max(now, self._latest)
        return self._latest

    async def _ask(self, step: int, judged: JudgedStep, refused: Refused) -> Approval | None:
        """Return what a person says to a step with its values, as an approval of exactly that."""
        settled = judged.settled.proposal
        if self._approver is None or settled is None or not refused.approvable:
            return None
        shown = detached_copy(settled), detached_copy(refused)
        approver: str | None = await maybe_await(self._approver.approve(step, *shown))
        if approver is None:
            return None
        return _yes_to(settled.plan, approver)


def _yes_to(plan: Plan, approver: str) -> Approval:
    """Return an approval of the last step of a settled plan. Its id is fresh: it counts once."""
    return Approval(
        approval_id=f"approval_{uuid4().hex}",
        plan_digest=digest(plan),
        steps=[len(plan.steps) - 1],
        approver=approver,
    )
