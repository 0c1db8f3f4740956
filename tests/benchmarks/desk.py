"""The refund desk at work: runs, turns of the canonical loop, and decisions to be recorded."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from critic import Plan, Proposal, Run, consolidate, score, verify_proposal
from harness.clock import FixedClock
from harness.record import GENESIS, Decision, DecisionRecord, Head, RunFacts, draft, seal_record
from harness.runtime import Execution, FixedPlanner, Permit, Recorder, redeem, run_canonical_loop
from harness.runtime.canonical_loop import Outcome
from harness.wire import build, parse
from tests.benchmarks import plans

Json = dict[str, Any]

STEPS: Final = len(plans.DESK)
NOON: Final = datetime(2026, 5, 9, 12, tzinfo=UTC)
MEASURED: Final[Json] = {"wall_ms": 800, "tokens": 2400, "cost_micros": 1500}
_OUTPUTS: Final = {"refund_decision": "approved", "customer_reply": "The refund is on its way."}


def proposal(number: int, size: int, steps: int = STEPS) -> Proposal:
    """Return plan `number` of the desk with its inputs; the manifests are one and the same object.

    `size` is the number of tools and of pieces of evidence.
    """
    plan = parse(Plan, plans.plan_bytes(steps, number, size))
    return Proposal(
        ctx=plans.context(steps), compiled=plans.compiled(size), spec=plans.spec(steps), plan=plan
    )


def _calls(plan: Json) -> list[Json]:
    names = ("adapter_id", "capability_id", "args")
    return [
        {**{name: step[name] for name in names}, "step": place, "status": "completed"}
        for place, step in enumerate(plan["steps"])
    ]


def _outputs(plan: Json) -> Json:
    return {name: _OUTPUTS[name] for name in plan["declared_outputs"]}


def run_of_plan(number: int, size: int, steps: int = STEPS, trace: str = plans.TRACE) -> Run:
    """Return the run of plan `number`: each step called once, as planned."""
    proposed = proposal(number, size, steps)
    if trace != plans.TRACE:
        of_trace = {"trace_id": trace}
        proposed = Proposal(
            ctx=proposed.ctx.model_copy(update=of_trace),
            compiled=proposed.compiled,
            spec=proposed.spec,
            plan=proposed.plan.model_copy(update=of_trace),
        )
    wire = plans.plan_wire(steps, number, size)
    facts = build(
        RunFacts,
        {
            "run_id": f"run_{number}",
            "trace_id": trace,
            "outputs": _outputs(wire),
            "calls": _calls(wire),
            **MEASURED,
        },
    )
    return facts.run_of(proposed)


def decision(number: int, size: int, trace: str = plans.TRACE) -> Decision:
    """Return the decision about plan `number`, which was run."""
    executed = run_of_plan(number, size, trace=trace)
    report = consolidate(
        trace_id=trace,
        decision_key=executed.proposal.spec.id,
        verify=verify_proposal(executed.proposal),
        score=score(executed),
        decided_at=NOON,
    )
    facts = RunFacts.of(executed)
    return Decision(proposal=executed.proposal, run=facts, report=report, action="allow")


class Reporting:
    """An executor that calls nothing, and reports every call of the plan as completed."""

    def execute(self, permit: Permit, proposal: Proposal, record: Recorder) -> Execution:
        """Report the calls of the plan that was verified."""
        plan = redeem(permit, proposal).wire()
        for call in build(RunFacts, self._facts(plan)).calls:
            record(call)
        return Execution(outputs=_outputs(plan), **MEASURED)

    @staticmethod
    def _facts(plan: Json) -> Json:
        return {"run_id": "r", "trace_id": "t", "calls": _calls(plan), "outputs": {}}


class NoLog:
    """A log that keeps nothing: every decision is answered with one and the same record."""

    def __init__(self) -> None:
        self._record = seal_record(draft(decision(0, STEPS)), Head(0, GENESIS)).record

    def append(self, _decision: Decision, /) -> DecisionRecord:
        """Return the record that every decision gets."""
        return self._record


NO_LOG: Final = NoLog()


Turn = Callable[[], Coroutine[Any, Any, Outcome]]


def turn(number: int, size: int, steps: int = STEPS, log: Any = NO_LOG) -> Turn:
    """Return one turn of the canonical loop, from plan `number` to its record."""
    proposed = proposal(number, size, steps)
    return partial(
        run_canonical_loop,
        ctx=proposed.ctx,
        compiled=proposed.compiled,
        spec=proposed.spec,
        planner=FixedPlanner(proposed.plan),
        executor=Reporting(),
        clock=FixedClock(NOON),
        log=log,
    )
