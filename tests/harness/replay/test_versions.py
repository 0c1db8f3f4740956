"""Records of other versions, and code that fails: drift, with the difference, never `same`."""

import json
from pathlib import Path
from typing import Any

import pytest

import harness.replay.recheck as rechecking
from critic.verify import verify_proposal
from evals.plan import Proposal
from harness.log.sql import SqlDecisionLog
from harness.replay.engine import replay
from harness.replay.result import Difference, ReplayResult
from harness.rules import rules_digest
from tests.harness.log.decisions import body_of, filled, meddle
from tests.harness.replay.forging import edited, forged, forged_input


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a log of four records: refused, partial, ended early, completed."""
    filled(tmp_path / "log", 4)
    return tmp_path / "log"


def _answer(path: Path, seq: int) -> ReplayResult:
    answers = {one.seq: one for one in replay(SqlDecisionLog.open_for_reading(path))}
    assert all(answers[other] for other in answers if other != seq)
    return answers[seq]


@pytest.mark.parametrize("version", ["0", "1", "99.1-beta"])
def test_another_ruleset_is_drift_even_without_a_difference(path: Path, version: str) -> None:
    forged(path, 4, lambda record: record.update(ruleset_version=version))
    answer = _answer(path, 4)
    assert answer.status == "drift"
    assert not answer
    assert answer.reasons == (f"written under ruleset {version}, checked under 3",)
    assert answer.differences == ()


@pytest.mark.parametrize(
    ("versions", "reason"),
    [
        ({"policy": "1"}, "evaluator policy: written under version 1, checked under 2"),
        ({"tone": "1"}, "evaluator tone: written under version 1, checked under none"),
        ({"cost": None}, "evaluator cost: written under version none, checked under 2"),
    ],
)
def test_other_evaluators_are_drift(
    path: Path, versions: dict[str, str | None], reason: str
) -> None:
    def change(record: dict[str, Any]) -> None:
        changed = {**record["evaluator_versions"], **versions}
        kept = {name: version for name, version in changed.items() if version is not None}
        record["evaluator_versions"] = kept

    forged(path, 4, change)
    answer = _answer(path, 4)
    assert (answer.status, answer.reasons) == ("drift", (reason,))


def test_a_new_ruleset_here_shows_the_difference(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rechecking, "verify_proposal", _reworded)
    monkeypatch.setattr(rechecking, "RULESET_VERSION", "4")
    refused, *passed = replay(SqlDecisionLog.open_for_reading(path))
    assert refused.status == "drift"
    assert refused.reasons == ("written under ruleset 3, checked under 4",)
    changed = [one.path for one in refused.differences]
    assert changed == ["/rationale", "/verify/reasons/0", "/verify/violations/0/reason"]
    assert all(one.status == "drift" and not one.differences for one in passed)


def _reworded(proposal: Proposal) -> Any:
    """Return the verdict, with another reason for a refusal."""
    verdict = verify_proposal(proposal)
    if verdict.ok:
        return verdict
    first, *rest = verdict.violations
    other = first.model_copy(update={"reason": "other"})
    return verdict.model_copy(update={"reasons": ("other",), "violations": (other, *rest)})


def test_other_code_under_the_same_ruleset_is_drift(path: Path) -> None:
    forged(path, 4, lambda record: record.update(rules_digest="0" * 64))
    answer = _answer(path, 4)
    here = rules_digest()
    assert answer.status == "drift"
    assert answer.reasons == (
        f"decided by code with rules digest {'0' * 64}, checked by {here} of the same ruleset",
    )
    assert answer.differences == ()


def test_changed_code_shows_the_difference_and_blames_nobody(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged(path, 1, lambda record: record.update(rules_digest="0" * 64))
    monkeypatch.setattr(rechecking, "verify_proposal", _reworded)
    refused, *_ = replay(SqlDecisionLog.open_for_reading(path))
    assert refused.status == "drift"
    changed = [one.path for one in refused.differences]
    assert changed == ["/rationale", "/verify/reasons/0", "/verify/violations/0/reason"]


def test_a_record_without_a_digest_of_the_rules_is_judged_by_its_versions(path: Path) -> None:
    forged(path, 4, lambda record: record.pop("rules_digest"))
    assert _answer(path, 4).status == "same"


@pytest.mark.parametrize("digest", ["0" * 63, 1, None, True])
def test_a_digest_of_the_rules_that_is_none_is_tampering_or_drift(path: Path, digest: Any) -> None:
    forged(path, 4, lambda record: record.update(rules_digest=digest))
    assert _answer(path, 4).status in ("tampered", "drift")


def test_what_only_another_version_can_read_is_drift(path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        record.update(ruleset_version="1", approvals_used=["a_1"])

    forged(path, 4, change)
    answer = _answer(path, 4)
    assert answer.status == "drift"
    assert answer.reasons[1].startswith(
        "it is not a decision record of this version: /approvals_used: unknown field"
    )


def test_an_input_that_only_another_version_can_read_is_drift(path: Path) -> None:
    forged_input(path, 4, "plan", lambda plan: plan.update(new_field=1))
    forged(path, 4, lambda record: record.update(ruleset_version="1"))
    answer = _answer(path, 4)
    assert answer.status == "drift"
    assert answer.reasons[1].startswith("input plan cannot be read: /new_field: unknown field")


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(ruleset_version="1", new_field=1),
        lambda record: record["report"].update(rationale="other"),
    ],
)
def test_without_judging_only_the_bytes_count(
    path: Path, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    forged(path, 3, change)
    monkeypatch.delattr(rechecking, "verify_proposal")
    log = SqlDecisionLog.open_for_reading(path)
    assert all(replay(log, head=log.head(), judge=False))

    edited(path, 2, lambda record: record.update(error="x"))
    assert [one.status for one in replay(log, judge=False)] == [
        "same",
        "tampered",
        "same",
        "same",
    ]


def test_tampering_outweighs_another_version(path: Path) -> None:
    edited(path, 4, lambda record: record.update(ruleset_version="1"))
    answer = _answer(path, 4)
    assert answer.status == "tampered"
    assert answer.reasons[-1] == "written under ruleset 1, checked under 3"


def test_a_missing_input_outweighs_another_version(path: Path) -> None:
    forged_input(path, 4, "plan", lambda plan: plan.update(plan_id="p"))
    forged(path, 4, lambda record: record.update(ruleset_version="1"))
    digest = json.loads(body_of(path, 4))["inputs"]["plan"]
    meddle(path, ("DELETE FROM inputs WHERE digest = ?", (digest,)))
    answer = _answer(path, 4)
    assert answer.status == "incomplete"
    assert len(answer.reasons) == 2


@pytest.mark.parametrize("name", ["verify_proposal", "score", "consolidate"])
@pytest.mark.parametrize("error", [RuntimeError("\x1b[31m"), RecursionError(), MemoryError()])
def test_code_that_fails_is_drift(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: Exception
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(rechecking, name, failing)
    *_, last = replay(SqlDecisionLog.open_for_reading(path))
    assert last.status == "drift"
    assert last.reasons == (f"the report cannot be derived here: {type(error).__name__}",)


def test_a_difference_is_one_safe_line() -> None:
    assert Difference(path="", recorded="a<b>\n").line() == (
        "report: recorded a\\u003cb>\\u000a, derived nothing"
    )
    assert Difference(path="/x", recorded=1.0, derived=[True]).line() == (
        "/x: recorded 1, derived [true]"
    )


@pytest.mark.parametrize("has_error", [True, False])
@pytest.mark.parametrize("kind", [4, 3], ids=["completed", "ended early"])
def test_only_a_run_that_ended_early_may_be_without_a_score(
    path: Path, kind: int, has_error: bool
) -> None:
    """Older versions left such runs unscored. Whoever takes a score away leaves no error."""

    def unscored(record: dict[str, Any]) -> None:
        del record["report"]["score"]
        record["report"] |= {"status": "partial", "rationale": "verify passed; not executed"}
        record["report"].pop("refused_at", None)
        record.pop("error", None)
        record |= {"error": "TimeoutError: payments"} if has_error else {}

    seq = kind
    forged(path, seq, unscored)
    answer = {one.seq: one for one in replay(SqlDecisionLog.open_for_reading(path))}[seq]
    differs = {one.path for one in answer.differences}
    if has_error:
        assert "/score" not in differs
        assert any("ended early and has no score" in note for note in answer.notes)
    else:
        assert answer.status == "tampered"
        assert "/score" in differs
