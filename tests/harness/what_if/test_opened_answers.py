"""A late plan is answered by its first opening that is refused and that nobody cleared."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from critic import verify_proposal
from evals.run import Opening, refused_opening
from harness.record import RunFacts
from harness.what_if.opened_answers import answer_opened
from tests.harness.log.decisions import decision, proposal
from tests.support.examples import good_proposal, proposal_of

OK, NO = verify_proposal(proposal()), verify_proposal(proposal(pinned=False))
YES = {"approval_id": "a", "approver": "ada", "plan_digest": "d" * 64}


def opening(step: int, *, passes: bool, approved: bool) -> Opening:
    given: dict[str, Any] = {"approvals": [YES]} if approved else {}
    return Opening(step=step, after=0, verdict=OK if passes else NO, **given)


OPENINGS = st.builds(opening, st.integers(0, 1), passes=st.booleans(), approved=st.booleans())
PASSED, STOPPED = (opening(0, passes=one, approved=False) for one in (True, False))
LATER = opening(1, passes=True, approved=False)
CLEARED = opening(0, passes=True, approved=True)


@example(openings=[STOPPED, LATER], has_fault=False)
@example(openings=[STOPPED, CLEARED, LATER], has_fault=False)
@example(openings=[PASSED, LATER], has_fault=True)
@example(openings=[PASSED, STOPPED, LATER], has_fault=True)
@given(openings=st.lists(OPENINGS, max_size=4), has_fault=st.booleans())
def test_the_first_opening_that_stays_refused_is_the_answer(
    openings: list[Opening], has_fault: bool
) -> None:
    run = decision().run
    assert isinstance(run, RunFacts)
    run = run.model_copy(update={"openings": tuple(openings) or None})
    fault = "a call came before its opening" if has_fault else None
    opened = SimpleNamespace(verdicts=[one.verdict for one in openings], fault=fault)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("critic.late.opened_run.open_run", lambda _run: opened)
        found = answer_opened(proposal(), run, OK)
        assert answer_opened(proposal(), run, NO) is NO
        assert answer_opened(proposal(), None, OK) is OK
    refused = refused_opening(openings)
    if refused is not None:
        assert found == refused.verdict
    else:
        assert found is (None if has_fault and openings else OK)


def test_the_plans_that_are_compared_differ() -> None:
    assert (OK.ok, NO.ok) == (True, False)
    assert verify_proposal(proposal_of(good_proposal())).ok
