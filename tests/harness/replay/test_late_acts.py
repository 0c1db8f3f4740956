"""What a late run gave, sent and spent, by the record of its end."""

from typing import Any

import pytest

from critic import Proposal
from critic.late.openings import open_step, settle_step
from evals.run import Opening, Run
from harness.replay.late_acts import LateRun
from harness.wire import build
from tests.critic.late.test_openings import AFTER_LOOK, NOW, approval, looked, opened, sending
from tests.support.model.facts import Json

IBAN = "DE89370400440532013000"


def asked() -> Json:
    """Return a plan that pays as a file says which the request names: a person is asked."""
    wire = sending("public")
    wire["compiled"]["manifests"]["tool_manifest"][0]["arg_roles"] = {"file": "locator"}
    wire["plan"]["steps"][0]["args"] = {"file": "bill.txt"}
    said = {"id": "u", "classification": "request", "content": "pay the bill in bill.txt"}
    source = {"author": "user", "standing": "named"}
    wire["compiled"]["manifests"]["evidence_manifest"] = [{**said, "source": source}]
    return wire


@pytest.mark.parametrize("is_of_its_plan", [True, False])
def test_an_opening_that_was_refused_all_the_same_gave_nothing(is_of_its_plan: bool) -> None:
    wire = asked()
    case, call = build(Proposal, wire), looked({"iban": IBAN}, args={"file": "bill.txt"})
    settled = settle_step(case, [call], 1, as_of=NOW, openings=AFTER_LOOK).proposal
    assert settled is not None
    given = approval(settled.plan if is_of_its_plan else case.plan)
    verdict = opened(wire, call, approvals=[given])
    assert verdict.ok is is_of_its_plan
    first = open_step(case, [], 0, as_of=NOW)
    openings = [
        Opening(step=0, after=0, as_of=NOW, verdict=first),
        Opening(step=1, after=1, as_of=NOW, verdict=verdict, approvals=[given]),
    ]
    facts: dict[str, Any] = {"run_id": "r", "trace_id": "t", "outputs": {}, "calls": [call]}
    acts = LateRun(Run(proposal=case, openings=openings, **facts)).list_acts()
    assert [one.value for one in acts["approved"]] == ([IBAN] if is_of_its_plan else [])
