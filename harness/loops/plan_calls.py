"""The calls that a plan loop makes: of its planner and its advisor, journaled and tried again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from critic import CompiledContext, DecisionSpec, Plan, Refused, RunContext, Verified, digest
from harness.loops.agents.agent import describe
from harness.loops.agents.journal import Journal
from harness.loops.agents.retry import CallPolicy, call_with_retries
from harness.loops.plan_replies import parse_plan_reply, parse_review
from harness.loops.plan_types import Advisor, PlanRole, RevisingPlanner, RevisionRequest
from harness.runtime.awaiting import maybe_await
from harness.wire import detached_copy

Inputs = tuple[RunContext, CompiledContext, DecisionSpec]


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where a call belongs: its round, whether it is asked again, and the seconds it may take."""

    round: int
    again: bool
    seconds: float | None


class PlanCalls:
    """Makes the calls of one plan loop, and hands out copies only."""

    def __init__(
        self,
        inputs: Inputs,
        planner: RevisingPlanner,
        advisor: Advisor | None,
        *,
        policy: CallPolicy,
        journal: Journal | None,
        session: str,
        settings: Any,
        on_failure: Callable[[PlanRole, float, str], None],
    ) -> None:
        """Prepare the calls. `on_failure` is called before each wait, with the reason."""
        self._inputs: Final = inputs
        self._planner: Final = planner
        self._advisor: Final = advisor
        self._policy: Final = policy
        self._journal: Final = journal
        self._session: Final = session
        self._settings: Final = settings
        self._on_failure: Final = on_failure
        self._copies: Final = dict[str, Inputs]()

    async def plan(self, request: RevisionRequest | None, site: CallSite) -> dict[str, Any]:
        """Return the reply of the planner as JSON, see `parse_plan_reply`.

        Raises:
            JournalError: the call diverges from the recorded one, or cannot be recorded.
            OutOfTime: the time for the call is over.
            Exception: an error that the planner raised.
        """

        async def call() -> dict[str, Any]:
            handed = None if request is None else detached_copy(request)
            answer = self._planner.plan(*self._copy_inputs("planner"), handed)
            return parse_plan_reply(await maybe_await(answer))

        inputs = {} if request is None else {"request": request.wire()}
        return await self._make_call("planner", "plan", inputs, site, call)

    async def review(
        self, plan: Plan, verdict: Verified | Refused, site: CallSite
    ) -> dict[str, Any]:
        """Return the reply of the advisor as JSON, see `parse_review`. Errors are as for `plan`."""
        advisor = self._advisor
        if advisor is None:
            return {"findings": [], "usage": {}}

        async def call() -> dict[str, Any]:
            handed = detached_copy(plan), detached_copy(verdict)
            answer = advisor.review(*self._copy_inputs("advisor"), *handed)
            return parse_review(await maybe_await(answer))

        return await self._make_call("advisor", "review", {"plan": plan.wire()}, site, call)

    async def _make_call(
        self,
        role: PlanRole,
        name: str,
        inputs: dict[str, Any],
        site: CallSite,
        call: Callable[[], Awaitable[dict[str, Any]]],
    ) -> dict[str, Any]:
        async def call_role() -> dict[str, Any]:
            timed_out = False

            def note(_tries: int, wait: float, error: Exception) -> None:
                nonlocal timed_out
                timed_out |= isinstance(error, TimeoutError)
                self._on_failure(role, wait, describe(error))

            reply = await call_with_retries(
                call, self._policy, seconds=site.seconds, on_failure=note
            )
            # The cost of a call that timed out is unknown, and so the sum is unknown.
            return {**reply, "usage": {}} if timed_out else reply

        if self._journal is None:
            return await call_role()
        session = f"{self._session}__{role}_{site.round}" + ("__again" if site.again else "")
        reply: dict[str, Any] = await self._journal.step(
            session, name, self._key_inputs(inputs), call_role
        )
        return reply

    def _key_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the inputs of a journaled call: the proposal's, the settings, and its own."""
        ctx, compiled, spec = map(digest, self._inputs)
        settings = {} if self._settings is None else {"settings": self._settings}
        return {"ctx": ctx, "compiled": compiled, "spec": spec, **settings, **inputs}

    def _copy_inputs(self, role: PlanRole) -> Inputs:
        """Return copies of the inputs, one set for each role, which it may change."""
        if role not in self._copies:
            self._copies[role] = copies_of(self._inputs)
        return self._copies[role]


def copies_of(inputs: Inputs) -> Inputs:
    """Return the inputs as copies that share nothing with them."""
    ctx, compiled, spec = inputs
    return detached_copy(ctx), detached_copy(compiled), detached_copy(spec)
