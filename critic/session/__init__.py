"""A session: an agent that acts call by call, judged batch by batch. Pure.

    session = Session.opened(rules, "s1", "Pay the bill in bill.txt")
    batch = session.propose([Call("c1", "read_file", {"path": "bill.txt"})])
    verdict = verify_batch(batch)

`harness.guard` adds what the world needs: a policy, a log, a clock, questions and permits.
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from critic.session.batch_judging import verify_batch
    from critic.session.call_batch import Action, Batch, Call, CallResult, EndedBatch
    from critic.session.session import Closed, Ran, Session
    from critic.session.session_report import SessionReport, TurnReport
    from critic.session.session_rules import RESERVED_IDS, SessionRules, SessionTool
    from critic.session.session_state import SessionState, session_of, state_of

__all__ = [
    "RESERVED_IDS",
    "Action",
    "Batch",
    "Call",
    "CallResult",
    "Closed",
    "EndedBatch",
    "Ran",
    "Session",
    "SessionReport",
    "SessionRules",
    "SessionState",
    "SessionTool",
    "TurnReport",
    "session_of",
    "state_of",
    "verify_batch",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "critic.session.batch_judging": "verify_batch",
            "critic.session.call_batch": "Action Batch Call CallResult EndedBatch",
            "critic.session.session": "Closed Ran Session",
            "critic.session.session_report": "SessionReport TurnReport",
            "critic.session.session_rules": "RESERVED_IDS SessionRules SessionTool",
            "critic.session.session_state": "SessionState session_of state_of",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
