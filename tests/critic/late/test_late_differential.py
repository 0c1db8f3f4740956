"""Late plans: the engine gives the verdict and the conditions of the second statement."""

from collections import Counter
from functools import partial
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Proposal, verify_proposal
from evals.plan_verdicts import ConditionKind
from harness.wire import build
from tests.support.agreement import ONE_FAILURE, Statements
from tests.support.effort import examples
from tests.support.late_plans import late_proposal
from tests.support.model.facts import Json
from tests.support.model.verify import verify_model

LEAD = ("ok", "kind", "offending_step")
FIELDS = ("check", "kind", "offending_step", "path", "approvable")
NAMED = ("kind", "step", "path")


def engine(proposal: Proposal) -> Json:
    """Return the engine's verdict in the shape of the model's."""
    verdict = verify_proposal(proposal).wire()
    kept: Json = {name: verdict[name] for name in LEAD if name in verdict}
    if not verdict["ok"]:
        listed = [{k: one[k] for k in FIELDS if k in one} for one in verdict["violations"]]
        return {**kept, "violations": listed}
    found = [{name: one[name] for name in NAMED} for one in verdict.get("conditions", [])]
    return {**kept, "reasons": verdict["reasons"]} | ({"conditions": found} if found else {})


LATE = Statements(
    law="of a late plan the engine says what the second statement says, condition by condition",
    read=partial(build, Proposal),
    engine=engine,
    model=verify_model,
)


@settings(ONE_FAILURE, max_examples=examples(800))
@given(st.integers(min_value=0, max_value=2**32))
def test_engine_and_model_agree_on_late_plans(seed: int) -> None:
    LATE.require_agreement(build(Proposal, late_proposal(seed)))


def test_the_drawn_plans_meet_every_kind_of_condition_and_refusal() -> None:
    """A generator that no longer meets a kind would show nothing about it."""
    met: Counter[str] = Counter()
    for seed in range(400):
        verdict = engine(build(Proposal, late_proposal(seed)))
        met.update(one["kind"] for one in verdict.get("conditions", []))
        met.update(one["kind"] for one in verdict.get("violations", []))
    needed = {*get_args(ConditionKind)} - {"binding"}
    assert met.keys() >= needed | {"loop_guard", "missing_evidence", "violates_decision_spec"}
