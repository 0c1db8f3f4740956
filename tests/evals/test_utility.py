"""utility: what was never called supports nothing, and what nobody declared is named."""

from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic import EvaluatorVerdict, Run
from evals import utility
from tests.support.agreement import ONE_FAILURE
from tests.support.effort import examples
from tests.support.model.facts import Json

PAIR: Json = {"adapter_id": "a", "capability_id": "b"}
TOOL: Json = {"kind": "tool", **PAIR, "args": {}}
REASON: Json = {"kind": "reason"}
NAMES = ["o1", "o2", "o3", "o4"]
NUMBER = {"type": "integer"}


def judged(
    steps: list[Json],
    called: list[int],
    outputs: Json,
    *,
    required: tuple[str, ...] = (),
    declared: tuple[str, ...] = (),
    schemas: Json | None = None,
) -> EvaluatorVerdict:
    """Return the verdict on a run that called these steps, each of which completed."""
    manifests = {
        "tool_manifest": [{**PAIR, "approval_mode": "read_only"}],
        "evidence_manifest": [],
    }
    wire: Json = {
        "run_id": "r",
        "trace_id": "t",
        "calls": [{**PAIR, "step": at, "args": {}, "status": "completed"} for at in called],
        "outputs": outputs,
        "proposal": {
            "ctx": {"trace_id": "t", "safety_mode": "read_only"},
            "compiled": {"manifests": manifests},
            "spec": {
                "id": "d",
                "required_outputs": list(required),
                "output_schemas": schemas or {},
            },
            "plan": {"steps": steps, "declared_outputs": list(declared)},
        },
    }
    return utility.evaluate(Run(**wire))


def found(verdict: EvaluatorVerdict) -> list[tuple[str, str]]:
    return [(one.severity, one.message) for one in verdict.findings]


PLANS = st.lists(st.sampled_from((TOOL, REASON)), max_size=6)


@settings(ONE_FAILURE, max_examples=examples(200))
@given(PLANS, st.sets(st.integers(0, 7)), st.sets(st.sampled_from(NAMES)), st.booleans())
def test_each_tool_step_that_was_never_called_is_an_error(
    steps: list[Json], called: set[int], produced: set[str], required: bool
) -> None:
    verdict = judged(
        steps,
        sorted(called),
        dict.fromkeys(sorted(produced), 1),
        required=tuple(NAMES) if required else (),
        declared=tuple(NAMES),
    )
    tools = [at for at, step in enumerate(steps) if step["kind"] == "tool"]
    uncalled = [at for at in tools if at not in called]
    errors = [message for severity, message in found(verdict) if severity == "error"]
    missing = [name for name in NAMES if name not in produced] if required else []
    assert errors == [
        *(f"required output {name} is missing" for name in missing),
        *(f"step {at} was planned but not called" for at in uncalled),
    ]
    assert (verdict.status == "fail") is bool(errors)
    nothing_called = bool(tools) and uncalled == tools
    assert verdict.score == (0 if nothing_called else 1 - len(missing) / len(NAMES))


def test_outputs_that_no_call_supports_are_worth_nothing() -> None:
    verdict = judged([TOOL, REASON], [], {"o1": 1}, required=("o1",), declared=("o1",))
    assert (verdict.status, verdict.score) == ("fail", 0.0)
    assert found(verdict) == [("error", "step 0 was planned but not called")]


def test_a_plan_without_tool_steps_needs_no_call() -> None:
    verdict = judged([REASON], [], {"o1": 1}, required=("o1",), declared=("o1",))
    assert (verdict.status, verdict.score, found(verdict)) == ("pass", 1.0, [])


@pytest.mark.parametrize("required", [(), ("o1",)])
def test_an_output_that_the_plan_does_not_declare_is_named(required: tuple[str, ...]) -> None:
    outputs = {"o4": 1, "o3": None, "o1": 1}
    verdict = judged([TOOL], [0], outputs, required=required, declared=("o1",))
    assert verdict.score == 1
    assert found(verdict) == [
        ("warn", "output o3 is not declared by the plan"),
        ("warn", "output o4 is not declared by the plan"),
    ]


@pytest.mark.parametrize(
    ("value", "fault"),
    [(1, None), ("1", "its root"), (None, "its root"), ([1], None), ([1, "x", "y"], "/1")],
)
def test_an_output_beyond_the_required_ones_is_held_against_its_schema(
    value: object, fault: str | None
) -> None:
    schema = {"anyOf": [NUMBER, {"type": "array"}], "items": NUMBER}
    schemas = {"o2": schema, "o3": NUMBER}
    verdict = judged([TOOL], [0], {"o2": value}, declared=("o2", "o3"), schemas=schemas)
    assert verdict.score == 1
    message = f"output o2 does not satisfy its schema at {fault}"
    assert found(verdict) == ([("warn", message)] if fault else [])


def test_a_required_output_is_held_against_its_schema_once() -> None:
    schemas = {"o1": NUMBER}
    verdict = judged([TOOL], [0], {"o1": "1"}, required=("o1",), declared=("o1",), schemas=schemas)
    message = "required output o1 does not satisfy its schema at its root"
    assert (verdict.score, found(verdict)) == (0.0, [("error", message)])


def test_the_order_of_outputs_does_not_matter() -> None:
    """A record keeps outputs by name: replay has to find what was found at first."""
    names = ["o9", "o1", "a", "Z"]
    schemas = dict.fromkeys(names, NUMBER)
    first, second = (
        judged([TOOL], [0], dict.fromkeys(order, "x"), schemas=schemas)
        for order in (names, sorted(names))
    )
    assert first == second
    assert len(first.findings) == 2 * len(names)


def test_many_outputs_and_schemas_take_no_longer_than_they_are_many() -> None:
    names = [f"o{at}" for at in range(20_000)]
    schemas = dict.fromkeys(names, NUMBER)
    start = perf_counter()
    verdict = judged([TOOL], [0], dict.fromkeys(names, "x"), schemas=schemas)
    assert len(verdict.findings) == 2 * len(names)
    assert perf_counter() - start < 10
