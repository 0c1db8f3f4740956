"""Fail closed: without any one field, the verdict is invalid input or at least as strict."""

from functools import cache

import pytest

from critic import (
    Approval,
    ApprovedValue,
    Binding,
    CompiledContext,
    DecisionSpec,
    Demand,
    EvidenceClass,
    EvidenceItem,
    Manifests,
    OwnValue,
    Plan,
    ReasonStep,
    Run,
    RunBudget,
    RunContext,
    SentValues,
    SessionFacts,
    Source,
    Spent,
    SpentCall,
    Take,
    ToolCall,
    ToolCapability,
    ToolName,
    ToolResult,
    ToolStep,
    WaivedCall,
)
from evals.envelope import Envelope
from tests.assurance.layers.deletion import (
    GONE,
    Found,
    Subject,
    changed,
    compared,
    excused,
    fields,
    ranks,
    subjects,
    tries,
    try_all,
    unused,
)
from tests.assurance.layers.deletion_exceptions import LIFTS, STAYS
from tests.support.examples import good_proposal, good_run, refused_proposal


@cache
def found() -> Found:
    """Delete every field of every case; try the wrong types on every eighth case."""
    every = subjects()
    deleted, mistyped = try_all(every, ("delete",)), try_all(every[::8], ("null", "mistype"))
    return Found(
        deleted.fields,
        deleted.tried + mistyped.tried,
        deleted.unexcused + mistyped.unexcused,
        deleted.used + mistyped.used,
    )


@pytest.mark.slow
def test_no_field_that_is_taken_away_loosens_a_verdict() -> None:
    assert found().tried > 10_000
    assert found().unexcused == []


ENVELOPES: dict[str, tuple[type[Envelope], ...]] = {
    "ctx.": (RunContext,),
    "ctx.run_budget.": (RunBudget,),
    "ctx.spent.": (Spent,),
    "ctx.spent.calls[].": (SpentCall,),
    "ctx.approvals[].": (Approval,),
    "ctx.scope[].": (ToolName,),
    "ctx.session.": (SessionFacts,),
    "ctx.session.approved[].": (ApprovedValue,),
    "ctx.session.ran[].": (ToolName,),
    "ctx.session.own[].": (OwnValue,),
    "ctx.session.sent[].": (SentValues,),
    "ctx.session.waived[].": (WaivedCall,),
    "compiled.": (CompiledContext,),
    "compiled.manifests.": (Manifests,),
    "compiled.manifests.tool_manifest[].": (ToolCapability,),
    "compiled.manifests.tool_manifest[].requires_evidence[].": (Demand,),
    "compiled.manifests.tool_manifest[].bound_args{}.": (Binding,),
    "compiled.manifests.tool_manifest[].result.": (ToolResult,),
    "compiled.manifests.tool_manifest[].follows[].": (ToolName,),
    "compiled.manifests.classes[].": (EvidenceClass,),
    "compiled.manifests.evidence_manifest[].": (EvidenceItem,),
    "compiled.manifests.evidence_manifest[].source.": (Source,),
    "spec.": (DecisionSpec,),
    "plan.": (Plan,),
    "plan.steps[].": (ToolStep, ReasonStep),
    "plan.steps[].takes[].": (Take,),
}


@pytest.mark.slow
def test_every_field_of_every_envelope_is_met() -> None:
    """A field that no fixture case holds would never be taken away."""
    wanted = {
        ("verify", place + (field.alias or name))
        for place, models in ENVELOPES.items()
        for model in models
        for name, field in model.model_fields.items()
    }
    wanted |= {("score", name) for name in Run.model_fields}
    wanted |= {("score", f"calls[].{name}") for name in ToolCall.model_fields}
    assert wanted - found().fields == set()


@pytest.mark.slow
def test_every_exception_is_needed() -> None:
    """Mistyped content and schemas are needed by some case that the sample may leave out."""
    idle = [(change, use) for change, use in unused(found()) if use[2] != "mistype"]
    assert idle == []


def test_every_exception_says_why_and_none_is_about_null() -> None:
    for use, reason in [*LIFTS.items(), *STAYS.items()]:
        assert len(reason) > 10, use
        assert use[2] in ("delete", "mistype"), use


@pytest.mark.parametrize(
    ("command", "document"),
    [("verify", good_proposal()), ("verify", refused_proposal()), ("score", good_run())],
)
def test_the_refund_without_any_one_field_is_judged_at_least_as_strictly(
    command: str, document: dict[str, object]
) -> None:
    """The example in full: every field, deleted, nulled and of every wrong type."""
    tried = list(tries(Subject("refund", command, document)))
    assert len(tried) > 150
    assert [one for one in tried if not excused(one)] == []


def test_no_authority_is_lifted_by_its_absence() -> None:
    """What has to be there at all: without it there is no verdict."""
    needed = ("ctx", "ctx.safety_mode", "compiled", "spec.required_outputs", "plan.steps")
    document = good_proposal()
    places = {pattern: place for place, pattern in fields(document)}
    for pattern in needed:
        copy = changed(document, places[pattern], GONE)
        assert ranks("verify", copy) is None, pattern


def test_a_change_is_looser_where_any_part_is_better() -> None:
    assert compared((1,), (0,)) == "looser"
    assert compared((1,), (1,)) == "stricter"
    assert compared((0,), (0,)) == "same"
    assert compared((0,), (1,)) == "stricter"
    assert compared((0,), None) == "stricter"
    assert compared((0, 1, 0), (0, 0, 2)) == "looser"
    assert compared((0, 1, 0), (0, 1, 1)) == "stricter"
