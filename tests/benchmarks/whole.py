"""What goes on around `verify`: a turn of the canonical loop, score and advice, in small and large.

The same manifests serve every turn, as they do in a service; the plans differ.
"""

import asyncio
import atexit
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from critic import Plan, advise, score, verify
from harness.wire import parse
from tests.benchmarks import plans
from tests.benchmarks.desk import STEPS, run_of_plan, turn
from tests.benchmarks.rows import UNIT, loads_plans
from tests.benchmarks.timing import Cost, Row, of_process, of_thread

FEW: Final = 12
MANY: Final = 100_000
_PER_BATCH: Final = 4


def _made(make: Callable[[int], Any]) -> Callable[[int], Sequence[Any]]:
    return lambda batch: [make(batch * _PER_BATCH + one) for one in range(_PER_BATCH)]


def _turns(size: int, steps: int) -> Cost:
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    made = _made(lambda number: turn(number, size, steps))
    return of_process(lambda begin: loop.run_until_complete(begin()), made)


def _verify(size: int) -> Cost:
    ctx, compiled, spec = plans.context(STEPS), plans.compiled(size), plans.spec()
    made = _made(lambda number: parse(Plan, plans.plan_bytes(STEPS, number, size)))
    return of_thread(lambda plan: verify(ctx, compiled, spec, plan), made)


def _score(size: int) -> Cost:
    return of_thread(score, _made(partial(run_of_plan, size=size)))


def _advise(size: int) -> Cost:
    ctx, compiled, spec = plans.context(STEPS), plans.compiled(size), plans.spec()
    made = _made(lambda number: unpinned_plan(number, size))
    return of_thread(lambda plan: advise(ctx, compiled, spec, plan), made)


def unpinned_plan(number: int, size: int) -> Plan:
    """Return a plan whose refund pins no evidence: refused, and it can be repaired."""
    wire = plans.plan_wire(STEPS, number, size)
    del wire["steps"][plans.REFUND_STEP]["evidence_refs"]
    return Plan(**wire)


def whole_rows() -> list[Row]:
    """Measure what must be as flat as its core, and what it costs."""
    few = f"the same with {FEW}"
    return [
        Row(
            "canonical loop, one turn, 100,000 tools",
            "the same with 10",
            1.3,
            _turns(MANY, 10),
            _turns(10, 10),
        ),
        Row(
            "canonical loop, one turn, 1,000 tools",
            "its verify",
            60.0,
            _turns(1000, STEPS),
            _verify(1000),
        ),
        Row("score, 100,000 tools", few, 1.3, _score(MANY), _score(FEW)),
        Row("advise, 100,000 tools", few, 1.3, _advise(MANY), _advise(FEW)),
        Row("score, 12 calls", UNIT, 14.0, _score(1000), loads_plans(count=_PER_BATCH)),
    ]
