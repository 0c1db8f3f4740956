"""What a decision log keeps: decisions, executions that began, and critics that failed.

Pure, but for the digest of the rules, which is read from disk once per process.
"""

from harness.record.approvals import used_approvals, without_approvals
from harness.record.chain import (
    Gap,
    Head,
    RawRecord,
    Sealed,
    read_record,
    record_hash,
    sealed,
)
from harness.record.decision import (
    INPUT_NAMES,
    Decision,
    DecisionRecord,
    InputDigests,
    PlanAttemptRecord,
    RunFacts,
    draft,
)
from harness.record.drafts import GENESIS, CanonicalLine, Digest, RecordDraft, sha256
from harness.record.errors import AlreadyClaimed
from harness.record.kinds import (
    Begun,
    BegunRecord,
    CriticError,
    CriticErrorRecord,
    LogRecord,
    UsedApproval,
    claims_of,
)

__all__ = [
    "GENESIS",
    "INPUT_NAMES",
    "AlreadyClaimed",
    "Begun",
    "BegunRecord",
    "CanonicalLine",
    "CriticError",
    "CriticErrorRecord",
    "Decision",
    "DecisionRecord",
    "Digest",
    "Gap",
    "Head",
    "InputDigests",
    "LogRecord",
    "PlanAttemptRecord",
    "RawRecord",
    "RecordDraft",
    "RunFacts",
    "Sealed",
    "UsedApproval",
    "claims_of",
    "draft",
    "read_record",
    "record_hash",
    "sealed",
    "sha256",
    "used_approvals",
    "without_approvals",
]
