"""Guard an agent that acts call by call: events in, rulings out.

guard = Guard(read_policy("critic.toml"), log=SqlDecisionLog.open("audit.db"))
guard.handle(OpenEvent(session="s1", request="Pay the bill in bill.txt"))
if guard.handle(CallsEvent(session="s1", calls=[call])):
    args = guard.permit("s1", call.id).redeem(call.tool, call.args)
"""

from critic.session import SessionReport
from harness.guard.aio import AsyncGuard
from harness.guard.course import OutOfPlace
from harness.guard.events import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    OpenEvent,
    RequestedCall,
    ResultEvent,
    SaidEvent,
    SessionEvent,
    parse_event,
)
from harness.guard.guard import Answer, Guard
from harness.guard.permits import CallPermit
from harness.guard.recording import WentOnElsewhere
from harness.guard.rulings import EventError, EventFault, Question, Ruling
from harness.guard.status import PendingQuestion, SessionStatus

__all__ = [
    "Answer",
    "AnswerEvent",
    "AsyncGuard",
    "CallPermit",
    "CallsEvent",
    "CloseEvent",
    "EventError",
    "EventFault",
    "Guard",
    "OpenEvent",
    "OutOfPlace",
    "PendingQuestion",
    "Question",
    "RequestedCall",
    "ResultEvent",
    "Ruling",
    "SaidEvent",
    "SessionEvent",
    "SessionReport",
    "SessionStatus",
    "WentOnElsewhere",
    "parse_event",
]
