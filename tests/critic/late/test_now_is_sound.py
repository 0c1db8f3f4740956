"""What `verify` refuses of a late plan no output opens, and what an output can fail it names."""

from random import Random
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Condition, Proposal, Refused, ToolCall, Verified, Violation, verify_proposal
from critic.late.opened_steps import EarlierOpening
from critic.late.openings import OpeningError, open_step, settle_step
from harness.wire import build
from tests.support.agreement import ONE_FAILURE
from tests.support.effort import examples
from tests.support.late_plans import late_proposal
from tests.support.late_runs import OUTPUTS
from tests.support.model.facts import Json

_NAMED_BY: Final = {
    "surface": {"args_schema", "confinement"},
    "evidence": {"value", "evidence", "binding"},
    "loop": {"repeat"},
    "approval": {"approval"},
}
"""The conditions that name what a check may find at an opening."""
seeds = given(st.integers(min_value=0, max_value=2**32))


def unjudged_by_origin(seed: int) -> tuple[Json, Proposal]:
    """Return a plan without provenance, of which more may be seen later than now."""
    wire = late_proposal(seed)
    wire["spec"].pop("provenance", None)
    return wire, build(Proposal, wire)


def openings_of(wire: Json, proposal: Proposal, seed: int) -> list[tuple[int, Verified | Refused]]:
    """Return the openings of all steps, whatever `verify` says, until one is refused."""
    random = Random(seed)  # noqa: S311 - to draw tests
    calls, openings = list[ToolCall](), list[EarlierOpening]()
    found: list[tuple[int, Verified | Refused]] = []
    for index, step in enumerate(wire["plan"]["steps"]):
        given: dict[str, Any] = {"as_of": None, "openings": openings}
        try:
            found.append((index, open_step(proposal, calls, index, **given)))
            args = settle_step(proposal, calls, index, **given).args
        except OpeningError:
            break
        if not found[-1][1].ok:
            break
        openings.append(EarlierOpening(index, len(calls)))
        output = random.choice(OUTPUTS)
        held = {} if output is None else {"output": output}
        names = {name: step[name] for name in ("adapter_id", "capability_id")}
        calls.append(ToolCall(step=index, **names, args=args, status="completed", **held))
    return found


@settings(ONE_FAILURE, max_examples=examples(600))
@seeds
def test_what_is_refused_now_no_output_opens(seed: int) -> None:
    wire, proposal = unjudged_by_origin(seed)
    verdict = verify_proposal(proposal)
    if verdict.ok:
        return
    refused = {one.offending_step for one in verdict.violations if not one.approvable}
    for salt in range(4):
        for index, opened in openings_of(wire, proposal, seed + salt):
            assert index not in refused or not opened.ok, (index, wire)


@settings(ONE_FAILURE, max_examples=examples(600))
@seeds
def test_what_an_output_can_fail_is_a_condition_of_its_step(seed: int) -> None:
    wire, proposal = unjudged_by_origin(seed)
    verdict = verify_proposal(proposal)
    if not verdict.ok:
        return
    for salt in range(4):
        for index, opened in openings_of(wire, proposal, seed + salt):
            if isinstance(opened, Refused):
                conditions = [one for one in verdict.conditions or () if one.step == index]
                unnamed = [one for one in opened.violations if not is_named(one, conditions)]
                assert unnamed == []


def is_named(violation: Violation, conditions: list[Condition]) -> bool:
    """Return whether a condition names it. That a source has to complete goes without one."""
    if " waits for step " in violation.reason:
        return True
    kinds = {one.kind for one in conditions}
    return not kinds.isdisjoint(_NAMED_BY[violation.check])
