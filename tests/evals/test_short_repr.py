"""What is printed of an envelope: small values whole, and of long ones how much they hold."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from critic import (
    CompiledContext,
    DecisionSpec,
    EvidenceItem,
    Manifests,
    Plan,
    Run,
    RunContext,
    ToolCapability,
    ToolName,
    ToolStep,
    verify_proposal,
)
from tests.support.examples import good_proposal, good_run, long_proposal, proposal_of, run_of

MOST = 10_000
"""Characters: more than any envelope of the example is printed in, however much it holds."""

TOOL = ToolName(adapter_id="a", capability_id="b")


def step(number: int, **fields: Any) -> ToolStep:
    return ToolStep(adapter_id="a", capability_id="b", id=f"s{number}", **fields)


def plan(steps: int) -> Plan:
    return Plan(steps=[step(number) for number in range(steps)], declared_outputs=())


def refused(steps: int) -> Any:
    """Return a refusal with a violation for each step."""
    given = proposal_of(good_proposal()).model_copy(update={"plan": plan(steps)})
    return verify_proposal(given)


def long_run(size: int) -> Run:
    run = run_of(good_run())
    return run.model_copy(
        update={"proposal": long_proposal(size, size), "calls": run.calls * (size // 2)}
    )


GROWING: dict[str, Callable[[int], Any]] = {
    "proposal": lambda size: long_proposal(size, size),
    "context": lambda size: long_proposal(size, size).compiled,
    "manifests": lambda size: long_proposal(size, size).compiled.manifests,
    "plan": plan,
    "refusal": refused,
    "run": long_run,
    "evidence": lambda size: EvidenceItem(id="e", classification="c", content=[[1]] * size),
    "members": lambda size: step(1, args={f"k{number}": [number] for number in range(size)}),
    "nested": lambda size: step(1, args={"k": {"in": [{"x": "y"}] * size}}),
    "text": lambda size: EvidenceItem(id="e", classification="c", content="word " * size),
    "texts": lambda size: EvidenceItem(id="e", classification="c", content=["word " * size]),
    "run context": lambda size: RunContext(
        trace_id="t",
        safety_mode="read_only",
        scope=[ToolName(adapter_id="a", capability_id="b")] * size,
    ),
    "spec": lambda size: DecisionSpec(
        id="d", required_outputs=[f"o{number}" for number in range(size)]
    ),
}


def calls_of(action: Callable[[], object]) -> int:
    """Return how many functions an action calls, those of C among them."""
    counted = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", GROWING)
@pytest.mark.parametrize("shows", [repr, str], ids=["repr", "str"])
def test_to_print_much_costs_no_more_than_to_print_some(
    name: str, shows: Callable[[object], str]
) -> None:
    some, much = GROWING[name](1_000), GROWING[name](4_000)
    assert len(shows(much)) < MOST
    assert calls_of(lambda: shows(much)) == calls_of(lambda: shows(some))


def test_manifests_that_hold_much_say_how_much() -> None:
    compiled = long_proposal(10_000, 1_000).compiled
    assert repr(compiled.manifests) == "Manifests(10,000 tools, 1,000 evidence items)"
    assert repr(compiled) == "CompiledContext(10,000 tools, 1,000 evidence items)"
    bare = Manifests(tool_manifest=compiled.manifests.tool_manifest, evidence_manifest=())
    assert (
        repr(CompiledContext(manifests=bare)) == "CompiledContext(10,000 tools, 0 evidence items)"
    )


def test_one_thing_is_no_plural() -> None:
    one = EvidenceItem(id="e", classification="c", content="x" * 9_000)
    manifests = Manifests(tool_manifest=(), evidence_manifest=(one,))
    assert repr(manifests) == "Manifests(0 tools, 1 evidence item)"
    assert str(CompiledContext(manifests=manifests)) == "0 tools, 1 evidence item"


def test_a_small_value_is_shown_whole() -> None:
    tool = ToolCapability(adapter_id="a", capability_id="b", approval_mode="read_only")
    compiled = CompiledContext(manifests=Manifests(tool_manifest=(tool,), evidence_manifest=()))
    assert repr(tool) in repr(compiled)
    few = plan(4)
    assert all(repr(each) in repr(few) for each in few.steps)
    proposal = proposal_of(good_proposal())
    assert repr(proposal.plan.steps) in repr(proposal)
    assert repr(proposal.compiled.manifests.tool_manifest[0].args_schema) in repr(proposal)


def test_what_is_too_long_says_how_long() -> None:
    assert repr(plan(500)) == "Plan(steps=<500 entries>, declared_outputs=())"
    item = EvidenceItem(id="e", classification="c", content="ab " * 4_000)
    start = "ab " * 20
    assert f"content='{start}'... (12,000 characters))" in repr(item)


@pytest.mark.parametrize(
    ("most", "over"),
    [
        ([0] * 199, "<200 entries>"),
        ({str(number): 0 for number in range(98)} | {"in": []}, "<100 entries>"),
        ([[0] * 98, [0] * 99], "<3 entries>"),
        ("x" * 3_999, f"'{'x' * 60}'... (4,000 characters)"),
        (["x" * 3_979], "<2 entries>"),
    ],
    ids=["array", "object", "nested", "text", "text inside"],
)
def test_two_hundred_values_are_the_most(most: Any, over: str) -> None:
    """An object counts its names, and text counts as a value for each twenty characters."""
    if isinstance(most, str):
        more: Any = most + "x"
    else:
        more = {**most, "more": 0} if isinstance(most, dict) else [*most, 0]
    shown = [repr(EvidenceItem(id="e", classification="c", content=each)) for each in (most, more)]
    assert f"content={most!r})" in shown[0]
    assert f"content={over})" in shown[1]
