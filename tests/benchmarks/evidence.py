"""The rows of evidence: a plan, and a record of a session, cost what is new, whatever was seen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from critic import CompiledContext, DecisionSpec, Plan, RunBudget, RunContext, verify
from harness.log.sql import SqlDecisionLog
from harness.replay import replay
from harness.wire import parse
from tests.benchmarks.rows import UNIT
from tests.benchmarks.sessions import SyntheticSession, guard_with
from tests.benchmarks.timing import Cost, Row, of_process, of_thread, shared

CALLS: Final = 12
FEW, MANY, MOST = 10, 1_000, 10_000
SHORT, LONG = 20, 400
TEXT, UNLIKE = 80_000, 200
_TOOL: Final = {"adapter_id": "a", "capability_id": "pay"}


def plan_bytes() -> bytes:
    """Return a plan that pays one account of the request, call by call."""
    args = ({"to": "iban-1", "amount": number} for number in range(CALLS))
    steps = [{"kind": "tool", **_TOOL, "args": one, "evidence_refs": ["u/1"]} for one in args]
    return orjson.dumps({"steps": steps, "declared_outputs": []})


def seen_by_all(count: int) -> CompiledContext:
    """Return a context with the request and so many notes of about 60 characters."""
    source = {"author": "user", "standing": "named"}
    items: list[dict[str, Any]] = [{"id": "u/1", "content": "Pay iban-1", "source": source}]
    for number in range(count):
        text = f"note {number} says to pay order {number} of 12 to somebody else soon"
        source = {"author": "member", "standing": "ambient"}
        items.append({"id": f"e/{number}", "content": text, "source": source})
    roles = {"to": "recipient", "amount": "content"}
    wire: Any = {
        "tool_manifest": [{**_TOOL, "approval_mode": "delegated", "arg_roles": roles}],
        "evidence_manifest": [{**item, "classification": "k"} for item in items],
    }
    return CompiledContext(manifests=wire)


def judged(count: int) -> Cost:
    """Return the cost of a plan where so many items are known, and none is new."""
    budget = RunBudget(max_steps=CALLS, bucket_tokens=0)
    wire: Any = {"scope": [_TOOL]}
    ctx = RunContext(trace_id="t", safety_mode="destructive", run_budget=budget, **wire)
    spec = DecisionSpec(id="d", required_outputs=(), provenance="closed")
    compiled = seen_by_all(count)

    def judge(plan: Plan) -> None:
        assert verify(ctx, compiled, spec, plan)

    judge(parse(Plan, plan_bytes()))  # makes the index
    return of_thread(judge, lambda _: [parse(Plan, plan_bytes())])


def replayed(folder: Path, turns: int) -> Cost:
    """Return the cost of replaying one record of a session of so many calls."""
    path = folder / f"session_{turns}.db"
    SyntheticSession(turns, guard_with(SqlDecisionLog.open(path)))
    with SqlDecisionLog.open_for_reading(path) as log:
        records = sum(1 for _ in log.raw())

    def replay_all(log: SqlDecisionLog) -> None:
        assert all(answer.status in ("same", "open") for answer in replay(log))

    logs = [SqlDecisionLog.open(path)]
    return shared(of_process(replay_all, lambda _: logs), records)


def unlike(size: int, count: int) -> Cost:
    """Return the cost of a ruling on values that each have another shape, over one text."""

    def inputs(_batch: int) -> list[tuple[SyntheticSession, bytes]]:
        session = SyntheticSession(0)
        session.take(session.turn(("a b " * size)[:size]))
        return [(session, session.transfer_to(["-" * at + "a" for at in range(1, count + 1)]))]

    return of_thread(lambda given: given[0].rule(given[1], "refuse"), inputs)


def evidence_rows(folder: Path) -> Iterator[Row]:
    """Measure plans over much evidence of which none is new, and the replay of a long session."""
    text = f"ruling on {UNLIKE} values of unlike shapes, a text of {TEXT // 1000} kB"
    hostile = unlike(TEXT, UNLIKE)
    yield Row(text, "a second", 0.3, hostile, lambda _: 1e9)
    yield Row(text, "the same of half the size", 2.2, hostile, unlike(TEXT // 2, UNLIKE // 2))
    name, few = f"verify, {CALLS} calls, provenance", judged(FEW)
    loads = of_thread(orjson.loads, lambda _: [plan_bytes()])
    yield Row(f"{name}, {MANY:,} items", UNIT, None, judged(MANY), loads)
    yield Row(f"{name}, {MOST:,} items", f"the same with {FEW}", 1.3, judged(MOST), few)
    yield Row(
        f"replay of a record, a session of {LONG} calls, results of 10 kB",
        f"the same of a session of {SHORT}",
        1.5,
        replayed(folder, LONG),
        replayed(folder, SHORT),
    )
