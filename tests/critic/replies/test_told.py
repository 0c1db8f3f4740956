"""Any refusal can be told, and what is told takes nothing away from what is recorded."""

from datetime import UTC, datetime

import pytest

from critic import Refused, consolidate, verify_proposal
from critic.replies.quoting import LONGEST_TEXT
from critic.replies.wording import MOST_WORDED, word_refusal
from harness.testing.strategies import seeded_edge_proposal
from tests.critic.replies.test_hostile import is_plain

NOON = datetime(2026, 5, 9, 12, tzinfo=UTC)


def told(seed: int) -> tuple[Refused, Refused] | None:
    """Return the refusal of a drawn plan, bare and told; None where it passes."""
    proposal = seeded_edge_proposal(seed)
    verdict = verify_proposal(proposal)
    if not isinstance(verdict, Refused):
        return None
    worded = word_refusal(proposal, verdict)
    assert isinstance(worded, Refused)
    return verdict, worded


def check(seed: int) -> bool:
    found = told(seed)
    if found is None:
        return False
    verdict, worded = found
    assert worded.bare == verdict
    for violation in worded.violations[:MOST_WORDED]:
        assert violation.say is not None
        assert is_plain(violation.say), ascii(violation.say)
        assert 0 < len(violation.say) <= LONGEST_TEXT
    assert sorted(worded.reasons) == sorted(one.reason for one in verdict.violations)
    reports = [
        consolidate(trace_id="t", decision_key="k", verify=one, decided_at=NOON)
        for one in (verdict, worded)
    ]
    assert reports[0] == reports[1]
    return True


def test_every_violation_has_a_text_that_a_record_is_without() -> None:
    assert sum(map(check, range(40))) >= 10


@pytest.mark.slow
def test_every_violation_of_many_plans_has_a_text() -> None:
    assert sum(map(check, range(40, 1500))) >= 300
