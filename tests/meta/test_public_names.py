"""The names that users may rely on. A change to one of these lists changes the interface."""

import importlib
import importlib.metadata
import subprocess
import sys
from types import MappingProxyType
from typing import Any, get_args

import pytest

import critic
import evals
from critic import MODE_RANK, RULESET_VERSION, Check, Disposition, RefusalKind, ReportStatus
from critic.checks import CHECKS
from critic.reports import Phase
from evals import EVALUATOR_VERSIONS, EVALUATORS, ApprovalMode, Scores
from evals.kinds import EvaluatorId
from evals.run import CallStatus
from evals.verdict import Severity, Status
from tests.support.paths import ROOT

EVALUATION = "EVALUATORS EVALUATOR_VERSIONS score_run"
FACTS = """
    MODE_RANK Approval ApprovalMode ApprovedValue Binding CompiledContext DecisionSpec Demand
    EvaluatorVerdict EvidenceClass EvidenceItem Finding Manifests Opening OwnValue Plan Proposal
    ReasonStep Run RunBudget RunContext Scorecard Scores SentValues SessionFacts Source Spent
    SpentCall Step Take ToolCall ToolCapability ToolName ToolResult ToolStep WaivedCall digest
"""
VERDICTS = """
    RULESET_VERSION Check Condition CriticReport RefusalKind Refused ReportStatus ScoreVerdict
    Verified
    VerifyVerdict Violation consolidate context_digest score verify verify_many
    verify_proposal
"""
OPENINGS = "EarlierOpening OpeningError SettledStep open_step settle_step"
ADVICE = "Advice Disposition Repair advise apply_repairs"
MODES = ("read_only", "local_write", "network", "delegated", "destructive")
FIVE = ("policy", "utility", "latency", "safety", "cost")


def test_evals_exports_facts_and_evaluation_only() -> None:
    assert sorted(evals.__all__) == sorted([*FACTS.split(), *EVALUATION.split()])


def test_the_names_of_critic_are_its_own_and_the_facts() -> None:
    own = f"{VERDICTS} {OPENINGS} {ADVICE}"
    assert sorted(critic.__all__) == sorted([*FACTS.split(), *own.split()])


@pytest.mark.parametrize("module", [critic, evals])
def test_every_listed_name_is_there(module: Any) -> None:
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def test_critic_hands_on_the_very_objects_of_evals() -> None:
    assert all(getattr(critic, name) is getattr(evals, name) for name in FACTS.split())


def test_dir_of_critic_shows_its_public_names_only() -> None:
    assert dir(critic) == sorted([*critic.__all__, "__version__"])


@pytest.mark.parametrize("name", ["evals", "critic.session"])
def test_dir_of_a_front_shows_its_public_names(name: str) -> None:
    front = importlib.import_module(name)
    assert dir(front) == sorted(front.__all__)


def test_the_version_is_that_of_the_installed_package() -> None:
    assert critic.__version__ == importlib.metadata.version("plan-critic")


@pytest.mark.parametrize("error", [importlib.metadata.PackageNotFoundError, KeyError, OSError])
def test_without_package_metadata_the_version_is_unknown(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_name: str) -> str:
        raise error

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert critic.__version__ == "0+unknown"


def test_critic_has_no_other_lazy_names() -> None:
    with pytest.raises(AttributeError, match="module 'critic' has no attribute 'verifi'"):
        _ = getattr(critic, "verifi")  # noqa: B009 - a type checker knows that it is not there


def test_one_door_is_enough_for_a_user() -> None:
    names: dict[str, Any] = {}
    exec("from critic import Plan, RunContext, verify, score, consolidate", names)  # noqa: S102
    assert names["Plan"].__module__ == "evals.plan"
    assert names["RunContext"].__module__ == "evals.context"
    # The functions take precedence over the modules of the same names.
    assert all(callable(names[name]) for name in ("verify", "score", "consolidate"))
    assert names["verify"] is importlib.import_module("critic.verify").verify


