"""Who may take which action, and whose yes it was: over all that there is."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from critic import Opening, Proposal, VerifyVerdict, digest, verify_proposal
from evals.kinds import RecordedAction
from harness.record import RecordedAnswer
from harness.replay.action_check import check_action
from harness.replay.problems import Problems
from tests.support.examples import good_proposal, proposal_of

DIGESTS = ("a" * 64, "b" * 64)
"""What a guard names its plans and its policy by."""


def proposed(approver: str | None, *, plan: str | None = None, by_guard: bool) -> Proposal:
    """Return a plan that needs an approval, given by somebody for it or for another plan."""
    wire = good_proposal()
    wire["spec"]["approval_required_from"] = "delegated"
    wire["plan"].pop("trace_id", None)
    if by_guard:
        wire["plan"]["plan_id"], wire["compiled"]["pack_version"] = DIGESTS
        wire["ctx"] |= {"session": {"id": wire["ctx"]["trace_id"], "turn": 1}}
    if approver is not None:
        named = plan or digest(proposal_of(wire).plan)
        wire["ctx"]["approvals"] = [
            {"approval_id": "a", "approver": approver, "plan_digest": named}
        ]
    return proposal_of(wire)


def opening_of(verdict: VerifyVerdict) -> Opening:
    return Opening(step=0, after=0, verdict=verdict)


def found(
    proposal: Proposal,
    action: RecordedAction,
    answer: RecordedAnswer | None,
    opened: VerifyVerdict | None = None,
) -> list[str]:
    problems = Problems()
    run = None if opened is None else SimpleNamespace(openings=[opening_of(opened)])
    refused_at = None if opened is None else "open"
    report = SimpleNamespace(verify=verify_proposal(proposal), refused_at=refused_at)
    record: Any = SimpleNamespace(report=report, action=action, answer=answer, run=run)
    check_action(record, proposal, problems)
    return problems.tampered


@pytest.mark.parametrize("prefix", ["", "sha256:"])
@pytest.mark.parametrize(("given", "said"), [*product(("ada", "eve", "ad"), repeat=2)])
def test_a_yes_is_of_the_person_whose_approval_the_context_has(
    given: str, said: str, prefix: str
) -> None:
    named = prefix + digest(proposed(given, by_guard=True).plan)
    proposal = proposed(given, plan=named, by_guard=True)
    told = found(proposal, "allow", RecordedAnswer(answer="yes", approver=said))
    assert (told == []) == (given == said)
    other = proposed(given, plan=prefix + "f" * 64, by_guard=True)
    answer = RecordedAnswer(answer="yes", approver=given)
    assert found(other, "refuse", answer) == [
        "its answer is yes, and its context has no such approval"
    ]


@pytest.mark.parametrize("approver", [None, "ada"])
def test_only_a_guard_asks_answers_or_lets_run_what_is_refused(approver: str | None) -> None:
    """The canonical loop allows what verify passes, and refuses the rest; a guard does more."""
    passes = approver is not None
    answers: list[Any] = [None, *(RecordedAnswer(answer=one, approver="ada") for one in _SAID)]
    actions: tuple[RecordedAction, ...] = ("allow", "ask", "refuse", "shadow")
    for action, answer in product(actions, (*answers, RecordedAnswer(answer="lapsed"))):
        of_guard = found(proposed(approver, by_guard=True), action, answer)
        of_loop = found(proposed(approver, by_guard=False), action, answer)
        plain = answer is None and action == ("allow" if passes else "refuse")
        assert (of_loop == []) == plain, (action, answer)
        if of_guard:
            assert of_loop == of_guard


_SAID: tuple[Any, ...] = ("yes", "no")


@pytest.mark.parametrize("by_guard", [True, False])
def test_only_a_guard_goes_on_or_is_answered_after_a_refused_opening(by_guard: bool) -> None:
    proposal, asks = (
        proposed("ada", by_guard=by_guard),
        verify_proposal(proposed(None, by_guard=True)),
    )
    no = RecordedAnswer(answer="no", approver="ada")
    of_loop = "its action is {}, which is not of the canonical loop"
    assert found(proposal, "shadow", None, asks) == ([] if by_guard else [of_loop.format("shadow")])
    assert found(proposal, "shadow", None) == ["its action is shadow, and verify passes it"]
    assert found(proposal, "allow", None, asks) == []
    assert found(proposal, "allow", no, asks) == ([] if by_guard else [of_loop.format("allow")])
    assert found(proposal, "allow", no) != []
    assert found(proposal, "refuse", no, asks) != []
