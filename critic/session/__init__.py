"""A session: an agent that acts call by call, judged batch by batch. Pure.

    session = Session.opened(rules, "s1", "Pay the bill in bill.txt")
    batch = session.propose([Call("c1", "read_file", {"path": "bill.txt"})])
    verdict = verify_batch(batch)

`harness.guard` adds what the world needs: a policy, a log, a clock, questions and permits.
"""

from critic.session.batch import Action, Batch, Call, CallResult, EndedBatch
from critic.session.judging import verify_batch
from critic.session.report import SessionReport, TurnReport
from critic.session.rules import RESERVED_IDS, SessionRules, SessionTool
from critic.session.session import Closed, Ran, Session
from critic.session.state import SessionState, session_of, state_of

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
