"""What the gate counts, from the core outwards. A work returns batches, each to be run once.

Every batch has inputs of its own, made beforehand: nothing that was kept of an earlier one helps.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from critic import Plan, score, verify
from harness.clock import FixedClock
from harness.guard import Guard
from harness.log.sql import SqlDecisionLog
from harness.policy import Policy
from harness.replay import replay
from harness.wire import InvalidInput, build, parse, verify_bytes
from tests.benchmarks import plans
from tests.benchmarks.desk import NOON, STEPS, Turn, decision, run_of_plan, turn
from tests.benchmarks.openings import LongPlan
from tests.support.paths import FIXTURES

BATCHES: Final = 7
PER_BATCH: Final = 4
SIZE: Final = 100
"""How many tools and pieces of evidence there are."""


Batch = Callable[[], object]


class Work(NamedTuple):
    """One piece of work. `make(folder)` may keep files in the folder, which is empty."""

    name: str
    make: Callable[[Path], list[Batch]]


def _each(run: Callable[[Any], object], inputs: Iterable[Any]) -> None:
    for one in inputs:
        run(one)


def _batches(
    run: Callable[[Any], object], made: Callable[[int], Any], each: int = PER_BATCH
) -> list[Batch]:
    """Return batches of `run(made(number))`, with `each` numbers in each."""
    return [
        partial(_each, run, [made(each * batch + one) for one in range(each)])
        for batch in range(BATCHES)
    ]


def _plan(number: int) -> Plan:
    return parse(Plan, plans.plan_bytes(STEPS, number, SIZE))


def _loads(_folder: Path) -> list[Batch]:
    return _batches(orjson.loads, lambda number: plans.plan_bytes(STEPS, number, SIZE))


def _verify(_folder: Path, *, schemas: bool = False) -> list[Batch]:
    ctx, compiled, spec = plans.context(STEPS), plans.compiled(SIZE, schemas=schemas), plans.spec()
    return _batches(lambda plan: verify(ctx, compiled, spec, plan), _plan)


def _bytes_to_verdict(_folder: Path, *, schemas: bool = False) -> list[Batch]:
    ctx, compiled, spec = plans.context(STEPS), plans.compiled(SIZE, schemas=schemas), plans.spec()
    judge = partial(verify_bytes, ctx, compiled, spec)
    return _batches(judge, lambda number: plans.plan_bytes(STEPS, number, SIZE))


def _score(_folder: Path) -> list[Batch]:
    return _batches(score, lambda number: run_of_plan(number, SIZE))


def _turn(_folder: Path) -> list[Batch]:
    return _batches(lambda begin: asyncio.run(_done(begin)), partial(turn, size=SIZE), each=1)


async def _done(begin: Turn) -> None:
    """Take a turn. `asyncio.run` would describe an outcome at length, for a handler of signals."""
    await begin()


def _append(folder: Path) -> list[Batch]:
    log = SqlDecisionLog.open(folder / "log.db")
    return _batches(log.append, lambda number: decision(number, SIZE))


def _replay(folder: Path) -> list[Batch]:
    log = SqlDecisionLog.open(folder / "log.db")
    log.append_all(decision(number, SIZE) for number in range(2))
    return [partial(_replayed, log)] * BATCHES


def _replayed(log: SqlDecisionLog) -> None:
    if any(answer.status != "same" for answer in replay(log)):
        raise AssertionError("a record is not replayed as it was recorded")


def _guard(_folder: Path) -> list[Batch]:
    wire = json.loads((FIXTURES / "sessions" / "desk.json").read_bytes())["policy"]
    guard = Guard(build(Policy, wire), clock=FixedClock(NOON))
    return _batches(lambda events: _each(guard.handle_line, events), session)


def session(number: int) -> list[bytes]:
    """Return the events of a short session, with two rulings."""
    name = f"s{number}"
    note = {"id": "c1", "tool": "read_note", "args": {"name": "plan.md"}}
    paid = {"id": "c2", "tool": "transfer", "args": {"iban": "iban-1", "reason": f"bill {number}"}}
    events: list[dict[str, Any]] = [
        {"event": "open", "request": "Transfer to iban-1 what plan.md says", "scope": ["transfer"]},
        {"event": "calls", "calls": [note]},
        {"event": "result", "id": "c1", "status": "completed", "output": " ".join(plans.NOTES)},
        {"event": "calls", "calls": [paid]},
    ]
    return [json.dumps({**event, "session": name}).encode() for event in events]


def _openings(_folder: Path) -> list[Batch]:
    plan = LongPlan(SIZE, BATCHES * PER_BATCH)
    return _batches(plan.take_pair, lambda _: plan.next_pair())


def _invalid(_folder: Path) -> list[Batch]:
    return _batches(_refused, lambda number: empty_steps(500 + number), each=1)


def empty_steps(count: int) -> bytes:
    """Return a plan whose steps are all empty objects: each lacks everything."""
    return b'{"steps":[' + b",".join([b"{}"] * count) + b'],"declared_outputs":[]}'


def _refused(data: bytes) -> None:
    try:
        parse(Plan, data)
    except InvalidInput:
        return
    raise AssertionError("an invalid plan was read")


WORKS: Final = (
    Work("verify, 12 steps", _verify),
    Work("verify, 12 steps, args_schema, bound args", partial(_verify, schemas=True)),
    Work("orjson.loads of the plan, 12 steps", _loads),
    Work("plan bytes to verdict bytes, 12 steps", _bytes_to_verdict),
    Work(
        "plan bytes to verdict bytes, 12 steps, args_schema, bound args",
        partial(_bytes_to_verdict, schemas=True),
    ),
    Work("score, 12 calls", _score),
    Work("canonical loop, one turn", _turn),
    Work("append of a decision, without the disk", _append),
    Work("replay of a record", _replay),
    Work("guard, a session of two rulings", _guard),
    Work("openings of a late plan, after 200 others", _openings),
    Work("an invalid document", _invalid),
)
