"""Guard an agent call by call: events in, rulings out.

guard = Guard("critic.toml", log="audit.db")
guard.open("s1", "Pay the bill in bill.txt")
if guard.calls("s1", [call]):
    args = guard.permit("s1", call.id).redeem(call.tool, call.args)
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from critic.session import SessionReport
    from harness.guard.aio import AsyncGuard
    from harness.guard.course_answers import NoOpenQuestion, OutOfPlace
    from harness.guard.guard import Guard
    from harness.guard.guard_rules import PolicyError, UnknownTool
    from harness.guard.permits import CallPermit
    from harness.guard.recording import WentOnElsewhere
    from harness.guard.rulings import (
        Answer,
        EventError,
        EventFault,
        OpeningRuling,
        Question,
        Ruling,
    )
    from harness.guard.session_events import (
        AnswerEvent,
        CallsEvent,
        CloseEvent,
        OpenEvent,
        ReadyEvent,
        RequestedCall,
        RequestedTake,
        ResultEvent,
        SaidEvent,
        SessionEvent,
        SessionPlanEvent,
        parse_event,
    )
    from harness.guard.session_folder import SessionFolder
    from harness.guard.session_journal import JournalAltered, KeepsSessions
    from harness.guard.shell_world import DiskWorld
    from harness.guard.status import PendingQuestion, SessionStatus

__all__ = [
    "Answer",
    "AnswerEvent",
    "AsyncGuard",
    "CallPermit",
    "CallsEvent",
    "CloseEvent",
    "DiskWorld",
    "EventError",
    "EventFault",
    "Guard",
    "JournalAltered",
    "KeepsSessions",
    "NoOpenQuestion",
    "OpenEvent",
    "OpeningRuling",
    "OutOfPlace",
    "PendingQuestion",
    "PolicyError",
    "Question",
    "ReadyEvent",
    "RequestedCall",
    "RequestedTake",
    "ResultEvent",
    "Ruling",
    "SaidEvent",
    "SessionEvent",
    "SessionFolder",
    "SessionPlanEvent",
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
            "harness.guard.course_answers": "NoOpenQuestion OutOfPlace",
            "harness.guard.guard": "Guard",
            "harness.guard.guard_rules": "PolicyError UnknownTool",
            "harness.guard.permits": "CallPermit",
            "harness.guard.recording": "WentOnElsewhere",
            "harness.guard.rulings": "Answer EventError EventFault OpeningRuling Question Ruling",
            "harness.guard.session_events": (
                "AnswerEvent CallsEvent CloseEvent OpenEvent ReadyEvent RequestedCall "
                "RequestedTake ResultEvent SaidEvent SessionEvent SessionPlanEvent parse_event"
            ),
            "harness.guard.session_folder": "SessionFolder",
            "harness.guard.session_journal": "JournalAltered KeepsSessions",
            "harness.guard.shell_world": "DiskWorld",
            "harness.guard.status": "PendingQuestion SessionStatus",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