@pytest.mark.parametrize(
    ("closed", "names"),
    [
        (
            RefusalKind,
            (
                *("missing_evidence", "approval_mode_mismatch", "violates_decision_spec"),
                *("loop_guard", "budget_exceeded"),
            ),
        ),
        (ApprovalMode, MODES),
        (Check, ("coverage", "surface", "approval", "evidence", "loop")),
        (Phase, ("verify", "score", "open")),
        (ReportStatus, ("completed", "refused_by_critic", "partial")),
        (Disposition, ("replan", "reject")),
        (CallStatus, ("completed", "failed", "timed_out", "unknown")),
        (Severity, ("info", "warn", "error")),
        (Status, ("pass", "warn", "fail")),
        (EvaluatorId, FIVE),
    ],
)
def test_closed_sets_have_exactly_these_members(closed: Any, names: tuple[str, ...]) -> None:
    assert get_args(closed) == names


def test_modes_rank_from_read_only_to_destructive() -> None:
    assert dict(MODE_RANK) == {mode: rank for rank, mode in enumerate(MODES)}
    assert sorted(get_args(ApprovalMode), key=MODE_RANK.__getitem__) == list(MODES)


def test_the_ranks_cannot_be_changed() -> None:
    assert type(MODE_RANK) is MappingProxyType
    ranks: Any = MODE_RANK
    with pytest.raises(TypeError):
        ranks["destructive"] = 0
    with pytest.raises(TypeError):
        del ranks["destructive"]


def test_an_unknown_mode_has_no_rank() -> None:
    with pytest.raises(KeyError):
        MODE_RANK["admin"]


def test_the_five_evaluators_stand_in_their_order() -> None:
    assert tuple(name for name, _ in EVALUATORS) == FIVE
    assert tuple(Scores.model_fields) == FIVE
    assert tuple(EVALUATOR_VERSIONS) == FIVE
    assert type(EVALUATORS) is tuple


def test_the_five_checks_stand_in_their_order() -> None:
    assert [check.__name__ for check in CHECKS] == [f"check_{name}" for name in get_args(Check)]
    assert type(CHECKS) is tuple


def test_versions_are_plain_text() -> None:
    versions = [RULESET_VERSION, *EVALUATOR_VERSIONS.values()]
    assert all(type(version) is str and version.isdecimal() for version in versions)


SESSION = """
    RESERVED_IDS Action Batch Call CallResult Closed EndedBatch Ran Session SessionReport
    SessionRules SessionState SessionTool TurnReport session_of state_of verify_batch
"""
GUARD = """
    Answer AnswerEvent AsyncGuard CallPermit CallsEvent CloseEvent DiskWorld EventError EventFault
    Guard JournalAltered KeepsSessions NoOpenQuestion OpenEvent OpeningRuling OutOfPlace
    PendingQuestion PolicyError Question ReadyEvent RequestedCall RequestedTake ResultEvent Ruling
    SaidEvent SessionEvent SessionFolder SessionPlanEvent SessionReport
    SessionStatus UnknownTool WentOnElsewhere parse_event
"""


@pytest.mark.parametrize(
    ("front", "names"), [("critic.session", SESSION), ("harness.guard", GUARD)]
)
def test_the_names_of_the_session_and_the_guard(front: str, names: str) -> None:
    module = importlib.import_module(front)
    assert sorted(module.__all__) == sorted(names.split())
    assert all(hasattr(module, name) for name in module.__all__)
    heavy = f"import sys, {front}; sys.exit(bool(set(sys.modules) & set({HEAVY.split()})))"
    assert subprocess.run([sys.executable, "-c", heavy], check=False).returncode == 0


LOG = """
    LogBusy LogDamaged LogError LogFull LogUnavailable LogWriteFailed NotALog SqlDecisionLog
    Unrecordable
"""
REPLAY = "Difference LogCheck RecordedLog ReplayResult ReplayStatus StoredLog check_log replay"


def test_the_names_of_the_log_and_of_replay() -> None:
    log, replay = (importlib.import_module(f"harness.{name}") for name in ("log", "replay"))
    assert sorted(log.__all__) == sorted(LOG.split())
    assert sorted(replay.__all__) == sorted(REPLAY.split())
    assert set(log.__all__) <= set(dir(log))
    assert log.SqlDecisionLog is importlib.import_module("harness.log.sql").SqlDecisionLog
    with pytest.raises(AttributeError, match=r"module 'harness.log' has no attribute 'sqlite4'"):
        _ = log.sqlite4


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    ["import harness.log", "from harness.log import LogError", "import harness.replay"],
)
def test_the_log_and_replay_load_no_database_library(statement: str) -> None:
    program = f"import sys; {statement}; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    program = "import sys; from harness.log import SqlDecisionLog; sys.exit(not SqlDecisionLog)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


