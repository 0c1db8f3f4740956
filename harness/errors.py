"""The errors that the harness raises, all under one root.

    HarnessError
        AgentFailed
            RecordedFailure
            TransientFailure
        AgentNotStarted
        AlreadyClaimed
        CallRefused
        ClusterLost
        CodeLoopError
            BaseLost
            DamagedSession
            GitFailed
            SessionRunning
            UnreviewedChanges
            WorkTreeInUse
        CommandNotStarted
        Contradiction
        ExecutionEnded
        ExecutionFailed
        GuardHalted
        HookFault
        InvalidCheckpoint
        InvalidInput
            InvalidText
                InvalidCase
                InvalidPolicy
        InvalidTransition
        JournalError
            JournalDamaged
            JournalUnavailable
            ReplayDivergence
            UnrecordableReply
        JournalMoved
        LawBroken
        LogError
            LogDamaged
            LogUnavailable
                LogBusy
                LogWriteFailed
                    LogFull
            NotALog
            Unrecordable
        MalformedReply
        NearMissTaken
        NoCase
        NoPlan
            NotCovered
        NoSource
        NoValue
        NoVerdict
        NotAMessage
        NotApproved
        NotJson
        NotRecorded
        OutOfPlace
            JournalAltered
            NoOpenQuestion
        OutOfTime
        PermitError
        PinsUnusable
        PlansUnusable
        PolicyError
            UnknownTool
        QueryRefused
        RequestRefused
        SeamBroken
        StateUnusable
        StepRefused
        TablesUnusable
        ToolNotRun
        Unanswered
        UnfitEdit
        Unguardable
        UnusableKey
        UnwritableEdit
        UsageError
        WentOnElsewhere
        WorkFailed
        WorkersDied
        WorkersDiffer
        WrongTime
        _Crashed

The message of each is one line, safe to print: what is wrong, where, and what to do.
"""

from typing import Final

from evals.escaping import escape_line

_LONGEST: Final = 200


def escape_text(text: str) -> str:
    """Return `text`, such as a path or the message of a library, as one line that is safe to print.

    Quotes stay as they are, unlike in `evals.escaping.escape_name`. Cut after 200 characters.
    """
    shown = escape_line(text[:_LONGEST])
    return shown if len(text) <= _LONGEST else f"{shown}... ({len(text)} characters)"


class HarnessError(Exception):
    """Something could not be done. The message is one line, safe to print, with what to do."""


class UsageError(HarnessError):
    """A command cannot do what it was asked for, as it was asked."""
