"""Named laws of `verify` over the steps of a plan: appending one, and naming the one at fault.

Appending a step adds a step's power along with its dangers, so it can cure exactly what no step
is blamed for: an output that nothing could produce, and evidence that the spec wants pinned by
some step. Nothing else: every other violation outlives any appended step.
"""

from collections import Counter

from hypothesis import example, given

from critic import Proposal, Refused
from harness.testing._laws.verify import leads_somewhere
from tests.support.generate.strategies import proposals, seeded_proposal, steps
from tests.support.judging import (
    LAW,
    approves_its_plan,
    judge,
    judge_proposal,
    marks,
    with_changes,
    with_manifest,
)
from tests.support.model.facts import Json

# A lone ">" stands in the published reasons, and does no harm in HTML.
UNSAFE = set("<&\"'`")
IDLE_TOOL = {
    "adapter_id": "zz",
    "capability_id": "idle",
    "approval_mode": "read_only",
    "produces": [],
}
IDLE_STEP = {"kind": "tool", "adapter_id": "zz", "capability_id": "idle", "args": {}}
BARE: Json = {
    "ctx": {"trace_id": "t", "safety_mode": "read_only"},
    "compiled": {
        "manifests": {
            "tool_manifest": [],
            "evidence_manifest": [{"id": "e1", "classification": "k"}],
        }
    },
    "spec": {"id": "d", "required_outputs": []},
    "plan": {"steps": [], "declared_outputs": []},
}


def appended(wire: Json, step: Json) -> Json:
    return with_changes(wire, "plan", steps=[*wire["plan"]["steps"], step])


@LAW
@given(proposals(), steps())
def test_an_appended_step_keeps_what_any_step_is_blamed_for(proposal: Proposal, step: Json) -> None:
    before = proposal.wire()
    after = appended(before, step)
    assert not approves_its_plan(after)
    blamed = Counter({one: n for one, n in marks(judge(before)).items() if one[2] is not None})
    assert blamed <= marks(judge(after))


@LAW
@given(proposals(), steps())
def test_an_appended_step_keeps_a_broken_budget(proposal: Proposal, step: Json) -> None:
    before = {one: n for one, n in marks(judge_proposal(proposal)).items() if one[0] == "loop"}
    assert Counter(before) <= marks(judge(appended(proposal.wire(), step)))


@LAW
@given(proposals(), steps())
@example(Proposal(**with_changes(BARE, "spec", required_evidence=["k"])), {"kind": "reason"})
def test_an_appended_step_cures_only_what_no_step_is_blamed_for(
    proposal: Proposal, step: Json
) -> None:
    before, after = judge_proposal(proposal), judge(appended(proposal.wire(), step))
    if isinstance(before, Refused) and after:
        assert {one.check for one in before.violations} <= {"coverage", "evidence"}
        assert {one.offending_step for one in before.violations} == {None}
        declared = set(proposal.plan.declared_outputs)
        assert set(proposal.spec.required_outputs) <= declared


@LAW
@given(proposals())
def test_an_idle_step_cures_nothing(proposal: Proposal) -> None:
    """A step that pins nothing and whose capability produces nothing keeps every violation."""
    wire = proposal.wire()
    tools = wire["compiled"]["manifests"]["tool_manifest"]
    before = with_manifest(wire, "tool_manifest", [*tools, IDLE_TOOL])
    assert marks(judge(before)) <= marks(judge(appended(before, IDLE_STEP)))


def test_an_appended_step_can_produce_what_nothing_produced() -> None:
    wire = with_changes(BARE, "spec", required_outputs=["o1"])
    wire = with_changes(wire, "plan", declared_outputs=["o1"])
    assert not judge(wire)
    assert judge(appended(wire, {"kind": "reason"}))


def test_an_appended_step_can_pin_what_the_spec_wants_pinned() -> None:
    wire = with_changes(BARE, "spec", required_evidence=["k"])
    assert not judge(wire)
    assert not judge(appended(wire, {"kind": "reason"}))
    assert judge(appended(wire, {"kind": "reason", "evidence_refs": ["e1"]}))


@LAW
@given(proposals())
def test_every_violation_names_a_real_place(proposal: Proposal) -> None:
    verdict, plan = judge_proposal(proposal), proposal.wire()["plan"]
    for violation in verdict.violations if isinstance(verdict, Refused) else ():
        step, path = violation.offending_step, violation.path
        assert step is None or step < len(plan["steps"])
        assert path is None or leads_somewhere(plan, path), path
        if step is not None and path is not None:
            assert f"{path}/".startswith(f"/steps/{step}/")


@LAW
@given(proposals())
def test_every_reason_is_one_safe_line(proposal: Proposal) -> None:
    verdict = judge_proposal(proposal)
    caveats = () if isinstance(verdict, Refused) else verdict.caveats
    for line in (*verdict.reasons, *caveats):
        assert line
        assert line.isascii()
        assert line.isprintable()
        assert not UNSAFE & set(line)


def test_violations_come_in_the_order_of_the_design() -> None:
    order = ["coverage", "surface", "approval", "evidence", "loop"]
    for seed in range(500):
        verdict = judge_proposal(seeded_proposal(seed))
        checks = [one.check for one in verdict.violations] if isinstance(verdict, Refused) else []
        assert checks == sorted(checks, key=order.index)
