"""Replay works out the facts of a session again, from its earlier records."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from critic import Proposal, consolidate, verify_proposal
from harness.log import SqlDecisionLog
from harness.record import Begun, Decision
from harness.replay import replay
from harness.wire import build
from tests.support.guarding import (
    ASKS,
    Json,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    result,
    yes,
)

EVENTS: list[Any] = [
    open_(request="Do the transfer of plan.md, shred old.md, see https://a.example/x"),
    call("make_note", name="new.md", text="x"),
    result("made"),
    call("shred", name="old.md"),
    result("done"),
    call("read_note", name="plan.md"),
    result("wire it to iban-4711-22"),
    call("transfer", iban="iban-4711-22", reason="x"),
    yes(),
    result({}),
    call("read_note", name="https://a.example/y"),
    result("x"),
    call("shred", name="new.md"),
    result("done"),
    close(),
]


class Rewriting:
    """A log whose records are changed before they are kept, and hold together all the same."""

    def __init__(self, log: SqlDecisionLog, change: Callable[[Json], Any]) -> None:
        self.log, self.change = log, change

    def append(self, decision: Decision) -> Any:
        proposal = self.changed(decision.proposal)
        report = consolidate(
            trace_id=proposal.ctx.trace_id,
            decision_key=proposal.spec.id,
            verify=verify_proposal(proposal),
            score=decision.report.score,
            decided_at=decision.report.decided_at,
        )
        parts = {"run": decision.facts, "error": decision.error, "begun": decision.begun}
        given: Any = {name: part for name, part in parts.items() if part is not None}
        return self.log.append(Decision(proposal=proposal, report=report, **given))

    def begin(self, begun: Begun) -> Any:
        changed = self.changed(begun.proposal)
        return self.log.begin(
            Begun(proposal=changed, approvals=begun.approvals, begun_at=begun.begun_at)
        )

    def changed(self, proposal: Proposal) -> Proposal:
        wire = proposal.wire()
        items = wire["compiled"]["manifests"]["evidence_manifest"]
        self.change({**wire["ctx"], "evidence": items})
        return build(Proposal, wire)


def replayed(path: Path, change: Callable[[Json], Any], events: list[Any]) -> list[Any]:
    with SqlDecisionLog.open(path / "log.db") as log:
        answers_to(guard_of(desk(), log=Rewriting(log, change)), events)
        return list(replay(log))


def nothing(_ctx: Json) -> None:
    pass


def at(turn: int, change: Callable[[Json], Any]) -> Callable[[Json], None]:
    def changed(ctx: Json) -> None:
        if ctx["session"]["turn"] == turn:
            change(ctx)

    return changed


def test_what_a_guard_recorded_follows(tmp_path: Path) -> None:
    answers = replayed(tmp_path, nothing, EVENTS)
    assert {one.status for one in answers} == {"same"}, [one.reasons for one in answers]


@pytest.mark.parametrize(
    ("turn", "change", "named"),
    [
        (2, lambda ctx: ctx["spent"].update(steps=0), "spent.steps"),
        (3, lambda ctx: ctx["spent"].pop("calls"), "spent.calls"),
        (2, lambda ctx: ctx["session"].update(hosts=["evil.example"]), "hosts"),
        (6, lambda ctx: ctx["session"].pop("own"), "own"),
        (6, lambda ctx: ctx["session"].pop("ran"), "ran"),
        (
            3,
            lambda ctx: ctx["session"]["ran"].append(
                {"adapter_id": "desk", "capability_id": "transfer"}
            ),
            "ran",
        ),
        (5, lambda ctx: ctx["session"].pop("approved"), "approved"),
        (2, lambda ctx: ctx["session"].update(approved=[{"value": "iban-9"}]), "approved"),
        (2, lambda ctx: ctx["session"].update(scope_waived=True), "scope_waived"),
        (4, lambda ctx: ctx["evidence"][1].update(content="iban-9"), "evidence"),
        (4, lambda ctx: ctx["evidence"].pop(1), "evidence"),
        (4, lambda ctx: ctx["evidence"].reverse(), "evidence"),
    ],
    ids=lambda one: "" if callable(one) else str(one),
)
def test_a_fact_that_earlier_records_contradict_is_named(
    turn: int, change: Callable[[Json], Any], named: str, tmp_path: Path
) -> None:
    answers = replayed(tmp_path, at(turn, change), EVENTS)
    (first, *_) = [one for one in answers if one.status != "same"]
    assert first.status == "tampered"
    assert f"session facts do not follow from earlier records: {named}" in first.reasons


def test_a_turn_that_is_not_on_record_leaves_the_next_one_incomplete(tmp_path: Path) -> None:
    guard = guard_of(desk())
    answers_to(guard, EVENTS[:3])
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        other = guard_of(desk(), log=log)
        other.resume(guard.export("s"))
        answers_to(other, EVENTS[3:5])
        (ruling, *_) = replay(log)
    assert ruling.status == "incomplete"
    assert ruling.reasons == ("turn 1 of its session is missing: its facts cannot be derived",)


def test_sessions_of_one_id_are_told_apart(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        one, two = guard_of(desk(), log=log), guard_of(desk(), log=log)
        answers_to(one, EVENTS[:5])
        answers_to(two, ASKS)
        answers_to(one, [*EVENTS[5:], *EVENTS])
        assert {result.status for result in replay(log)} == {"same"}


def test_a_result_between_a_question_and_its_answer_is_not_known_to_it(tmp_path: Path) -> None:
    late = result({}, id="late")
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [ASKS[0], call("list_mail", id="late"), *ASKS[1:]])
        asked = guard.export("s")
        guard.resume(asked)
        answers_to(guard, [late])
        digest = next(
            record.inputs.plan for record in reversed(list(log.records())) if record.run is None
        )
        assert answers_to(guard, [yes(digest=digest), close()])[0]["action"] == "allow"
        assert {one.status for one in replay(log)} == {"same"}


def test_a_shadow_and_refusals_follow_too(tmp_path: Path) -> None:
    events = [open_(), call("transfer", iban="iban-9", reason=""), result("x"), *EVENTS[5:]]
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers_to(guard_of(desk(shadow=True), log=log), events)
        answers_to(guard_of(desk(), log=log), [*events[:2], *EVENTS[1:]])
        assert {one.status for one in replay(log)} == {"same"}
