"""What a change makes of recorded plans: the same as verdicts and guards that live under it."""

import copy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from critic import context_digest, digest, verify_proposal
from harness.canonical import canonical_bytes
from harness.log import SqlDecisionLog
from harness.record import CriticError
from harness.replay.findings import findings
from harness.what_if.matrix import Matrix
from harness.what_if.recorded_change import Alteration
from harness.what_if.rejudging import (
    Compared,
    JudgedPlan,
    NotJudged,
    PlanFinder,
    answer_kind,
    what_if,
)
from harness.wire import build
from tests.harness.log.decisions import NOON, decision, filled, judged, meddle, proposal
from tests.harness.replay.session_logs import EVENTS
from tests.harness.serve.asking import as_recorded
from tests.support.effort import sampled
from tests.support.guarding import Json, answers_to, desk, guard_of, policy_of, streams

STREAMS = [case for name in ("desk", "refunds") for case in streams(name)]


def compared(path: Path, change: Alteration, **options: Any) -> list[Compared]:
    with SqlDecisionLog.open_for_reading(path) as log:
        return list(what_if(findings(log, PlanFinder(change, **options))))


def plans(path: Path, change: Alteration) -> list[JudgedPlan]:
    found = compared(path, change)
    assert all(isinstance(one, JudgedPlan) for one in found), found
    return [one for one in found if isinstance(one, JudgedPlan)]


def guarded(path: Path, policy: Json, events: list[Any]) -> dict[int, Json]:
    with SqlDecisionLog.open(path) as log:
        return answers_to(guard_of(policy, log=log), events)


def policy_wire(**changes: Any) -> Json:
    """Return the policy that the decisions of a filled log could have been judged by."""
    wire = proposal().wire()
    manifests = wire["compiled"]["manifests"]
    return {
        "guard": {"safety_mode": wire["ctx"]["safety_mode"]},
        "spec": wire["spec"],
        "tool": manifests["tool_manifest"],
        "evidence": manifests["evidence_manifest"],
        **changes,
    }


# --- plans -------------------------------------------------------------------------------------


def test_the_policy_that_was_changes_nothing(tmp_path: Path) -> None:
    filled(tmp_path / "log", 8).close()
    found = plans(tmp_path / "log", Alteration(policy_of(policy_wire())))
    assert len(found) == 8
    assert {one.direction for one in found} == {"unchanged"}
    assert {one.after.ok for one in found} == {True, False}
    assert [one.before for one in found] == [one.after for one in found]


def _stricter_tool() -> Json:
    wire = policy_wire()
    wire["tool"][0]["requires_evidence"] = ["window", "receipt"]
    return wire


def _free_tool() -> Json:
    wire = policy_wire()
    wire["tool"][0].pop("requires_evidence")
    wire["tool"][0].pop("bound_args")
    return wire


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            Alteration(safety_mode="network"),
            {
                ("ok", "approval_mode_mismatch"): "tighter",
                ("missing_evidence", "approval_mode_mismatch"): "other",
            },
        ),
        (Alteration(budget={"max_steps": 1}), {("ok", "loop_guard"): "tighter"}),
        (Alteration(policy_of(_stricter_tool())), {("ok", "missing_evidence"): "tighter"}),
        (Alteration(policy_of(_free_tool())), {("missing_evidence", "ok"): "looser"}),
        (
            Alteration(policy_of(policy_wire(evidence=[])), evidence="policy"),
            {("ok", "missing_evidence"): "tighter"},
        ),
        (Alteration(policy_of(policy_wire(evidence=[])), evidence="recorded"), {}),
        (Alteration(policy_of(policy_wire(evidence=[]))), {}),
        (
            Alteration(policy_of(policy_wire(tool=[]))),
            {
                ("ok", "violates_decision_spec"): "tighter",
                ("missing_evidence", "violates_decision_spec"): "other",
            },
        ),
    ],
)
def test_each_change_shows_in_its_kind_and_direction(
    tmp_path: Path, change: Alteration, expected: dict[tuple[str, str], str]
) -> None:
    filled(tmp_path / "log", 8).close()
    found = {
        (answer_kind(one.before), answer_kind(one.after)): one.direction
        for one in plans(tmp_path / "log", change)
        if one.direction != "unchanged"
    }
    assert found == expected


