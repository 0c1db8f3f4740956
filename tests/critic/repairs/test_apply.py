"""Repairs applied: what changes in a plan, and that nothing else does."""

import pytest

from critic import Plan, ReasonStep, Repair, ToolStep, apply_repairs
from critic.repairs.apply import added_tools
from critic.repairs.repair_kinds import (
    BackArgument,
    Capability,
    CorrectArgs,
    DeclareOutput,
    DropStep,
    PinEvidence,
    ProduceOutput,
    Shorten,
    UnpinEvidence,
)
from evals.plan import Step
from tests.support.model.facts import Json


def plan(*steps: Step) -> Plan:
    return Plan(steps=steps, declared_outputs=())


def pin(*candidates: str) -> PinEvidence:
    return PinEvidence(classification="k", candidates=candidates)


FIRST = ReasonStep(summary="first", evidence_refs=("e8",))
SECOND = ToolStep(adapter_id="a", capability_id="b", args={"x": 1})
LAST = ReasonStep(summary="last", evidence_refs=("e9",))


def test_a_plan_without_names_stays_without() -> None:
    repaired = apply_repairs(plan(), [DeclareOutput(output="o"), DeclareOutput(output="o")])
    assert repaired == Plan(steps=(), declared_outputs=("o",))


def test_repairs_are_read_once_and_may_come_from_any_iterable() -> None:
    repairs: list[Repair] = [ProduceOutput(output="o", candidates=()), DropStep(step=0), pin("e1")]
    assert apply_repairs(plan(FIRST, SECOND), iter(repairs)) == apply_repairs(
        plan(FIRST, SECOND), repairs
    )


def test_an_added_call_is_that_of_the_first_candidate() -> None:
    tools = [Capability(adapter_id="a", capability_id=name) for name in ("x", "y", "z")]
    wanted = [ProduceOutput(output="o", candidates=tuple(tools))]
    assert added_tools(wanted) == tools[:1]
    more = ProduceOutput(output="p", candidates=(tools[2], tools[1]))
    assert added_tools([more, *wanted]) == [tools[2]]
    assert added_tools([ProduceOutput(output="q", candidates=()), *wanted]) == [None, tools[0]]


@pytest.mark.parametrize(
    ("before", "repairs", "after"),
    [
        pytest.param(
            (FIRST, SECOND, LAST),
            [pin("e1", "e2"), pin("e9", "e3"), pin("e1")],
            (FIRST, SECOND, LAST.model_copy(update={"evidence_refs": ("e9", "e1")})),
            id="pins of the whole plan join those of its last step",
        ),
        pytest.param(
            (FIRST, SECOND),
            [pin("e1")],
            (FIRST, SECOND.model_copy(update={"evidence_refs": ("e1",)})),
            id="a last step without pins",
        ),
        pytest.param(
            (),
            [pin("e1")],
            (ReasonStep(evidence_refs=("e1",)),),
            id="pins and no step",
        ),
        pytest.param(
            (FIRST,),
            [ProduceOutput(output="o"), ProduceOutput(output="p")],
            (FIRST, ReasonStep()),
            id="one step produces all",
        ),
        pytest.param(
            (LAST, SECOND),
            [
                PinEvidence(step=0, classification="k", candidates=("e1", "e2")),
                BackArgument(step=0, argument="x", candidates=("e3", "e4")),
                BackArgument(step=0, argument="y", candidates=("e9", "e5")),
                BackArgument(step=1, argument="x", candidates=("e6", "e7")),
            ],
            (
                LAST.model_copy(update={"evidence_refs": ("e9", "e1", "e3")}),
                SECOND.model_copy(update={"evidence_refs": ("e6",)}),
            ),
            id="pins of one step",
        ),
        pytest.param(
            (FIRST, LAST),
            [UnpinEvidence(step=0, ref="e8"), UnpinEvidence(step=1, ref="e8")],
            (ReasonStep(summary="first"), LAST),
            id="pins are left out, not empty",
        ),
        pytest.param(
            (SECOND, ReasonStep(depends_on=())),
            [CorrectArgs(step=0, path="/steps/0/args")],
            (ReasonStep(), ReasonStep(depends_on=())),
            id="a step to correct",
        ),
    ],
)
def test_what_a_repair_changes(
    before: tuple[Step, ...], repairs: list[Repair], after: tuple[Step, ...]
) -> None:
    assert apply_repairs(plan(*before), repairs) == plan(*after)


def test_dependencies_on_what_is_dropped_go_and_no_others() -> None:
    def steps(*depends: tuple[str, ...] | None) -> tuple[Step, ...]:
        """Return steps of ids s0, s1 and so on."""
        said: list[Json] = [{} if on is None else {"depends_on": on} for on in depends]
        return tuple(ReasonStep(id=f"s{at}", **more) for at, more in enumerate(said))

    before = plan(*steps(None, ("s0",), ("s1", "s0", "s1"), (), ("s2",)))
    _, *left = steps(None, None, ("s1", "s1"), (), ("s2",))
    assert apply_repairs(before, [DropStep(step=0)]) == plan(*left)


@pytest.mark.parametrize("changes", [{"adapter_id": "c"}, {"capability_id": "c"}, {"args": {}}])
def test_a_call_that_differs_in_anything_is_not_a_repetition_to_leave_out(changes: Json) -> None:
    before = plan(SECOND, LAST, SECOND.model_copy(update=changes))
    shorter = apply_repairs(before, [Shorten(steps=1)])
    assert shorter.steps == (before.steps[0], before.steps[2])
    again = plan(SECOND, LAST, SECOND)
    assert apply_repairs(again, [Shorten(steps=1)]).steps == (SECOND, LAST)
