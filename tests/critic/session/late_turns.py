"""Sessions whose calls wait for one another, or are carried out as a plan."""

from datetime import datetime
from typing import Any, Final

from critic import verify_proposal
from critic.session import Call, CallResult, Session
from critic.session.call_batch import CallTake
from critic.session.waiting_calls import find_call, judge_call, take_opening
from evals.canonical_json import digest
from tests.critic.session.building import NOW, opened, read

NOTE: Final = {"x": "hello"}
PAY: Final = Call("p", "pay", {"to": "x-100"}, takes=(CallTake("/note", "a", "/x"),), after=("b",))
TURN: Final = (read("plan.md", "a"), read("plan.md", "b"), PAY)
SENT: Final = {"to": "x-100", "note": "hello"}


def begun(*calls: Call, is_plan: bool = False, **spec: Any) -> Session:
    """Return a session whose first batch was allowed."""
    session = opened(spec={"late": "sources", **spec})
    batch = session.propose(calls or TURN, NOW, is_plan=is_plan)
    verdict = verify_proposal(batch.proposal)
    assert verdict
    return session.decided(batch, "allow", verdict, digest(batch.proposal.plan))


def opened_call(session: Session, name: str, as_of: datetime | None = NOW) -> Session:
    place = find_call(session, name)
    assert place is not None
    return take_opening(session, name, judge_call(session, place, as_of), is_made=True)


def ended(session: Session, name: str, output: Any = NOTE, status: Any = "completed") -> Session:
    return opened_call(session, name).ran(name, CallResult(status, output), NOW).session
