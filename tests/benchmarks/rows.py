"""The rows of the table: what the Critic costs, in units of parsing the same bytes."""

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from critic import CompiledContext, DecisionSpec, Plan, RunContext, verify
from harness.wire import parse, verify_bytes
from tests.benchmarks import crafted, plans
from tests.benchmarks.crafted import Crafted
from tests.benchmarks.timing import Cost, Row, of_thread

UNIT = "orjson.loads of the plan"
STEPS = len(plans.DESK)
_PER_BATCH = 16


def _numbers(batch: int, count: int = _PER_BATCH) -> range:
    return range(batch * count, (batch + 1) * count)


def _plans_as_bytes(steps: int, size: int, count: int) -> Callable[[int], Sequence[bytes]]:
    return lambda batch: [plans.plan_bytes(steps, number, size) for number in _numbers(batch, count)]


def _plans_parsed(steps: int, size: int, count: int) -> Callable[[int], Sequence[Plan]]:
    written = _plans_as_bytes(steps, size, count)
    return lambda batch: [parse(Plan, data) for data in written(batch)]


def loads_plans(steps: int = STEPS, size: int = 1000, count: int = _PER_BATCH) -> Cost:
    """orjson.loads of the bytes of plans, no two alike."""
    return of_thread(orjson.loads, _plans_as_bytes(steps, size, count))


def _judge(ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> Callable[[Plan], Any]:
    verify(ctx, compiled, spec, Plan(steps=(), declared_outputs=()))  # the index is made by now
    return lambda plan: verify(ctx, compiled, spec, plan)


def _verify_plans(steps: int, size: int, *, tied: int | None = None, schemas: bool = False) -> Cost:
    judge = _judge(plans.context(steps), plans.compiled(size, schemas), plans.spec(steps))
    return of_thread(judge, _plans_parsed(steps, tied or size, _PER_BATCH))


def _answer_bytes(steps: int, count: int) -> Cost:
    ctx, compiled, spec = plans.context(steps), plans.compiled(1000), plans.spec(steps)
    verify(ctx, compiled, spec, Plan(steps=(), declared_outputs=()))
    return of_thread(
        lambda data: verify_bytes(ctx, compiled, spec, data), _plans_as_bytes(steps, 1000, count)
    )


def refund_rows() -> list[Row]:
    """The realistic plan: judged when parsed, and from bytes to bytes."""
    parsed, loads = _verify_plans(STEPS, 1000), loads_plans()
    whole = orjson.dumps(plans.proposal(STEPS, 0).wire())
    proposals = of_thread(orjson.loads, lambda _: [whole])
    judge = _judge(plans.context(STEPS), plans.compiled(1000), plans.spec())
    uneven = of_thread(judge, lambda batch: [plans.uneven_plan(n % 4096) for n in _numbers(batch)])
    return [
        Row("verify, 12 steps, parsed", UNIT, 0.9, parsed, loads),
        Row("same", "orjson.loads of the proposal", None, parsed, proposals),
        Row("same, caveats unlike from plan to plan", UNIT, None, uneven, loads),
        Row(
            "same, args_schema on every tool, bound args on one",
            UNIT,
            None,
            _verify_plans(STEPS, 1000, schemas=True),
            loads,
        ),
        Row("plan bytes to verdict bytes, 12 steps", UNIT, 7.0, _answer_bytes(STEPS, 16), loads),
        Row(
            "plan bytes to verdict bytes, 100 steps",
            UNIT,
            6.5,
            _answer_bytes(100, 2),
            loads_plans(100, count=2),
        ),
    ]


def manifest_rows() -> list[Row]:
    """How little the size of the manifests matters, once they are compiled."""
    steps, small, large = 10, 10, 100_000
    return [
        Row(
            "verify, 10 steps, manifest of 100,000",
            "same, manifest of 10",
            1.3,
            _verify_plans(steps, large, tied=small),
            _verify_plans(steps, small),
        ),
        Row(
            "first verify against a manifest of 1,000",
            UNIT,
            None,
            _first_verify(),
            loads_plans(count=1),
        ),
    ]


def _first_verify() -> Cost:
    ctx, manifests, spec = plans.context(STEPS), plans.compiled(1000).manifests, plans.spec()

    def fresh(batch: int) -> Sequence[tuple[CompiledContext, Plan]]:
        plan = parse(Plan, plans.plan_bytes(STEPS, batch))
        return [(CompiledContext(manifests=manifests), plan)]

    return of_thread(lambda both: verify(ctx, both[0], spec, both[1]), fresh)


CRAFTED: tuple[tuple[str, Callable[[], Crafted], float | None], ...] = (
    ("5,000 tiny tool steps", crafted.tiny_calls, 10.0),
    ("5,000 tiny reason steps", crafted.tiny_reasons, 10.0),
    ("5,000 tiny steps outside the surface", crafted.tiny_strangers, 10.0),
    ("5,000 tiny steps, each with 5 violations", crafted.tiny_outrages, 10.0),
    ("4,000 classes x 4,000 refs", crafted.classes_met, 10.0),
    ("4,000 classes x 4,000 refs that expire", crafted.classes_met_by_expiring, 10.0),
    ("4,000 classes of the step x 4,000 refs", crafted.classes_demanded_by_step, 10.0),
    ("4,000 classes unmet x 4,000 refs", crafted.classes_unmet, 10.0),
    ("4,000 classes x 4,000 forged refs", crafted.classes_forged, 10.0),
    ("2,000 bound values, each in one large text", crafted.values_in_text, None),
    ("2,000 bound phrases, each in one large text", crafted.phrases_in_text, None),
)


def crafted_rows() -> list[Row]:
    """The worst that a plan can be: judged when parsed, and from bytes to bytes."""
    return [row for name, make, limit in CRAFTED for row in _crafted_rows(name, make(), limit)]


def _crafted_rows(name: str, case: Crafted, limit: float | None) -> list[Row]:
    ctx, compiled, spec, data = case
    loads = of_thread(orjson.loads, lambda _: [data])
    parsed = of_thread(_judge(ctx, compiled, spec), lambda _: [parse(Plan, data)])
    answered = of_thread(lambda plan: verify_bytes(ctx, compiled, spec, plan), lambda _: [data])
    return [
        Row(name, UNIT, limit, parsed, loads),
        Row(f"{name}, bytes to bytes", UNIT, limit, answered, loads),
    ]