RUNTIME = """
    Approver CallEnded CallStarted CallableExecutor Clock DecisionLog DecisionRecorded Execution
    ExecutionEnded ExecutionFailed Executor FixedPlanner Listener LoopEvent NotRecorded
    OpensSteps Outcome Permit PermitError PermitIssued PlanRefused PlanVerified Planned Planner
    PlaysBack Recorder RecordsAttempts RecordsBegun RecordsInThread RunScored ShellWorld
    StepOpened StepPermit StepRefused ToolNotRun TranscriptExecutor approve redeem
    run_canonical_loop
"""
LOOPS = """
    DEFAULT_CRITIC_PROMPT DEFAULT_CRITIQUE_TEMPLATE DEFAULT_REFINER_PROMPT DEFAULT_REFINE_TEMPLATE
    ActorCritic Advisor Critique NotApproved PlanAttempt PlanCritique PlanEvent PlanLoop
    PlanLoopOptions PlanRevision PlannerReply RevisingPlanner RevisionRequest SelfRefine
    VerifyingPlanner parse_critique parse_score revise_plan FeedbackEntry Reflexion derive_feedback
    feedback_line read_feedback top_feedback Assignment DEFAULT_SUPERVISE_TEMPLATE Supervisor
"""
AGENTS = """
    NO_USAGE UNLIMITED Agent AgentFailed AgentResult AgentTool Budget CallPolicy CommandAgent
    Dependencies Equippable Event EventStream FileStore Journal JournalDamaged JournalError
    JournalStore JournalUnavailable Journaled MemoryStore Message Model ModelAgent OutOfTime
    RecordedFailure ReplayDivergence Reply Retrying SubagentInvocation TransientFailure
    UnrecordableReply Usage add_usage run_agent text_only_model_call
"""
HEAVY = "sqlite3 pydantic_ai httpx openai hypothesis pytest tqdm"


@pytest.mark.parametrize(
    ("front", "names"),
    [("harness.runtime", RUNTIME), ("harness.loops", LOOPS), ("harness.loops.agents", AGENTS)],
)
def test_the_names_of_runtime_loops_and_agents(front: str, names: str) -> None:
    module = importlib.import_module(front)
    assert sorted(module.__all__) == sorted(names.split())
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("front", ["harness.runtime", "harness.loops", "harness.loops.agents"])
def test_the_fronts_of_runtime_loops_and_agents_load_nothing_heavy(front: str) -> None:
    code = f"import sys, {front}; print(*{{*{HEAVY.split()}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


CODE_LOOP = """
    CodeLoop CodeLoopError CodeLoopEvent CodeLoopJob DamagedSession GateRules ProgressListener
    RecordedSession SessionEnd SessionOutcome UnreviewedChanges load open_session resume_session
    sessions_folder
"""


def test_the_names_of_the_code_loop() -> None:
    front = importlib.import_module("harness.loops.code")
    assert sorted(front.__all__) == sorted(CODE_LOOP.split())
    assert all(hasattr(front, name) for name in front.__all__)


def test_the_code_loop_loads_no_log_and_no_model() -> None:
    heavy = "{'sqlite3', 'pydantic_ai', 'hypothesis', 'harness.log', 'harness.loops.agents'}"
    code = f"import sys, harness.loops.code; sys.exit(bool({heavy} & {{*sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


POLICY = """
    SESSION_BUDGET GuardSettings InvalidPolicy LintFinding Policy PolicyChange PolicyDocument
    PolicyFault PolicyTool diff_policies lint parse_policy read_document read_policy
"""


def test_the_names_of_the_policy() -> None:
    front = importlib.import_module("harness.policy")
    assert sorted(front.__all__) == sorted(POLICY.split())
    assert all(hasattr(front, name) for name in front.__all__)


def test_the_front_of_the_policy_loads_nothing_heavy() -> None:
    code = f"import sys, harness.policy; print(*{{*{HEAVY.split()}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
