"""Which steps repeat a call, and when something in a context stops to hold."""

from datetime import datetime
from typing import Any

import pytest

from critic import Plan, Proposal
from evals.timestamps import parse_time
from harness.what_if.columns.column_facts import _expiries
from harness.what_if.columns.plan_rows import repeated_calls
from harness.wire import build
from tests.harness.log.decisions import proposal

TIMES = ("2025-04-01T00:00:00Z", "2025-05-01T00:00:00Z", "2025-06-01T00:00:00Z")


def steps(*calls: tuple[str, str, Any]) -> Plan:
    listed = [
        {"kind": "tool", "adapter_id": adapter, "capability_id": name, "args": {"n": value}}
        for adapter, name, value in calls
    ]
    return build(Plan, {"steps": listed, "declared_outputs": []})


@pytest.mark.parametrize(
    ("calls", "repeats"),
    [
        ([("a", "x", 1), ("a", "x", 1)], [1]),
        ([("a", "x", 1), ("b", "x", 1)], []),
        ([("a", "x", 1), ("a", "y", 1)], []),
        ([("a", "x", 1), ("a", "x", True), ("a", "x", "1")], []),
        ([("a", "x", 1), ("a", "x", 1.0)], [1]),
        ([("a", "x", [1]), ("a", "x", 1), ("a", "x", [1]), ("a", "x", [1])], [2, 3]),
        ([("a.b", "c", 1), ("a", "b.c", 1)], []),
    ],
)
def test_a_call_is_repeated_by_the_same_tool_with_the_same_arguments(
    calls: list[Any], repeats: list[int]
) -> None:
    assert [*repeated_calls(steps(*calls))] == repeats


@pytest.mark.parametrize("evidence", [None, TIMES[0], TIMES[1]])
@pytest.mark.parametrize("approved", [None, TIMES[1], TIMES[2]])
def test_what_expires_is_evidence_and_what_a_person_approved(
    evidence: str | None, approved: str | None
) -> None:
    wire = proposal().wire()
    (item,) = wire["compiled"]["manifests"]["evidence_manifest"]
    item.pop("expires_at")
    item |= {} if evidence is None else {"expires_at": evidence}
    tool = {"adapter_id": "payments", "capability_id": "refund"}
    value: dict[str, Any] = {"tool": tool, "role": "object", "value": "o-17"}
    value |= {"approval_mode": "destructive"}
    value |= {} if approved is None else {"expires_at": approved}
    wire["ctx"]["session"] = {"id": "s", "turn": 1, "approved": [value]}
    times = {parse_time(one) for one in (evidence, approved) if one is not None}
    found: tuple[datetime, ...] = _expiries(build(Proposal, wire))
    assert found == tuple(sorted(times))
