"""The errors that the harness raises, all under one root.

    HarnessError
        AgentFailed
            RecordedFailure
            TransientFailure
        AgentNotStarted
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
        InvalidInput
        InvalidTransition
        JournalError
            JournalDamaged
            JournalUnavailable
            ReplayDivergence
            UnrecordableReply
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
        NoPlan
        NoSource
        NoValue
        NoVerdict
        NotApproved
        NotJson
        NotRecorded
        OutOfTime
        PermitError
        ToolNotRun
        UsageError
        _Crashed

The message of each is one line, safe to print: what is wrong, where, and what to do.
"""


class HarnessError(Exception):
    """Something could not be done. The message is one line, safe to print, with what to do."""


class UsageError(HarnessError):
    """A command cannot do what it was asked for, as it was asked."""
