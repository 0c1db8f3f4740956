"""The closed sets of names, each stated once: modes, checks, refusals, evaluators, ends, fates.

Nothing heavy is imported, so that the parsers of commands can offer the names. A set is a `Literal`
for the type checker, and a tuple of the same names, in their order, for everybody else.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

ApprovalMode = Literal["read_only", "local_write", "network", "delegated", "destructive"]
"""The tiers of what a tool may do, from the least to the most. Compare them by `MODE_RANK`."""
MODES: Final[tuple[ApprovalMode, ...]] = get_args(ApprovalMode)
MODE_RANK: Final[Mapping[str, int]] = MappingProxyType({mode: at for at, mode in enumerate(MODES)})
"""Approval modes in order. Compare modes by rank only: as strings, `destructive` sorts lowest."""

Check = Literal["coverage", "surface", "approval", "evidence", "loop"]
"""The five checks of `verify`, in the order in which they run."""
CHECK_NAMES: Final[tuple[Check, ...]] = get_args(Check)

RefusalKind = Literal[
    "missing_evidence",
    "approval_mode_mismatch",
    "violates_decision_spec",
    "loop_guard",
    "budget_exceeded",
]
"""The kinds of refusals: a closed set. Match over them and end in `assert_never`."""
REFUSAL_KINDS: Final[tuple[RefusalKind, ...]] = get_args(RefusalKind)

KINDS_OF: Final[Mapping[Check, tuple[RefusalKind, ...]]] = MappingProxyType(
    {
        "coverage": ("violates_decision_spec",),
        "surface": ("violates_decision_spec",),
        "approval": ("approval_mode_mismatch",),
        "evidence": ("missing_evidence",),
        "loop": ("loop_guard", "budget_exceeded"),
    }
)
"""The kinds with which each check refuses."""

APPROVABLE_KINDS: Final = frozenset[RefusalKind]({"approval_mode_mismatch", "loop_guard"})
"""The kinds of the violations that an approval can clear. Most of them it cannot clear either."""

EvaluatorId = Literal["policy", "utility", "latency", "safety", "cost"]
"""The five evaluators, in the order of a scorecard."""
EVALUATOR_IDS: Final[tuple[EvaluatorId, ...]] = get_args(EvaluatorId)

HARD_EVALUATORS: Final[tuple[EvaluatorId, ...]] = ("policy", "safety")
"""The evaluators that refuse a run: the others only say how good it was."""

ReportStatus = Literal["completed", "refused_by_critic", "partial"]
"""The three outcomes of a decision."""
REPORT_STATUSES: Final[tuple[ReportStatus, ...]] = get_args(ReportStatus)

RecordedAction = Literal["allow", "ask", "refuse", "shadow"]
"""What was made of a proposal; `shadow`: it was not allowed, and not enforced either."""
RECORDED_ACTIONS: Final[tuple[RecordedAction, ...]] = get_args(RecordedAction)

AnswerKind = Literal["yes", "no", "lapsed"]
"""What became of a question to a person. It lapses with the next batch, the end, or in time."""
ANSWER_KINDS: Final[tuple[AnswerKind, ...]] = get_args(AnswerKind)

Fate = Literal[
    "ran_although_refused",
    "open",
    "failed",
    "ran_in_shadow",
    "refused",
    "asked_open",
    "asked_no",
    "not_run",
    "ran_in_part",
    "ran_after_yes",
    "ran",
]
"""What became of a turn, in the order of `harness.record.fates`: the first that holds."""
SettledOutcome = Literal["ran", "not_run", "unknown"]
"""What a person says of an execution that has no end."""
SETTLED_OUTCOMES: Final[tuple[SettledOutcome, ...]] = get_args(SettledOutcome)
FATES: Final[tuple[Fate, ...]] = get_args(Fate)
