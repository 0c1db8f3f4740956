"""The rows of the table: what the Critic costs, in units of parsing the same bytes."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from critic import CompiledContext, DecisionSpec, Plan, RunContext, verify
from harness.wire import InvalidInput, parse, verify_bytes
from tests.benchmarks import crafted, plans
from tests.benchmarks.crafted import Crafted
from tests.benchmarks.timing import Cost, Row, of_thread

UNIT = "orjson.loads of the plan"
STEPS = len(plans.DESK)
PER_BATCH = 16

SPACED = 8.7
FAULT = 7.2
"""What spaced JSON, and a plan with a fault, cost before the compact and faultless were sped up."""
REFUSED = 15.0
"""For the plans that were crafted to cost most and are refused."""

Batch = Callable[[int], Sequence[Any]]


def _written(steps: int = STEPS, size: int = 1000, count: int = PER_BATCH) -> Batch:
    """Return batches of the bytes of plans that all differ."""
    return lambda batch: [
        plans.plan_bytes(steps, number, size)
        for number in range(batch * count, (batch + 1) * count)
    ]


def _spaced(batch: int) -> Sequence[bytes]:
    return [json.dumps(orjson.loads(data)).encode() for data in _written()(batch)]


def _faulty(batch: int) -> Sequence[bytes]:
    """Return plans in each of which the id of one step is a number: no Plan."""
    return [data.replace(b'"id":"step_7"', b'"id":7') for data in _written()(batch)]


def _error_of(answer: Callable[[bytes], Any], data: bytes) -> str:
    try:
        answer(data)
    except InvalidInput as error:
        return str(error)
    raise AssertionError("a plan with a fault was read")


def _parsed(written: Batch) -> Batch:
    """Parse the same plans anew for every batch, so that no earlier verdict is kept."""
    return lambda batch: [parse(Plan, data) for data in written(batch)]


def _judge(ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> Callable[[Plan], Any]:
    verify(ctx, compiled, spec, Plan(steps=(), declared_outputs=()))  # makes the index
    return lambda plan: verify(ctx, compiled, spec, plan)


def _answer(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec
) -> Callable[[bytes], Any]:
    verify(ctx, compiled, spec, Plan(steps=(), declared_outputs=()))
    return lambda data: verify_bytes(ctx, compiled, spec, data)


def loads_plans(steps: int = STEPS, count: int = PER_BATCH) -> Cost:
    """Run orjson.loads on the bytes of plans that all differ."""
    return of_thread(orjson.loads, _written(steps, count=count))


def refund_rows() -> list[Row]:
    """Measure the realistic plan, parsed, against 1,000 tools and 1,000 pieces of evidence."""
    ctx, spec, loads, fresh = plans.context(STEPS), plans.spec(), loads_plans(), _parsed(_written())
    whole = orjson.dumps(plans.proposal(STEPS).wire())
    judge = _judge(ctx, plans.compiled(1000), spec)
    schemas = _judge(ctx, plans.compiled(1000, schemas=True), spec)
    expiring = _judge(ctx, plans.compiled(1000, expiring=True), spec)
    loads_whole = of_thread(orjson.loads, lambda _: [whole])
    name = "verify, 12 steps, parsed"
    return [
        Row(name, UNIT, 2.0, of_thread(judge, fresh), loads),
        Row(name, "orjson.loads of the proposal", None, of_thread(judge, fresh), loads_whole),
        Row(f"{name}, caveats all unlike", UNIT, None, of_thread(judge, _uneven), loads),
        Row(f"{name}, evidence expires", UNIT, None, of_thread(expiring, fresh), loads),
        Row(f"{name}, args_schema, bound args", UNIT, 3.5, of_thread(schemas, fresh), loads),
        *manifest_rows(),
    ]


def _uneven(batch: int) -> Sequence[Plan]:
    numbers = range(batch * PER_BATCH, (batch + 1) * PER_BATCH)
    return [plans.uneven_plan(number % plans.UNEVEN) for number in numbers]


def manifest_rows() -> list[Row]:
    """Measure the effect of the size of the manifests, before and after they are indexed."""
    ctx, spec, manifests = plans.context(10), plans.spec(10), plans.compiled(1000).manifests
    small, large = _judge(ctx, plans.compiled(10), spec), _judge(ctx, plans.compiled(100_000), spec)
    fresh = _parsed(_written(10, 10))

    def unindexed(batch: int) -> Sequence[tuple[CompiledContext, Plan]]:
        plan = parse(Plan, plans.plan_bytes(10, batch))
        return [(CompiledContext(manifests=manifests), plan)]

    first = of_thread(lambda both: verify(ctx, both[0], spec, both[1]), unindexed)
    loads = loads_plans(10, count=1)
    return [
        Row(
            "verify, 10 steps, manifest of 100,000",
            "the same with a manifest of 10",
            1.3,
            of_thread(large, fresh),
            of_thread(small, fresh),
        ),
        Row("first verify against a manifest of 1,000", UNIT, None, first, loads),
    ]


def wire_rows() -> list[Row]:
    """From the bytes of the plan to the bytes of the verdict, the manifests at hand."""
    name = "plan bytes to verdict bytes"
    compiled = plans.compiled(1000)
    few = _answer(plans.context(STEPS), compiled, plans.spec())
    many = _answer(plans.context(100), compiled, plans.spec())
    return [
        Row(f"{name}, 12 steps", UNIT, 5.5, of_thread(few, _written()), loads_plans()),
        Row(
            f"{name}, 12 steps, spaced",
            UNIT,
            SPACED,
            of_thread(few, _spaced),
            of_thread(orjson.loads, _spaced),
        ),
        Row(
            f"{name}, 12 steps, one fault",
            UNIT,
            FAULT,
            of_thread(lambda data: _error_of(few, data), _faulty),
            of_thread(orjson.loads, _faulty),
        ),
        Row(
            f"{name}, 100 steps",
            UNIT,
            4.6,
            of_thread(many, _written(100, count=2)),
            loads_plans(100, count=2),
        ),
    ]


CRAFTED: tuple[tuple[str, Callable[[], Crafted], float | None], ...] = (
    ("5,000 tiny tool steps", crafted.tiny_calls, 10.0),
    ("5,000 tiny reason steps", crafted.tiny_reasons, 10.0),
    ("5,000 tiny steps outside the surface", crafted.tiny_strangers, REFUSED),
    ("5,000 tiny steps, each with 5 violations", crafted.tiny_outrages, REFUSED),
    ("4,000 classes x 4,000 refs", crafted.classes_met, 10.0),
    ("4,000 classes x 4,000 refs that expire", crafted.classes_met_by_expiring, 10.0),
    ("4,000 classes of the step x 4,000 refs", crafted.classes_demanded_by_step, 10.0),
    ("4,000 classes unmet x 4,000 refs", crafted.classes_unmet, REFUSED),
    ("4,000 classes x 4,000 forged refs", crafted.classes_forged, REFUSED),
    ("4,000 confined texts x 4,000 calls", crafted.confined_sent, REFUSED),
    ("4,000 confined texts x 4,000 calls that resemble them", crafted.confined_resembled, None),
    ("4,000 bound values x 4,000 texts", crafted.values_in_texts, None),
    ("2,000 bound values in one large text", crafted.values_in_text, None),
    ("200 bound phrases in one large text", crafted.phrases_in_text, None),
)


def crafted_rows() -> list[Row]:
    """Measure the slowest plans: judged when parsed, and from bytes to bytes."""
    return [row for name, make, limit in CRAFTED for row in _crafted_rows(name, make(), limit)]


def _crafted_rows(name: str, case: Crafted, limit: float | None) -> list[Row]:
    ctx, compiled, spec, data = case
    loads = of_thread(orjson.loads, lambda _: [data])
    judged = of_thread(_judge(ctx, compiled, spec), _parsed(lambda _: [data]))
    answered = of_thread(_answer(ctx, compiled, spec), lambda _: [data])
    return [
        Row(name, UNIT, limit, judged, loads),
        Row(f"{name}, bytes to bytes", UNIT, limit, answered, loads),
    ]
