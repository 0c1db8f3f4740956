"""What can produce a required output: who lists it, and only else anything that may."""

from hypothesis import given
from hypothesis import strategies as st

from critic import Refused
from critic.checks import coverage_check
from critic.prepared import prepare_plan
from tests.support.examples import proposal_of
from tests.support.judging import LAW, judge_proposal
from tests.support.model.facts import Json

OUTPUTS = ("o", "p", "q")
PRODUCES = st.none() | st.lists(st.sampled_from(OUTPUTS), unique=True)


@LAW
@given(
    st.lists(PRODUCES, max_size=4),
    st.lists(st.integers(0, 5), max_size=4),
    st.lists(st.sampled_from(OUTPUTS), unique=True),
)
def test_it_is_what_the_rule_says(
    tools: list[list[str] | None], calls: list[int], required: list[str]
) -> None:
    """Tools by their number; a step of no tool is one that reasons, or one outside the surface."""
    listed = {output for produces in tools for output in produces or ()}

    def can_produce(tool: int, output: str) -> bool:
        produces = tools[tool] if tool < len(tools) else None
        return output in produces if produces is not None else output not in listed

    steps: list[Json] = [
        {"kind": "tool", "adapter_id": "a", "capability_id": f"c{tool}"}
        if tool != 5
        else {"kind": "reason"}
        for tool in calls
    ]
    manifest = [
        {
            "adapter_id": "a",
            "capability_id": f"c{at}",
            "approval_mode": "read_only",
            **({} if produces is None else {"produces": produces}),
        }
        for at, produces in enumerate(tools)
    ]
    verdict = judge_proposal(
        proposal_of(
            {
                "ctx": {"trace_id": "t", "safety_mode": "read_only"},
                "compiled": {"manifests": {"tool_manifest": manifest, "evidence_manifest": []}},
                "spec": {"id": "d", "required_outputs": required},
                "plan": {"steps": steps, "declared_outputs": [*OUTPUTS]},
            }
        )
    )
    violations = verdict.violations if isinstance(verdict, Refused) else ()
    missing = [one for one in required if not any(can_produce(tool, one) for tool in calls)]
    found = [one.reason for one in violations if one.check == "coverage"]
    assert found == [
        f"no step calls a tool that lists required output {output} in produces"
        if output in listed
        else f"no step can produce required output {output}"
        for output in missing
    ]


def test_the_manifest_is_looked_at_once_and_not_per_plan() -> None:
    tools = [
        {
            "adapter_id": "a",
            "capability_id": f"c{at}",
            "approval_mode": "read_only",
            "produces": [f"o{at}"],
        }
        for at in range(1000)
    ]
    given = proposal_of(
        {
            "ctx": {"trace_id": "t", "safety_mode": "read_only"},
            "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": []}},
            "spec": {"id": "d", "required_outputs": ["o7"]},
            "plan": {"steps": [{"kind": "reason"}], "declared_outputs": ["o7"]},
        }
    )
    first = prepare_plan(given.ctx, given.compiled, given.spec, given.plan)
    again = prepare_plan(given.ctx, given.compiled, given.spec, given.plan)
    assert first.surface.listed is again.surface.listed
    assert coverage_check.unproduced_outputs(first, {"o7", "other"}) == {"o7"}
