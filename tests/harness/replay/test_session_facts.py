"""What the facts of a session follow from: its close, its turns, and no other session's."""

import pytest

from evals.context import SentValues, Spent
from harness.replay.session_entries import ClosedEntry, SessionEntry
from harness.replay.session_facts import SessionHistory
from tests.harness.replay.test_session_lives import (  # noqa: F401 - held here as well
    Recorded,
    problems_of,
    test_a_session_that_came_from_another_log_goes_on_from_there_once,
    test_a_session_that_was_opened_again_does_not_go_on_from_its_earlier_life,
    test_an_answer_rules_again_on_what_was_known_at_its_question,
    test_another_life_of_a_session_has_what_it_carries_and_no_more_excuse,
    test_each_member_of_a_fact_is_compared_alone,
    test_evidence_that_is_another_than_a_turn_ago_is_noticed,
    went,
)

SENT = tuple(SentValues(seq=at, values=[at]) for at in range(3))


@pytest.mark.parametrize(
    ("closed", "name"),
    [
        (ClosedEntry(3, Spent(steps=3), SENT), ""),
        (ClosedEntry(2, Spent(steps=3), SENT), "turns"),
        (ClosedEntry(4, Spent(steps=3), SENT), "turns"),
        (ClosedEntry(3, Spent(steps=2), SENT), "spent.steps"),
        (ClosedEntry(3, Spent(steps=4), SENT), "spent.steps"),
        (ClosedEntry(3, Spent(steps=3), SENT[:2]), "sent"),
        (ClosedEntry(3, Spent(steps=3), SENT[::-1]), "sent"),
        (ClosedEntry(3, Spent(steps=3), (*SENT, SENT[0])), "sent"),
        (ClosedEntry(3, None, ()), "spent.steps, sent"),
        (ClosedEntry(9, None, None), ""),
    ],
)
def test_what_a_session_carries_follows_from_its_turns(closed: ClosedEntry, name: str) -> None:
    """What was taken out is believed; all else follows, whatever another session did."""
    for others in (0, 5):
        history, session, other = SessionHistory(), Recorded("s"), Recorded("other")
        went(history, session, 3)
        went(history, other, others)
        found = problems_of(history, SessionEntry("s", 0, (), closed))
        told = f"session facts do not follow from earlier records: {name}"
        assert found.tampered == ([told] if name else [])
        went(history, other, 1)
