"""An agent whose calls are tried again after a transient failure, and end in time.

Rule 1: only a failure on the list of the policy is transient. Any other ends the call.
Rule 2: the usage of every try counts. The usage of a try that timed out is unknown.
Rule 3: a try in which a tool was called is not made again: the tool may have acted already.
Rule 4: no try begins that the budget does not allow, and none goes on when its time is over.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from harness.loops.agents.agent import (
    Agent,
    AgentFailed,
    AgentResult,
    AgentTool,
    Event,
    TransientFailure,
    describe,
)
from harness.loops.agents.invocation import SubagentInvocation, equip
from harness.loops.agents.retry import DEFAULT_CALLS, CallPolicy, Deadline, OutOfTime
from harness.loops.agents.usage import NO_USAGE, UNLIMITED, Budget, Usage, add_usage


class Retrying:
    """An agent whose calls are tried again after a transient failure, and end in time.

    Each failed try gives an `architecture_event` with `event: "retrying"`, the number of the
    `attempt`, the wait `wait_s` and the reason `why`. The tries of one call have the same session.
    A call that the budget's time ends is interrupted, with `budget:max_seconds`.
    """

    def __init__(self, agent: Agent, policy: CallPolicy = DEFAULT_CALLS) -> None:
        """Wrap an agent."""
        self._agent = agent
        self._policy = policy

    @property
    def name(self) -> str:
        """Return the name of the wrapped agent."""
        return self._agent.name

    def equipped(
        self, *, context: Mapping[str, Any] | None, extra_tools: Sequence[AgentTool]
    ) -> "Retrying":
        """Return the same around the agent with this context and these tools."""
        return Retrying(equip(self._agent, context, extra_tools), self._policy)

    def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> "RetryingStream":
        """Begin a call. Its events raise the error of the last try, if that failed."""

        def begin(left: Budget) -> SubagentInvocation:
            return SubagentInvocation(
                self._agent, prompt, session_id=session_id, budget=left, text_only=text_only
            )

        return RetryingStream(begin, session_id, self._policy, budget)


class RetryingStream:
    """The events of one call, of all its tries. An iterator, as `SubagentInvocation` is one."""

    def __init__(
        self,
        begin: Callable[[Budget], SubagentInvocation],
        session_id: str,
        policy: CallPolicy,
        budget: Budget,
    ) -> None:
        self._begin = begin
        self._session_id = session_id
        self._policy = policy
        self._budget = budget
        self._call: SubagentInvocation | None = None
        self._deadline: Deadline | None = None
        self._try_ends: Deadline | None = None
        self._tries = 0
        self._wait = 0.0
        self._acted = False
        self._usage = NO_USAGE
        self._turns = 0
        self._output = ""
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._ended:
            raise StopAsyncIteration
        if self._deadline is None:
            self._deadline = Deadline(self._budget.max_seconds)
            return Event(kind="started", session_id=self._session_id)
        try:
            return await self._next_event(self._deadline)
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """End the call, if it is going on."""
        self._ended = True
        if self._call is not None:
            await self._call.aclose()

    @property
    def result(self) -> AgentResult | None:
        """Return the result so far, with the usage of all tries; None while it is unknown."""
        current = None if self._call is None else self._call.result
        if current is not None:
            return self._with_earlier(current)
        if self._usage == NO_USAGE and not self._turns:
            return None
        return AgentResult(output=self._output, turns=self._turns, usage=self._usage)

    def _with_earlier(self, result: AgentResult) -> AgentResult:
        """Return the result of the last try, with the usage and turns of all of them."""
        usage = add_usage(self._usage, result.usage)
        return result.model_copy(update={"usage": usage, "turns": self._turns + result.turns})

    async def _next_event(self, deadline: Deadline) -> Event:
        try:
            call = self._call or await self._try(deadline)
            assert self._try_ends is not None  # noqa: S101 - for the type checker
            event = await deadline.wait_within(anext(call), self._try_ends.seconds_left())
        except StopAsyncIteration:
            return self._complete_call()
        except OutOfTime as error:
            return self._out_of_time(error)
        except Exception as error:
            return self._retry_or_raise(error)
        self._acted |= event.kind in ("tool_call", "tool_result")
        return event

    async def _try(self, deadline: Deadline) -> SubagentInvocation:
        """Wait as long as is due, and begin the next try."""
        if self._wait:
            await deadline.wait_within(self._policy.sleep(self._wait))
        self._tries += 1
        left = self._budget.remaining_after(self._usage)
        if (seconds := deadline.seconds_left()) is not None:
            left = left.model_copy(update={"max_seconds": seconds})
        self._try_ends = Deadline(self._policy.time_limit)
        self._call = self._begin(left)
        return self._call

    def _complete_call(self) -> Event:
        result = None if self._call is None else self._call.result
        if result is None:
            raise AgentFailed("the agent ended without a result")
        if result.transient:
            error = TransientFailure(result.interruption_reason or "")
            if self._may_try_again(error, result.usage):
                return self._try_again(error)
        return self._end_call(self._with_earlier(result))

    def _retry_or_raise(self, error: Exception) -> Event:
        """Prepare the next try, or raise the error."""
        used = None if self._call is None else self._call.result
        if used is None and isinstance(error, TimeoutError):
            self._usage = add_usage(self._usage, Usage())
        if self._may_try_again(error, NO_USAGE if used is None else used.usage):
            return self._try_again(error)
        raise error

    def _may_try_again(self, error: Exception, used: Usage) -> bool:
        spent = add_usage(self._usage, used)
        affordable = self._budget.exceeded_by(spent) is None
        return affordable and not self._acted and self._policy.allows_another(self._tries, error)

    def _try_again(self, error: Exception) -> Event:
        self._count_try()
        self._wait = self._policy.wait_after(self._tries)
        data = {
            "event": "retrying",
            "attempt": self._tries,
            "wait_s": self._wait,
            "why": describe(error),
        }
        return Event(kind="architecture_event", session_id=self._session_id, data=data)

    def _out_of_time(self, error: OutOfTime) -> Event:
        if self._call is not None and self._call.result is None:
            self._usage = add_usage(self._usage, Usage())
        self._count_try()
        result = AgentResult(
            output=self._output,
            turns=self._turns,
            usage=self._usage,
            interrupted=True,
            interruption_reason=str(error),
            stop_reason="budget",
        )
        return self._end_call(result)

    def _count_try(self) -> None:
        """Count what the try that has ended came to."""
        result = None if self._call is None else self._call.result
        self._call = None
        if result is not None:
            self._usage = add_usage(self._usage, result.usage)
            self._turns += result.turns
            self._output = result.output

    def _end_call(self, result: AgentResult) -> Event:
        self._ended = True
        return Event(kind="completed", session_id=self._session_id, result=result)