def test_a_refusal_that_a_person_may_clear_now_is_looser(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        wire = proposal().wire()
        wire["spec"]["approval_mode"] = "network"
        log.append(judged(build(type(proposal()), wire)))
    spec = {**wire["spec"], "approval_required_from": "destructive"}
    del spec["approval_mode"]
    [one] = plans(tmp_path / "log", Alteration(policy_of(policy_wire(spec=spec))))
    assert (one.before.ok, one.after.ok, one.direction) == (False, False, "looser")


@pytest.mark.parametrize("is_bound", [True, False])
def test_an_approval_holds_for_the_context_that_replaces_its_own(
    tmp_path: Path, is_bound: bool
) -> None:
    proposed = proposal()
    wire = proposed.wire()
    wire["spec"]["approval_required_from"] = "destructive"
    approval = {"approval_id": "a", "approver": "ada", "plan_digest": digest(proposed.plan)}
    asked = build(type(proposed), wire)
    bound = {"context_digest": context_digest(asked.ctx, asked.compiled, asked.spec)}
    wire["ctx"]["approvals"] = [{**approval, **(bound if is_bound else {})}]
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.append(judged(build(type(proposed), wire)))
    spec = {**wire["spec"], "approval_mode": "destructive"}
    [one] = plans(tmp_path / "log", Alteration(policy_of(policy_wire(spec=spec))))
    assert one.before.ok
    assert one.after == one.before


# --- what cannot be judged -----------------------------------------------------------------------


def test_what_cannot_be_judged_is_named_and_never_counted_as_judged(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with filled(path, 8) as log:
        log.append_error(CriticError(asked={}, where="in a test", failed_at=NOON))
    meddle(
        path,
        ("DELETE FROM records WHERE seq IN (2, 3)", ()),
        ("UPDATE records SET body = replace(body, 'trace_5', 'trace_6') WHERE seq = 5", ()),
    )
    matrix = Matrix()
    found = compared(path, Alteration(safety_mode="destructive"))
    for one in found:
        matrix.add(one)
    named = [(one.seq, one.last, one.status) for one in found if isinstance(one, NotJudged)]
    lost = [(2, 3, "incomplete"), (4, 4, "incomplete"), (5, 5, "tampered")]
    assert named == [*lost, (9, 9, "critic_error")], "nor is one whose link leads nowhere"
    assert (matrix.judged, matrix.unjudged, matrix.directions["unchanged"]) == (4, 5, 4)


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    filled(tmp_path / "log", 1).close()
    meddle(tmp_path / "log", ("DELETE FROM inputs", ()))
    [one] = compared(tmp_path / "log", Alteration(safety_mode="destructive"))
    assert isinstance(one, NotJudged)
    assert one.status == "incomplete"


def test_a_failure_while_judging_lets_nothing_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "log", 2).close()

    def fails(_proposal: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setattr("harness.what_if.rejudging.verify_proposal", fails)
    found = compared(tmp_path / "log", Alteration(safety_mode="destructive"))
    assert [isinstance(one, NotJudged) and one.status for one in found] == ["unknown"] * 2


def test_only_the_decisions_that_were_asked_for_are_judged(tmp_path: Path) -> None:
    filled(tmp_path / "log", 3).close()
    change = Alteration(safety_mode="destructive")
    matrix = Matrix()
    for one in compared(tmp_path / "log", change, decision_key="another"):
        matrix.add(one)
    assert (matrix.judged, matrix.left_out, matrix.unjudged) == (0, 3, 0)
    assert len(compared(tmp_path / "log", change, decision_key="refund")) == 3


# --- sessions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", sampled(STREAMS, one_in=4), ids=lambda case: case["name"])
def test_the_policy_of_a_session_changes_none_of_its_turns(tmp_path: Path, case: Json) -> None:
    guarded(tmp_path / "log", case["policy"], case["events"])
    for one in plans(tmp_path / "log", Alteration(policy_of(case["policy"]))):
        assert canonical_bytes(one.after) == canonical_bytes(one.before), one.seq


def _mode(wire: Json) -> None:
    wire["guard"]["safety_mode"] = "read_only"


def _ceiling(wire: Json) -> None:
    wire["spec"]["approval_mode"] = "local_write"


def _budget(wire: Json) -> None:
    wire["guard"]["budget"] = {"max_steps": 0, "bucket_tokens": 1}


def _no_provenance(wire: Json) -> None:
    wire["spec"].pop("provenance", None)


def _demands(wire: Json) -> None:
    for tool in wire["tool"]:
        tool["requires_evidence"] = ["request"]


def _confined(wire: Json) -> None:
    wire["spec"]["confined_evidence"] = ["request"]


def _moved(wire: Json) -> None:
    for tool in wire["tool"]:
        tool["adapter_id"] = "elsewhere"


def _without_the_last(wire: Json) -> None:
    wire["tool"].pop()


def _known(wire: Json) -> None:
    names = {tool.get("name", tool["capability_id"]) for tool in wire["tool"]}
    for name in {"wire_money", "nope", "unknown", "format_disk"} - names:
        tool = {"adapter_id": "new", "capability_id": name, "approval_mode": "read_only"}
        wire["tool"].append(tool)


CHANGES: list[Callable[[Json], None]] = [
    *(_mode, _ceiling, _budget, _no_provenance, _demands, _confined, _moved),
    *(_without_the_last, _known),
]


@pytest.fixture(scope="module")
def first_turns(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the log of each stream up to its first calls, under its own policy."""
    logs = [tmp_path_factory.mktemp("first_turns") / "log" for _ in STREAMS]
    for path, case in zip(logs, STREAMS, strict=True):
        guarded(path, case["policy"], _until_first_batch(case["events"]))
    return logs


@pytest.mark.slow
@pytest.mark.parametrize("change", sampled(CHANGES, one_in=9))
def test_a_first_turn_is_judged_as_a_guard_of_the_other_policy_would(
    tmp_path: Path, change: Callable[[Json], None], first_turns: list[Path]
) -> None:
    """Only the first: what is known later depends on what was allowed before."""
    differ = 0
    for number, (case, path) in enumerate(zip(STREAMS, first_turns, strict=True)):
        events = _until_first_batch(case["events"])
        other = copy.deepcopy(case["policy"])
        change(other)
        lived = guarded(tmp_path / f"{number}.lived", other, events)
        verdicts = [as_recorded(one["verdict"]) for one in lived.values() if "verdict" in one]
        found = plans(path, Alteration(policy_of(other)))
        if any("unknown" in one for one in lived.values()):
            # A guard answers a call of no tool by itself; the plan on record still has it.
            assert not any(one.after.ok for one in found), case["name"]
            differ += 1
            continue
        judged_now = [one.after.wire() for one in found][: len(verdicts)]
        told = _told if change is _without_the_last else list[Json]
        assert told(judged_now) == told(verdicts), case["name"]
        differ += any(one.after != one.before for one in found)
    assert differ or change in (_demands, _confined, _moved, _known)


def _told(verdicts: list[Json]) -> list[Any]:
    """Return what a verdict says where the name of a tool that is gone is not recorded."""
    return [(one["ok"], one.get("kind"), one.get("offending_step")) for one in verdicts]


def _until_first_batch(events: list[Any]) -> list[Any]:
    """Return the events up to the first calls of the first session."""
    taken = []
    for event in events:
        taken.append(event)
        if isinstance(event, dict) and event.get("event") == "calls":
            return taken
    return taken


def test_a_class_that_nothing_yields_any_more_leaves_later_turns_unjudged(tmp_path: Path) -> None:
    old = desk()
    old["tool"][0]["yields"] = "note"
    new = copy.deepcopy(old)
    new["tool"][0]["yields"] = "letter"
    new["tool"][4]["requires_evidence"] = ["letter"]
    guarded(tmp_path / "log", old, EVENTS)
    found = compared(tmp_path / "log", Alteration(policy_of(new)))
    unjudged = [one for one in found if isinstance(one, NotJudged)]
    assert unjudged
    assert all("which no tool of the policy yields" in one.reasons[0] for one in unjudged)


def test_a_result_takes_the_class_that_its_tool_yields_now(tmp_path: Path) -> None:
    new = desk()
    new["tool"][0]["yields"] = "note"
    new["tool"][4]["requires_evidence"] = ["note"]
    guarded(tmp_path / "log", desk(), EVENTS)
    found = plans(tmp_path / "log", Alteration(policy_of(new)))
    assert Counter(one.direction for one in found).keys() == {"unchanged"}


def test_verdicts_are_those_of_verify(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.append(decision(1))
    [one] = plans(tmp_path / "log", Alteration(safety_mode="network"))
    wire = proposal(1).wire()
    wire["ctx"]["safety_mode"] = "network"
    assert one.after == verify_proposal(build(type(proposal()), wire))
