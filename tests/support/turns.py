"""The turns of a log as its stored records say them: a small reader, independent of the index."""

from collections.abc import Iterator
from typing import Any

from evals.kinds import Fate
from harness.log import SqlDecisionLog
from harness.record import RecordFacts, TurnKey, fate
from harness.record.fates import end_known
from harness.record.index_row import OF_NO_TURN
from harness.record.record_facts import facts_of_record
from harness.wire import parse_json


def wires(log: SqlDecisionLog) -> Iterator[tuple[dict[str, Any], Any, Any]]:
    """Yield each record as JSON, with its context and its plan."""
    for one in log.entries():
        wire = one.wire()
        named = wire.get("inputs", {})
        bodies = log.inputs(named.values()) if named else {}
        ctx, plan = (
            parse_json(bodies[named[name]], 2**30) if name in named else None
            for name in ("ctx", "plan")
        )
        yield wire, ctx, plan


def turns_in(log: SqlDecisionLog) -> dict[TurnKey, list[RecordFacts]]:
    """Return the facts of the records of each turn, in the order of their first records."""
    records = [*wires(log)]
    ended = {wire.get("begun") for wire, *_ in records}
    turns: dict[TurnKey, list[RecordFacts]] = {}
    for wire, ctx, plan in records:
        if wire.get("kind") in OF_NO_TURN:
            continue
        report = wire.get("report", wire)
        turn = (ctx or {}).get("session", {}).get("turn")
        key = TurnKey(report.get("trace_id"), turn, wire.get("inputs", {}).get("plan"))
        facts = facts_of_record(wire, ctx, plan)
        turns.setdefault(key, []).append(end_known(facts) if wire["hash"] in ended else facts)
    return turns


def fates_in(log: SqlDecisionLog) -> dict[TurnKey, Fate]:
    """Return the fate of each turn."""
    return {key: fate(facts) for key, facts in turns_in(log).items()}
