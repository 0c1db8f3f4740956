"""The records of a decision log: decisions, executions that began, and critics that failed.

Pure, but for the digest of the rules, which is read from disk once per process.
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.record.actions import RecordedAnswer
    from harness.record.approvals import used_approvals, without_approvals
    from harness.record.chain import (
        Gap,
        Head,
        RawRecord,
        Sealed,
        read_record,
        record_hash,
        seal_record,
    )
    from harness.record.decision import (
        INPUT_NAMES,
        Decision,
        DecisionRecord,
        PlanAttemptRecord,
        RunFacts,
        draft,
    )
    from harness.record.drafts import GENESIS, CanonicalLine, Digest, RecordDraft, sha256
    from harness.record.fates import RecordFacts, TurnKey, fate
    from harness.record.inputs import InputDigests
    from harness.record.record_errors import AlreadyClaimed
    from harness.record.record_kinds import (
        Begun,
        BegunRecord,
        CarriedOn,
        CriticError,
        CriticErrorRecord,
        LogRecord,
        NoTurnRecord,
        Settled,
        SettledRecord,
        TurnRecord,
        UsedApproval,
        claims_of,
    )
    from harness.record.redactions import Redacted, RedactedRecord
    from harness.record.rotation import (
        CarriedSession,
        HandedOver,
        HandedOverRecord,
        OldHead,
        SessionClosed,
        SessionClosedRecord,
        SessionReopened,
        SessionReopenedRecord,
        TakenOver,
        TakenOverRecord,
        taken_over,
    )

__all__ = [
    "GENESIS",
    "INPUT_NAMES",
    "AlreadyClaimed",
    "Begun",
    "BegunRecord",
    "CanonicalLine",
    "CarriedOn",
    "CarriedSession",
    "CriticError",
    "CriticErrorRecord",
    "Decision",
    "DecisionRecord",
    "Digest",
    "Gap",
    "HandedOver",
    "HandedOverRecord",
    "Head",
    "InputDigests",
    "LogRecord",
    "NoTurnRecord",
    "OldHead",
    "PlanAttemptRecord",
    "RawRecord",
    "RecordDraft",
    "RecordFacts",
    "RecordedAnswer",
    "Redacted",
    "RedactedRecord",
    "RunFacts",
    "Sealed",
    "SessionClosed",
    "SessionClosedRecord",
    "SessionReopened",
    "SessionReopenedRecord",
    "Settled",
    "SettledRecord",
    "TakenOver",
    "TakenOverRecord",
    "TurnKey",
    "TurnRecord",
    "UsedApproval",
    "claims_of",
    "draft",
    "fate",
    "read_record",
    "record_hash",
    "seal_record",
    "sha256",
    "taken_over",
    "used_approvals",
    "without_approvals",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.record.actions": "RecordedAnswer",
            "harness.record.approvals": "used_approvals without_approvals",
            "harness.record.chain": "Gap Head RawRecord Sealed read_record record_hash seal_record",
            "harness.record.decision": (
                "Decision DecisionRecord INPUT_NAMES PlanAttemptRecord RunFacts draft"
            ),
            "harness.record.drafts": "CanonicalLine Digest GENESIS RecordDraft sha256",
            "harness.record.fates": "RecordFacts TurnKey fate",
            "harness.record.inputs": "InputDigests",
            "harness.record.record_errors": "AlreadyClaimed",
            "harness.record.record_kinds": (
                "Begun BegunRecord CarriedOn CriticError CriticErrorRecord LogRecord NoTurnRecord "
                "Settled SettledRecord TurnRecord UsedApproval claims_of"
            ),
            "harness.record.redactions": "Redacted RedactedRecord",
            "harness.record.rotation": (
                "CarriedSession HandedOver HandedOverRecord OldHead SessionClosed "
                "SessionClosedRecord SessionReopened SessionReopenedRecord TakenOver "
                "TakenOverRecord taken_over"
            ),
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
