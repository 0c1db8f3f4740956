"""Guard an agent that acts call by call: events in, rulings out.

guard = Guard(read_policy("critic.toml"), log=SqlDecisionLog.open("audit.db"))
guard.handle(OpenEvent(session="s1", request="Pay the bill in bill.txt"))
if guard.handle(CallsEvent(session="s1", calls=[call])):
    args = guard.permit("s1", call.id).redeem(call.tool, call.args)
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from critic.session import SessionReport
    from harness.guard.aio import AsyncGuard
    from harness.guard.course import OutOfPlace
    from harness.guard.guard import Answer, Guard
    from harness.guard.guard_rules import UnknownTool
    from harness.guard.permits import CallPermit
    from harness.guard.recording import WentOnElsewhere
    from harness.guard.rulings import EventError, EventFault, Question, Ruling
    from harness.guard.session_events import (
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
    from harness.guard.session_folder import SessionFolder
    from harness.guard.session_journal import JournalAltered, KeepsSessions
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
    "JournalAltered",
    "KeepsSessions",
    "OpenEvent",
    "OutOfPlace",
    "PendingQuestion",
    "Question",
    "RequestedCall",
    "ResultEvent",
    "Ruling",
    "SaidEvent",
    "SessionEvent",
    "SessionFolder",
    "SessionReport",
    "SessionStatus",
    "UnknownTool",
    "WentOnElsewhere",
    "parse_event",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "critic.session": "SessionReport",
            "harness.guard.aio": "AsyncGuard",
            "harness.guard.course": "OutOfPlace",
            "harness.guard.guard": "Answer Guard",
            "harness.guard.guard_rules": "UnknownTool",
            "harness.guard.permits": "CallPermit",
            "harness.guard.recording": "WentOnElsewhere",
            "harness.guard.rulings": "EventError EventFault Question Ruling",
            "harness.guard.session_events": (
                "AnswerEvent CallsEvent CloseEvent OpenEvent RequestedCall ResultEvent SaidEvent "
                "SessionEvent parse_event"
            ),
            "harness.guard.session_folder": "SessionFolder",
            "harness.guard.session_journal": "JournalAltered KeepsSessions",
            "harness.guard.status": "PendingQuestion SessionStatus",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
